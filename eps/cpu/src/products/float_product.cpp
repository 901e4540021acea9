// Splits a matrix product C = A * B among workers, chooses an algorithm by its shape and layout, packs its factors, and
// calls the micro-kernels.
//
// Terms, as in the literature on GEMM:
//   tile      the rows x columns of C whose sums stay in registers (see gemm_block.hpp)
//   panel     as many columns of B (or rows of A) as a tile has, packed so that one step of k is contiguous
//   strip     columns of C whose sums stay in the L1 cache
//   block     the rows of A, or panels of B, that are packed together because they stay in the L2 cache
//   epilogue  the scaling, bias, addend and activation that are applied to sums before they are stored
#include <cameo/eps/cpu/detail/float_product.hpp>

#include "machine/parallel_rows.hpp"
#include "machine/work_split.hpp"
#include "microkernels/gemm_row_kernels.hpp"
#include "operands/scratch_of.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t pieces_of(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

/// One of the products of a gemm_problem.
template <class T, class B, class A>
struct one_product {
  matrix_ref<T, A> a;
  const B* b;
  T* c;
  gemm_epilogue<T> epilogue;
};
template <class T, class B, class A>
one_product<T, B, A> product(const gemm_problem<T, B, A>& p, std::int64_t i) {
  return {p.a.from(p.a_offsets.empty() ? 0 : p.a_offsets[std::size_t(i)]),
          p.b.data + (p.b_offsets.empty() ? 0 : p.b_offsets[std::size_t(i)]), p.c + i * p.m * p.n, p.epilogue};
}

/// Applies the epilogue to `count` plain sums of a row of C.
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

// The least multiplications that pay for another worker: in a product that is limited by reading B from memory
// (least_read), and in one that is limited by arithmetic (least_work).
constexpr std::int64_t least_read = 1 << 17, least_work = 1 << 19;

/// The number of multiplications of all products.
template <class T, class B, class A>
double work_of(const gemm_problem<T, B, A>& p, std::int64_t products) {
  return double(products) * double(p.m) * double(p.n) * double(p.k);
}

/// Columns [first, end) of one product.
struct column_range {
  std::int64_t product, first, end;
};
/// Splits the `n` columns of products that read B once among workers, in units of `unit` columns. It is not a template,
/// so that all types share one copy.
work_split split_of_columns(const run_context& c, std::int64_t n, std::int64_t unit, std::int64_t products,
                            double work) {
  const work_size size{.outer = {pieces_of(n, unit)},
                       .repeats = products,
                       .cost = work,
                       .least_cost = least_read,
                       .tasks_per_worker = 2};
  return {size, c.lanes()};
}
/// Calls f(column_range, worker), on several workers, for ranges that cover all `n` columns of products that read B
/// once. Sums do not depend on the ranges, as no sum is formed across columns.
template <class F>
void for_column_ranges(run_context& c, std::int64_t n, std::int64_t unit, std::int64_t products, double work,
                       const F& f) {
  for_each_task(c, split_of_columns(c, n, unit, products, work), [&](const work_task& task, std::size_t worker) {
    f(column_range{task.repeat, task.outer * unit, std::min(n, (task.outer + task.outer_count) * unit)}, worker);
  });
}

