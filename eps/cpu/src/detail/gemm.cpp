// Packing, and the way from a matrix product to register tiles.
#include <cameo/eps/cpu/detail/gemm.hpp>
#include <detail/gemm_kernels.hpp>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

/// Packs rows [0, count) of `m` (rows of B are its columns) into panels of `width`. Panels step along i, k along j.
template <class T>
void pack_panels(const T* from, std::int64_t stride, std::int64_t k_stride, std::int64_t count, std::int64_t k,
                 std::int64_t width, T* to) {
  constexpr std::int64_t chunk = 16;  // of k: what is written stays in the first cache, what is read comes in long rows
  if (stride == 1) {
    for (std::int64_t p0 = 0; p0 < k; p0 += chunk)
      for (std::int64_t i0 = 0; i0 < count; i0 += width)
        for (std::int64_t p = p0; p < std::min(k, p0 + chunk); ++p) {
          const std::int64_t filled = std::min(width, count - i0);
          T* const row = to + i0 * k + p * width;
          std::copy_n(from + i0 + p * k_stride, filled, row);
          if (filled < width) std::fill_n(row + filled, width - filled, T(0));
        }
    return;
  }
  for (std::int64_t i0 = 0; i0 < count; i0 += width, to += width * k) {
    const std::int64_t filled = std::min(width, count - i0);
    const T* const panel = from + i0 * stride;
    if (filled < width) std::fill_n(to, width * k, T(0));
    for (std::int64_t p0 = 0; p0 < k; p0 += chunk) {
      const std::int64_t p1 = std::min(k, p0 + chunk);
      for (std::int64_t i = 0; i < filled; ++i)
        for (std::int64_t p = p0; p < p1; ++p) to[p * width + i] = panel[i * stride + p * k_stride];
    }
  }
}

[[nodiscard]] bool packed_size(std::int64_t count, std::int64_t k, std::int64_t width, std::size_t& size) {
  std::int64_t padded = 0;
  if (count < 0 || k < 0 || !checked_add(count, width - 1, padded)) return false;
  padded = padded / width * width;
  if (!checked_multiply(padded, k, padded)) return false;
  size = std::size_t(padded);
  return true;
}

/// What a task of multiply() gets from the others that ran on its lane: the block of A or B that is packed there.
struct lane_note {
  std::int64_t a, b;  // -1: none
};

/// Product `i` of a problem.
template <class T>
struct one_product {
  const T *a, *b;
  T* c;
  gemm_epilogue<T> epilogue;
};
template <class T>
one_product<T> product(const gemm_problem<T>& p, std::int64_t i) {
  return {p.a.data + (p.a_offsets.empty() ? 0 : p.a_offsets[std::size_t(i)]),
          p.b.data + (p.b_offsets.empty() ? 0 : p.b_offsets[std::size_t(i)]), p.c + i * p.m * p.n, p.epilogue};
}

/// alpha, bias, addend and activation on a row that holds plain sums.
template <class T>
void finish_row(const gemm_epilogue<T>& e, std::int64_t row, std::int64_t column, std::int64_t count, T* y) {
  const gemm_epilogue<T> at = e.at(row, column);
  for (std::int64_t j = 0; j < count; ++j) {
    T v = at.alpha * y[j];
    if (at.bias) v += at.beta * at.bias[j * at.bias_column_stride];
    if (at.add) v += at.add[j];
    y[j] = v;
  }
  apply_activation(e.f, y, count);
}

// Work per task, in multiplications, below which another thread costs more than it brings.
constexpr std::int64_t least_work = 1 << 17;

/// C is a column: every element is a row of A times b. Nothing is packed.
template <class T>
void multiply_column(run_context& c, const gemm_problem<T>& p, std::int64_t products) {
  const std::int64_t rows = std::clamp<std::int64_t>(least_work / p.k, 1, p.m), blocks = blocks_of(p.m, rows);
  parallel_for(c, products * blocks, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      const one_product<T> one = product(p, t / blocks);
      const std::int64_t i0 = t % blocks * rows, count = std::min(rows, p.m - i0);
      dot_with_rows(one.a + i0 * p.a.row_stride, p.a.row_stride, one.b, count, p.k, one.c + i0);
      for (std::int64_t i = i0; i < i0 + count; ++i) finish_row(one.epilogue, i, 0, 1, one.c + i);
    }
  });
}

