// Loops over rows of quantized values, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

#include "code_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::codes {
namespace hn = hwy::HWY_NAMESPACE;
using floats = hn::ScalableTag<float>;
using whole = hn::RebindToSigned<floats>;
using vec = hn::Vec<floats>;
template <class T>
using narrow = hn::Rebind<T, floats>;

HWY_INLINE std::int64_t lanes() { return std::int64_t(hn::Lanes(floats{})); }
inline constexpr std::int64_t most_lanes = HWY_MAX_BYTES / sizeof(float);

template <class T>
HWY_INLINE vec load(const T* x) {
  if constexpr (sizeof(T) == 4) return hn::ConvertTo(floats{}, hn::LoadU(whole{}, x));
  else return hn::ConvertTo(floats{}, hn::PromoteTo(whole{}, hn::LoadU(narrow<T>{}, x)));
}
/// How numbers in units of the scale are quantized: the limits of the range minus the zero point, and the zero point.
struct rounding {
  vec low, high, zero;
};
/// Added to a float of magnitude below 2^22, this makes the last bits of the result the nearest integer, ties to even.
/// An integer may then be added exactly. The last 16 bits of this number itself are 0.
inline constexpr float whole_in_bits = 0x1.8p23f;

/// Quantizes numbers in units of the scale; the last bits of the returned floats are the quantized values.
HWY_INLINE vec codes_of(vec steps, const rounding& r) {
  const vec number = hn::IfThenElseZero(hn::Eq(steps, steps), steps);
  const vec held = hn::Min(hn::Max(number, r.low), r.high);
  return hn::Add(hn::Add(held, hn::Set(floats{}, whole_in_bits)), r.zero);
}
template <class T>
HWY_INLINE void store(vec code, T* y) {
  using bits = std::make_unsigned_t<T>;
  const hn::RebindToUnsigned<floats> d;
  hn::StoreU(hn::TruncateTo(narrow<bits>{}, hn::BitCast(d, code)), narrow<bits>{}, reinterpret_cast<bits*>(y));
}
HWY_INLINE rounding rounding_of(vec zero, float low, float high) {
  const floats d;
  return {hn::Sub(hn::Set(d, low), zero), hn::Sub(hn::Set(d, high), zero), zero};
}

template <class T>
void quantize(const float* x, const code_scales& by, float low, float high, T* y, std::int64_t n) {
  const floats d;
  const std::int64_t step = lanes(), whole_vectors = n - n % step;
  if (by.step == 0) {
    const vec scale = hn::Set(d, *by.scale);
    const rounding r = rounding_of(hn::Set(d, *by.zero), low, high);
    for (std::int64_t i = 0; i < whole_vectors; i += step)
      store(codes_of(hn::Div(hn::LoadU(d, x + i), scale), r), y + i);
  } else {
    for (std::int64_t i = 0; i < whole_vectors; i += step)
      store(codes_of(hn::Div(hn::LoadU(d, x + i), hn::LoadU(d, by.scale + i)),
                     rounding_of(hn::LoadU(d, by.zero + i), low, high)),
            y + i);
  }
  if (whole_vectors == n) return;
  float some[3][most_lanes];
  T last[most_lanes];
  for (std::int64_t i = 0; i < step; ++i) {
    const std::int64_t at = std::min(whole_vectors + i, n - 1);
    some[0][i] = x[at], some[1][i] = by.scale[at * by.step], some[2][i] = by.zero[at * by.step];
  }
  quantize(some[0], {some[1], some[2], by.step}, low, high, last, step);
  std::copy_n(last, n - whole_vectors, y + whole_vectors);
}

