#pragma once
#include <cameo/session/any_value.hpp>
#include <cameo/session/session.hpp>

#include <concepts>

namespace CAMEO_NAMESPACE {

// The functions that write the text for cameo/interop/fmt.hpp and cameo/interop/ostream.hpp. The text may contain
// control characters of names in the model: call one_line() before you print it to a terminal.

/// The code and the message, "INVALID_ARGUMENT: net.onnx: ..."; only the code if there is no message.
inline std::string to_string(const status& s) {
  std::string text{to_string(s.code())};
  if (!s.words().empty()) text.append(": ").append(s.words());
  return text;
}
/// The sizes of the axes, "[2,3]"; "[]" for a scalar.
inline std::string to_string(const extents& shape) {
  std::string text = "[";
  for (std::int64_t dim : shape) text.append(text.size() > 1 ? "," : "").append(std::to_string(dim));
  return text += "]";
}
/// The type as ONNX writes it: "float".
inline std::string_view to_string(dtype type) { return detail::row_of(type).name; }
/// The tensor as to_string() writes a value: "float[2,3] 1 2 3 ...".
template <class T>
std::string to_string(const tensor_view<T>& view, std::size_t elements = 8) {
  return to_string(value::tensor(dtype_of<std::remove_const_t<T>>, view.shape(), view.data()), elements);
}

namespace detail {
template <class T>
inline constexpr bool is_tensor_view = false;
template <class T>
inline constexpr bool is_tensor_view<tensor_view<T>> = true;

/// The types for which there is a to_string().
template <class T>
concept printed =
    std::same_as<T, status> || std::same_as<T, status_code> || std::same_as<T, dtype> || std::same_as<T, extents> ||
    std::same_as<T, value> || std::same_as<T, any_value> || std::same_as<T, io_info> || is_tensor_view<T>;
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
