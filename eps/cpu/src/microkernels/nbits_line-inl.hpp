// Computes an nbits_line (see nbits_loops.hpp) with the vectors A of the file that includes this, within its namespace
// and its target. A has these members:
//
//   A::lanes, A::tile_rows            columns of a vector; rows of a tile of two vectors
//   A::row_blocks                     blocks of a row at a time, if a tile has a single row
//   A::codes, A::floats, A::sums      vectors of 32-bit elements: groups of quantized weights, floats, int32
//   A::load(p)                        loads groups of weights
//   A::load_floats(p), A::store(v, count, p), A::all(x), A::all_sums(i), A::widen(p)
//   A::add_product(s, a, b)           s + a * b, and A::take_product: s - a * b; A::add, A::multiply, A::less
//   A::to_floats(s)                   converts sums
//   A::table<Bits, Centered>           weights as floats: at<I>(groups), minus 2^(Bits - 1) if `Centered`
//   A::codebook                       a codebook for weights of 4 bits, with the same interface
//   A::middle<Bits>                   what split() subtracts from each weight
//   A::split<Bits>(groups, cells)     the 8 / Bits dot-product groups of four int8 that groups of weights contain
//   A::add_cells<Bits>(s, cells, a)   s plus the products of dot-product groups and those of s8 at a

/// Loads the zero points of a block, as floats.
template <class A, int Bits>
CAMEO_INLINE void load_zeros(const nbits_line& p, std::int64_t at, typename A::floats (&zeros)[2]) {
  for (int j = 0; j < 2; ++j)
    zeros[j] = p.zeros ? A::widen(p.zeros + at + j * A::lanes) : A::load_floats(p.float_zeros + at + j * A::lanes);
}

/// Adds the products of rows with weight I of each group, and then, recursively, with the weights after it.
template <class A, int Bits, class Table, bool Zeros, int Rows, int Blocks, int I = 0>
CAMEO_INLINE void add_places(const Table& table, const typename A::codes (&groups)[Blocks][2],
                             const typename A::floats (&zeros)[Blocks][2], const float* const (&x)[Blocks][Rows],
                             typename A::floats (&sums)[Blocks][Rows][2]) {
  if constexpr (I < 32 / Bits) {
    CAMEO_UNROLL
    for (int b = 0; b < Blocks; ++b) {
      typename A::floats w[2];
      CAMEO_UNROLL
      for (int j = 0; j < 2; ++j) {
        w[j] = table.template at<I>(groups[b][j]);
        if constexpr (Zeros) w[j] = A::less(w[j], zeros[b][j]);
      }
      CAMEO_UNROLL
      for (int i = 0; i < Rows; ++i) {
        const typename A::floats factor = A::all(x[b][i][I]);
        CAMEO_UNROLL
        for (int j = 0; j < 2; ++j) sums[b][i][j] = A::add_product(sums[b][i][j], factor, w[j]);
      }
    }
    add_places<A, Bits, Table, Zeros, Rows, Blocks, I + 1>(table, groups, zeros, x, sums);
  }
}