/// Computes a C of one column as dot products of unpacked operands. The rows of A and the column of B are contiguous.
template <class T, class A>
void multiply_dots(run_context& c, const gemm_problem<T, T, A>& p, std::int64_t products) {
  // `piece` elements of A are read between two stop checks, which is more than the L2 cache has; the number of rows is
  // a multiple of what the loops process at a time. A row longer than `most` elements is summed in parts.
  constexpr std::int64_t piece = 1 << 19, most = 1 << 16;
  const std::int64_t some = std::max<std::int64_t>(1, piece / p.k / 16) * 16;
  for_column_ranges(c, p.m, 16, products, work_of(p, products), [&](const column_range& range, std::size_t) {
    const auto one = product(p, range.product);
    detail::stop_pace pace;
    for (std::int64_t first = range.first, count; first < range.end; first += count) {
      count = p.k > most ? 1 : std::min(some, range.end - first);
      T* const y = one.c + first;
      for (std::int64_t k = 0; k < p.k; k += most) {
        if ((first > range.first || k > 0) && c.stopped(pace)) return;
        T sum{};
        const matrix_ref<T, A> rows = one.a.from(first, k);
        dot_with_rows(row_dots<T, A>{rows.elements(), p.a.row_stride, count, one.b + k, std::min(most, p.k - k),
                                     k > 0 ? &sum : y});
        if (k > 0) *y += sum;
      }
      for (std::int64_t i = first; i < first + count; ++i) finish_row(one.epilogue, i, 0, 1, one.c + i);
    }
  });
}

/// Returns the matrices A of products with few rows, with elements of type T. The primary template refers to A in
/// place.
template <class T, class A>
class few_rows_of_a {
 public:
  template <class B>
  static result<few_rows_of_a> make(run_context&, const gemm_problem<T, B, A>& p, std::int64_t) {
    return few_rows_of_a{p.a, p.a_offsets};
  }
  matrix_ref<T> matrix(std::int64_t product, std::size_t) const {
    return a.from(offsets.empty() ? 0 : offsets[std::size_t(product)]);
  }

  matrix_ref<T> a;
  std::span<const std::int64_t> offsets;
};
/// The specialization for matrices A of float16 or bfloat16 widens them. If there are no more of them than workers, all
/// are widened in advance, since several workers read each; else each worker widens the A that it multiplies.
template <class T>
class few_rows_of_a<T, any_float> {
 public:
  template <class B>
  static result<few_rows_of_a> make(run_context& c, const gemm_problem<T, B, any_float>& p, std::int64_t products) {
    few_rows_of_a made;
    made.p_ = p.a, made.offsets_ = p.a_offsets;
    if (!p.a.narrow) return made;
    if (p.a_offsets.empty()) products = 1;
    // A line is what is contiguous in A: a row, or a column.
    const bool rows = p.a.column_stride == 1;
    made.lines_ = rows ? p.m : p.k, made.length_ = rows ? p.k : p.m;
    made.stride_ = rows ? p.a.row_stride : p.a.column_stride;
    const bool all = products <= std::int64_t(c.lanes());
    const std::int64_t rooms = all ? products : std::int64_t(c.lanes());
    const auto room = scratch_of<T>(c, {rooms, p.m, p.k});
    const result<std::span<std::int64_t>> notes = c.scratch<std::int64_t>(all ? 0 : std::size_t(rooms));
    if (!room || !notes) return status_code::out_of_memory;
    made.room_ = *room, made.notes_ = *notes;
    std::fill(notes->begin(), notes->end(), -1);
    for (std::int64_t i = 0; all && i < products; ++i) made.widen(i, made.room_ + i * p.m * p.k);
    return made;
  }
  matrix_ref<T> matrix(std::int64_t product, std::size_t lane) const {
    const std::int64_t i = offsets_.empty() ? 0 : product;
    if (!room_) return {p_.data + offset_of(i), p_.row_stride, p_.column_stride};
    const std::int64_t size = lines_ * length_;
    T* const to = room_ + (notes_.empty() ? i : std::int64_t(lane)) * size;
    if (!notes_.empty() && notes_[lane] != i) widen(i, to), notes_[lane] = i;
    return p_.column_stride == 1 ? matrix_ref<T>{to, length_, 1} : matrix_ref<T>{to, 1, length_};
  }

 private:
  std::int64_t offset_of(std::int64_t i) const { return offsets_.empty() ? 0 : offsets_[std::size_t(i)]; }
  void widen(std::int64_t i, T* to) const { p_.from(offset_of(i)).elements().read_lines(to, lines_, length_, stride_); }

