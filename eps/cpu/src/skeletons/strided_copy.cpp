#include "strided_copy.hpp"

#include "float_transpose.hpp"
#include "pixels.hpp"

#include <algorithm>
#include <cstring>

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t bytes_per_block = 1 << 16;  // the least bytes that pay for another thread
constexpr std::int64_t square = 32;                // rows and columns that are transposed at a time

/// The one or two innermost loops. The strides are in elements of the source and of the target.
struct inner_loops {
  std::int64_t rows, row_source, row_target;  // `rows` is 1 if only the innermost loop is included
  std::int64_t count, source, target;
};
using inner_function = void (*)(const inner_loops&, const std::byte* from, std::byte* to);

template <std::size_t Bytes>
void copy_run(const inner_loops& l, const std::byte* from, std::byte* to) {
  const std::size_t bytes = std::size_t(l.count) * Bytes;
  if (bytes % 32 == 0 && bytes <= 512) {  // a call of memcpy() would take longer than copying such a row
    for (std::int64_t r = 0; r < l.rows; ++r)
      for (std::size_t i = 0; i < bytes; i += 32)
        std::memcpy(to + r * l.row_target * std::int64_t(Bytes) + i, from + r * l.row_source * std::int64_t(Bytes) + i,
                    32);
  } else {
    for (std::int64_t r = 0; r < l.rows; ++r)
      std::memcpy(to + r * l.row_target * std::int64_t(Bytes), from + r * l.row_source * std::int64_t(Bytes), bytes);
  }
}

template <std::size_t Bytes>
void copy_steps(const inner_loops& l, const std::byte* from, std::byte* to) {
  constexpr auto size = std::int64_t(Bytes);
  const std::int64_t count = l.count, step = l.source * size,
                     to_step = l.target * size;  // copies, as stores might alias `l`
  if (to_step == size) {
    for (std::int64_t i = 0; i < count; ++i) move_element<Bytes>(to + i * size, from + i * step);
  } else {
    for (std::int64_t i = 0; i < count; ++i) move_element<Bytes>(to + i * to_step, from + i * step);
  }
}

constexpr bool are_channels(std::int64_t count, std::int64_t step) { return count == step && count >= 2 && count <= 4; }

/// Transposes a matrix whose elements are adjacent along the rows' index in the source, and along the other index in
/// the target. Images with few channels have separate loops; other matrices are copied square by square.
template <std::size_t Bytes>
void transpose_runs(const inner_loops& l, const std::byte* from, std::byte* to) {
  constexpr auto size = std::int64_t(Bytes);
  if constexpr (Bytes <= 4) {
    using element =
        std::conditional_t<Bytes == 1, std::uint8_t, std::conditional_t<Bytes == 2, std::uint16_t, std::uint32_t>>;
    const auto* const source = reinterpret_cast<const element*>(from);
    auto* const target = reinterpret_cast<element*>(to);
    if (are_channels(l.count, l.row_target)) return join_planes(source, l.source, l.count, l.rows, target);
    if (are_channels(l.rows, l.source)) return split_pixels(source, l.rows, l.count, target, l.row_target);
  }
  for (std::int64_t first = 0; first < l.count; first += square) {
    const std::int64_t last = std::min(first + square, l.count);
    if constexpr (Bytes == sizeof(float)) {
      const auto* const source = reinterpret_cast<const float*>(from) + first * l.source;
      transpose_floats(source, l.source, last - first, l.rows, reinterpret_cast<float*>(to) + first, l.row_target);
      continue;
    }
    for (std::int64_t r = 0; r < l.rows; ++r)
      for (std::int64_t i = first; i < last; ++i)
        move_element<Bytes>(to + (r * l.row_target + i) * size, from + (r + i * l.source) * size);
  }
}

inner_function choose(std::size_t bytes, bool transposes, bool contiguous) {
  const auto of = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) -> inner_function {
    return transposes ? transpose_runs<N> : contiguous ? copy_run<N> : copy_steps<N>;
  };
  switch (bytes) {
    case 1: return of(std::integral_constant<std::size_t, 1>{});
    case 2: return of(std::integral_constant<std::size_t, 2>{});
    case 4: return of(std::integral_constant<std::size_t, 4>{});
    case 8: return of(std::integral_constant<std::size_t, 8>{});
    default: return of(std::integral_constant<std::size_t, 16>{});
  }
}

}  // namespace

void copy_by_tables(run_context& c, const value& x, const value& y, const std::int64_t* const* tables,
                    const std::byte* filler, std::int64_t first, std::int64_t last) {
  const std::size_t bytes = element_bytes(x.type), outer = y.shape.rank() - 1;
  const std::int64_t length = y.shape[outer];
  const std::int64_t* const columns = tables[outer];
  parallel_for(c, y.shape.count() / length, 1 + 8192 / length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t base = 0, rest = row;
      bool inside = true;
      for (std::size_t i = outer; i-- > 0; rest /= y.shape[i]) {
        const std::int64_t place = tables[i][rest % y.shape[i]];
        inside = inside && place != no_place;
        base += inside ? place : 0;
      }
      std::byte* const to = bytes_of(y) + std::size_t(row * length) * bytes;
      const std::byte* const from = bytes_of(x) + std::size_t(base) * bytes;
      const auto move = [=](std::int64_t j, std::int64_t past) {  // captures copies, as stores might alias references
        for (; j < past; ++j) {
          const bool is_there = inside && columns[j] != no_place;
          move_block(to + std::size_t(j) * bytes, is_there ? from + std::size_t(columns[j]) * bytes : filler, bytes);
        }
      };
      move(0, first);
      if (first < last)
        std::memcpy(to + std::size_t(first) * bytes, from + std::size_t(columns[first]) * bytes,
                    std::size_t(last - first) * bytes);
      move(last, length);
    }
  });
}

