#include "nchwc_conv_filters.hpp"

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Packs W [M, C, taps] as [block pair][C / 16][taps][up to 16 channels][blocks of the pair * 16].
void pack_dense(const float* w, const nchwc_filters& f, std::int64_t most, float* to) {
  const block_pairs pairs{f, most};
  const std::int64_t taps = f.taps();
  for (std::int64_t g = 0; g < f.groups; ++g)
    for (std::int64_t i = 0; i < pairs.count(); ++i) {
      const std::int64_t first = pairs.first(i) * channel_block, width = pairs.size(i) * channel_block;
      const std::int64_t filled = std::min(width, f.maps - first);
      const float* const from = w + (g * f.maps + first) * f.channels * taps;
      for (std::int64_t c0 = 0; c0 < f.channels; c0 += channel_block)
        for (std::int64_t t = 0; t < taps; ++t)
          for (std::int64_t c = c0; c < std::min(f.channels, c0 + channel_block); ++c, to += width) {
            for (std::int64_t m = 0; m < filled; ++m) to[m] = from[(m * f.channels + c) * taps + t];
            std::fill_n(to + filled, width - filled, 0.0f);
          }
    }
}

/// Packs W [C, 1, taps] as [C / 16][taps][16].
void pack_depthwise(const float* w, const nchwc_filters& f, float* to) {
  const std::int64_t taps = f.taps();
  for (std::int64_t c0 = 0; c0 < f.groups; c0 += channel_block)
    for (std::int64_t t = 0; t < taps; ++t)
      for (std::int64_t c = c0; c < c0 + channel_block; ++c) *to++ = c < f.groups ? w[c * taps + t] : 0.0f;
}

}  // namespace

result<nchwc_filters> filters_of(const extents& w, std::int64_t groups) {
  if (w.rank() != 4) return status_code::invalid_argument;  // of a constant: the operator states the rank for runs
  if (w[0] % groups != 0) return bad_input("W has shape ", w, ", must have a multiple of group, ", groups, ", maps");
  nchwc_filters f{groups, w[0] / groups, w[1], {w[2], w[3]}, groups > 1 && w[0] == groups && w[1] == 1};
  if (status s = check_at_least("the kernel of W", std::min(w[2], w[3]), 1); !s) return s;
  if (groups > 1 && !f.depthwise && (f.maps % channel_block != 0 || f.channels % channel_block != 0))
    return bad_input("W has shape ", w, " in ", groups, " groups, must have multiples of 16 channels in each, or one");
  return f;
}

bool packed_size(const nchwc_filters& f, std::size_t& size) {
  const std::int64_t depth = f.depthwise ? 1 : f.channels;
  std::int64_t n = 0;
  if (!checked_multiply(rounded_up(all_maps(f)), f.taps(), n) || !checked_multiply(n, depth, n)) return false;
  size = std::size_t(n);
  return true;
}

void pack_filters(const float* w, const nchwc_filters& f, std::int64_t most, float* to) {
  if (f.depthwise) pack_depthwise(w, f, to);
  else pack_dense(w, f, most, to);
}

void pack_filters(const float* w, const nchwc_filters& f, std::int64_t most, std::uint32_t* to) {
  const block_pairs pairs{f, most};
  const nchwc_filters seen = as_bf16_filters(f);
  const std::int64_t columns = f.taps() / seen.taps();  // the kernel columns that are channels
  for (std::int64_t g = 0; g < f.groups; ++g)
    for (std::int64_t i = 0; i < pairs.count(); ++i) {
      const std::int64_t first = pairs.first(i) * channel_block, width = pairs.size(i) * channel_block;
      const auto number = [&](std::int64_t m, std::int64_t c, std::int64_t t) -> std::uint32_t {
        if (first + m >= f.maps || c >= seen.channels) return 0;
        const std::int64_t filter = (g * f.maps + first + m) * f.channels + c % f.channels;
        return bfloat16{w[filter * f.taps() + t * columns + c / f.channels]}.bits;
      };
      for (std::int64_t c0 = 0; c0 < seen.channels; c0 += channel_block)
        for (std::int64_t t = 0; t < seen.taps(); ++t)
          for (std::int64_t c = c0; c < std::min(seen.channels, c0 + channel_block); c += 2)
            for (std::int64_t m = 0; m < width; ++m) *to++ = number(m, c, t) | number(m, c + 1, t) << 16;
    }
}

}  // namespace CAMEO_NAMESPACE::eps
