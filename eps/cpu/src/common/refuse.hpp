#pragma once
#include <cameo/core/dtype.hpp>
#include <cameo/core/extents.hpp>

#include <algorithm>

namespace cameo::inline CAMEO_ABI::eps {

/// Composes a message on the stack, cut where that ends: numbers, text, shapes as [2,3], element types by name.
class message_line {
 public:
  void add(std::string_view text) {
    const std::size_t n = std::min(text.size(), sizeof line_ - size_);
    std::copy_n(text.data(), n, line_ + size_);
    size_ += n;
  }
  void add(std::int64_t number);
  void add(const extents& shape);
  void add(dtype type) { add(std::string_view{detail::row_of(type).name}); }
  std::string_view view() const { return {line_, size_}; }

 private:
  char line_[320];
  std::size_t size_ = 0;
};

/// A status with words made of `parts`. What an operator is called, the runner says.
template <class... Parts>
[[gnu::cold, gnu::noinline]] status refuse(status_code code, const Parts&... parts) {
  message_line line;
  const auto add = [&](const auto& part) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>) line.add(std::int64_t(part));
    else line.add(part);
  };
  (add(parts), ...);
  return {code, line.view()};
}
/// What is wrong with the data of a run.
template <class... Parts>
status bad_input(const Parts&... parts) {
  return refuse(status_code::invalid_argument, parts...);
}
/// What is wrong with an attribute.
template <class... Parts>
status bad_attribute(const Parts&... parts) {
  return refuse(status_code::invalid_graph, parts...);
}

}  // namespace cameo::inline CAMEO_ABI::eps
