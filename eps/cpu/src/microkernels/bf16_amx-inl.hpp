// bf16_line with AMX: tdpbf16ps for up to 16 rows by 16 columns, a block of dot-product groups at a time (see
// bf16_loops.hpp). Each sum is one chain of additions, so its bits do not depend on what else is computed. This file is
// included in the namespace of AVX-512 BF16, whose code stores the outputs, but within a separate target.
constexpr int side = 16;

/// A tile of rows, in one or two of the processor's tile registers, which are multiplied alternately to hide the
/// latency of tdpbf16ps; and their sums, [Tiles][side][Vectors * bf16_lanes].
template <int Tiles, int Vectors>
struct tile_parts {
  static_assert(Tiles == 1 || Vectors <= 2);
  static constexpr std::int64_t width = Vectors * bf16_lanes, size = side * width;
  alignas(64) float sums[Tiles * size];
  const std::uint32_t* x[2];
  std::int64_t rows[2];
};

/// Configures the tile registers for blocks of `cells` dot-product groups. Registers 0 and 1 (and 2, for three vectors)
/// are the sums of the first tile of rows, 2 and 3 those of the second; 4 and 5 are for x of the two tiles, 6 and 7 for
/// w.
template <int Tiles, int Vectors>
CAMEO_INLINE void set_tiles(const tile_parts<Tiles, Vectors>& pair, std::int64_t cells) {
  tile_sizes sizes;
  for (int i = 0; i < 4; ++i) sizes.set(i, pair.rows[Tiles == 2 ? i / 2 : 0], bf16_lanes);
  for (int i = 0; i < 2; ++i)
    sizes.set(4 + i, pair.rows[Tiles == 2 ? i : 0], cells), sizes.set(6 + i, cells, bf16_lanes);
  __asm__ volatile("" : : "r"(&sizes) : "memory");  // g++ 12 assumes that only 8 bytes are read
  _tile_loadconfig(&sizes);
}

/// Adds blocks of `cells` groups each to the sums. Their initial values are at `from`, with rows `from_step` elements
/// apart; 0: all rows have the same.
template <int Tiles, int Vectors>
CAMEO_NOINLINE void add_blocks(const bf16_line& p, tile_parts<Tiles, Vectors>& pair, std::int64_t first,
                               std::int64_t blocks, std::int64_t cells, const char* ahead, const float* from,
                               std::int64_t from_step) {
  constexpr std::int64_t x_step = bf16_block * 4, w_step = tile_parts<Tiles, Vectors>::width * 4;
  constexpr bool is_pair = Tiles == 2;
  const float* const second = from + from_step * side;
  const std::int64_t step = from_step * 4;
  _tile_loadd(0, from, step);
  if constexpr (Vectors >= 2) _tile_loadd(1, from + bf16_lanes, step);
  if constexpr (Vectors == 3) _tile_loadd(2, from + 2 * bf16_lanes, step);
  if constexpr (is_pair) _tile_loadd(2, second, step);
  if constexpr (is_pair && Vectors == 2) _tile_loadd(3, second + bf16_lanes, step);
  const std::int64_t size = cells * w_step / 4;
  const std::uint32_t* w = p.w + first * p.w_taps * bf16_block * w_step / 4;
  for (std::int64_t block = first; block < first + blocks; ++block) {
    w += p.w_first * size;
    for (std::int64_t t = 0; t < p.tap_count; ++t, w += size) {
      for (std::int64_t line = 0; line < p.ahead_lines; ++line, ahead += cache_line) _mm_prefetch(ahead, _MM_HINT_T1);
      const std::int64_t at = block * p.block_step + p.taps[t];
      _tile_loadd(4, pair.x[0] + at, x_step);
      _tile_loadd(6, w, w_step);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (is_pair) {
        _tile_loadd(5, pair.x[1] + at, x_step);
        _tile_dpbf16ps(2, 5, 6);
      }
      if constexpr (Vectors >= 2) {
        _tile_loadd(7, w + bf16_lanes, w_step);
        _tile_dpbf16ps(1, 4, 7);
      }
      if constexpr (is_pair && Vectors == 2) _tile_dpbf16ps(3, 5, 7);
      if constexpr (Vectors == 3) {
        _tile_loadd(6, w + 2 * bf16_lanes, w_step);
        _tile_dpbf16ps(2, 4, 6);
      }
    }
    w += (p.w_taps - p.w_first - p.tap_count) * size;
  }
  float* const to = pair.sums;
  _tile_stored(0, to, w_step);
  if constexpr (Vectors >= 2) _tile_stored(1, to + bf16_lanes, w_step);
  if constexpr (Vectors == 3) _tile_stored(2, to + 2 * bf16_lanes, w_step);
  if constexpr (is_pair) _tile_stored(2, to + pair.size, w_step);
  if constexpr (is_pair && Vectors == 2) _tile_stored(3, to + pair.size + bf16_lanes, w_step);
}

