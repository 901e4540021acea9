// A line of exact integer sums, for the arithmetic A of the file that includes this, within its namespace and its
// target:
//
//   A::lanes                        sums of a vector
//   A::tile_rows                    rows of a tile of two vectors, as many as there are registers for
//   A::sum, A::cells                a vector of sums, and of cells
//   A::broadcast(p), A::load(p)     one cell everywhere; the cells of `lanes` columns
//   A::add_products(s, a, b)        s + the products of the cells a and b
//   A::load_sums(p), A::store(s, p) int32 in memory
//   A::add(s, s)
//   A::middle                       if there: what broadcast() takes from each number
//   A::evens(a), A::odds(a)         if there: the first and third bytes of each cell of u8 as numbers of 16 bits,
//                                   and the others; then there are kinds of cells (integer_cells.hpp), and
//   A::ordered(a, order)            the bytes of each cell in one of cell_orders
//   A::add_wide(s, a, b)            s + the products of numbers of 16 bits
//   A::add_joined(s, a, b, c, d)    s + the products of a and b, and of c and d
//   A::codes                        how sums become codes: made of a line and its first column; put(s, lanes, p)
//   A::row_codes<vectors>           if there, instead: made of a line; put(rows, columns, p, step)

/// The sums of `Rows` rows and `Vectors` vectors of columns. A single row has four chains of additions: one would wait
/// for itself.
template <class A, int Rows, int Vectors>
CAMEO_CELL_INLINE void add_runs(const integer_line& p, const std::byte* x, const std::byte* w,
                                typename A::sum (&sums)[Rows][Vectors]) {
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes;
  const std::int64_t step = p.row_step;
  for (std::int64_t t = 0; t < p.tap_count; ++t) {
    const std::byte* from = x + p.taps[t];
    const std::byte* others[(Rows + 2) / 3];
    CAMEO_CELL_LOOP
    for (int i = 0; i < (Rows + 2) / 3; ++i) others[i] = from + 3 * i * step;
    for (std::int64_t c = 0; c < p.cells; ++c, w += panel) {
      typename A::cells columns[Vectors];
      CAMEO_CELL_LOOP
      for (int j = 0; j < Vectors; ++j) columns[j] = A::load(w + j * bytes);
      CAMEO_CELL_LOOP
      for (int i = 0; i < Rows; ++i) {
        const typename A::cells factor = A::broadcast(others[i / 3] + (i % 3) * step + 4 * c);
        CAMEO_CELL_LOOP
        for (int j = 0; j < Vectors; ++j) sums[i][j] = A::add_products(sums[i][j], factor, columns[j]);
      }
    }
  }
}
template <class A, int Vectors>
CAMEO_CELL_INLINE void add_runs_of_one(const integer_line& p, const std::byte* x, const std::byte* w,
                                       typename A::sum (&sums)[1][Vectors]) {
  constexpr int chains = 4;
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes;
  typename A::sum more[chains][Vectors];
  CAMEO_CELL_LOOP
  for (int i = 0; i < chains; ++i) CAMEO_CELL_LOOP
  for (int j = 0; j < Vectors; ++j) more[i][j] = i == 0 ? sums[0][j] : A::nothing();
  for (std::int64_t t = 0; t < p.tap_count; ++t) {
    const std::byte* from = x + p.taps[t];
    std::int64_t c = 0;
    for (; c + chains <= p.cells; c += chains, from += 4 * chains, w += panel * chains) CAMEO_CELL_LOOP
    for (int i = 0; i < chains; ++i) {
      const typename A::cells factor = A::broadcast(from + 4 * i);
      CAMEO_CELL_LOOP
      for (int j = 0; j < Vectors; ++j)
        more[i][j] = A::add_products(more[i][j], factor, A::load(w + i * panel + j * bytes));
    }
    for (; c < p.cells; ++c, from += 4, w += panel) CAMEO_CELL_LOOP
    for (int j = 0; j < Vectors; ++j)
      more[0][j] = A::add_products(more[0][j], A::broadcast(from), A::load(w + j * bytes));
  }
  CAMEO_CELL_LOOP
  for (int j = 0; j < Vectors; ++j) sums[0][j] = A::add(A::add(more[0][j], more[1][j]), A::add(more[2][j], more[3][j]));
}

