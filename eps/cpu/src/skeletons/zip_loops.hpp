#pragma once
#include <cameo/eps/cpu/detail/narrow_rows.hpp>

#include <algorithm>
#include <type_traits>

// The parts of loops over pairs of elements that are the same for all operators and instruction sets.
namespace CAMEO_NAMESPACE::eps {

/// z[i] = x[i] op y[i]
template <class T, class R>
using pair_loop = void (*)(const T* x, const T* y, R* z, std::int64_t n);

/// Calls `loop` for operands with steps of 1 or 0. A step of 0 repeats one element, of which a block of copies is made,
/// so that one loop per type is compiled instead of three.
template <class T, class R>
void zip_steps(const T* x, std::int64_t x_step, const T* y, std::int64_t y_step, R* z, std::int64_t n,
               pair_loop<T, R> loop) {
  if (n <= 0) return;
  if (x_step && y_step) return loop(x, y, z, n);
  if (!x_step && !y_step) {
    loop(x, y, z, 1);
    std::fill_n(z + 1, n - 1, R(*z));
    return;
  }
  T one[narrow_block];
  std::fill_n(one, std::min(narrow_block, n), x_step ? *y : *x);
  for (std::int64_t i = 0; i < n; i += narrow_block)
    loop(x_step ? x + i : one, y_step ? y + i : one, z + i, std::min(narrow_block, n - i));
}

/// zip_steps() for operands of type T, computed in C, with results of type R. If C is float, float16 and bfloat16 are
/// converted block by block.
template <class T, class C, class R>
void zip_elements(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out, std::int64_t n,
                  pair_loop<C, R> loop) {
  if constexpr (std::is_same_v<T, C> || !std::is_same_v<C, float>) {
    zip_steps(static_cast<const C*>(a), a_step, static_cast<const C*>(b), b_step, static_cast<R*>(out), n, loop);
  } else {  // narrow floats, block by block
    C x[narrow_block], y[narrow_block];
    for (std::int64_t done = 0; done < n; done += narrow_block) {
      const std::int64_t m = std::min(narrow_block, n - done);
      if (a_step || done == 0) widen_row(static_cast<const T*>(a) + done * a_step, x, a_step ? m : 1);
      if (b_step || done == 0) widen_row(static_cast<const T*>(b) + done * b_step, y, b_step ? m : 1);
      if constexpr (std::is_same_v<R, float>) {
        C z[narrow_block];
        zip_steps(x, a_step, y, b_step, z, m, loop);
        narrow_row(z, static_cast<T*>(out) + done, m);
      } else {
        zip_steps(x, a_step, y, b_step, static_cast<R*>(out) + done, m, loop);
      }
    }
  }
}

}  // namespace CAMEO_NAMESPACE::eps
