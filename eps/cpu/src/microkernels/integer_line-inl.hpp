// Computes an integer_line (a line is the rows of one call, see integer_loops.hpp) with the arithmetic A of the file
// that includes this, within its namespace and its target. A has these members:
//
//   A::lanes                        sums of a vector
//   A::tile_rows                    rows of a tile of two vectors, as many as there are registers for
//   A::sum, A::cells                a vector of sums, and one of dot-product groups
//   A::broadcast(p), A::load(p)     one group in all lanes; the groups of `lanes` columns
//   A::add_products(s, a, b)        s plus the products of the groups a and b
//   A::load_sums(p), A::store(s, p) reads and writes int32
//   A::add(s, s)
//   A::middle                       optional: what broadcast() subtracts from each byte
//   A::codes                        quantizes sums: constructed from a line and its first column; put(s, lanes, p)
//   A::row_codes<vectors>           optional, instead of codes: constructed from a line; put(rows, columns, p, step)
//
// If panels have several kinds of groups (see cell_kind), A also has:
//
//   A::evens(a), A::odds(a)         the first and third bytes of each group of u8 as int16, and the others
//   A::ordered(a, order)            the bytes of each group in one of cell_orders
//   A::add_wide(s, a, b)            s plus the products of groups of int16
//   A::add_joined(s, a, b, c, d)    s plus the products of a and b, and of c and d

/// True if tiles have so few rows that each can have an address in a register; then they may be in different stretches.
template <class A>
inline constexpr bool takes_stretches = A::tile_rows <= 8;

/// The addresses of a tile's rows: shifted(bytes)(row) is the address `bytes` after the beginning of a row. Apart: each
/// row has a separate address; else rows have a constant distance.
template <int Rows, bool Apart>
struct row_places {
  const std::byte* at[Rows];

  struct places {
    const std::byte* const* at;
    std::int64_t bytes;
    CAMEO_INLINE const std::byte* operator()(int row) const { return at[row] + bytes; }
  };
  CAMEO_INLINE row_places(const integer_line& p, std::int64_t row) {
    std::int64_t stretch = row < p.stretch ? 0 : row / p.stretch, rest = row - stretch * p.stretch;
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) {
      at[i] = p.x + stretch * p.stretch_step + rest * p.row_step;
      if (++rest == p.stretch) rest = 0, ++stretch;
    }
  }
  CAMEO_INLINE places shifted(std::int64_t bytes) const { return {at, bytes}; }
};
template <int Rows>
struct row_places<Rows, false> {
  const std::byte* first;
  std::int64_t step;

  struct places {
    const std::byte* every_third[(Rows + 2) / 3];
    std::int64_t step;
    CAMEO_INLINE const std::byte* operator()(int row) const { return every_third[row / 3] + row % 3 * step; }
  };
  CAMEO_INLINE row_places(const integer_line& p, std::int64_t row) : first{p.x + row * p.row_step}, step{p.row_step} {}
  CAMEO_INLINE places shifted(std::int64_t bytes) const {
    places made;
    made.step = step;
    CAMEO_UNROLL
    for (int i = 0; i < (Rows + 2) / 3; ++i) made.every_third[i] = first + bytes + 3 * i * step;
    return made;
  }
};
template <class A, int Rows>
using places_of = row_places<Rows, takes_stretches<A>>;

/// Prefetches what is read later into the L2 cache.
template <std::int64_t Bytes>
CAMEO_INLINE void fetch(const std::byte* p) {
  CAMEO_UNROLL
  for (std::int64_t i = 0; i < Bytes; i += 64) __builtin_prefetch(p + i, 0, 2);
}

