#pragma once
#include <cameo/core/extents.hpp>

#include <charconv>

namespace cameo::inline CAMEO_ABI::eps {

/// Words for a status, put together without memory of their own; cut where the buffer ends.
class message {
 public:
  message& operator<<(std::string_view words) {
    const std::size_t n = std::min(words.size(), sizeof chars_ - size_);
    for (std::size_t i = 0; i < n; ++i) chars_[size_ + i] = words[i];
    size_ += n;
    return *this;
  }
  message& operator<<(std::int64_t number) {
    const std::to_chars_result end = std::to_chars(chars_ + size_, chars_ + sizeof chars_, number);
    if (end.ec == std::errc{}) size_ = std::size_t(end.ptr - chars_);
    return *this;
  }
  /// As [2,3].
  message& operator<<(const extents& shape) {
    *this << "[";
    for (std::size_t i = 0; i < shape.rank(); ++i) (*this << (i ? "," : "")) << shape[i];
    return *this << "]";
  }
  std::string_view view() const { return {chars_, size_}; }

  status invalid_argument() const { return {status_code::invalid_argument, view()}; }
  status invalid_graph() const { return {status_code::invalid_graph, view()}; }

 private:
  char chars_[240];
  std::size_t size_ = 0;
};

}  // namespace cameo::inline CAMEO_ABI::eps