template <class T>
void dequantize(const T* x, const code_scales& by, float* y, std::int64_t n) {
  const floats d;
  const std::int64_t step = lanes(), whole_vectors = n - n % step;
  if (by.step == 0) {
    const vec scale = hn::Set(d, *by.scale), zero = hn::Set(d, *by.zero);
    for (std::int64_t i = 0; i < whole_vectors; i += step)
      hn::StoreU(hn::Mul(hn::Sub(load(x + i), zero), scale), d, y + i);
  } else {
    for (std::int64_t i = 0; i < whole_vectors; i += step)
      hn::StoreU(hn::Mul(hn::Sub(load(x + i), hn::LoadU(d, by.zero + i)), hn::LoadU(d, by.scale + i)), d, y + i);
  }
  for (std::int64_t i = whole_vectors; i < n; ++i) y[i] = (float(x[i]) - by.zero[i * by.step]) * by.scale[i * by.step];
}

/// Element `i` of a packed row.
template <class T>
HWY_INLINE T unpacked(const std::uint8_t* x, unsigned bits, std::int64_t i) {
  const auto bit = unsigned(i % (8 / bits)) * bits;
  const int code = x[i * bits / 8] >> bit & ((1 << bits) - 1), sign = 1 << (bits - 1);
  return T(std::is_signed_v<T> ? (code ^ sign) - sign : code);
}

template <class T>
void unpack(const std::uint8_t* x, unsigned bits, T* y, std::int64_t n) {
  std::int64_t i = 0;
#if CAMEO_SIMD_VECTORS
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint16_t, decltype(d)> pairs;  // there are no shifts of bytes
  const auto step = std::int64_t(hn::Lanes(d));
  const auto four = hn::Set(d, 15), sign = hn::Set(d, std::is_signed_v<T> ? 8 : 0);
  const auto finish = [&](auto code) { return hn::Sub(hn::Xor(hn::And(code, four), sign), sign); };
  if (bits == 4)
    for (; i + 2 * step <= n; i += 2 * step) {
      const auto both = hn::LoadU(d, x + i / 2);
      const auto high = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(pairs, both)));
      hn::StoreInterleaved2(finish(both), finish(high), d, reinterpret_cast<std::uint8_t*>(y) + i);
    }
#endif
  for (; i < n; ++i) y[i] = unpacked<T>(x, bits, i);
}

template <class T>
void pack(const T* x, unsigned bits, std::uint8_t* y, std::int64_t n) {
  const std::int64_t per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  std::int64_t i = 0;
  if (bits == 4)
    for (; i + 2 <= n; i += 2) y[i / 2] = std::uint8_t((unsigned(x[i]) & 15) | (unsigned(x[i + 1]) & 15) << 4);
  for (; i < n; ++i) {
    std::uint8_t& byte = y[i / per_byte];
    const auto shift = unsigned(i % per_byte) * bits;
    byte = std::uint8_t((shift ? byte : 0) | (unsigned(x[i]) & mask) << shift);
  }
}

#if HWY_ARCH_X86  // minimum and maximum return the second operand if one is NaN
HWY_INLINE vec lesser(vec v, vec so_far) { return hn::Min(v, so_far); }
HWY_INLINE vec larger(vec v, vec so_far) { return hn::Max(v, so_far); }
#else
HWY_INLINE vec lesser(vec v, vec so_far) { return hn::IfThenElse(hn::Lt(v, so_far), v, so_far); }
HWY_INLINE vec larger(vec v, vec so_far) { return hn::IfThenElse(hn::Lt(so_far, v), v, so_far); }
#endif
void find_range(const float* x, std::int64_t n, float& low, float& high) {
  const floats d;
  constexpr std::int64_t chains = 4;
  const std::int64_t step = lanes();
  std::int64_t i = 0;
  float least = low, most = high;
  const auto take = [](float v, float& l, float& h) { l = v < l ? v : l, h = h < v ? v : h; };
  if (n >= chains * step) {
    vec l[chains], h[chains];  // in registers, as all loops over them are unrolled
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < chains; ++k) l[k] = hn::Set(d, least), h[k] = hn::Set(d, most);
    for (; i + chains * step <= n; i += chains * step)
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < chains; ++k) {
        const vec v = hn::LoadU(d, x + i + k * step);
        l[k] = lesser(v, l[k]), h[k] = larger(v, h[k]);
      }
    float all[2][most_lanes];
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < chains; ++k) {
      hn::StoreU(l[k], d, all[0]), hn::StoreU(h[k], d, all[1]);
      for (std::int64_t j = 0; j < step; ++j) take(all[0][j], least, most), take(all[1][j], least, most);
    }
  }
  for (; i < n; ++i) take(x[i], least, most);
  low = least, high = most;
}