/// C has few rows, and B is read once, where it lies.
template <class T>
void multiply_few_rows(run_context& c, const gemm_problem<T>& p, std::int64_t products) {
  const bool by_rows = p.b.column_stride == 1;  // else B's columns are contiguous
  const std::int64_t lines = by_rows ? 1024 : 64;
  const std::int64_t columns = std::max<std::int64_t>(lines, std::min(p.n, least_work / (p.k * p.m)));
  const std::int64_t blocks = blocks_of(p.n, columns);
  parallel_for(c, products * blocks, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      const one_product<T> one = product(p, t / blocks);
      const std::int64_t end = std::min(p.n, (t % blocks + 1) * columns);
      for (std::int64_t j = t % blocks * columns; j < end; j += lines) {
        const std::int64_t count = std::min(lines, end - j);
        constexpr std::int64_t depth = 8;  // rows of B that stay in the first cache for all rows of A
        for (std::int64_t i = 0; by_rows && i < p.m; ++i) std::fill_n(one.c + i * p.n + j, count, T(0));
        for (std::int64_t k = 0; by_rows && k < p.k; k += depth)
          for (std::int64_t i = 0; i < p.m; ++i)
            add_scaled_rows(one.a + i * p.a.row_stride + k * p.a.column_stride, p.a.column_stride,
                            one.b + k * p.b.row_stride + j, p.b.row_stride, std::min(depth, p.k - k), count,
                            one.c + i * p.n + j);
        for (std::int64_t i = 0; !by_rows && i < p.m; ++i)
          dot_with_rows(one.b + j * p.b.column_stride, p.b.column_stride, one.a + i * p.a.row_stride, count, p.k,
                        one.c + i * p.n + j);
        for (std::int64_t i = 0; i < p.m; ++i) finish_row(one.epilogue, i, j, count, one.c + i * p.n + j);
      }
    }
  });
}

/// What one call of multiply() packs where.
template <class T>
struct packing {
  std::span<lane_note> notes;
  std::span<T> a, b;  // lanes() blocks each; b is empty when all of B is packed already
  std::size_t a_size = 0, b_size = 0;
  const T* packed_b = nullptr;
};

template <class T>
status prepare(run_context& c, const gemm_problem<T>& p, const gemm_grid& grid, packing<T>& made) {
  const gemm_tile tile = tile_of<T>();
  result<std::span<lane_note>> notes = c.scratch<lane_note>(c.lanes());
  if (!notes) return notes.error();
  made.notes = *notes;
  std::fill(notes->begin(), notes->end(), lane_note{-1, -1});
  std::size_t size = 0;
  if (!packed_a_size<T>(std::min(p.m, grid.rows), p.k, made.a_size)) return status_code::out_of_memory;
  if (!checked_multiply(made.a_size, c.lanes(), size)) return status_code::out_of_memory;
  result<std::span<T>> a = c.scratch<T>(size);
  if (!a) return a.error();
  made.a = *a;
  made.packed_b = p.packed_b;
  if (p.packed_b) return {};
  if (!p.b_offsets.empty()) {
    if (!packed_b_size<T>(p.k, std::min(p.n, grid.columns), made.b_size)) return status_code::out_of_memory;
    if (!checked_multiply(made.b_size, c.lanes(), size)) return status_code::out_of_memory;
    result<std::span<T>> b = c.scratch<T>(size);
    if (!b) return b.error();
    made.b = *b;
    return {};
  }
  if (!packed_b_size<T>(p.k, p.n, size)) return status_code::out_of_memory;
  result<std::span<T>> b = c.scratch<T>(size);
  if (!b) return b.error();
  const std::int64_t step = std::max<std::int64_t>(1, (1 << 16) / (p.k * tile.columns)) * tile.columns;
  parallel_for(c, p.n, step, [&](std::int64_t first, std::int64_t last) {
    pack_b(matrix_ref<T>{p.b.data + first * p.b.column_stride, p.b.row_stride, p.b.column_stride}, p.k, last - first,
           b->data() + first * p.k);
  });
  made.packed_b = b->data();
  return {};
}

template <class T>
void run_task(const gemm_problem<T>& p, const gemm_grid& grid, const packing<T>& packed, std::int64_t task,
              std::size_t lane) {
  const std::int64_t column_block = task % grid.column_blocks;
  const std::int64_t row_id = task / grid.column_blocks;  // rows of blocks, over all products
  const std::int64_t number = row_id / grid.row_blocks, row_block = row_id % grid.row_blocks;
  const one_product<T> one = product(p, number);
  const std::int64_t m0 = row_block * grid.rows, n0 = column_block * grid.columns;
  const std::int64_t m = std::min(grid.rows, p.m - m0), n = std::min(grid.columns, p.n - n0);
  lane_note& note = packed.notes[lane];
  T* const a = packed.a.data() + lane * packed.a_size;
  if (note.a != row_id) {
    pack_a(matrix_ref<T>{one.a + m0 * p.a.row_stride, p.a.row_stride, p.a.column_stride}, m, p.k, a);
    note.a = row_id;
  }
  const T* b = packed.packed_b + n0 * p.k;
  if (!packed.packed_b) {
    T* const to = packed.b.data() + lane * packed.b_size;
    const std::int64_t id = number * grid.column_blocks + column_block;
    if (note.b != id) {
      pack_b(matrix_ref<T>{one.b + n0 * p.b.column_stride, p.b.row_stride, p.b.column_stride}, p.k, n, to);
      note.b = id;
    }
    b = to;
  }
  multiply_block(gemm_block<T>{m, n, p.k, a, b, one.c + m0 * p.n + n0, p.n, one.epilogue.at(m0, n0)});
}

}  // namespace