/// Adds all products of `Rows` rows and `Vectors` vectors of columns to the sums.
template <class A, int Rows, int Vectors>
CAMEO_INLINE void add_runs(const integer_line& p, const places_of<A, Rows>& x, const std::byte* w, std::int64_t ahead,
                           typename A::sum (&sums)[Rows][Vectors]) {
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes;
  for (std::int64_t t = 0; t < p.tap_count; ++t)
    for (std::int64_t at = p.taps[t], end = at + 4 * p.cells; at < end; at += 4, w += panel) {
      typename A::cells columns[Vectors];
      CAMEO_UNROLL
      for (int j = 0; j < Vectors; ++j) columns[j] = A::load(w + j * bytes);
      fetch<panel>(w + ahead);
      const auto row = x.shifted(at);
      CAMEO_UNROLL
      for (int i = 0; i < Rows; ++i) {
        const typename A::cells factor = A::broadcast(row(i));
        CAMEO_UNROLL
        for (int j = 0; j < Vectors; ++j) sums[i][j] = A::add_products(sums[i][j], factor, columns[j]);
      }
    }
}
/// add_runs() for a single row, with four chains of additions, to hide the latency of an addition.
template <class A, int Vectors>
CAMEO_INLINE void add_runs_of_one(const integer_line& p, const places_of<A, 1>& x, const std::byte* w,
                                  typename A::sum (&sums)[1][Vectors]) {
  constexpr int chains = 4;
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes;
  typename A::sum more[chains][Vectors];
  CAMEO_UNROLL
  for (int i = 0; i < chains; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) more[i][j] = i == 0 ? sums[0][j] : A::nothing();
  for (std::int64_t t = 0; t < p.tap_count; ++t) {
    const std::byte* from = x.shifted(p.taps[t])(0);
    std::int64_t c = 0;
    for (; c + chains <= p.cells; c += chains, from += 4 * chains, w += panel * chains) CAMEO_UNROLL
    for (int i = 0; i < chains; ++i) {
      const typename A::cells factor = A::broadcast(from + 4 * i);
      CAMEO_UNROLL
      for (int j = 0; j < Vectors; ++j)
        more[i][j] = A::add_products(more[i][j], factor, A::load(w + i * panel + j * bytes));
    }
    for (; c < p.cells; ++c, from += 4, w += panel) CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j)
      more[0][j] = A::add_products(more[0][j], A::broadcast(from), A::load(w + j * bytes));
  }
  CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) sums[0][j] = A::add(A::add(more[0][j], more[1][j]), A::add(more[2][j], more[3][j]));
}

/// Adds the products of the groups of one kind, in a panel with several kinds, and moves `w` behind them.
template <class A, cell_kind Kind, int Rows, int Vectors>
CAMEO_INLINE void add_cells(const integer_line& p, const places_of<A, Rows>& x, const std::byte*& w, std::int64_t ahead,
                            typename A::sum (&sums)[Rows][Vectors]) {
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes;
  constexpr bool is_double = Kind == cell_kind::joined || Kind == cell_kind::wide;
  constexpr std::int64_t size = is_double ? 2 * panel : panel;
  const std::int64_t* list = p.list + std::int64_t(Kind) * (1 + p.tap_count * p.cells);
  for (const std::int64_t* const end = list + 1 + *list; ++list < end; w += size) {
    fetch<size>(w + ahead);
    const auto row = x.shifted(*list);
    typename A::cells columns[Vectors], more[Vectors];
    CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      columns[j] = A::load(w + j * bytes);
      if constexpr (is_double) more[j] = A::load(w + panel + j * bytes);
    }
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const std::byte* const at = row(i);
      typename A::cells factor = A::broadcast(at);
      if constexpr (Kind == cell_kind::turned || Kind == cell_kind::crossed)
        factor = A::ordered(factor, cell_orders[std::size_t(Kind) - std::size_t(cell_kind::narrow)]);
      CAMEO_UNROLL
      for (int j = 0; j < Vectors; ++j)
        if constexpr (Kind == cell_kind::joined) {
          sums[i][j] = A::add_joined(sums[i][j], factor, columns[j], A::broadcast(at + 4), more[j]);
        } else if constexpr (Kind == cell_kind::wide) {
          sums[i][j] = A::add_wide(sums[i][j], A::evens(factor), columns[j]);
          sums[i][j] = A::add_wide(sums[i][j], A::odds(factor), more[j]);
        } else {
          sums[i][j] = A::add_products(sums[i][j], factor, columns[j]);
        }
    }
  }
}
template <class A, int Rows, int Vectors, std::size_t... I>
CAMEO_INLINE void add_sorted_runs(const integer_line& p, const places_of<A, Rows>& x, std::int64_t ahead,
                                  typename A::sum (&sums)[Rows][Vectors], std::index_sequence<I...>) {
  const std::byte* w = p.w + panel_kinds{p.tap_count, p.cells}.bytes();
  (add_cells<A, cell_kind(I), Rows, Vectors>(p, x, w, ahead, sums), ...);
}

/// Vectors of the compiler's extension, which every instruction set has.
template <int Lanes>
struct plain_vectors {
  typedef std::int32_t words __attribute__((vector_size(4 * Lanes)));
  typedef float floats __attribute__((vector_size(4 * Lanes)));
};
/// Converts sums to floats (see float_form), in place.
template <class A, int Rows, int Vectors>
CAMEO_INLINE void make_floats(const integer_line& p, typename A::sum (&sums)[Rows][Vectors]) {
  using words = typename plain_vectors<A::lanes>::words;
  using floats = typename plain_vectors<A::lanes>::floats;
  CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) {
    floats scale, bias;
    std::memcpy(&scale, p.scale + j * A::lanes, sizeof scale);
    std::memcpy(&bias, p.bias + j * A::lanes, sizeof bias);
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const floats scaled = __builtin_convertvector(__builtin_bit_cast(words, sums[i][j]), floats) * scale;
      sums[i][j] = __builtin_bit_cast(typename A::sum, scaled + bias);
    }
  }
}

