#pragma once
#include <cameo/core/status.hpp>

#include <memory>

namespace cameo::inline CAMEO_ABI {

/// A value, or the status that says why there is none. Not a std::optional inside: with one instantiation per kernel,
/// that alone costs a list of 600 entries a minute and gigabytes.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;

  result(T value) noexcept : value_{std::move(value)} {}
  result(status error) noexcept : error_{error ? status{status_code::fail} : std::move(error)} {}
  result(status_code error) noexcept : result{status{error}} {}
  result(result&& from) noexcept : error_{std::move(from.error_)} {
    if (error_) std::construct_at(std::addressof(value_), std::move(from.value_));
  }
  result& operator=(result&& from) noexcept {
    if (this != &from) std::destroy_at(this), std::construct_at(this, std::move(from));
    return *this;
  }
  ~result() {
    if (error_) std::destroy_at(std::addressof(value_));
  }

  explicit operator bool() const noexcept { return bool(error_); }
  /// The value; only if there is one.
  T& operator*() & noexcept { return value_; }
  const T& operator*() const& noexcept { return value_; }
  T&& operator*() && noexcept { return std::move(value_); }
  T* operator->() noexcept { return std::addressof(value_); }
  const T* operator->() const noexcept { return std::addressof(value_); }
  /// Hands the error on: `if (!r) return r.error();`
  status&& error() noexcept { return std::move(error_); }
  const status& error() const noexcept { return error_; }

 private:
  status error_;
  union {
    T value_;
  };
};

}  // namespace cameo::inline CAMEO_ABI
