#pragma once
#include <cameo/core/construct.hpp>
#include <cameo/core/status.hpp>

#include <cassert>

CAMEO_BEGIN_NAMESPACE

namespace detail {
template <class T>
struct temporary_result {
  static_assert(sizeof(T) == 0,
                "cameo: this result is a temporary: nothing has tested it for an error, and what `->` reaches is gone "
                "at the end of the statement; give it a name and test it first: `auto outputs = session.run(...); if "
                "(!outputs) return outputs.error();`");
};
}  // namespace detail

/// A value, or the status that says why there is none. It holds no std::optional: with one instantiation per kernel,
/// that alone would cost a list of 600 entries a minute of compile time and gigabytes.
template <class T>
class [[nodiscard]] result {
  // Moving some types allocates, such as a std::deque of libstdc++. The exception of such a move leaves the result.
  static constexpr bool moves_without_throwing = __is_nothrow_constructible(T, T);  // std's template costs each result

 public:
  using value_type = T;

  result(T value) noexcept(moves_without_throwing) : value_{std::move(value)} {}
  result(status error) noexcept : error_{error ? status{status_code::fail} : std::move(error)} {}
  result(status_code error) noexcept : result{status{error}} {}
  result(result&& from) noexcept(moves_without_throwing) : error_{std::move(from.error_)} {
    if (error_) detail::construct_at(detail::address_of(value_), std::move(from.value_));
  }
  result& operator=(result&& from) noexcept(moves_without_throwing) {
    if (this == &from) return *this;
    if constexpr (moves_without_throwing) {
      detail::destroy_at(this), detail::construct_at(this, std::move(from));
    } else {  // an error for as long as the move may throw
      if (error_) detail::destroy_at(detail::address_of(value_)), error_ = status{status_code::fail};
      if (from.error_) detail::construct_at(detail::address_of(value_), std::move(from.value_)), error_ = status{};
      else error_ = std::move(from.error_);
    }
    return *this;
  }
  ~result() {
    if (error_) detail::destroy_at(detail::address_of(value_));
  }

  explicit operator bool() const noexcept { return bool(error_); }
  /// The value; only if there is one: test first. Without NDEBUG a program that does not ends here with an assertion.
  T& operator*() & noexcept { return check(), value_; }
  const T& operator*() const& noexcept { return check(), value_; }
  /// Of a temporary the value itself, which a range-based for keeps: `for (auto& each : *session.assignments())`.
  T operator*() && noexcept(moves_without_throwing) { return check(), std::move(value_); }
  T* operator->() & noexcept { return check(), detail::address_of(value_); }
  const T* operator->() const& noexcept { return check(), detail::address_of(value_); }
  T* operator->() && {
    static_cast<void>(sizeof(detail::temporary_result<T>));
    return nullptr;
  }
  /// Why there is no value; OK if there is one: `if (!r) return r.error();`
  const status& error() const& noexcept { return error_; }
  status error() && noexcept { return std::move(error_); }

  /// The value, or `other` in its place.
  template <class U>
  T value_or(U&& other) const& {
    return error_ ? value_ : T(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return error_ ? std::move(value_) : T(std::forward<U>(other));
  }
  /// What f makes of the value, which is a result or a status itself; the error stays what it is, and f is not called.
  template <class F>
  auto and_then(F&& f) const& -> decltype(f(std::declval<const T&>())) {
    if (!error_) return error_;
    return f(value_);
  }
  template <class F>
  auto and_then(F&& f) && -> decltype(f(std::declval<T>())) {
    if (!error_) return std::move(error_);
    return f(std::move(value_));
  }
  /// A result that holds what f makes of the value; the error stays what it is, and f is not called.
  template <class F>
  auto transform(F&& f) const& -> result<std::remove_cvref_t<decltype(f(std::declval<const T&>()))>> {
    if (!error_) return error_;
    return f(value_);
  }
  template <class F>
  auto transform(F&& f) && -> result<std::remove_cvref_t<decltype(f(std::declval<T>()))>> {
    if (!error_) return std::move(error_);
    return f(std::move(value_));
  }

 private:
  void check() const noexcept {
    assert(error_ && "cameo: the value of a result that holds an error; test the result first");
  }

  status error_;
  union {
    T value_;
  };
};

CAMEO_END_NAMESPACE