void strided_copy::loop(std::int64_t count, std::int64_t from, std::int64_t to) {
  if (count <= 0) empty_ = true;
  if (count <= 1 || empty_) return;
  if (count_ > 0) {
    step& outer = loops_[count_ - 1];
    if (outer.source == from * count && outer.target == to * count) {
      outer = {outer.count * count, from, to};
      return;
    }
  }
  loops_[count_++] = {count, from, to};
}

void strided_copy::run(run_context& c, const void* source, void* target) const {
  if (empty_) return;
  step loops[max_loops + 1];
  std::size_t n = count_;
  std::copy_n(loops_, n, loops);
  if (n == 0) loops[n++] = {1, 1, 1};
  const step inner = loops[--n];
  const auto size = std::int64_t(bytes_);
  // One small block: what follows divides often, which takes longer than this copy.
  if (n == 0 && inner.source == 1 && inner.target == 1 && inner.count * size <= bytes_per_block)
    return void(std::memcpy(target, source, std::size_t(inner.count * size)));

  bool transposes = false, splits = false;
  step rows{1, 0, 0};
  if (inner.target == 1 && inner.source != 1)
    for (std::size_t i = 0; i < n && !transposes; ++i) {
      // Pixels are split into planes over runs of pixels: there are too few planes to give each thread one.
      splits = loops[i].source == 1 && are_channels(loops[i].count, inner.source) && size <= 4;
      if (!splits && (loops[i].source != 1 || loops[i].count < 4)) continue;
      rows = loops[i];
      std::copy(loops + i + 1, loops + n, loops + i);
      --n, transposes = true;
    }
  const bool contiguous = inner.source == 1 && inner.target == 1,
             short_rows = contiguous && n > 0 && inner.count * size < 4096;
  if (short_rows) rows = loops[--n];
  const bool by_rows = (transposes && !splits) || short_rows;
  const inner_function copy = choose(bytes_, transposes, contiguous);

  // A unit of work is a piece of the innermost loop, or some rows; `pieces` units are one step of the outer loops.
  const std::int64_t split = by_rows ? rows.count : inner.count;
  const std::int64_t piece = splits       ? bytes_per_block / (4 * size)
                             : transposes ? std::max(square, 1024 / inner.count / square * square)  // calls take time
                             : short_rows ? 4096 / (inner.count * size) * 4
                                          : std::max<std::int64_t>(bytes_per_block / size, 1);
  const std::int64_t pieces = (split + piece - 1) / piece;
  std::int64_t outside = 1;
  for (std::size_t i = 0; i < n; ++i) outside *= loops[i].count;
  const std::int64_t unit_bytes = std::min(piece, split) * size * (by_rows ? inner.count : rows.count);
  const std::int64_t grain = std::max<std::int64_t>(bytes_per_block / unit_bytes, 1);

  parallel_for(c, outside * pieces, grain, [&](std::int64_t first, std::int64_t last) {
    std::int64_t at[max_loops] = {}, p = first % pieces, from = 0, to = 0;
    std::int64_t rest = first / pieces;
    for (std::size_t i = n; i-- > 0; rest /= loops[i].count) {
      at[i] = rest % loops[i].count;
      from += at[i] * loops[i].source, to += at[i] * loops[i].target;
    }
    for (std::int64_t u = first; u < last; ++u) {
      const std::int64_t begin = p * piece, count = std::min(piece, split - begin);
      const step& along = by_rows ? rows : inner;
      const inner_loops work =
          by_rows ? inner_loops{count, rows.source, rows.target, inner.count, inner.source, inner.target}
                  : inner_loops{rows.count, rows.source, rows.target, count, inner.source, inner.target};
      copy(work, static_cast<const std::byte*>(source) + (from + begin * along.source) * size,
           static_cast<std::byte*>(target) + (to + begin * along.target) * size);
      if (++p < pieces) continue;
      p = 0;
      for (std::size_t i = n; i-- > 0;) {
        from += loops[i].source, to += loops[i].target;
        if (++at[i] < loops[i].count) break;
        from -= at[i] * loops[i].source, to -= at[i] * loops[i].target;
        at[i] = 0;
      }
    }
  });
}

void fill(run_context& c, void* to, std::int64_t count, const void* element, std::size_t bytes) {
  strided_copy copy{bytes};
  copy.loop(count, 0, 1);
  copy.run(c, element, to);
}

void copy_bytes(run_context& c, void* to, const void* from, std::size_t bytes) {
  if (to == from || bytes == 0) return;
  strided_copy copy{1};
  copy.loop(std::int64_t(bytes), 1, 1);
  copy.run(c, from, to);
}

}  // namespace CAMEO_NAMESPACE::eps
