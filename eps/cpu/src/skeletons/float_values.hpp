#pragma once
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/run_context.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "functions/as_element.hpp"
#include "strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

// Conversions for kernels that compute in float or double, with operands of any of the four floating-point types.

using plain_floats = detail::element_set<float, double>;
using narrow_floats = detail::element_set<float16, bfloat16>;

/// Converts n elements of a floating-point type to float or double, rounded to nearest. For another type, which is a
/// defect of the kernel, all are NaN, so that the defect is visible.
template <class C>
void convert_floats(dtype type, const void* from, C* to, std::int64_t n) {
  if (plain_floats::call(type,
                         [&]<class T>(std::type_identity<T>) { std::copy_n(static_cast<const T*>(from), n, to); }))
    return;
  if constexpr (std::is_same_v<C, float>) {
    const auto widen = [&]<class T>(std::type_identity<T>) { widen_row(static_cast<const T*>(from), to, n); };
    if (!narrow_floats::call(type, widen)) std::fill_n(to, n, std::numeric_limits<float>::quiet_NaN());
  } else {
    float wide[narrow_block];
    const std::int64_t bytes = bits_of(type) / 8;
    for (std::int64_t done = 0; done < n; done += narrow_block) {
      const std::int64_t m = std::min(narrow_block, n - done);
      convert_floats(type, static_cast<const std::byte*>(from) + done * bytes, wide, m);
      std::copy_n(wide, m, to + done);
    }
  }
}
/// Converts n floats or doubles to elements of a floating-point type, rounded to nearest.
template <class C>
void store_floats(const C* from, dtype type, void* to, std::int64_t n) {
  if (plain_floats::call(type, [&]<class T>(std::type_identity<T>) {
        std::transform(from, from + n, static_cast<T*>(to), [](C x) { return T(x); });
      }))
    return;
  if constexpr (std::is_same_v<C, float>) {
    narrow_floats::call(type, [&]<class T>(std::type_identity<T>) { narrow_row(from, static_cast<T*>(to), n); });
  } else {
    float wide[narrow_block];
    const std::int64_t bytes = bits_of(type) / 8;
    for (std::int64_t done = 0; done < n; done += narrow_block) {
      const std::int64_t m = std::min(narrow_block, n - done);
      std::transform(from + done, from + done + m, wide, [](C x) { return float(x); });
      store_floats(wide, type, static_cast<std::byte*>(to) + done * bytes, m);
    }
  }
}
/// Converts elements [first, first + n) of a tensor of a floating-point type to C; save_floats() converts back.
template <class C>
void load_floats(const value& v, std::int64_t first, C* to, std::int64_t n) {
  convert_floats(v.type, static_cast<const std::byte*>(v.data) + first * (bits_of(v.type) / 8), to, n);
}
template <class C>
void save_floats(const C* from, const value& v, std::int64_t first, std::int64_t n) {
  store_floats(from, v.type, static_cast<std::byte*>(v.data) + first * (bits_of(v.type) / 8), n);
}
/// The elements of a tensor of C, or of float16 or bfloat16, for callers that widen what they use.
template <class C>
number_source<C, or_narrow<C>> source_of(const value& v) {
  if constexpr (std::is_same_v<C, float>)
    if (v.type != dtype::f32) return {nullptr, {v.data, v.type == dtype::bf16 ? &narrow_bfloat16 : &narrow_float16}};
  return {static_cast<const C*>(v.data)};
}
/// Calls f(elements of the tensor, buffer, units done, units) for blocks of n units. A unit is `unit` consecutive
/// elements; units are `step` elements apart. The buffer has space for the units of a block.
template <class F>
void each_gathered(const value& v, std::int64_t first, std::int64_t step, std::int64_t unit, std::int64_t n, F&& f) {
  alignas(8) std::byte block[narrow_block * 8];
  const std::int64_t bytes = bits_of(v.type) / 8, most = narrow_block / unit;
  for (std::int64_t done = 0; done < n; done += most)
    f(static_cast<std::byte*>(v.data) + (first + done * step) * bytes, block, done, std::min(most, n - done));
}
template <class C>
void gather_floats(const value& v, std::int64_t first, std::int64_t step, std::int64_t unit, C* to, std::int64_t n) {
  const auto bytes = std::size_t(bits_of(v.type) / 8);
  each_gathered(v, first, step, unit, n, [&](std::byte* from, std::byte* block, std::int64_t done, std::int64_t m) {
    for (std::int64_t i = 0; i < m; ++i)
      move_block(block + std::size_t(i * unit) * bytes, from + std::size_t(i * step) * bytes,
                 std::size_t(unit) * bytes);
    convert_floats(v.type, block, to + done * unit, m * unit);
  });
}
template <class C>
void scatter_floats(const C* from, const value& v, std::int64_t first, std::int64_t step, std::int64_t unit,
                    std::int64_t n) {
  const auto bytes = std::size_t(bits_of(v.type) / 8);
  each_gathered(v, first, step, unit, n, [&](std::byte* to, std::byte* block, std::int64_t done, std::int64_t m) {
    store_floats(from + done * unit, v.type, block, m * unit);
    for (std::int64_t i = 0; i < m; ++i)
      move_block(to + std::size_t(i * step) * bytes, block + std::size_t(i * unit) * bytes, std::size_t(unit) * bytes);
  });
}
template <class C>
C float_at(const value& v, std::int64_t i) {
  C number{};
  load_floats(v, i, &number, 1);
  return number;
}
/// A number converted to a floating-point type, as the bytes of an element.
inline std::uint64_t float_element(dtype type, float number) {
  std::uint64_t bytes = 0;
  store_floats(&number, type, &bytes, 1);
  return bytes;
}

/// store_floats() on several threads, if n is large enough.
template <class C>
void store_floats(run_context& c, const C* from, dtype type, void* to, std::int64_t n) {
  const std::int64_t bytes = bits_of(type) / 8;
  parallel_elements(c, n, 1 << 16, [&](std::int64_t first, std::int64_t last) {
    store_floats(from + first, type, static_cast<std::byte*>(to) + first * bytes, last - first);
  });
}

}  // namespace CAMEO_NAMESPACE::eps