#if HWY_ARCH_X86 && CAMEO_SIMD_FLOAT16  // vectors have at least 32 bytes, without which this is not faster
/// Looks bytes up in a table of 256 entries, 16 rows of 16. The shuffle instruction uses the low four bits of an index
/// below 128, and returns 0 for others. So the rows after the first (of each half of the table) are replaced by the XOR
/// with the row before. The index is decreased by 16 for each row, with saturation, so that it stays negative once it
/// is: the XOR of the lookups in all rows up to that of the index is its entry.
void map(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::int64_t n) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::RebindToSigned<decltype(d)> s;
  const auto step = std::int64_t(hn::Lanes(d));
  std::int64_t i = 0;
  if (n >= step) {
    HWY_ALIGN std::uint8_t changes[256];
    for (const int half : {0, 128}) {
      std::copy_n(table + half, 16, changes + half);
      for (int k = half + 16; k < half + 128; ++k) changes[k] = std::uint8_t(table[k] ^ table[k - 16]);
    }
    const auto sixteen = hn::Set(s, 16);
    const auto look_up = [&](auto codes) {
      auto low = hn::BitCast(s, codes), high = hn::BitCast(s, hn::Xor(codes, hn::Set(d, 128)));
      auto a = hn::Zero(d), b = hn::Zero(d);
      for (int row = 0; row < 8; ++row) {
        a = hn::Xor(
            a, hn::BitCast(d, hn::TableLookupBytesOr0(hn::BitCast(s, hn::LoadDup128(d, changes + 16 * row)), low)));
        b = hn::Xor(b, hn::BitCast(d, hn::TableLookupBytesOr0(
                                          hn::BitCast(s, hn::LoadDup128(d, changes + 128 + 16 * row)), high)));
        low = hn::SaturatedSub(low, sixteen), high = hn::SaturatedSub(high, sixteen);
      }
      return hn::Xor(a, b);
    };
    for (; i + step <= n; i += step) hn::StoreU(look_up(hn::LoadU(d, x + i)), d, y + i);
  }
  for (; i < n; ++i) y[i] = table[x[i]];
}
#else
void map(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = table[x[i]];
}
#endif

/// A row of an operand, of which at(i) is the vector from element i on; or, if it Repeats, its only element.
template <class T, bool Repeats>
struct operand {
  const T* codes;
  vec one;
  explicit operand(const T* from) : codes{from}, one{hn::Set(floats{}, float(*from))} {}
  HWY_INLINE vec at(std::int64_t i) const {
    if constexpr (Repeats) return one;
    else return load(codes + i);
  }
};

/// Computes sums or products by the definition, with each operation rounded.
template <class Zip>
struct exact_zip {
  vec a_scale, a_zero, b_scale, b_zero, scale;
  rounding r;
  using T = typename Zip::code;
  explicit exact_zip(const code_zip& by)
      : a_scale{hn::Set(floats{}, by.a.scale)},
        a_zero{hn::Set(floats{}, by.a.zero)},
        b_scale{hn::Set(floats{}, by.b.scale)},
        b_zero{hn::Set(floats{}, by.b.zero)},
        scale{hn::Set(floats{}, by.y.scale)},
        r{rounding_of(hn::Set(floats{}, by.y.zero), std::numeric_limits<T>::min(), std::numeric_limits<T>::max())} {}
  HWY_INLINE vec operator()(vec a, vec b) const {
    const vec l = hn::Mul(hn::Sub(a, a_zero), a_scale), m = hn::Mul(hn::Sub(b, b_zero), b_scale);
    return codes_of(hn::Div(Zip::product ? hn::Mul(l, m) : hn::Add(l, m), scale), r);
  }
};

