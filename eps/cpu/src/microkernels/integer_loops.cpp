#include "integer_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

// The loop has no branches on kinds, which no processor could predict. One word of 64 bits counts the groups of all
// eight kinds in a part of a run, a byte each.
void panel_kinds::list(const std::byte* panel, const std::int64_t* taps, std::int64_t* to) const {
  constexpr std::int64_t part = 128;
  std::int64_t* next[values];
  for (std::size_t i = 0; i < values; ++i) next[i] = to + std::int64_t(i) * (1 + all()) + 1;
  for (std::int64_t t = 0; t < runs; ++t)
    for (std::int64_t first = 0; first < cells; first += part) {
      const std::byte* const kinds = panel + t * cells + first;
      const std::int64_t n = std::min(part, cells - first), tap = taps[t] + 4 * first;
      std::uint64_t counts = 0;
      const auto put = [&](std::size_t kind, std::int64_t place) {
        next[kind][counts >> 8 * kind & 255] = place;
        counts += std::uint64_t{1} << 8 * kind;
      };
      for (std::int64_t c = 0; c + 1 < n; ++c) put(std::size_t(kinds[c]) % values, tap + 4 * c);
      const std::size_t last = std::size_t(kinds[n - 1]) % values;
      const bool is_alone = last == std::size_t(cell_kind::joined) && first + n == cells;
      put(is_alone ? std::size_t(cell_kind::narrow) : last, tap + 4 * (n - 1));
      for (std::size_t i = 0; i < values; ++i) next[i] += counts >> 8 * i & 255;
    }
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t* const begin = to + std::int64_t(i) * (1 + all());
    *begin = next[i] - begin - 1;
  }
}

}  // namespace CAMEO_NAMESPACE::eps
