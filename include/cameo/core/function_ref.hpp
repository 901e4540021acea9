#pragma once
#include <cameo/core/construct.hpp>

#include <type_traits>
#include <utility>

namespace CAMEO_NAMESPACE::detail {
template <class Signature>
class function_ref;

/// A borrowed reference to a callable object: two pointers, no allocation. The callable must outlive it.
template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, Args...>)
  function_ref(F&& callable) noexcept
      : object_{const_cast<void*>(static_cast<const void*>(detail::address_of(callable)))},
        call_{[](void* object, Args... args) -> R {
          return (*static_cast<std::add_pointer_t<F>>(object))(std::forward<Args>(args)...);
        }} {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};
}  // namespace CAMEO_NAMESPACE::detail