/// Stores the outputs of `Rows` rows whose sums are in memory.
template <int Rows, int Vectors>
CAMEO_NOINLINE void put_rows(const bf16_line& p, std::int64_t row, const float* from) {
  __m512 sums[Rows][Vectors];
  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) sums[i][j] = _mm512_loadu_ps(from + (i * Vectors + j) * bf16_lanes);
  if (starts_with_bias(p) && p.lanes == bf16_lanes) put_whole(p, row, sums);
  else put_any(p, row, sums);
}

template <int Vectors>
void put_all(const bf16_line& p, std::int64_t row, std::int64_t rows, const float* from) {
  constexpr std::int64_t some = 4, width = Vectors * bf16_lanes;
  for (; rows >= some; rows -= some, row += some, from += some * width) put_rows<some, Vectors>(p, row, from);
  for (; rows > 0; --rows, ++row, from += width) put_rows<1, Vectors>(p, row, from);
}

template <int Tiles, int Vectors>
CAMEO_NOINLINE void run_parts(const bf16_line& p) {
  tile_parts<Tiles, Vectors> pair;
  alignas(64) float start[pair.width];
  for (int j = 0; j < Vectors; ++j)
    _mm512_store_ps(start + j * bf16_lanes,
                    starts_with_bias(p) ? bias_of(p, 0, j, lanes_of(p, j)) : _mm512_setzero_ps());
  const std::int64_t whole = p.cells / bf16_block, rest = p.cells % bf16_block;
  const char* ahead = p.ahead;
  std::int64_t set_up[3] = {};  // the rows and groups that the tile registers are configured for
  const auto add = [&](std::int64_t first, std::int64_t blocks, std::int64_t cells, const float* from,
                       std::int64_t from_step) {
    const std::int64_t wanted[] = {pair.rows[0], pair.rows[1], cells};
    if (!std::equal(set_up, set_up + 3, wanted)) set_tiles(pair, cells), std::copy_n(wanted, 3, set_up);
    add_blocks(p, pair, first, blocks, cells, ahead, from, from_step);
    ahead += p.ahead_lines * cache_line * p.tap_count * blocks;
  };
  const std::uint32_t* x = p.x;
  for (std::int64_t row = 0; row < p.rows; row += p.tile_rows, x += p.tile_step) {
    const std::int64_t rows = std::min(p.tile_rows, p.rows - row), half = (rows + Tiles - 1) / Tiles;
    const bool is_one = half == rows;  // then the second register computes the first part too, and that is not stored
    pair.x[0] = x, pair.rows[0] = half;
    pair.x[1] = is_one ? x : x + half * bf16_block, pair.rows[1] = is_one ? half : rows - half;
    add(0, whole, bf16_block, start, 0);
    if (rest != 0) add(whole, 1, rest, pair.sums, pair.width);
    put_all<Vectors>(p, row, half, pair.sums);
    if (!is_one) put_all<Vectors>(p, row + half, rows - half, pair.sums + pair.size);
  }
  _tile_release();
}

void run_tiled_line(const bf16_line& p) {
  if (p.vectors == 3) run_parts<1, 3>(p);
  else if (p.vectors == 2) run_parts<2, 2>(p);
  else run_parts<2, 1>(p);
  activate(p);
}
