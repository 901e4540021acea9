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

/// Tells work when to end. Made by a stop_source, or from a std::stop_token or a type like it. Cheap to copy;
/// thread-safe.
class stop_token {
 public:
  /// Never asks to stop.
  stop_token() = default;
  /// Asks to stop when `token` does.
  template <external_stop_token T>
    requires(!std::is_same_v<T, stop_token>)
  stop_token(T token) : ask_{[kept = std::move(token)] { return kept.stop_requested(); }} {}
  bool stop_requested() const { return ask_ && ask_(); }
  /// False for a token that never asks to stop.
  bool stop_possible() const { return bool(ask_); }

 private:
  detail::callback<bool()> ask_;
};

/// Asks work to end whose options have a token of this source. Copies are the same source. Thread-safe.
class stop_source {
 public:
  CAMEO_API stop_source();
  /// A token of this source.
  CAMEO_API stop_token get_token() const;
  /// From here on the source's tokens ask to stop.
  CAMEO_API void request_stop() const noexcept;
  /// True once request_stop() was called.
  CAMEO_API bool stop_requested() const noexcept;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

}  // namespace CAMEO_NAMESPACE
