#pragma once
#include <cameo/kernel/bind_context.hpp>
#include <cameo/kernel/run_context.hpp>

#include <concepts>

namespace CAMEO_NAMESPACE {

namespace detail {
/// A kernel that is also its state: `static result<K> bind(bind_context&)`, `status run(run_context&) const`.
template <class K>
concept self_kernel = requires(const K& state, bind_context& once, run_context& each) {
  { K::bind(once) } -> std::same_as<result<K>>;
  { state.run(each) } -> std::same_as<status>;
};
/// The T of a result<T>.
template <class R>
struct result_value {};
template <class T>
struct result_value<result<T>> {
  using type = T;
};
/// The type of the state that K::bind returns.
template <class K>
using bound_state = typename result_value<decltype(K::bind(std::declval<bind_context&>()))>::type;
/// A kernel with a state of another type: `static result<S> bind(bind_context&)`,
/// `static status run(const S&, run_context&)`.
template <class K>
concept state_kernel = !self_kernel<K> && requires(const bound_state<K>& state, run_context& each) {
  { K::run(state, each) } -> std::same_as<status>;
};
}  // namespace detail

/// A kernel is bound once and then run any number of times, by any number of threads. Both functions may throw where
/// exceptions are on: the caller turns an exception into RUNTIME_EXCEPTION.
template <class K>
concept kernel = detail::self_kernel<K> || detail::state_kernel<K>;

/// A kernel that refuses some nodes that its types allow: `static bool accepts(const bind_context&)`.
template <class K>
concept choosy_kernel = kernel<K> && requires(const bind_context& node) {
  { K::accepts(node) } -> std::same_as<bool>;
};

namespace detail {
/// A bound kernel with its type erased: a plan stores it and a run calls it.
struct bound_kernel {
  const void* state = nullptr;
  status (*run)(const void* state, run_context&) = nullptr;
};

/// The only function of a row. It erases K and is instantiated for each row, so it is small. With `only_check` it binds
/// nothing; it returns NOT_IMPLEMENTED for a node that the kernel does not accept.
template <kernel K>
result<bound_kernel> bind_kernel(bind_context& context, bool only_check) {
  if constexpr (choosy_kernel<K>)
    if (!K::accepts(context)) return status_code::not_implemented;
  if (only_check) return bound_kernel{};
  using state_type = bound_state<K>;
  result<state_type> bound = K::bind(context);
  if (!bound) return bound.error();
  const state_type* const state = context.state.keep(std::move(*bound));
  if (!state) return status_code::out_of_memory;
  return bound_kernel{state, [](const void* self, run_context& each) -> status {
                        if constexpr (self_kernel<K>) return static_cast<const K*>(self)->run(each);
                        else return K::run(*static_cast<const state_type*>(self), each);
                      }};
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
