#pragma once
#include <cameo/core/dtype.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {
class run_context;
namespace eps {

// Conversions of rows between float and smaller types. float16, bfloat16 and float8 are computed in float, a row at a
// time. "Narrow" types are float16 and bfloat16; to "widen" is to convert to float, to "narrow" to round from float.

void widen_row(const float16* from, float* to, std::int64_t count);
void widen_row(const bfloat16* from, float* to, std::int64_t count);
void widen_row(const std::int8_t* from, float* to, std::int64_t count);
void widen_row(const std::uint8_t* from, float* to, std::int64_t count);
void widen_row(const float8e4m3fn* from, float* to, std::int64_t count);
void widen_row(const float8e4m3fnuz* from, float* to, std::int64_t count);
void widen_row(const float8e5m2* from, float* to, std::int64_t count);
void widen_row(const float8e5m2fnuz* from, float* to, std::int64_t count);

/// Rounds to nearest, ties to even; numbers out of range become infinity.
void narrow_row(const float* from, float16* to, std::int64_t count);
void narrow_row(const float* from, bfloat16* to, std::int64_t count);

template <class T>
inline constexpr bool is_narrow_v = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The operations on elements of one narrow type: widening a row, and packing a matrix as panels (see gemm_block.hpp).
struct narrow_type {
  void (*widen)(const void* from, float* to, std::int64_t count);
  void (*pack)(const void* from, std::int64_t stride, std::int64_t k_stride, std::int64_t count, std::int64_t k,
               std::int64_t width, float* to, const run_context* run);
};
extern const narrow_type narrow_float16, narrow_bfloat16;  // for float16 and bfloat16

/// An array of float16 or bfloat16 whose type is known at run time. Its readers widen it block by block. Code that
/// reads it is compiled once for both types, and a program without kernels of a type links nothing of that type.
struct narrow_elements {
  const void* data = nullptr;
  const narrow_type* type = nullptr;

  /// The elements of `from`; empty if T is not a narrow type.
  template <class T>
  static narrow_elements make([[maybe_unused]] const T* from) {
    if constexpr (is_narrow_v<T>) return {from, std::is_same_v<T, bfloat16> ? &narrow_bfloat16 : &narrow_float16};
    else return {};
  }
  explicit operator bool() const { return data; }
  narrow_elements operator+(std::int64_t n) const { return {static_cast<const float16*>(data) + n, type}; }
  /// Calls f with `data` as a pointer to its type.
  template <class F>
  auto as_typed(const F& f) const {
    return type == &narrow_bfloat16 ? f(static_cast<const bfloat16*>(data)) : f(static_cast<const float16*>(data));
  }
};
/// Widens elements that are `step` apart.
void widen_row(const narrow_elements& from, float* to, std::int64_t count, std::int64_t step = 1);
/// to[i] += from[i] * factor; the product is rounded before it is added.
void add_row(const narrow_elements& from, float factor, float* to, std::int64_t count);

/// Takes the place of an element type for floats of a type that is known only at run time.
struct any_float {};
/// The element type that a kernel of T passes to functions which read numbers for it: any_float for both narrow types,
/// so that their code is compiled once; float and double themselves, so that their code contains nothing for others.
template <class T>
using elements_like = std::conditional_t<is_narrow_v<T>, any_float, T>;
/// The element types that a kernel which computes in C may find at run time: for float any float, for double only
/// double.
template <class C>
using or_narrow = std::conditional_t<std::is_same_v<C, float>, any_float, C>;

/// Takes the place of narrow_elements for element types that are never narrow.
struct no_narrow_elements {
  constexpr explicit operator bool() const { return false; }
  constexpr no_narrow_elements operator+(std::int64_t) const { return {}; }
};

/// An array of numbers to compute with: of type T, or, if From is any_float, perhaps of a narrow type.
template <class T, class From = T>
struct number_source {
  static constexpr bool may_be_narrow = std::is_same_v<From, any_float>;
  static_assert(std::is_same_v<From, T> || (may_be_narrow && std::is_same_v<T, float>));

  const T* data = nullptr;
  [[no_unique_address]] std::conditional_t<may_be_narrow, narrow_elements, no_narrow_elements> narrow = {};

  template <class E>
  static number_source make(const E* from) {
    if constexpr (std::is_same_v<E, T>) return {from};
    else return {nullptr, narrow_elements::make(from)};
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
  /// Reads `lines` rows of `count` elements, which are `step` apart, one after the other into `to`.
  void read_lines(T* to, std::int64_t lines, std::int64_t count, std::int64_t step) const {
    if (step == count) return read(to, lines * count);
    for (std::int64_t i = 0; i < lines; ++i) (*this + i * step).read(to + i * count, count);
  }
};

/// The number of elements that elementwise kernels widen at a time, so that buffers fit on the stack and in the L1
/// cache.
inline constexpr std::int64_t narrow_block = 256;

}  // namespace eps
}  // namespace CAMEO_NAMESPACE
