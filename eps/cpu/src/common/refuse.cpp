#include "refuse.hpp"

#include <charconv>

namespace cameo::inline CAMEO_ABI::eps {

void message_line::add(std::int64_t number) {
  char digits[24];
  add(std::string_view{digits, std::size_t(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
}

void message_line::add(const extents& shape) {
  add(std::string_view{"["});
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (i) add(std::string_view{","});
    add(shape[i]);
  }
  add(std::string_view{"]"});
}

}  // namespace cameo::inline CAMEO_ABI::eps