  matrix_ref<T, any_float> p_;
  std::span<const std::int64_t> offsets_;
  std::int64_t lines_ = 0, length_ = 0, stride_ = 0;
  T* room_ = nullptr;
  std::span<std::int64_t> notes_;  // by worker: the product whose A it has widened; empty if all are widened in advance
};

/// The number of columns of a strip, if B is not packed.
constexpr std::int64_t widest_strip = 1024;

/// Computes a C of few rows as sums of scaled rows of B. The rows of B are contiguous, or B is packed as panels.
template <class T, class B, class A>
status multiply_few_rows(run_context& c, const gemm_problem<T, B, A>& p, std::int64_t products) {
  const std::int64_t panel = tile_of<T>().columns, strip = p.packed_b ? panel : widest_strip;
  const std::int64_t depth = gemm_depth(p.k);
  // Each worker has a buffer for the sums over a block of k, if there are several blocks. It is scratch memory, because
  // the stack of a small processor is too small for it.
  const std::int64_t most = p.k > depth ? p.m * std::min(strip, p.n) : 0;
  const result<std::span<T>> room = c.scratch<T>(std::size_t(most) * c.lanes());
  if (!room) return room.error();
  const auto all_a = few_rows_of_a<T, A>::make(c, p, products);
  if (!all_a) return all_a.error();
  const std::int64_t unit = p.packed_b ? panel : 64;
  for_column_ranges(c, p.n, unit, products, work_of(p, products), [&](const column_range& range, std::size_t lane) {
    const auto one = product(p, range.product);
    const matrix_ref<T> a = all_a->matrix(range.product, lane);
    detail::stop_pace pace;
    T* const more = room->data() + std::int64_t(lane) * most;
    for (std::int64_t j = range.first; j < range.end; j += strip) {
      const std::int64_t count = std::min(strip, range.end - j), stride = p.packed_b ? panel : p.b.row_stride;
      const B* const from = p.packed_b ? p.packed_b + j * p.k : one.b + j;
      for (std::int64_t k = 0; k < p.k; k += depth) {
        if ((j > range.first || k > 0) && c.stopped(pace)) return;
        const std::int64_t steps = std::min(depth, p.k - k);
        const T* const own_a = a.data + k * a.column_stride;
        const B* const own_b = from + k * stride;
        row_sums<T, B> sums{own_a, a.row_stride, a.column_stride, own_b, stride, p.m, steps, count, one.c + j, p.n};
        if (k > 0) sums.y = more, sums.y_stride = count;
        add_scaled_rows(sums);
        for (std::int64_t i = 0; k > 0 && i < p.m; ++i)
          for (std::int64_t s = 0; s < count; ++s) one.c[i * p.n + j + s] += more[i * count + s];
      }
      for (std::int64_t i = 0; i < p.m; ++i) finish_row(one.epilogue, i, j, count, one.c + i * p.n + j);
    }
  });
  return {};
}

/// Computes a C of few rows if the columns of B are contiguous: transposes some steps of k of a panel, and multiplies
/// them while they are in the L1 cache.
template <class T, class B, class A>
status multiply_transposed(run_context& c, const gemm_problem<T, B, A>& p, std::int64_t products) {
  const std::int64_t width = tile_of<T>().columns, depth = gemm_depth(p.k);
  const bool large = p.k * p.n * std::int64_t(sizeof(B)) >= gemm_cached_bytes;
  const auto all_a = few_rows_of_a<T, A>::make(c, p, products);
  if (!all_a) return all_a.error();
  for_column_ranges(c, p.n, width, products, work_of(p, products), [&](const column_range& range, std::size_t lane) {
    const auto one = product(p, range.product);
    const matrix_ref<T> a = all_a->matrix(range.product, lane);
    detail::stop_pace pace;
    T sums[gemm_few_transposed * gemm_widest_tile];
    for (std::int64_t j = range.first; j < range.end; j += width) {
      const std::int64_t count = std::min(width, range.end - j);
      for (std::int64_t k = 0; k < p.k; k += depth) {
        if ((j > range.first || k > 0) && c.stopped(pace)) return;
        const B* const from = one.b + j * p.b.column_stride + k;
        // The part of the next panel that is prefetched meanwhile has the size of the part that is read now.
        const B* const ahead = large ? one.b + (j + width) * p.b.column_stride + k * width : nullptr;
        add_transposed_columns(
            transposed_sums<T, B>{{a.data + k * a.column_stride, a.row_stride, a.column_stride, from, p.b.column_stride,
                                   p.m, std::min(depth, p.k - k), count, sums, width},
                                  ahead});
        for (std::int64_t i = 0; i < p.m; ++i)
          for (std::int64_t s = 0; s < count; ++s) {
            T& to = one.c[i * p.n + j + s];
            to = k > 0 ? to + sums[i * width + s] : sums[i * width + s];
          }
      }
      for (std::int64_t i = 0; i < p.m; ++i) finish_row(one.epilogue, i, j, count, one.c + i * p.n + j);
    }
  });
  return {};
}