template <class T>
bool packed_a_size(std::int64_t m, std::int64_t k, std::size_t& size) {
  return packed_size(m, k, tile_of<T>().rows, size);
}
template <class T>
bool packed_b_size(std::int64_t k, std::int64_t n, std::size_t& size) {
  return packed_size(n, k, tile_of<T>().columns, size);
}
template <class T>
void pack_a(const matrix_ref<T>& a, std::int64_t m, std::int64_t k, T* packed) {
  pack_panels(a.data, a.row_stride, a.column_stride, m, k, tile_of<T>().rows, packed);
}
template <class T>
void pack_b(const matrix_ref<T>& b, std::int64_t k, std::int64_t n, T* packed) {
  pack_panels(b.data, b.column_stride, b.row_stride, n, k, tile_of<T>().columns, packed);
}

template <class T>
gemm_grid grid_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t copies) {
  const gemm_tile tile = tile_of<T>();
  // A block of either side, all of k, is to fit in the second cache, and to be large enough to be worth packing.
  const auto fitting = [&](std::int64_t count, std::int64_t width, std::int64_t least) {
    const std::int64_t budget = (1 << 19) / std::int64_t(sizeof(T)) / std::max<std::int64_t>(k, 1);
    return std::min(blocks_of(std::clamp(budget, least * width, 64 * width), width), blocks_of(count, width)) * width;
  };
  gemm_grid grid{fitting(m, tile.rows, 8), fitting(n, tile.columns, 4), 0, 0};
  const auto tasks = [&] {
    return double(copies) * double(blocks_of(m, grid.rows)) * double(blocks_of(n, grid.columns));
  };
  // Enough tasks for many threads, as long as each has something to do.
  constexpr double wanted = 16;
  while (tasks() < wanted && double(grid.rows) * double(grid.columns) * double(k) > 2.0 * double(least_work)) {
    if (grid.columns > grid.rows && grid.columns > 2 * tile.columns)
      grid.columns = blocks_of(grid.columns / 2, tile.columns) * tile.columns;
    else if (grid.rows > 2 * tile.rows) grid.rows = blocks_of(grid.rows / 2, tile.rows) * tile.rows;
    else break;
  }
  grid.row_blocks = blocks_of(m, grid.rows), grid.column_blocks = blocks_of(n, grid.columns);
  return grid;
}

template <class T>
status multiply(run_context& c, const gemm_problem<T>& p) {
  const bool many = !p.a_offsets.empty() || !p.b_offsets.empty();
  const std::int64_t products = many ? std::int64_t(std::max(p.a_offsets.size(), p.b_offsets.size())) : 1;
  if (p.m == 0 || p.n == 0 || products == 0) return {};
  if (p.k == 0) {
    for (std::int64_t i = 0; i < products * p.m; ++i) {
      std::fill_n(p.c + i * p.n, p.n, T(0));
      finish_row(p.epilogue, i % p.m, 0, p.n, p.c + i * p.n);
    }
    return {};
  }
  if (!p.packed_b && p.n == 1 && p.a.column_stride == 1 && p.b.row_stride == 1) {
    multiply_column(c, p, products);
    return {};
  }
  const bool dots = p.b.row_stride == 1 && p.a.column_stride == 1;
  if (!p.packed_b && p.m <= 6 && (p.b.column_stride == 1 || dots)) {
    multiply_few_rows(c, p, products);
    return {};
  }
  const gemm_grid grid = grid_of<T>(p.m, p.n, p.k, products);
  packing<T> packed;
  if (status s = prepare(c, p, grid, packed); !s) return s;
  std::int64_t tasks = 0;
  if (!checked_multiply(grid.row_blocks * grid.column_blocks, products, tasks)) return status_code::out_of_memory;
  c.parallel_lanes(std::size_t(tasks),
                   [&](std::size_t task, std::size_t lane) { run_task(p, grid, packed, std::int64_t(task), lane); });
  return {};
}

template bool packed_a_size<float>(std::int64_t, std::int64_t, std::size_t&);
template bool packed_a_size<double>(std::int64_t, std::int64_t, std::size_t&);
template bool packed_b_size<float>(std::int64_t, std::int64_t, std::size_t&);
template bool packed_b_size<double>(std::int64_t, std::int64_t, std::size_t&);
template void pack_a(const matrix_ref<float>&, std::int64_t, std::int64_t, float*);
template void pack_a(const matrix_ref<double>&, std::int64_t, std::int64_t, double*);
template void pack_b(const matrix_ref<float>&, std::int64_t, std::int64_t, float*);
template void pack_b(const matrix_ref<double>&, std::int64_t, std::int64_t, double*);
template gemm_grid grid_of<float>(std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template gemm_grid grid_of<double>(std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template status multiply(run_context&, const gemm_problem<float>&);
template status multiply(run_context&, const gemm_problem<double>&);

}  // namespace cameo::inline CAMEO_ABI::eps