/// Adds `Blocks` blocks, from number `first` on, to the sums of rows of floats. Few rows take several blocks at a time,
/// to hide the latency of additions.
template <class A, int Bits, class Table, bool Zeros, int Rows, int Blocks>
CAMEO_INLINE void add_float_blocks(const nbits_line& p, const Table& table, std::int64_t row, std::int64_t first,
                                   typename A::floats (&totals)[Rows][2]) {
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes, per_group = 32 / Bits, width = 2 * A::lanes;
  const std::int64_t groups = p.block / per_group;
  typename A::floats zeros[Blocks][2], sums[Blocks][Rows][2];
  CAMEO_UNROLL
  for (int b = 0; b < Blocks; ++b) {
    if constexpr (Zeros) load_zeros<A, Bits>(p, (first + b) * width, zeros[b]);
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) sums[b][i][0] = sums[b][i][1] = A::all(0);
  }
  const float* x[Blocks][Rows];
  const std::byte* w[Blocks];
  CAMEO_UNROLL
  for (int b = 0; b < Blocks; ++b) {
    w[b] = p.codes + (first + b) * groups * panel;
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i)
      x[b][i] = static_cast<const float*>(p.a) + (row + i) * p.row_step + (first + b) * p.block;
  }
  for (std::int64_t g = 0; g < groups; ++g) {
    typename A::codes some[Blocks][2];
    CAMEO_UNROLL
    for (int b = 0; b < Blocks; ++b) {
      CAMEO_UNROLL
      for (int j = 0; j < 2; ++j) some[b][j] = A::load(w[b] + j * bytes);
      w[b] += panel;
    }
    add_places<A, Bits, Table, Zeros, Rows, Blocks>(table, some, zeros, x, sums);
    CAMEO_UNROLL
    for (int b = 0; b < Blocks; ++b) CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) x[b][i] += per_group;
  }
  CAMEO_UNROLL
  for (int b = 0; b < Blocks; ++b) CAMEO_UNROLL
  for (int j = 0; j < 2; ++j) {
    const typename A::floats scale = A::load_floats(p.scales + (first + b) * width + j * A::lanes);
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) totals[i][j] = A::add_product(totals[i][j], sums[b][i][j], scale);
  }
}

template <class A, int Rows>
CAMEO_INLINE void put_totals(const nbits_line& p, std::int64_t row, typename A::floats (&totals)[Rows][2]) {
  const std::int64_t second = p.columns - A::lanes;  // columns of the second vector
  CAMEO_UNROLL
  for (int j = 0; j < 2; ++j) {
    if (j == 1 && second <= 0) return;
    const int count = int(j == 1 ? second : p.columns < A::lanes ? p.columns : A::lanes);
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) {
      if (p.bias) totals[i][j] = A::add(totals[i][j], A::load_floats(p.bias + j * A::lanes));
      A::store(totals[i][j], count, p.y + (row + i) * p.step + j * A::lanes);
    }
  }
}

template <class Table>
CAMEO_INLINE Table table_for(const nbits_line& p) {
  if constexpr (std::is_constructible_v<Table, const float*>) return Table{p.book};
  else return Table{};
}

/// Computes tiles of rows of floats. `Zeros`: zero points are subtracted from the table's values.
template <class A, int Bits, class Table, bool Zeros>
struct float_tiles {
  template <int Rows>
  static CAMEO_NOINLINE void run(const nbits_line& p, std::int64_t row) {
    constexpr int at_once = Rows == 1 ? A::row_blocks : 1;
    const Table table = table_for<Table>(p);
    typename A::floats totals[Rows][2];
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) totals[i][0] = totals[i][1] = A::all(0);
    std::int64_t b = 0;
    if constexpr (at_once > 1)
      for (; b + at_once <= p.blocks; b += at_once)
        add_float_blocks<A, Bits, Table, Zeros, Rows, at_once>(p, table, row, b, totals);
    for (; b < p.blocks; ++b) add_float_blocks<A, Bits, Table, Zeros, Rows, 1>(p, table, row, b, totals);
    put_totals<A, Rows>(p, row, totals);
  }
};

/// Adds the exact products of a block of rows of int8.
template <class A, int Bits, int Rows>
CAMEO_INLINE void add_codes(const nbits_line& p, const std::byte* w, const std::byte* const (&x)[Rows],
                            typename A::sums (&sums)[Rows][2]) {
  constexpr std::int64_t bytes = A::lanes * 4, panel = 2 * bytes, per_group = 32 / Bits;
  for (std::int64_t at = 0; at < p.block; at += per_group, w += panel) {
    typename A::codes cells[2][8 / Bits];
    CAMEO_UNROLL
    for (int j = 0; j < 2; ++j) A::template split<Bits>(A::load(w + j * bytes), cells[j]);
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) CAMEO_UNROLL
    for (int j = 0; j < 2; ++j) sums[i][j] = A::template add_cells<Bits>(sums[i][j], cells[j], x[i] + at);
  }
}