/// True if each worker packs the blocks of B that it multiplies. Otherwise all of B is packed in advance, which for a
/// large B would take too much memory.
template <class T, class B, class A>
bool packs_blocks_of_b(const gemm_problem<T, B, A>& p) {
  constexpr double whole_bytes = 1 << 23;
  return !p.packed_b && (!p.b_offsets.empty() || double(p.k) * double(p.n) * double(sizeof(T)) > whole_bytes);
}

/// Splits C among workers, in panels of columns and tiles of rows. Every split has the same tiles, and so the same
/// sums.
template <class T, class B, class A>
work_split split_of(const gemm_problem<T, B, A>& p, std::int64_t products, std::size_t workers) {
  const gemm_tile tile = tile_of<T>();
  work_size size{.outer = {pieces_of(p.n, tile.columns)},
                 .inner = {pieces_of(p.m, tile.rows)},
                 .repeats = products,
                 .cost = work_of(p, products),
                 .least_cost = least_work};
  if (packs_blocks_of_b(p)) {  // a block stays in the L2 cache for all rows
    constexpr std::int64_t block = 1 << 17;
    size.outer.most = std::max<std::int64_t>(1, block / std::max<std::int64_t>(1, p.k * tile.columns));
  } else {  // rows are split first, because every block of columns packs its rows of A again
    size.splits_inner_first = true, size.inner.enough = 2;
  }
  return {size, workers};
}

/// The packed operands of one call of multiply(), and the memory in which workers pack. P is the element type of the
/// panels of B.
template <class T, class A, class P>
struct packing {
  std::span<std::int64_t> notes;  // by worker: the block of B that it has packed; -1: none
  std::span<T> a;                 // a block for each worker; empty if A is read in place
  std::span<T> wide;              // a widened panel for each worker; empty if no panel is widened
  std::span<P> b;                 // a block for each worker; empty if all of B is packed
  std::size_t a_size = 0, b_size = 0, wide_size = 0;
  const P* packed_b = nullptr;
  few_rows_of_a<T, A> in_place;  // used if `a` is empty
};

/// True if C has enough columns for packing A to pay off; otherwise A is read in place.
template <class T, class B, class A>
bool packs_a(const gemm_problem<T, B, A>& p) {
  return p.m > 1 && p.n >= gemm_few_panels(p.a.column_stride) * tile_of<T>().columns;
}

/// Takes scratch memory of `size` elements for each worker.
template <class T>
status room_of_lanes(run_context& c, std::size_t size, std::span<T>& room) {
  std::size_t all = 0;
  if (!checked_multiply(size, c.lanes(), all)) return status_code::out_of_memory;
  const result<std::span<T>> made = c.scratch<T>(all);
  if (!made) return made.error();
  room = *made;
  return {};
}

