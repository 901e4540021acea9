// QLinearAdd in fixed point, checked against the definition in floating point.
#include "whole_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Computes the factors of whole_code_sum, with as many bits after the binary point as 32 bits and pairs of int16
/// allow; false if the ratio of two scales is out of range.
template <class T>
bool make_factors(const code_zip& by, whole_code_sum& made) {
  const double a = double(by.a.scale) / by.y.scale, b = double(by.b.scale) / by.y.scale;
  const auto is_usable = [](double v) { return v > 1e-6 && v < 1e3; };
  if (!is_usable(a) || !is_usable(b)) return false;
  constexpr double flip = std::is_signed_v<T> ? 128 : 0;  // int8 is converted to uint8 by adding 128
  const double least = (by.y.zero + flip) - a * (by.a.zero + flip) - b * (by.b.zero + flip) + 0.5;
  const double most = std::max(std::abs(least), std::abs(least + 255 * (a + b))) + 2;
  const auto fits = [&](int shift) { return std::max({a * 256, b * 256, most}) < std::ldexp(1.0, 31 - shift); };
  int shift = 24;
  while (shift > 0 && !fits(shift)) --shift;
  const double one = std::ldexp(1.0, shift);
  const double factors[] = {a, b};
  for (int i = 0; i < 2; ++i) {
    const auto whole = std::int32_t(std::lround(factors[i] * one)), high = std::min((whole + 128) >> 8, 32767);
    if (whole - high * 256 > 32767) return false;
    made.high[i] = std::int16_t(high), made.low[i] = std::int16_t(whole - high * 256);
  }
  made.start = std::int32_t(std::lround(least * one));
  made.shift = shift, made.flip = std::uint8_t(flip), made.exceptions = 0;
  return true;
}

/// Compares the results for all pairs of values with the definition; pairs with another result become exceptions. False
/// if there are too many.
template <class T>
bool find_exceptions(const code_zip& by, proven_sum& made) {
  std::uint8_t left[256], right[256], want[256], have[256];
  for (int b = 0; b < 256; ++b) right[b] = std::uint8_t(b);
  whole_code_sum found = made.factors;
  for (int a = 0; a < 256; ++a) {
    std::memset(left, a, sizeof left);
    zip_codes<code_sum<T>>(by, reinterpret_cast<const T*>(left), 1, reinterpret_cast<const T*>(right), 1,
                           reinterpret_cast<T*>(want), 256);
    if (made.add(made.factors, left, right, have, 256) != 256) return false;
    if (std::memcmp(want, have, sizeof want) == 0) continue;
    for (int b = 0; b < 256; ++b) {
      if (want[b] == have[b]) continue;
      if (found.exceptions == whole_code_sum::most_exceptions) return false;
      const std::uint8_t flip = found.flip;
      found.exception[found.exceptions++] = {std::uint8_t(a ^ flip), std::uint8_t(b ^ flip),
                                             std::uint8_t(want[b] ^ flip)};
    }
  }
  made.factors = found;
  return true;
}

}  // namespace

template <class T>
result<const proven_sum*> prove_sum(bind_context& c, const code_zip& by) {
  proven_sum made{{}, best_integer_loops().add_codes};
  if (!made.add || !make_factors<T>(by, made.factors) || !find_exceptions<T>(by, made)) return nullptr;
  const result<std::span<proven_sum>> kept = c.keep<proven_sum>(1);
  if (!kept) return kept.error();
  (*kept)[0] = made;
  return kept->data();
}

template result<const proven_sum*> prove_sum<std::uint8_t>(bind_context&, const code_zip&);
template result<const proven_sum*> prove_sum<std::int8_t>(bind_context&, const code_zip&);

}  // namespace CAMEO_NAMESPACE::eps
