#pragma once
#include <cameo/core/abi.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace CAMEO_NAMESPACE::detail {
template <class Signature>
class callback;

/// An owned callable object, for options and hooks. Copies share the object, so copying is cheap; calling it is as
/// thread-safe as the object. An empty callback must not be called. It replaces std::function, whose header costs every
/// file that includes cameo more compile time than all of cameo's options.
template <class R, class... Args>
class callback<R(Args...)> {
 public:
  callback() = default;
  callback(std::nullptr_t) {}
  /// Copies `callable`. A null pointer to a function, or an empty std::function, makes an empty callback.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, callback> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  callback(F&& callable) {
    using object = std::decay_t<F>;
    object kept(std::forward<F>(callable));
    // A conversion to bool is not enough: a lambda without captures has one, through a function pointer that is never
    // null.
    if constexpr (std::is_pointer_v<object> || requires { kept.operator bool(); })
      if (!static_cast<bool>(kept)) return;
    object_ = std::make_shared<object>(std::move(kept));
    call_ = [](void* o, Args... args) -> R { return (*static_cast<object*>(o))(std::forward<Args>(args)...); };
  }
  explicit operator bool() const { return call_ != nullptr; }
  R operator()(Args... args) const { return call_(object_.get(), std::forward<Args>(args)...); }

 private:
  std::shared_ptr<void> object_;
  R (*call_)(void*, Args...) = nullptr;
};
}  // namespace CAMEO_NAMESPACE::detail
