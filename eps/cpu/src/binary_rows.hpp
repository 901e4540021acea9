#pragma once
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>

#include <algorithm>

// Rows of binary operations from functors on two elements.
namespace cameo::inline CAMEO_ABI::eps {

/// An element of a bool tensor as kernels read it: a file may hold other bytes than 0 and 1.
enum class truth : std::uint8_t {};
template <class T>
using stored = std::conditional_t<std::is_same_v<T, bool>, truth, T>;

/// Unsigned and no narrower than int: where integers wrap.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

/// F: R operator()(T, T). The three loops are what compilers can make vectors of; for float, a functor may have a
/// function `vectors` instead.
template <class F, class T, class R>
void apply_row(const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, R* out, std::int64_t n) {
  constexpr F f{};
  if constexpr (requires { F::vectors(a, a_step, b, b_step, out, n); }) return F::vectors(a, a_step, b, b_step, out, n);
  if (a_step && b_step) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  } else if (a_step) {
    const T y = *b;
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i], y);
  } else if (b_step) {
    const T x = *a;
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
  } else {
    const R z = f(*a, *b);
    for (std::int64_t i = 0; i < n; ++i) out[i] = z;
  }
}

template <class F, class T, class R>
void plain_row(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out, std::int64_t n) {
  apply_row<F>(static_cast<const T*>(a), a_step, static_cast<const T*>(b), b_step, static_cast<R*>(out), n);
}

/// The same in float, block by block. F is noted by its float row, so that nothing but that is compiled per operation.
template <class T, class R>
void through_float(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out, std::int64_t n,
                   void (*row)(const float*, std::int64_t, const float*, std::int64_t, R*, std::int64_t)) {
  float x[narrow_block], y[narrow_block];
  std::conditional_t<std::is_same_v<R, float>, float, char> z[narrow_block];
  for (std::int64_t done = 0; done < n; done += narrow_block) {
    const std::int64_t m = std::min(narrow_block, n - done);
    if (a_step || done == 0) widen_row(static_cast<const T*>(a) + done * a_step, x, a_step ? m : 1);
    if (b_step || done == 0) widen_row(static_cast<const T*>(b) + done * b_step, y, b_step ? m : 1);
    if constexpr (std::is_same_v<R, float>) {
      row(x, a_step, y, b_step, z, m);
      narrow_row(z, static_cast<T*>(out) + done, m);
    } else {
      static_cast<void>(z);
      row(x, a_step, y, b_step, static_cast<R*>(out) + done, m);
    }
  }
}

/// R is T for operations that stay in the type (narrow ones then compute float to float), or bool.
template <class F, class T, class R>
void any_row(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out, std::int64_t n) {
  if constexpr (is_narrow_v<T>) {
    using float_result = std::conditional_t<std::is_same_v<R, T>, float, R>;
    through_float<T, float_result>(a, a_step, b, b_step, out, n, apply_row<F, float, float_result>);
  } else {
    plain_row<F, T, R>(a, a_step, b, b_step, out, n);
  }
}

/// The row of F for a type of a set of types; null for others. R is `void` for "the type itself".
template <class Set, class F, class R = void>
binary_row find_binary_row(dtype type) {
  return Set::visit(type, binary_row{}, []<class T>(std::type_identity<T>) {
    return any_row<F, stored<T>, std::conditional_t<std::is_void_v<R>, T, R>>;
  });
}

/// What an operation decides when it is bound.
struct binary_choice {
  binary_row row = nullptr;
  std::size_t out_bytes = 0;  // of an output element; 0: those of the first operand
  bool divides = false;
  binary_state::alignment align = binary_state::alignment::both_ways;
};
/// Specialised for each operation, where its rows are compiled. INVALID_GRAPH for attributes that cannot be.
template <class Op>
result<binary_choice> choose_row(const bind_context&);

status finish_binding(bind_context&, const binary_choice&, binary_state&);

template <class Op>
result<binary<Op>> binary<Op>::bind(bind_context& c) {
  result<binary_choice> choice = choose_row<Op>(c);
  if (!choice) return choice.error();
  binary made;
  if (status bound = finish_binding(c, *choice, made); !bound) return bound;
  return made;
}

}  // namespace cameo::inline CAMEO_ABI::eps
