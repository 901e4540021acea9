#pragma once
#include <cameo/core/dtype.hpp>
#include <cameo/core/extents.hpp>

#include <algorithm>  // for the kernels, which all include this
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace CAMEO_NAMESPACE::eps {

/// A piece of a message: text, a number, a shape as [2,3], or an element type by its name. It refers to what it is made
/// of.
class message_part {
 public:
  message_part(std::string_view text) : text_{text}, kind_{kind::text} {}
  message_part(const extents& shape) : shape_{&shape}, kind_{kind::shape} {}
  message_part(dtype type) : message_part{std::string_view{detail::row_of(type).name}} {}
  template <class T>
    requires std::is_arithmetic_v<T>
  message_part(T number) : number_{std::int64_t(number)}, kind_{kind::number} {}

  /// Writes it to `to`, cut at `end`; where it ends.
  char* write(char* to, char* end) const;

 private:
  enum class kind : std::uint8_t { text, number, shape };
  union {
    std::string_view text_;
    std::int64_t number_;
    const extents* shape_;
  };
  kind kind_;
};

/// A status with words made of `parts`, cut after 320 bytes.
[[gnu::cold, gnu::noinline]] status refuse_with(status_code code, std::initializer_list<message_part> parts);

/// The same; what an operator is called, the runner says. Each call only lists its parts: a function for each list of
/// types was a fortieth of the provider's code.
template <class... Parts>
[[gnu::always_inline]] inline status refuse(status_code code, const Parts&... parts) {
  return refuse_with(code, {message_part(parts)...});
}
/// What is wrong with the data of a run.
template <class... Parts>
[[gnu::always_inline]] inline status bad_input(const Parts&... parts) {
  return refuse(status_code::invalid_argument, parts...);
}
/// What is wrong with an attribute.
template <class... Parts>
[[gnu::always_inline]] inline status bad_attribute(const Parts&... parts) {
  return refuse(status_code::invalid_graph, parts...);
}

}  // namespace CAMEO_NAMESPACE::eps
