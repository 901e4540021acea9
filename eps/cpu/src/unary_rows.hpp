#pragma once
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/unary.hpp>

#include <algorithm>

#include <detail/float_rows.hpp>

// Rows of unary operations from functors on one element; of float, from a function on vectors where the functor has its
// name as `vectors`.
namespace cameo::inline CAMEO_ABI::eps {

/// F: made from unary_parameters if it has attributes; R operator()(T).
template <class F>
F make_functor([[maybe_unused]] const unary_parameters& parameters) {
  if constexpr (std::is_constructible_v<F, const unary_parameters&> && !std::is_empty_v<F>) return F{parameters};
  else return F{};
}

template <class F, class T, class R>
void map_row(const unary_parameters& parameters, const void* x, void* out, std::int64_t n) {
  const T* const from = static_cast<const T*>(x);
  R* const to = static_cast<R*>(out);
  if constexpr (std::is_same_v<T, float> && requires { F::vectors; }) {
    map_floats(F::vectors, from, to, n, parameters.a, parameters.b);
  } else {
    const F f = make_functor<F>(parameters);
    for (std::int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
  }
}

/// The same in float, block by block. F is known by its float row alone, so that only that is compiled per operation.
template <class T, class R>
void map_through_float(const unary_parameters& parameters, const void* x, void* out, std::int64_t n, unary_row row) {
  float wide[narrow_block];
  for (std::int64_t done = 0; done < n; done += narrow_block) {
    const std::int64_t m = std::min(narrow_block, n - done);
    widen_row(static_cast<const T*>(x) + done, wide, m);
    if constexpr (std::is_same_v<R, float>) {
      row(parameters, wide, wide, m);
      narrow_row(wide, static_cast<T*>(out) + done, m);
    } else {
      row(parameters, wide, static_cast<R*>(out) + done, m);
    }
  }
}

template <class F, class T, class R>
void any_map_row(const unary_parameters& parameters, const void* x, void* out, std::int64_t n) {
  if constexpr (std::is_arithmetic_v<T>) {
    map_row<F, T, R>(parameters, x, out, n);
  } else {
    using float_result = std::conditional_t<std::is_same_v<R, T>, float, R>;
    map_through_float<T, float_result>(parameters, x, out, n, map_row<F, float, float_result>);
  }
}

/// The row of F for a type of a set of types; null for others. R is `void` for "the type itself".
template <class Set, class F, class R = void>
unary_row find_unary_row(dtype type) {
  return Set::visit(type, unary_row{}, []<class T>(std::type_identity<T>) {
    return any_map_row<F, T, std::conditional_t<std::is_void_v<R>, T, R>>;
  });
}
template <class F>
unary_row find_float_row(dtype type) {
  return find_unary_row<float_elements, F>(type);
}

/// What an operation decides when it is bound.
struct unary_choice {
  unary_row row = nullptr;
  unary_parameters parameters;
  std::size_t out_bytes = 0;  // of an output element; 0: those of the input
};
/// Specialised for each operation, where its rows are compiled. INVALID_GRAPH for attributes that cannot be.
template <class Op>
result<unary_choice> choose_map(const bind_context&);

status finish_binding(bind_context&, const unary_choice&, unary_state&);

template <class Op>
result<unary<Op>> unary<Op>::bind(bind_context& c) {
  result<unary_choice> choice = choose_map<Op>(c);
  if (!choice) return choice.error();
  unary made;
  if (status bound = finish_binding(c, *choice, made); !bound) return bound;
  return made;
}

}  // namespace cameo::inline CAMEO_ABI::eps
