#pragma once
#include <cameo/core/callback.hpp>

#include <concepts>
#include <memory>
#include <type_traits>

namespace CAMEO_NAMESPACE {

/// A stop token of another library, such as std::stop_token.
/// - `bool stop_requested() const` returns true once the work is to end. It is called often, by any thread that loads a
///   model or works in a run. An exception becomes FAIL.
template <class T>
concept external_stop_token = requires(const T& token) {
  { token.stop_requested() } -> std::same_as<bool>;
};

/// Reports to loading and to runs that a stop was requested. A stop_source makes tokens; a std::stop_token or a type
/// like it converts to one. Cheap to copy; thread-safe.
class stop_token {
 public:
  /// Creates a token whose stop_requested() is always false.
  stop_token() = default;
  /// Creates a token whose stop_requested() is that of `token`.
  template <external_stop_token T>
    requires(!std::is_same_v<T, stop_token>)
  stop_token(T token) : check_{[kept = std::move(token)] { return kept.stop_requested(); }} {}
  bool stop_requested() const { return check_ && check_(); }
  /// False for a token whose stop_requested() is always false.
  bool stop_possible() const { return bool(check_); }

 private:
  detail::callback<bool()> check_;
};

/// Requests that loads and runs end whose options contain a token of this source. Copies share one state. Thread-safe.
class stop_source {
 public:
  CAMEO_API stop_source();
  /// A token of this source.
  CAMEO_API stop_token get_token() const;
  /// Makes stop_requested() of the source's tokens true from now on.
  CAMEO_API void request_stop() const noexcept;
  /// True once request_stop() was called.
  CAMEO_API bool stop_requested() const noexcept;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

}  // namespace CAMEO_NAMESPACE