/// Takes the memory that workers pack in, and packs all of B unless workers pack its blocks.
template <class T, class B, class A, class P>
status prepare(run_context& c, const gemm_problem<T, B, A>& p, std::int64_t products, const work_split& split,
               packing<T, A, P>& made) {
  const gemm_tile tile = tile_of<T>();
  const std::int64_t rows = split.most_inner() * tile.rows, columns = split.most_outer() * tile.columns;  // of a task
  std::size_t size = 0;
  if (packs_a(p) || (p.a.narrow && p.m > gemm_few_transposed)) {
    made.a_size = std::size_t(
        std::max(gemm_buffer_size(std::min(p.m, rows), p.k, tile.rows), gemm_buffer_size(tile.rows, p.k, tile.rows)));
    if (status s = room_of_lanes(c, made.a_size, made.a); !s) return s;
  } else {
    const auto in_place = few_rows_of_a<T, A>::make(c, p, products);
    if (!in_place) return in_place.error();
    made.in_place = *in_place;
  }
  if constexpr (std::is_same_v<B, P>) {
    if (!std::is_same_v<T, P>) made.wide_size = std::size_t(gemm_wide_size(p.m, p.k, tile.columns));
    if (made.wide_size > 0)
      if (status s = room_of_lanes(c, made.wide_size, made.wide); !s) return s;
    made.packed_b = p.packed_b;
    if (p.packed_b) return {};
  }
  if (packs_blocks_of_b(p)) {
    result<std::span<std::int64_t>> notes = c.scratch<std::int64_t>(c.lanes());
    if (!notes) return notes.error();
    made.notes = *notes;
    std::fill(notes->begin(), notes->end(), -1);
    if (!packed_b_size<T>(p.k, std::min(p.n, columns), made.b_size)) return status_code::out_of_memory;
    return room_of_lanes(c, made.b_size, made.b);
  }
  if (!packed_b_size<T>(p.k, p.n, size)) return status_code::out_of_memory;
  result<std::span<P>> b = c.scratch<P>(size);
  if (!b) return b.error();
  const std::int64_t step = std::max<std::int64_t>(1, least_read / (p.k * tile.columns)) * tile.columns;
  parallel_for(c, p.n, step, [&](std::int64_t first, std::int64_t last) {
    pack_b(matrix_ref<B>{p.b.data + first * p.b.column_stride, p.b.row_stride, p.b.column_stride}, p.k, last - first,
           b->data() + first * p.k, &c);
  });
  made.packed_b = b->data();
  return {};
}

/// Multiplies the rows of A and panels of B of one task.
template <class T, class B, class A, class P>
void run_task(const run_context& c, const gemm_problem<T, B, A>& p, const packing<T, A, P>& packed,
              const work_task& task, std::size_t lane) {
  const gemm_tile tile = tile_of<T>();
  const auto one = product(p, task.repeat);
  const std::int64_t m0 = task.inner * tile.rows, n0 = task.outer * tile.columns;
  const std::int64_t m = std::min(task.inner_count * tile.rows, p.m - m0);
  const std::int64_t n = std::min(task.outer_count * tile.columns, p.n - n0);
  const P* b = nullptr;
  if (packed.packed_b) {
    b = packed.packed_b + n0 * p.k;
  } else {
    P* const to = packed.b.data() + lane * packed.b_size;
    if (packed.notes[lane] != task.block) {
      pack_b(matrix_ref<B>{one.b + n0 * p.b.column_stride, p.b.row_stride, p.b.column_stride}, p.k, n, to, &c);
      packed.notes[lane] = task.block;
    }
    b = to;
  }
  matrix_ref<T, A> a = one.a;
  if (packed.a.empty()) {
    const matrix_ref<T> rows = packed.in_place.matrix(task.repeat, lane);
    a = {rows.data, rows.row_stride, rows.column_stride};
  }
  a = a.from(m0, 0);
  gemm_block<T, P, A> block{m, n, p.k, a.data, b, one.c + m0 * p.n + n0, p.n, one.epilogue.at(m0, n0)};
  block.a_row_stride = a.row_stride, block.a_column_stride = a.column_stride;
  block.narrow_a = a.narrow;
  block.run = &c;
  if (!packed.a.empty()) block.buffer = packed.a.data() + lane * packed.a_size;
  if (!packed.wide.empty()) block.wide = packed.wide.data() + lane * packed.wide_size;
  multiply_block(block);
}

