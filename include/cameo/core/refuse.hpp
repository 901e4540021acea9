#pragma once
#include <cameo/core/dim.hpp>
#include <cameo/core/dtype.hpp>
#include <cameo/core/extents.hpp>

namespace CAMEO_NAMESPACE::detail {

/// A part of a message: text, a number, a shape as [2,3] or [2,?], or an element type by its name. It refers to what it
/// was made of.
class message_part {
 public:
  constexpr message_part(std::string_view text) : text_{text}, kind_{kind::text} {}
  constexpr message_part(const char* text) : message_part{std::string_view{text}} {}
  constexpr message_part(std::span<const std::int64_t> sizes) : sizes_{sizes}, kind_{kind::sizes} {}
  constexpr message_part(const extents& shape) : message_part{shape.dims()} {}
  constexpr message_part(std::span<const dim> dims) : dims_{dims}, kind_{kind::dims} {}
  constexpr message_part(dim size) : number_{size.size}, kind_{size.known() ? kind::number : kind::unknown} {}
  constexpr message_part(dtype type) : message_part{std::string_view{row_of(type).name}} {}
  template <std::integral T>
  constexpr message_part(T number) : number_{std::int64_t(number)}, kind_{kind::number} {}

  /// Writes the part to `to`, cut at `end`. Returns the end of what was written.
  constexpr char* write(char* to, char* end) const {
    switch (kind_) {
      case kind::text: return put(text_, to, end);
      case kind::number: return put_number(number_, to, end);
      case kind::unknown: return put("?", to, end);
      case kind::sizes:
      case kind::dims: return put_list(to, end);
    }
    return to;
  }

 private:
  static constexpr char* put(std::string_view text, char* to, char* end) {
    for (const char c : text)
      if (to != end) *to++ = c;
    return to;
  }
  static constexpr char* put_number(std::int64_t number, char* to, char* end) {
    char digits[20]{};
    char* first = digits + sizeof digits;
    std::uint64_t rest = number < 0 ? 0 - std::uint64_t(number) : std::uint64_t(number);
    do *--first = char('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) to = put("-", to, end);
    return put({first, std::size_t(digits + sizeof digits - first)}, to, end);
  }
  // Not a template: clang 14 would not instantiate it while it evaluates a constant.
  constexpr char* put_list(char* to, char* end) const {
    const bool are_dims = kind_ == kind::dims;
    const std::size_t count = are_dims ? dims_.size() : sizes_.size();
    to = put("[", to, end);
    for (std::size_t i = 0; i < count; ++i) {
      if (i) to = put(",", to, end);
      to = (are_dims ? message_part{dims_[i]} : message_part{sizes_[i]}).write(to, end);
    }
    return put("]", to, end);
  }

  enum class kind : std::uint8_t { text, number, unknown, sizes, dims };
  union {
    std::string_view text_;
    std::int64_t number_;
    std::span<const std::int64_t> sizes_;
    std::span<const dim> dims_;
  };
  kind kind_;
};

/// A status with a message of `parts`, cut after 320 bytes.
[[gnu::cold, gnu::noinline]] constexpr status refuse_with(status_code code, std::initializer_list<message_part> parts) {
  char line[320]{};
  char* end = line;
  for (const message_part& part : parts) end = part.write(end, line + sizeof line);
  return {code, std::string_view{line, std::size_t(end - line)}};
}

/// A status with a message of any number of parts. Builds without messages compose nothing. Each call only lists its
/// parts: a function for each list of types was a fortieth of a provider's code.
template <class... Parts>
[[gnu::always_inline]] constexpr status refuse(status_code code, [[maybe_unused]] const Parts&... parts) {
  if constexpr (status::has_words) return refuse_with(code, {message_part(parts)...});
  else return code;
}

}  // namespace CAMEO_NAMESPACE::detail