/// Of a panel with kinds of cells, those of one kind: `w` moves behind them.
template <class A, cell_kind Kind, int Rows, int Vectors>
CAMEO_CELL_INLINE void add_cells(const integer_line& p, const std::byte* x, const std::byte*& w,
                                 typename A::sum (&sums)[Rows][Vectors]) {
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes;
  constexpr bool is_double = Kind == cell_kind::joined || Kind == cell_kind::wide;
  const std::int64_t step = p.row_step;
  const panel_kinds kinds{p.tap_count, p.cells};
  for (std::int64_t t = 0; t < p.tap_count; ++t)
    for (std::int64_t word = 0; word < kinds.words(); ++word) {
      const std::byte* const from = x + p.taps[t] + 4 * 64 * word;
      const std::uint64_t first_orders = kinds.row(p.w, 0, t, word);
      for (std::uint64_t bits = kinds.of(p.w, t, word, Kind); bits; bits &= bits - 1) {
        const std::int64_t c = __builtin_ctzll(bits);
        const std::byte* const at = from + 4 * c;
        const std::uint32_t order = cell_orders[first_orders >> c & 1 ? 1 : 2];
        typename A::cells columns[Vectors], others[Vectors];
        CAMEO_CELL_LOOP
        for (int j = 0; j < Vectors; ++j) {
          columns[j] = A::load(w + j * bytes);
          if constexpr (is_double) others[j] = A::load(w + panel + j * bytes);
        }
        w += is_double ? 2 * panel : panel;
        CAMEO_CELL_LOOP
        for (int i = 0; i < Rows; ++i) {
          typename A::cells factor = A::broadcast(at + i * step);
          if constexpr (Kind == cell_kind::turned) factor = A::ordered(factor, order);
          CAMEO_CELL_LOOP
          for (int j = 0; j < Vectors; ++j)
            if constexpr (Kind == cell_kind::joined) {
              sums[i][j] = A::add_joined(sums[i][j], factor, columns[j], A::broadcast(at + 4 + i * step), others[j]);
            } else if constexpr (Kind == cell_kind::wide) {
              sums[i][j] = A::add_wide(sums[i][j], A::evens(factor), columns[j]);
              sums[i][j] = A::add_wide(sums[i][j], A::odds(factor), others[j]);
            } else {
              sums[i][j] = A::add_products(sums[i][j], factor, columns[j]);
            }
        }
      }
    }
}
template <class A, int Rows, int Vectors>
CAMEO_CELL_INLINE void add_sorted_runs(const integer_line& p, const std::byte* x,
                                       typename A::sum (&sums)[Rows][Vectors]) {
  const std::byte* w = p.w + panel_kinds{p.tap_count, p.cells}.bytes();
  add_cells<A, cell_kind::joined, Rows, Vectors>(p, x, w, sums);
  add_cells<A, cell_kind::narrow, Rows, Vectors>(p, x, w, sums);
  add_cells<A, cell_kind::turned, Rows, Vectors>(p, x, w, sums);
  add_cells<A, cell_kind::wide, Rows, Vectors>(p, x, w, sums);
}

/// The compiler's own vectors, which are the same for every instruction set.
template <int Lanes>
struct plain_vectors {
  typedef std::int32_t words __attribute__((vector_size(4 * Lanes)));
  typedef float floats __attribute__((vector_size(4 * Lanes)));
};
/// Sums become floats where they are.
template <class A, int Rows, int Vectors>
CAMEO_CELL_INLINE void make_floats(const integer_line& p, typename A::sum (&sums)[Rows][Vectors]) {
  using words = typename plain_vectors<A::lanes>::words;
  using floats = typename plain_vectors<A::lanes>::floats;
  CAMEO_CELL_LOOP
  for (int j = 0; j < Vectors; ++j) {
    floats scale, bias;
    std::memcpy(&scale, p.scale + j * A::lanes, sizeof scale);
    std::memcpy(&bias, p.bias + j * A::lanes, sizeof bias);
    CAMEO_CELL_LOOP
    for (int i = 0; i < Rows; ++i) {
      const floats scaled = __builtin_convertvector(__builtin_bit_cast(words, sums[i][j]), floats) * scale;
      sums[i][j] = __builtin_bit_cast(typename A::sum, scaled + bias);
    }
  }
}

/// A tile's rows of floats lie far apart: they come while its sums are made.
template <int Rows, int Columns>
CAMEO_CELL_FUNCTION void ask_for_rows(const integer_line& p, std::int64_t row) {
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; j += 16) __builtin_prefetch(p.floats + (row + i) * p.step + j, 0, 2);
}