/// The general algorithm: tiles of A by panels of B with elements of type P, which are packed already or packed now.
template <class P, class T, class B, class A>
status multiply_panels(run_context& c, const gemm_problem<T, B, A>& p, std::int64_t products) {
  const work_split split = split_of(p, products, c.lanes());
  packing<T, A, P> packed;
  if (status s = prepare(c, p, products, split, packed); !s) return s;
  for_each_task(c, split, [&](const work_task& task, std::size_t lane) { run_task(c, p, packed, task, lane); });
  return {};
}

/// multiply_dots() for B's of another type than T, each of one column: widens them to T first.
template <class T, class B, class A>
status multiply_widened(run_context& c, const gemm_problem<T, B, A>& p, std::int64_t products) {
  const std::int64_t columns = p.b_offsets.empty() ? 1 : std::int64_t(p.b_offsets.size());
  const auto wide = scratch_of<T>(c, {columns, p.k});
  const result<std::span<std::int64_t>> offsets = c.scratch<std::int64_t>(p.b_offsets.size());
  if (!wide || !offsets) return status_code::out_of_memory;
  for (std::int64_t i = 0; i < columns; ++i) {
    widen_row(p.b.data + (p.b_offsets.empty() ? 0 : p.b_offsets[std::size_t(i)]), *wide + i * p.k, p.k);
    if (!p.b_offsets.empty()) (*offsets)[std::size_t(i)] = i * p.k;
  }
  gemm_problem<T, T, A> same{p.m, p.n, p.k, p.a, {*wide, p.b.row_stride, p.b.column_stride}, nullptr, p.c, p.epilogue};
  same.a_offsets = p.a_offsets, same.b_offsets = *offsets;
  return multiply_dots(c, same, products), status{};
}

}  // namespace

template <class T, class B, class A>
status multiply(run_context& c, const gemm_problem<T, B, A>& p) {
  const bool many = !p.a_offsets.empty() || !p.b_offsets.empty();
  const std::int64_t products = many ? std::int64_t(std::max(p.a_offsets.size(), p.b_offsets.size())) : 1;
  if (p.m == 0 || p.n == 0 || products == 0) return {};
  if (p.k == 0) {
    parallel_each(c, products * p.m, grain_of(1 << 15, p.n), [&](std::int64_t i, std::size_t) {
      std::fill_n(p.c + i * p.n, p.n, T(0));
      finish_row(p.epilogue, i % p.m, 0, p.n, p.c + i * p.n);
    });
    return {};
  }
  if (!p.packed_b && p.n == 1 && p.a.column_stride == 1 && p.b.row_stride == 1) {
    if constexpr (std::is_same_v<T, B>) return multiply_dots(c, p, products), status{};
    else return multiply_widened(c, p, products);
  }
  if (!p.packed_b && p.m <= gemm_few_transposed && p.b.row_stride == 1 && p.b.column_stride != 1) {
    return multiply_transposed(c, p, products);
  }
  const bool by_rows = p.packed_b ? p.for_few_rows : p.b.column_stride == 1;
  if (by_rows && p.m <= gemm_few_rows) return multiply_few_rows(c, p, products);
  if constexpr (!std::is_same_v<T, B>)
    if (p.packed_b) return multiply_panels<B>(c, p, products);
  return multiply_panels<T>(c, p, products);
}

template status multiply(run_context&, const gemm_problem<float>&);
template status multiply(run_context&, const gemm_problem<double>&);
template status multiply(run_context&, const gemm_problem<float, float, any_float>&);
template status multiply(run_context&, const gemm_problem<float, float16>&);
template status multiply(run_context&, const gemm_problem<float, bfloat16>&);

}  // namespace CAMEO_NAMESPACE::eps
