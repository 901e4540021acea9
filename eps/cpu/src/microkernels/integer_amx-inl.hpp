// integer_line of bytes with AMX: tdpbusd for tiles of 16 rows by 16 columns and a depth of 64 bytes. Panels have the
// layout of AVX512-VNNI. This file is included in its namespace, whose code computes lines of few rows, but within a
// separate target.
//
// Each call configures the tile registers and releases them, so that no thread returns from a kernel with tiles in use.
// That takes 0.1 us.
constexpr std::int64_t side = 16;  // rows of a tile of x, dot-product groups of its rows, columns of a tile of w
constexpr std::int64_t panel = 2 * side * 4;  // bytes of one dot-product group of all columns of a panel
constexpr std::int64_t some_rows = 4;         // the least rows of a tile

/// The partition of a line's rows into tiles of sums, of `height` rows each, all of one stretch. The last tile of a
/// stretch may overlap the one before; both compute the same values.
struct row_tiles {
  std::int64_t stretch, of_stretch, height, count;

  explicit row_tiles(const integer_line& p)
      : stretch{p.stretch},
        of_stretch{(stretch + side - 1) / side},
        height{(stretch + of_stretch - 1) / of_stretch},
        count{p.rows / stretch * of_stretch} {}
  /// The first row of a tile, and its address in x.
  std::int64_t row(std::int64_t tile) const { return tile / of_stretch * stretch + row_in_stretch(tile); }
  const std::byte* place(const integer_line& p, std::int64_t tile) const {
    return p.x + tile / of_stretch * p.stretch_step + row_in_stretch(tile) * p.row_step;
  }

 private:
  std::int64_t row_in_stretch(std::int64_t tile) const {
    return std::min(tile % of_stretch * height, stretch - height);
  }
};

// Tile registers are numbered, and the numbers are encoded in the instructions: 0 and 1 are the sums of a tile of rows
// and two tiles of columns, 2 and 3 those of the next tile of rows; 4 is for x and 5 for w; 6 and 7 are for x and w of
// the groups at the end of a run that don't fill a tile. A product takes as long as two loads, so that loading the
// first tile of w twice costs nothing.
#define CAMEO_TILE_STEP(X, W)            \
  _tile_loadd(X, x0 + at, p.row_step);   \
  _tile_loadd(W, w, panel);              \
  _tile_dpbusd(0, X, W);                 \
  if constexpr (Vectors == 2) {          \
    _tile_loadd(W, w + side * 4, panel); \
    _tile_dpbusd(1, X, W);               \
  }                                      \
  if constexpr (Rows == 2) {             \
    _tile_loadd(X, x1 + at, p.row_step); \
    if constexpr (Vectors == 2) {        \
      _tile_dpbusd(3, X, W);             \
      _tile_loadd(W, w, panel);          \
    }                                    \
    _tile_dpbusd(2, X, W);               \
  }

/// Prefetches the memory that is read after a panel, from `next` on, `lines` cache lines at each step. Prefetched all
/// at once, they would delay what is read now.
struct panel_ahead {
  const std::byte* next;
  std::int64_t lines;

  CAMEO_INLINE void prefetch() {
    for (std::int64_t i = 0; i < lines; ++i, next += 64) __builtin_prefetch(next, 0, 2);
  }
};

/// Computes the sums of one or two tiles of rows: `sums` is [Rows][side][2 * side].
template <int Rows, int Vectors>
CAMEO_NOINLINE void add_tiles(const integer_line& p, const std::byte* x0, const std::byte* x1, panel_ahead& later,
                              std::int32_t* sums) {
  _tile_loadd(0, p.start, 0);  // the same for all rows
  if constexpr (Vectors == 2) _tile_loadd(1, p.start + side, 0);
  if constexpr (Rows == 2) _tile_loadd(2, p.start, 0);
  if constexpr (Rows == 2 && Vectors == 2) _tile_loadd(3, p.start + side, 0);
  const std::byte* w = p.w;
  const std::int64_t rest = p.cells % side * 4, whole = p.cells * 4 - rest;
  for (std::int64_t t = 0; t < p.tap_count; ++t) {
    std::int64_t at = p.taps[t];
    for (const std::int64_t end = at + whole; at < end; at += side * 4, w += side * panel) {
      later.prefetch();
      CAMEO_TILE_STEP(4, 5)
    }
    if (rest == 0) continue;
    CAMEO_TILE_STEP(6, 7)
    w += rest / 4 * panel;
  }
  constexpr std::int64_t step = 2 * side * sizeof(std::int32_t);
  _tile_stored(0, sums, step);
  if constexpr (Vectors == 2) _tile_stored(1, sums + side, step);
  if constexpr (Rows == 2) _tile_stored(2, sums + 2 * side * side, step);
  if constexpr (Rows == 2 && Vectors == 2) _tile_stored(3, sums + 2 * side * side + side, step);
}
#undef CAMEO_TILE_STEP