/// Prefetches the output rows of a tile of floats, which are far apart in memory, before its sums are computed.
template <int Rows, int Columns>
CAMEO_NOINLINE void prefetch_rows(const integer_line& p, std::int64_t row) {
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; j += 16) __builtin_prefetch(p.floats + (row + i) * p.step + j, 0, 2);
}

/// Stores the sums of a tile, or the floats they are converted to.
template <class A, int Rows, int Vectors>
CAMEO_INLINE void store_words(const integer_line& p, std::int64_t row, typename A::sum (&sums)[Rows][Vectors]) {
  if (p.floats) make_floats<A>(p, sums);
  std::int32_t* const to = (p.sums ? p.sums : reinterpret_cast<std::int32_t*>(p.floats)) + row * p.step;
  const int last = int(p.columns - (Vectors - 1) * A::lanes);  // columns of the last vector
  CAMEO_UNROLL
  for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j)
    A::store(sums[i][j], j + 1 == Vectors ? last : A::lanes, to + i * p.step + j * A::lanes);
}

template <class A, int Rows, int Vectors>
CAMEO_NOINLINE void run_tile(const integer_line& p, std::int64_t row) {
  typename A::sum sums[Rows][Vectors];
  CAMEO_UNROLL
  for (int j = 0; j < Vectors; ++j) {
    const typename A::sum start = A::load_sums(p.start + j * A::lanes);
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) sums[i][j] = start;
  }
  const std::int64_t ahead = row == 0 ? p.ahead : 0;
  const places_of<A, Rows> x{p, row};
  if (p.floats) prefetch_rows<Rows, Vectors * A::lanes>(p, row);
  if constexpr (requires { A::evens; })
    add_sorted_runs<A, Rows, Vectors>(p, x, ahead, sums, std::make_index_sequence<panel_kinds::count>{});
  else if constexpr (Rows == 1) add_runs_of_one<A, Vectors>(p, x, p.w, sums);
  else add_runs<A, Rows, Vectors>(p, x, p.w, ahead, sums);
  if (!p.codes) return store_words<A>(p, row, sums);
  std::uint8_t* const to = p.codes + row * p.step;
  if constexpr (requires { typename A::template row_codes<Vectors>; }) {
    typename A::template row_codes<Vectors>(p).put(sums, int(p.columns), to, p.step);
  } else {
    CAMEO_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      const typename A::codes codes(p, j * A::lanes);
      const int count = j + 1 == Vectors ? int(p.columns - j * A::lanes) : A::lanes;
      CAMEO_UNROLL
      for (int i = 0; i < Rows; ++i) codes.put(sums[i][j], count, to + i * p.step + j * A::lanes);
    }
  }
}

/// Computes a line in tiles of almost the same number of rows, with a separate instance of the code for each number.
template <class A, int Vectors, std::size_t... I>
CAMEO_NOINLINE void run_even_tiles(const integer_line& p, std::index_sequence<I...>) {
  static constexpr void (*tile_of[])(const integer_line&, std::int64_t) = {run_tile<A, int(I) + 1, Vectors>...};
  constexpr std::int64_t most = sizeof...(I);
  if (p.rows <= most) return tile_of[p.rows - 1](p, 0);
  const std::int64_t tiles = (p.rows + most - 1) / most, least = p.rows / tiles;
  std::int64_t row = 0;
  for (std::int64_t larger = p.rows - tiles * least; larger > 0; --larger, row += least + 1) tile_of[least](p, row);
  for (; row < p.rows; row += least) tile_of[least - 1](p, row);
}
/// Computes a line in tiles. If an instance for each number of rows would be too much code, there are tiles of four
/// sizes. A rest of rows takes smaller tiles, the last of which may overlap the one before. Lines of images often have
/// a multiple of eight pixels: if the rest, with a few whole tiles, is a small multiple of eight, it takes tiles of
/// eight rows.
template <class A, int Vectors>
CAMEO_NOINLINE void run_tiles(const integer_line& p) {
  if constexpr (takes_stretches<A>) return run_even_tiles<A, Vectors>(p, std::make_index_sequence<A::tile_rows>{});
  constexpr int most = A::tile_rows, half = most / 2, quarter = most / 4, even = 8;
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
CAMEO_NOINLINE void run_line(const integer_line& p) {
  if (p.columns > A::lanes) run_tiles<A, 2>(p);
  else run_tiles<A, 1>(p);
}

template <class A>
constexpr std::int32_t middle_of() {
  if constexpr (requires { A::middle; }) return A::middle;
  else return 0;
}

/// The arithmetic A as a table entry. Sort: sort_cells() of integer_sort-inl.hpp, if panels have several kinds of
/// groups.
template <class A, auto Sort = nullptr>
inline constexpr integer_arithmetic arithmetic_of{A::per_cell, 2 * A::lanes, A::tile_rows,  takes_stretches<A>,
                                                  run_line<A>, Sort,         middle_of<A>()};