/// The sums of a tile, or the floats that are made of them.
template <class A, int Rows, int Vectors>
CAMEO_CELL_INLINE void store_words(const integer_line& p, std::int64_t row, typename A::sum (&sums)[Rows][Vectors]) {
  if (p.floats) make_floats<A>(p, sums);
  std::int32_t* const to = (p.sums ? p.sums : reinterpret_cast<std::int32_t*>(p.floats)) + row * p.step;
  const int last = int(p.columns - (Vectors - 1) * A::lanes);  // columns of the last vector
  CAMEO_CELL_LOOP
  for (int i = 0; i < Rows; ++i) CAMEO_CELL_LOOP
  for (int j = 0; j < Vectors; ++j)
    A::store(sums[i][j], j + 1 == Vectors ? last : A::lanes, to + i * p.step + j * A::lanes);
}

template <class A, int Rows, int Vectors>
CAMEO_CELL_FUNCTION void run_tile(const integer_line& p, std::int64_t row) {
  typename A::sum sums[Rows][Vectors];
  CAMEO_CELL_LOOP
  for (int j = 0; j < Vectors; ++j) {
    const typename A::sum start = A::load_sums(p.start + j * A::lanes);
    CAMEO_CELL_LOOP
    for (int i = 0; i < Rows; ++i) sums[i][j] = start;
  }
  const std::byte* const x = p.x + row * p.row_step;
  if (p.floats) ask_for_rows<Rows, Vectors * A::lanes>(p, row);
  if constexpr (requires { A::evens; }) add_sorted_runs<A, Rows, Vectors>(p, x, sums);
  else if constexpr (Rows == 1) add_runs_of_one<A, Vectors>(p, x, p.w, sums);
  else add_runs<A, Rows, Vectors>(p, x, p.w, sums);
  if (!p.codes) return store_words<A>(p, row, sums);
  std::uint8_t* const to = p.codes + row * p.step;
  if constexpr (requires { typename A::template row_codes<Vectors>; }) {
    typename A::template row_codes<Vectors>(p).put(sums, int(p.columns), to, p.step);
  } else {
    CAMEO_CELL_LOOP
    for (int j = 0; j < Vectors; ++j) {
      const typename A::codes codes(p, j * A::lanes);
      const int count = j + 1 == Vectors ? int(p.columns - j * A::lanes) : A::lanes;
      CAMEO_CELL_LOOP
      for (int i = 0; i < Rows; ++i) codes.put(sums[i][j], count, to + i * p.step + j * A::lanes);
    }
  }
}

/// A line in tiles. What is left has tiles of fewer rows, one of which may compute some rows a second time. Lines of
/// images are often a few times eight pixels, a little more than one tile, or two; and so often is what is left.
template <class A, int Vectors>
CAMEO_CELL_FUNCTION void run_tiles(const integer_line& p) {
  constexpr int most = A::tile_rows, half = most / 2, quarter = most / 4 < 2 ? 2 : most / 4;
  constexpr int even = most > 8 ? 8 : most;
  std::int64_t evens = p.rows % most, row = 0;
  while (evens % even != 0 && evens + most <= p.rows && evens + most <= 4 * even) evens += most;
  if (evens % even == 0) {
    for (; row < p.rows - evens; row += most) run_tile<A, most, Vectors>(p, row);
    for (; row < p.rows; row += even) run_tile<A, even, Vectors>(p, row);
    return;
  }
  for (; row + most <= p.rows; row += most) run_tile<A, most, Vectors>(p, row);
  while (row < p.rows) {
    const std::int64_t left = p.rows - row;
    if (left > half && p.rows >= most) return run_tile<A, most, Vectors>(p, p.rows - most);
    if (left >= half) run_tile<A, half, Vectors>(p, row), row += half;
    else if (left > quarter && p.rows >= half) return run_tile<A, half, Vectors>(p, p.rows - half);
    else if (left >= quarter) run_tile<A, quarter, Vectors>(p, row), row += quarter;
    else if (left > 1 && p.rows >= quarter) return run_tile<A, quarter, Vectors>(p, p.rows - quarter);
    else run_tile<A, 1, Vectors>(p, row), ++row;
  }
}

template <class A>
CAMEO_CELL_FUNCTION void run_line(const integer_line& p) {
  if (p.columns > A::lanes) run_tiles<A, 2>(p);
  else run_tiles<A, 1>(p);
}

template <class A>
constexpr std::int32_t middle_of() {
  if constexpr (requires { A::middle; }) return A::middle;
  else return 0;
}

/// Sort: of integer_sort-inl.hpp, where there are kinds of cells.
template <class A, auto Sort = nullptr>
inline constexpr integer_arithmetic arithmetic_of{A::per_cell, 2 * A::lanes, A::tile_rows,
                                                  run_line<A>, Sort,         middle_of<A>()};