/// Stores the outputs of a tile (sums, floats or quantized values), some rows at a time.
template <int Vectors>
CAMEO_NOINLINE void put_tile(const integer_line& p, std::int64_t row, std::int64_t height, const std::int32_t* from) {
  const auto each = [&](const auto& put) {
    for (std::int64_t i = 0; i < height; i += some_rows) {
      const std::int64_t first = std::min(i, height - some_rows);
      vectors::sum sums[some_rows][Vectors];
      CAMEO_UNROLL
      for (int r = 0; r < some_rows; ++r) CAMEO_UNROLL
      for (int j = 0; j < Vectors; ++j) sums[r][j] = vectors::load_sums(from + (2 * (first + r) + j) * side);
      put(row + first, sums);
    }
  };
  if (!p.codes) return each([&](std::int64_t first, auto& sums) { store_words<vectors>(p, first, sums); });
  const vectors::row_codes<Vectors> codes{p};
  each([&](std::int64_t first, auto& sums) { codes.put(sums, int(p.columns), p.codes + first * p.step, p.step); });
}

/// Prefetches the output rows of a tile of floats, which are far apart in memory.
template <int Vectors>
CAMEO_NOINLINE void prefetch_floats(const integer_line& p, std::int64_t row, std::int64_t rows) {
  for (std::int64_t i = row; i < row + rows; ++i)
    for (int j = 0; j < Vectors; ++j) __builtin_prefetch(p.floats + i * p.step + j * side, 1, 2);
}

template <int Vectors>
CAMEO_NOINLINE void run_tiles_of(const integer_line& p, const row_tiles& tiles) {
  alignas(64) std::int32_t sums[2 * side * 2 * side];
  const std::int64_t pairs = (tiles.count + 1) / 2, step_lines = side * panel / 64;
  panel_ahead later{p.w + p.ahead, p.ahead == 0 ? 0 : (step_lines + pairs - 1) / pairs};
  for (std::int64_t tile = 0; tile < tiles.count; tile += 2) {
    const std::byte* const x = tiles.place(p, tile);
    const bool is_pair = tile + 1 < tiles.count;
    if (p.floats) prefetch_floats<Vectors>(p, tiles.row(tile), tiles.height);
    if (p.floats && is_pair) prefetch_floats<Vectors>(p, tiles.row(tile + 1), tiles.height);
    if (is_pair) add_tiles<2, Vectors>(p, x, tiles.place(p, tile + 1), later, sums);
    else add_tiles<1, Vectors>(p, x, nullptr, later, sums);
    put_tile<Vectors>(p, tiles.row(tile), tiles.height, sums);
    if (is_pair) put_tile<Vectors>(p, tiles.row(tile + 1), tiles.height, sums + 2 * side * side);
  }
}

/// The part of a line that has the first `rows` rows of one stretch.
integer_line part_of(const integer_line& p, std::int64_t stretch, std::int64_t rows) {
  integer_line part = p;
  const std::int64_t results = stretch * p.stretch * p.step;
  part.x += stretch * p.stretch_step, part.rows = part.stretch = rows;
  if (p.sums) part.sums += results;
  if (p.codes) part.codes += results;
  if (p.floats) part.floats += results;
  return part;
}

void run_tiled_line(const integer_line& p) {
  const row_tiles tiles{p};
  const std::int64_t stretches = p.rows / p.stretch, rest = p.rows % p.stretch;
  if (tiles.height < some_rows || p.cells == 0) {
    for (std::int64_t i = 0; i < stretches; ++i) run_line<bytes>(part_of(p, i, p.stretch));
  } else {
    tile_sizes sizes;
    for (const int sums : {0, 1, 2, 3}) sizes.set(sums, tiles.height, side);
    sizes.set(4, tiles.height, side), sizes.set(5, side, side);
    if (const std::int64_t last = p.cells % side; last != 0) sizes.set(6, tiles.height, last), sizes.set(7, last, side);
    __asm__ volatile("" : : "r"(&sizes) : "memory");  // g++ 12 assumes that only 8 bytes are read
    _tile_loadconfig(&sizes);
    if (p.columns > side) run_tiles_of<2>(p, tiles);
    else run_tiles_of<1>(p, tiles);
    _tile_release();
  }
  if (rest != 0) run_tiled_line(part_of(p, stretches, rest));
}

constexpr integer_arithmetic tiled_bytes{bytes::per_cell, 2 * side, 2 * side, true,   run_tiled_line,
                                         nullptr,         0,        1 << 25,  1 << 19};