/// Computes sums or products without a division, and with fewer roundings. Its result can differ from the definition's
/// only next to a tie (a number midway between two integers). So the caller recomputes vectors in which an element is
/// more than `most` away from the nearest integer. `holds` is true if that is certain for these scales. With u = 2^-24
/// and m = 255 * (a.scale + b.scale) / y.scale, both numbers are at most (4 m) u from the exact sum, and the sum below
/// is computed from numbers of at most 2 m + 256, which are rounded five times. Products that don't saturate are at
/// most 512.
template <class Zip>
struct fast_zip {
  bool holds;
  vec a_factor, b_factor, a_zero, b_zero, rest, low, high;
  float most;
  using T = typename Zip::code;
  explicit fast_zip(const code_zip& by)
      : a_zero{hn::Set(floats{}, by.a.zero)},
        b_zero{hn::Set(floats{}, by.b.zero)},
        low{hn::Set(floats{}, whole_in_bits + float(std::numeric_limits<T>::min()))},
        high{hn::Set(floats{}, whole_in_bits + float(std::numeric_limits<T>::max()))} {
    const double a = by.a.scale, b = by.b.scale, y = by.y.scale;
    const auto af = float(Zip::product ? a * b / y : a / y), bf = float(b / y);
    const double largest = Zip::product ? 65025 * double(af) : 255 * (double(af) + double(bf));
    const double margin = (Zip::product ? 8 * 512.0 : 12 * largest + 5 * 256) * 0x1p-24;
    const auto is_normal = [](float v) { return v > 1e-30f && v < 1e30f; };
    holds = is_normal(by.a.scale) && is_normal(by.b.scale) && is_normal(by.y.scale) && is_normal(af) && is_normal(bf) &&
            largest < 0x1p20 && margin < 1 / 64.0;
    a_factor = hn::Set(floats{}, af);
    b_factor = hn::Set(floats{}, bf);
    rest = hn::Set(floats{}, float(Zip::product ? double(by.y.zero)
                                                : by.y.zero - double(af) * by.a.zero - double(bf) * by.b.zero));
    most = float(0.5 - margin);
  }
  /// `far` becomes the maximum of itself and the distance to the nearest integer. Processors have fewer units for
  /// additions of floats than for products or integers: so differences are computed as products with -1, and floats
  /// above 0 are compared as integers.
  HWY_INLINE vec operator()(vec a, vec b, hn::Vec<whole>& far) const {
    const floats d;
    const whole i;
    const vec number = Zip::product ? hn::MulAdd(hn::Mul(hn::Sub(a, a_zero), hn::Sub(b, b_zero)), a_factor, rest)
                                    : hn::MulAdd(b, b_factor, hn::MulAdd(a, a_factor, rest));
    const vec whole_number = hn::Add(number, hn::Set(d, whole_in_bits));
    const vec nearest = hn::Sub(whole_number, hn::Set(d, whole_in_bits));
    far = hn::Max(far, hn::BitCast(i, hn::Abs(hn::NegMulAdd(nearest, hn::Set(d, 1.0f), number))));
    const auto code = hn::BitCast(i, whole_number);
    return hn::BitCast(d, hn::Min(hn::Max(code, hn::BitCast(i, low)), hn::BitCast(i, high)));
  }
};

