#pragma once
#include <cameo/core/dtype.hpp>
#include <cameo/core/extents.hpp>

#include <algorithm>  // for the kernels, which all include this
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace CAMEO_NAMESPACE::eps {

/// A part of a message: text, a number, a shape (printed as [2,3]), or an element type (by its name). It refers to the
/// text or shape that it was made of, which has to outlive it.
class message_part {
 public:
  message_part(std::string_view text) : text_{text}, kind_{kind::text} {}
  message_part(const extents& shape) : shape_{&shape}, kind_{kind::shape} {}
  message_part(dtype type) : message_part{std::string_view{detail::row_of(type).name}} {}
  template <class T>
    requires std::is_arithmetic_v<T>
  message_part(T number) : number_{std::int64_t(number)}, kind_{kind::number} {}

  /// Writes the part to `to`, truncated at `end`, and returns the end of what was written.
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

/// A status whose message consists of `parts`, truncated after 320 bytes.
[[gnu::cold, gnu::noinline]] status refuse_with(status_code code, std::initializer_list<message_part> parts);

/// refuse_with() for any arguments. The runner adds the name of the node. Calls are inlined to a list of parts, as
/// separate functions for each combination of types were a fortieth of the provider's code.
template <class... Parts>
[[gnu::always_inline]] inline status refuse(status_code code, const Parts&... parts) {
  return refuse_with(code, {message_part(parts)...});
}
/// An error in the inputs of a run.
template <class... Parts>
[[gnu::always_inline]] inline status bad_input(const Parts&... parts) {
  return refuse(status_code::invalid_argument, parts...);
}
/// An error in an attribute.
template <class... Parts>
[[gnu::always_inline]] inline status bad_attribute(const Parts&... parts) {
  return refuse(status_code::invalid_graph, parts...);
}

}  // namespace CAMEO_NAMESPACE::eps
