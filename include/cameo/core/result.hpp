#pragma once
#include <cameo/core/construct.hpp>
#include <cameo/core/status.hpp>

#include <cassert>

namespace CAMEO_NAMESPACE {

namespace detail {
template <class T>
struct temporary_result {
  static_assert(sizeof(T) == 0,
                "cameo: this result is a temporary: it has not been checked for an error, and its value is destroyed "
                "at the end of the statement; give it a name and check it first: `auto outputs = session.run(...); if "
                "(!outputs) return outputs.error();`");
};
}  // namespace detail

/// A value, or the status that explains why there is none. It holds no std::optional: one instantiation per kernel
/// would cost a list of 600 kernels a minute of compile time and gigabytes.
template <class T>
class [[nodiscard]] result {
  // Moving some types allocates (std::deque of libstdc++). An exception of such a move passes on to the caller.
  static constexpr bool moves_without_throwing =
      __is_nothrow_constructible(T, T);  // std::is_nothrow_move_constructible
                                         // costs each result more

 public:
  using value_type = T;

  constexpr result(T value) noexcept(moves_without_throwing) : value_{std::move(value)} {}
  constexpr result(status&& error) noexcept : error_{std::move(error)} {
    if (error_) error_ = status{status_code::fail};
  }
  constexpr result(const status& error) noexcept : result{status{error}} {}
  constexpr result(status_code error) noexcept : result{status{error}} {}
  /// A value that `fill(value)` completes in place, without a copy of it; or the error that this returns: `return
  /// {std::in_place, [&](geometry& made) -> status { ... }};`
  template <class F>
  constexpr result(std::in_place_t, F&& fill) : value_{} {
    if (status s = fill(value_); !s) detail::destroy_at(detail::address_of(value_)), error_ = std::move(s);
  }
  result(result&& from) noexcept(moves_without_throwing) : error_{std::move(from.error_)} {
    if (error_) detail::construct_at(detail::address_of(value_), std::move(from.value_));
  }
  result& operator=(result&& from) noexcept(moves_without_throwing) {
    if (this == &from) return *this;
    if constexpr (moves_without_throwing) {
      detail::destroy_at(this), detail::construct_at(this, std::move(from));
    } else {  // holds an error for as long as the move may throw
      if (error_) detail::destroy_at(detail::address_of(value_)), error_ = status{status_code::fail};
      if (from.error_) detail::construct_at(detail::address_of(value_), std::move(from.value_)), error_ = status{};
      else error_ = std::move(from.error_);
    }
    return *this;
  }
  constexpr ~result() {
    if (error_) detail::destroy_at(detail::address_of(value_));
  }

  constexpr explicit operator bool() const noexcept { return bool(error_); }
  /// The value. Test the result first: without NDEBUG an assertion fails if there is no value.
  constexpr T& operator*() & noexcept { return check(), value_; }
  constexpr const T& operator*() const& noexcept { return check(), value_; }
  /// The value of a temporary, by value, so that a range-based for keeps it: `for (auto& each :
  /// *session.assignments())`.
  constexpr T operator*() && noexcept(moves_without_throwing) { return check(), std::move(value_); }
  constexpr T* operator->() & noexcept { return check(), detail::address_of(value_); }
  constexpr const T* operator->() const& noexcept { return check(), detail::address_of(value_); }
  T* operator->() && {
    static_cast<void>(sizeof(detail::temporary_result<T>));
    return nullptr;
  }
  /// The error; OK if there is a value: `if (!r) return r.error();`
  constexpr const status& error() const& noexcept { return error_; }
  constexpr status error() && noexcept { return std::move(error_); }

  /// The value, or `other` if there is none.
  template <class U>
  T value_or(U&& other) const& {
    return error_ ? value_ : T(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return error_ ? std::move(value_) : T(std::forward<U>(other));
  }
  /// Returns f(value), which is a result or a status. Without a value, returns the error and does not call f.
  template <class F>
  auto and_then(F&& f) const& {
    if (error_) return f(value_);
    return decltype(f(value_))(error_);
  }
  template <class F>
  auto and_then(F&& f) && {
    if (error_) return f(std::move(value_));
    return decltype(f(std::move(value_)))(std::move(error_));
  }
  /// Returns a result that holds f(value). Without a value, returns the error and does not call f.
  template <class F>
  auto transform(F&& f) const& {
    return error_ ? result<std::remove_cvref_t<decltype(f(value_))>>(f(value_)) : error_;
  }
  template <class F>
  auto transform(F&& f) && -> result<std::remove_cvref_t<decltype(f(std::declval<T>()))>> {
    if (!error_) return std::move(error_);
    return f(std::move(value_));
  }

 private:
  constexpr void check() const noexcept {
    assert(error_ && "cameo: the value of a result that holds an error; test the result first");
  }

  status error_;
  union {
    T value_;
  };
};

}  // namespace CAMEO_NAMESPACE
