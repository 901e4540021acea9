#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// MaxPool of bytes whose channels are the last axis: Y [N, out..., C] of X [N, in..., C].
template <class T>
struct nhwc_max_pool {
  static constexpr bool instantiated = is_one_of<T, std::int8_t, std::uint8_t>;
  window shape = {};

  static result<nhwc_max_pool> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