template <class Zip, bool RepeatA, bool RepeatB, class T = typename Zip::code>
HWY_INLINE void zip_vectors(const code_zip& by, const T* a, const T* b, T* y, std::int64_t n) {
  const floats d;
  const std::int64_t step = lanes();
  const operand<T, RepeatA> left{a};
  const operand<T, RepeatB> right{b};
  const exact_zip<Zip> exact{by};
  const fast_zip<Zip> fast{by};
  const auto most = hn::BitCast(whole{}, hn::Set(d, fast.most));
  // With scales that are round numbers, ties are frequent. Once too many vectors were recomputed, the rest is computed
  // by the definition.
  std::int64_t i = 0, again = 0;
  if (fast.holds) {
    for (; i + 2 * step <= n && again <= 8 + i / (16 * step); i += 2 * step) {
      auto far = hn::Zero(whole{});
      const vec a0 = left.at(i), a1 = left.at(i + step), b0 = right.at(i), b1 = right.at(i + step);
      vec y0 = fast(a0, b0, far), y1 = fast(a1, b1, far);
      if (HWY_UNLIKELY(!hn::AllTrue(whole{}, hn::Lt(far, most)))) y0 = exact(a0, b0), y1 = exact(a1, b1), ++again;
      store(y0, y + i), store(y1, y + i + step);
    }
  }
  for (; i + step <= n; i += step) store(exact(left.at(i), right.at(i)), y + i);
}

template <class Zip, class T = typename Zip::code>
void zip(const code_zip& by, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T* y, std::int64_t n) {
  if (n <= 0) return;
  const std::int64_t step = lanes(), whole_vectors = n - n % step;
  if (a_step && b_step) zip_vectors<Zip, false, false>(by, a, b, y, whole_vectors);
  else if (a_step) zip_vectors<Zip, false, true>(by, a, b, y, whole_vectors);
  else if (b_step) zip_vectors<Zip, true, false>(by, a, b, y, whole_vectors);
  else zip_vectors<Zip, true, true>(by, a, b, y, whole_vectors);
  if (whole_vectors == n) return;
  T some[3][most_lanes];
  for (std::int64_t i = 0; i < step; ++i) {
    const std::int64_t at = std::min(whole_vectors + i, n - 1);
    some[0][i] = a[at * a_step], some[1][i] = b[at * b_step];
  }
  zip_vectors<Zip, false, false>(by, some[0], some[1], some[2], step);
  std::copy_n(some[2], n - whole_vectors, y + whole_vectors);
}

void choose(const bool* which, const std::uint8_t* x, const std::uint8_t* y, std::uint8_t* z, std::int64_t n) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto step = std::int64_t(hn::Lanes(d));
  const auto* const bytes =
      reinterpret_cast<const std::uint8_t*>(which);  // bools of a file may have other values than 0 and 1
  std::int64_t i = 0;
  for (; i + step <= n; i += step)
    hn::StoreU(hn::IfThenElse(hn::Eq(hn::LoadU(d, bytes + i), hn::Zero(d)), hn::LoadU(d, y + i), hn::LoadU(d, x + i)),
               d, z + i);
  for (; i < n; ++i) z[i] = bytes[i] ? x[i] : y[i];
}

/// Adds rows, in four vectors of columns at a time, to hide the latency of an addition.
template <class T>
void sum_rows(const T* x, std::int64_t count, std::int64_t step, bool more, std::int32_t* sums, std::int64_t n) {
  const whole d;
  const std::int64_t width = lanes();
  const auto column = [&](std::int64_t i) {
    auto sum = more ? hn::LoadU(d, sums + i) : hn::Zero(d);
    for (std::int64_t k = 0; k < count; ++k)
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(narrow<T>{}, x + k * step + i)));
    hn::StoreU(sum, d, sums + i);
  };
  std::int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width) {
    const auto start = [&](std::int64_t k) { return more ? hn::LoadU(d, sums + i + k * width) : hn::Zero(d); };
    const auto add = [&](auto& sum, const T* from) {
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(narrow<T>{}, from)));
    };
    auto s0 = start(0), s1 = start(1), s2 = start(2), s3 = start(3);
    const T* row = x + i;
    for (std::int64_t k = 0; k < count; ++k, row += step)
      add(s0, row), add(s1, row + width), add(s2, row + 2 * width), add(s3, row + 3 * width);
    hn::StoreU(s0, d, sums + i), hn::StoreU(s1, d, sums + i + width);
    hn::StoreU(s2, d, sums + i + 2 * width), hn::StoreU(s3, d, sums + i + 3 * width);
  }
  for (; i + width <= n; i += width) column(i);
  for (; i < n; ++i) {
    std::int32_t sum = more ? sums[i] : 0;
    for (std::int64_t k = 0; k < count; ++k) sum += x[k * step + i];
    sums[i] = sum;
  }
}

