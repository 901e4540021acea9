#pragma once
#include <cameo/core/dtype.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {
class run_context;
namespace eps {

// Rows of narrow floats and bytes to floats, and of narrow floats back: narrow types compute in float, a row at a time.

void widen_row(const float16* from, float* to, std::int64_t count);
void widen_row(const bfloat16* from, float* to, std::int64_t count);
void widen_row(const std::int8_t* from, float* to, std::int64_t count);
void widen_row(const std::uint8_t* from, float* to, std::int64_t count);
void widen_row(const float8e4m3fn* from, float* to, std::int64_t count);
void widen_row(const float8e4m3fnuz* from, float* to, std::int64_t count);
void widen_row(const float8e5m2* from, float* to, std::int64_t count);
void widen_row(const float8e5m2fnuz* from, float* to, std::int64_t count);

/// Rounds to nearest, ties to even; out of range is infinity.
void narrow_row(const float* from, float16* to, std::int64_t count);
void narrow_row(const float* from, bfloat16* to, std::int64_t count);

template <class T>
inline constexpr bool is_narrow_v = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// What is done with elements of one narrow type: widening a row, and packing a matrix as panels (see gemm.hpp).
struct narrow_type {
  void (*widen)(const void* from, float* to, std::int64_t count);
  void (*pack)(const void* from, std::int64_t stride, std::int64_t k_stride, std::int64_t count, std::int64_t k,
               std::int64_t width, float* to, const run_context* run);
};
extern const narrow_type narrow_halves, narrow_brains;  // float16, bfloat16

/// Elements of float16 or bfloat16 that are widened by those who use them, block by block. Code that reads them is
/// there once, not for each type, and a program without kernels of a type has nothing of that type.
struct narrow_elements {
  const void* data = nullptr;
  const narrow_type* type = nullptr;

  /// Those of `from`, or none if T is no narrow type.
  template <class T>
  static narrow_elements of([[maybe_unused]] const T* from) {
    if constexpr (is_narrow_v<T>) return {from, std::is_same_v<T, bfloat16> ? &narrow_brains : &narrow_halves};
    else return {};
  }
  explicit operator bool() const { return data; }
  narrow_elements operator+(std::int64_t n) const { return {static_cast<const float16*>(data) + n, type}; }
  /// f(data), in its type.
  template <class F>
  auto as_typed(const F& f) const {
    return type == &narrow_brains ? f(static_cast<const bfloat16*>(data)) : f(static_cast<const float16*>(data));
  }
};
/// Elements that are `step` apart.
void widen_row(const narrow_elements& from, float* to, std::int64_t count, std::int64_t step = 1);
/// to[i] += from[i] * factor, the product rounded first.
void add_row(const narrow_elements& from, float factor, float* to, std::int64_t count);

/// In place of an element type: a type of floats that is known in a run, of which a few have one code.
struct any_float {};
/// What kernels of T name to those who read numbers for them: one code is for both narrow types, and that of float and
/// double has nothing of it.
template <class T>
using elements_like = std::conditional_t<is_narrow_v<T>, any_float, T>;
/// What kernels that compute in C, and ask in a run what they read, may find: of double, nothing else.
template <class C>
using or_narrow = std::conditional_t<std::is_same_v<C, float>, any_float, C>;

/// In place of narrow elements where there are none.
struct no_narrow_elements {
  constexpr explicit operator bool() const { return false; }
  constexpr no_narrow_elements operator+(std::int64_t) const { return {}; }
};

/// Numbers to compute with: where they lie, or, if From is any_float, perhaps 16 bits each.
template <class T, class From = T>
struct number_source {
  static constexpr bool may_be_narrow = std::is_same_v<From, any_float>;
  static_assert(std::is_same_v<From, T> || (may_be_narrow && std::is_same_v<T, float>));

  const T* data = nullptr;
  [[no_unique_address]] std::conditional_t<may_be_narrow, narrow_elements, no_narrow_elements> narrow = {};

  template <class E>
  static number_source of(const E* from) {
    if constexpr (std::is_same_v<E, T>) return {from};
    else return {nullptr, narrow_elements::of(from)};
  }
  explicit operator bool() const { return data || narrow; }
  number_source operator+(std::int64_t n) const {
    return narrow ? number_source{nullptr, narrow + n} : number_source{data + n};
  }
  void read(T* to, std::int64_t count, std::int64_t step = 1) const {
    if constexpr (may_be_narrow)
      if (narrow) return widen_row(narrow, to, count, step);
    if (step == 1) std::copy_n(data, count, to);
    else
      for (std::int64_t i = 0; i < count; ++i) to[i] = data[i * step];
  }
  /// Lines of `count` elements, `step` apart, one after the other.
  void read_lines(T* to, std::int64_t lines, std::int64_t count, std::int64_t step) const {
    if (step == count) return read(to, lines * count);
    for (std::int64_t i = 0; i < lines; ++i) (*this + i * step).read(to + i * count, count);
  }
};

/// Elements that elementwise kernels widen at a time: their buffers stay on the stack and in the first cache.
inline constexpr std::int64_t narrow_block = 256;

}  // namespace eps
}  // namespace CAMEO_NAMESPACE