/// Computes tiles of rows of int8.
template <class A, int Bits>
struct byte_tiles {
  template <int Rows>
  static CAMEO_NOINLINE void run(const nbits_line& p, std::int64_t row) {
    constexpr std::int64_t width = 2 * A::lanes;
    const bool has_zeros = p.zeros || p.float_zeros;
    const std::int32_t taken = A::template middle<Bits> - (has_zeros ? 0 : 1 << (Bits - 1));
    const std::int64_t block_bytes = p.block * Bits / 32 * width * 4;
    typename A::floats totals[Rows][2];
    CAMEO_UNROLL
    for (int i = 0; i < Rows; ++i) totals[i][0] = totals[i][1] = A::all(0);
    for (std::int64_t b = 0; b < p.blocks; ++b) {
      const nbits_scale* const of = p.a_scales + row * p.blocks + b;
      const std::byte* x[Rows];
      typename A::sums sums[Rows][2];
      CAMEO_UNROLL
      for (int i = 0; i < Rows; ++i) {
        x[i] = static_cast<const std::byte*>(p.a) + (row + i) * p.row_step + b * p.block;
        sums[i][0] = sums[i][1] = A::all_sums(taken * of[i * p.blocks].sum);
      }
      add_codes<A, Bits, Rows>(p, p.codes + b * block_bytes, x, sums);
      typename A::floats zeros[2];
      if (has_zeros) load_zeros<A, Bits>(p, b * width, zeros);
      CAMEO_UNROLL
      for (int j = 0; j < 2; ++j) {
        const typename A::floats scale = A::load_floats(p.scales + b * width + j * A::lanes);
        CAMEO_UNROLL
        for (int i = 0; i < Rows; ++i) {
          const nbits_scale& mine = of[i * p.blocks];
          typename A::floats v = A::to_floats(sums[i][j]);
          if (has_zeros) v = A::take_product(v, A::all(float(mine.sum)), zeros[j]);
          totals[i][j] = A::add_product(totals[i][j], v, A::multiply(scale, A::all(mine.scale)));
        }
      }
    }
    put_totals<A, Rows>(p, row, totals);
  }
};

/// Computes a line in tiles of tile_rows rows, and the rest in tiles of 4, 2 and 1 rows.
template <class A, class Tiles>
CAMEO_NOINLINE void run_rows(const nbits_line& p) {
  constexpr int most = A::tile_rows;
  std::int64_t row = 0;
  for (; row + most <= p.rows; row += most) Tiles::template run<most>(p, row);
  if constexpr (most > 4)
    if (row + 4 <= p.rows) Tiles::template run<4>(p, row), row += 4;
  if constexpr (most > 2)
    if (row + 2 <= p.rows) Tiles::template run<2>(p, row), row += 2;
  if (row < p.rows) Tiles::template run<1>(p, row);
}

template <class A, int Bits>
CAMEO_NOINLINE void run_float_line(const nbits_line& p) {
  using plain = typename A::template table<Bits, false>;
  using centered = typename A::template table<Bits, true>;
  if (p.zeros || p.float_zeros) run_rows<A, float_tiles<A, Bits, plain, true>>(p);
  else run_rows<A, float_tiles<A, Bits, centered, false>>(p);
}

template <class A>
inline constexpr nbits_loops nbits_of{
    2 * A::lanes,
    A::tile_rows,
    {run_float_line<A, 2>, run_float_line<A, 4>, run_float_line<A, 8>},
    {run_rows<A, byte_tiles<A, 2>>, run_rows<A, byte_tiles<A, 4>>, run_rows<A, byte_tiles<A, 8>>},
    run_rows<A, float_tiles<A, 4, typename A::codebook, false>>};
