#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Pools over the spatial axes of X [N, C, in...]: Y [N, C, out...] has a number for each window, computed from the
// elements of the window that lie inside X. float16 and bfloat16 are computed in float. A window that lies in the
// padding entirely has the result of no elements: the lowest number for the maximum, 0 for mean and norm.

/// MaxPool: the largest element; NaN takes precedence. The optional output 1 is its position, as an index into all of
/// X, with the last spatial axis fastest or, with storage_order 1, the first one.
template <class T>
struct max_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16, std::int8_t, std::uint8_t>;
  window shape = {};
  bool first_axis_fastest = false;

  static result<max_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// AveragePool: the mean; with count_include_pad, zeros of the padding count as elements, except those that ceil_mode
/// adds.
template <class T>
struct average_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  window shape = {};
  bool include_pad = false;

  static result<average_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// LpPool: the p-norm.
template <class T>
struct lp_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  window shape = {};
  float p = 2;

  static result<lp_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// GlobalAveragePool: one window over all spatial axes, Y [N, C, 1...] of X [N, C, ...]. GlobalMaxPool and GlobalLpPool
/// have the same window.
template <class T>
struct global_average_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  static result<global_average_pool> bind(bind_context&) { return global_average_pool{}; }
  status run(run_context&) const;
};
template <class T>
struct global_max_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  static result<global_max_pool> bind(bind_context&) { return global_max_pool{}; }
  status run(run_context&) const;
};
template <class T>
struct global_lp_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  float p = 2;

  static result<global_lp_pool> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
