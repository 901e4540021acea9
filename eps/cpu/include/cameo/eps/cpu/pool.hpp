#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Windows over the spatial axes of X [N, C, in...]; Y [N, C, out...] holds a number per window, made of the elements of
// the window that lie inside X. 16-bit floats compute in float. A window that lies in the padding alone has the result
// of no elements: the lowest number for the maximum, 0 for mean and norm.

/// The largest element; NaN takes precedence. Output 1, if present, is its place: an index into all of X, with the last
/// spatial axis fastest or, with storage_order 1, the first one.
template <class T>
struct max_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16, std::int8_t, std::uint8_t>;
  window shape = {};
  bool first_axis_fastest = false;

  static result<max_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// The mean; with count_include_pad, zeros of the padding count as elements (but not those that ceil_mode adds).
template <class T>
struct average_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  window shape = {};
  bool include_pad = false;

  static result<average_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// The p-norm.
template <class T>
struct lp_pool {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  window shape = {};
  float p = 2;

  static result<lp_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// One window over everything: Y [N, C, 1...] of X [N, C, ...].
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