template <class T>
void most_rows(const T* x, std::int64_t count, std::int64_t step, bool more, T* most, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 16> few;
  const auto columns = [&](auto tag, std::int64_t i) {
    auto held = more ? hn::LoadU(tag, most + i) : hn::Set(tag, std::numeric_limits<T>::min());
    const T* row = x + i;
    for (std::int64_t k = 0; k < count; ++k, row += step) held = hn::Max(held, hn::LoadU(tag, row));
    hn::StoreU(held, tag, most + i);
    return std::int64_t(hn::Lanes(tag));
  };
  std::int64_t i = 0;
  while (i + std::int64_t(hn::Lanes(d)) <= n) i += columns(d, i);
  while (i + std::int64_t(hn::Lanes(few)) <= n) i += columns(few, i);
  for (; i < n; ++i) {
    T held = more ? most[i] : std::numeric_limits<T>::min();
    for (std::int64_t k = 0; k < count; ++k) held = std::max(held, x[k * step + i]);
    most[i] = held;
  }
}

template <class T>
std::int64_t sum(const T* x, std::int64_t n) {
  std::int64_t i = 0, total = 0;
#if CAMEO_SIMD_VECTORS
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> wide;
  constexpr std::uint8_t shift = std::is_signed_v<T> ? 128 : 0;  // int8 is converted to uint8 by adding 128
  const auto step = std::int64_t(hn::Lanes(d));
  auto sums = hn::Zero(wide);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x);
  for (; i + step <= n; i += step)
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, bytes + i), hn::Set(d, shift))));
  total = std::int64_t(hn::GetLane(hn::SumOfLanes(wide, sums))) - shift * i;
#endif
  for (; i < n; ++i) total += x[i];
  return total;
}

template <class T>
T most(const T* x, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto step = std::int64_t(hn::Lanes(d));
  T found = x[0];
  std::int64_t i = 0;
  if (n >= step) {
    auto held = hn::LoadU(d, x);
    for (i = step; i + step <= n; i += step) held = hn::Max(held, hn::LoadU(d, x + i));
    T all[HWY_MAX_BYTES];
    hn::StoreU(held, d, all);
    for (std::int64_t k = 0; k < step; ++k) found = std::max(found, all[k]);
  }
  for (; i < n; ++i) found = std::max(found, x[i]);
  return found;
}

template <class T>
void add_multiple(const T* x, std::int32_t by, std::int32_t* y, std::int64_t n) {
  const whole d;
  const std::int64_t step = lanes();
  std::int64_t i = 0;
  for (; i + step <= n; i += step)
    hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::Mul(hn::PromoteTo(d, hn::LoadU(narrow<T>{}, x + i)), hn::Set(d, by))),
               d, y + i);
  for (; i < n; ++i) y[i] = std::int32_t(std::uint32_t(y[i]) + std::uint32_t(std::int32_t{x[i]}) * std::uint32_t(by));
}

