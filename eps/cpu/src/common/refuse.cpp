#include "refuse.hpp"

#include <algorithm>
#include <charconv>

namespace cameo::inline CAMEO_ABI::eps {

char* message_part::write(char* to, char* end) const {
  switch (kind_) {
    case kind::text: return std::copy_n(text_.data(), std::min(text_.size(), std::size_t(end - to)), to);
    case kind::number: {
      char digits[24];
      const char* const last = std::to_chars(digits, digits + sizeof digits, number_).ptr;
      return message_part{std::string_view{digits, std::size_t(last - digits)}}.write(to, end);
    }
    case kind::shape: break;
  }
  to = message_part{"["}.write(to, end);
  for (std::size_t i = 0; i < shape_->rank(); ++i) {
    if (i) to = message_part{","}.write(to, end);
    to = message_part{(*shape_)[i]}.write(to, end);
  }
  return message_part{"]"}.write(to, end);
}

status refuse_with(status_code code, std::initializer_list<message_part> parts) {
  char line[320];
  char* end = line;
  for (const message_part& part : parts) end = part.write(end, std::end(line));
  return {code, std::string_view{line, std::size_t(end - line)}};
}

}  // namespace cameo::inline CAMEO_ABI::eps