void means(const std::int32_t* sums, std::int64_t inside, std::int64_t zero, float scale, std::int64_t counted,
           float* y, std::int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> integers;
  const hn::Rebind<float, decltype(d)> results;
  const auto step = std::int64_t(hn::Lanes(d));
  const auto zeros = std::int32_t(inside * zero);
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto sum = hn::PromoteTo(d, hn::Sub(hn::LoadU(integers, sums + i), hn::Set(integers, zeros)));
    hn::StoreU(hn::DemoteTo(results, hn::Div(hn::Mul(sum, hn::Set(d, double(scale))), hn::Set(d, double(counted)))),
               results, y + i);
  }
  for (; i < n; ++i) y[i] = float(double(sums[i] - zeros) * double(scale) / double(counted));
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::codes
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class T>
void quantize_row(const float* x, const code_scales& by, float low, float high, T* y, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::quantize<T>)(x, by, low, high, y, n);
}
template <class T>
void dequantize_row(const T* x, const code_scales& by, float* y, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::dequantize<T>)(x, by, y, n);
}
template <class T>
void unpack_codes(const std::uint8_t* x, unsigned bits, T* y, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::unpack<T>)(x, bits, y, n);
}
template <class T>
void pack_codes(const T* x, unsigned bits, std::uint8_t* y, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::pack<T>)(x, bits, y, n);
}
void range_of_row(const float* x, std::int64_t n, float& low, float& high) {
  CAMEO_SIMD_BEST(codes::find_range)(x, n, low, high);
}
void map_codes(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::map)(table, x, y, n);
}
template <class Zip, class T>
void zip_codes(const code_zip& by, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step, T* y,
               std::int64_t n) {
  CAMEO_SIMD_BEST(codes::zip<Zip>)(by, a, a_step, b, b_step, y, n);
}
void choose_codes(const bool* which, const std::uint8_t* x, const std::uint8_t* y, std::uint8_t* z, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::choose)(which, x, y, z, n);
}
template <class T>
void sum_code_rows(const T* x, std::int64_t count, std::int64_t step, bool more, std::int32_t* sums, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::sum_rows<T>)(x, count, step, more, sums, n);
}
template <class T>
void most_code_rows(const T* x, std::int64_t count, std::int64_t step, bool more, T* most, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::most_rows<T>)(x, count, step, more, most, n);
}
template <class T>
std::int64_t sum_of_codes(const T* x, std::int64_t n) {
  return CAMEO_SIMD_BEST(codes::sum<T>)(x, n);
}
template <class T>
T most_of_codes(const T* x, std::int64_t n) {
  return CAMEO_SIMD_BEST(codes::most<T>)(x, n);
}
template <class T>
void add_shorts(const T* x, std::int32_t by, std::int32_t* y, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::add_multiple<T>)(x, by, y, n);
}
void means_of_windows(const std::int32_t* sums, std::int64_t inside, std::int64_t zero, float scale,
                      std::int64_t counted, float* y, std::int64_t n) {
  CAMEO_SIMD_BEST(codes::means)(sums, inside, zero, scale, counted, y, n);
}

/// Instantiates the loops for a type of 8 bits.
template <class T>
struct loops_of_8_bits {
  static constexpr std::tuple all{&quantize_row<T>,  &dequantize_row<T>,      &unpack_codes<T>,
                                  &pack_codes<T>,    &zip_codes<code_sum<T>>, &zip_codes<code_product<T>>,
                                  &sum_code_rows<T>, &most_code_rows<T>,      &sum_of_codes<T>,
                                  &most_of_codes<T>};
};
template struct loops_of_8_bits<std::uint8_t>;
template struct loops_of_8_bits<std::int8_t>;
template <class T>
struct loops_of_16_bits {
  static constexpr std::tuple all{&quantize_row<T>, &dequantize_row<T>, &add_shorts<T>};
};
template struct loops_of_16_bits<std::uint16_t>;
template struct loops_of_16_bits<std::int16_t>;
template void dequantize_row(const std::int32_t*, const code_scales&, float*, std::int64_t);

}  // namespace CAMEO_NAMESPACE::eps
#endif
