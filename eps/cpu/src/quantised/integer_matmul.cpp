#include <cameo/eps/cpu/integer_matmul.hpp>

#include "common/refuse.hpp"
#include "elementwise/cast_rows.hpp"
#include "quantized.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// A stack of products [m, k] * [k, n], as numpy's matmul sees two shapes.
struct stacked_product {
  std::int64_t m = 1, k = 1, n = 1;
  extents a_stack, b_stack, stack, y;
  std::int64_t count() const { return stack.count(); }
};
result<stacked_product> stack_of(const extents& a, const extents& b) {
  if (a.rank() == 0 || b.rank() == 0) return bad_input("A ", a, " and B ", b, " need at least rank 1");
  stacked_product p;
  p.k = a.back(), p.n = b.rank() > 1 ? b.back() : 1;
  if (a.rank() > 1) p.m = a[a.rank() - 2];
  const std::int64_t rows = b.rank() > 1 ? b[b.rank() - 2] : b[0];
  if (rows != p.k) return bad_input("A ", a, " and B ", b, ": ", p.k, " columns meet ", rows, " rows");
  p.a_stack = extents{a.dims().first(a.rank() > 2 ? a.rank() - 2 : 0)};
  p.b_stack = extents{b.dims().first(b.rank() > 2 ? b.rank() - 2 : 0)};
  if (!broadcast(p.a_stack, p.b_stack, p.stack)) return bad_input("A ", a, " and B ", b, " don't broadcast");
  p.y = p.stack;
  if (a.rank() > 1) p.y.push_back(p.m);
  if (b.rank() > 1) p.y.push_back(p.n);
  return p;
}
/// Number of the matrix, in a stack that broadcasts to `whole`, that product i of `whole` takes.
std::int64_t matrix_of(const extents& stack, const extents& whole, std::int64_t i) {
  std::int64_t at = 0, step = 1;
  for (std::size_t d = 1; d <= whole.rank(); ++d) {
    const std::int64_t size = whole[whole.rank() - d], index = i % size;
    i /= size;
    if (d > stack.rank()) continue;
    const std::int64_t own = stack[stack.rank() - d];
    if (own != 1) at += index * step;
    step *= own;
  }
  return at;
}

/// How scales and zero points spread over the rows (columns) of a stack: row r of matrix i has number
/// i * matrix_step + r * step.
struct spread {
  std::int64_t step = 0, matrix_step = 0;
  std::int64_t at(std::int64_t matrix, std::int64_t r) const { return matrix * matrix_step + r * step; }
};
/// `shape` is of a parameter of a tensor of `whole`, with `size` rows (columns) and `matrices` of them.
result<spread> spread_of(const extents& shape, const extents& whole, std::int64_t size, std::int64_t matrices,
                         std::string_view what) {
  if (shape.count() == 1) return spread{};
  if (shape.rank() == 1 && shape[0] == size) return spread{1, 0};
  if (shape.rank() == whole.rank() && shape.rank() > 1 && shape.count() == matrices * size) return spread{1, size};
  return bad_input(what, " ", shape, " of a tensor ", whole, " must be one number or ", size,
                   " numbers, or these for each matrix");
}

/// A or B as int32 without its zero points.
result<std::span<std::int32_t>> without_zero(run_context& c, const value& v, const value& zero, bool by_rows,
                                             std::string_view what) {
  const std::int64_t count = v.shape.count();
  const std::int64_t columns = v.shape.rank() > 1 || by_rows ? v.shape.back() : 1;
  const std::int64_t rows = v.shape.rank() > 1 ? v.shape[v.shape.rank() - 2] : by_rows ? 1 : v.shape[0];
  result<std::span<std::int32_t>> made = c.scratch<std::int32_t>(std::size_t(count));
  if (!made || count == 0) return made;
  const std::int64_t matrices = count / (rows * columns), zeros = zero ? zero.shape.count() : 1;
  result<spread> over = spread{};
  if (zero) over = spread_of(zero.shape, v.shape, by_rows ? rows : columns, matrices, what);
  if (!over) return over.error();
  const result<std::span<std::int64_t>> points = c.scratch<std::int64_t>(std::size_t(zeros));
  if (!points) return points.error();
  (*points)[0] = 0;
  if (zero) read_wide<std::int64_t>(zero.type, zero.data, 0, points->data(), zeros);
  std::int64_t wide[cast_block];
  for (std::int64_t first = 0; first < count; first += cast_block) {
    const std::int64_t n = std::min(cast_block, count - first);
    read_wide<std::int64_t>(v.type, v.data, first, wide, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = first + i, row = at / columns;
      const std::int64_t k = over->at(row / rows, by_rows ? row % rows : at % columns);
      (*made)[std::size_t(at)] = std::int32_t(wide[i] - (*points)[std::size_t(k)]);
    }
  }
  return made;
}

/// All rows of all products: f(product, row, n sums).
template <class F>
status each_row(run_context& c, const stacked_product& p, std::span<const std::int32_t> a,
                std::span<const std::int32_t> b, const F& f) {
  const result<std::span<std::int32_t>> sums = c.scratch<std::int32_t>(std::size_t(p.n) * c.lanes());
  if (!sums) return sums.error();
  c.parallel_lanes(std::size_t(p.count() * p.m), [&](std::size_t unit, std::size_t lane) {
    const std::int64_t product = std::int64_t(unit) / p.m, row = std::int64_t(unit) % p.m;
    const std::int32_t* const x = a.data() + (matrix_of(p.a_stack, p.stack, product) * p.m + row) * p.k;
    const std::int32_t* const w = b.data() + matrix_of(p.b_stack, p.stack, product) * p.k * p.n;
    std::int32_t* const sum = sums->data() + std::int64_t(lane) * p.n;
    std::fill_n(sum, p.n, 0);
    for (std::int64_t k = 0; k < p.k; ++k) {
      const auto factor = std::uint32_t(x[k]);
      for (std::int64_t j = 0; j < p.n; ++j)
        sum[j] = std::int32_t(std::uint32_t(sum[j]) + factor * std::uint32_t(w[k * p.n + j]));
    }
    f(product, row, sum);
  });
  return {};
}

struct scales {
  spread over;
  std::span<float> numbers;
  float at(std::int64_t matrix, std::int64_t r) const { return numbers[std::size_t(over.at(matrix, r))]; }
};
result<scales> read_scales(run_context& c, const value& v, const extents& whole, std::int64_t size,
                           std::int64_t matrices, std::string_view what) {
  const result<spread> over = spread_of(v.shape, whole, size, matrices, what);
  if (!over) return over.error();
  const result<std::span<float>> numbers = c.scratch<float>(std::size_t(v.shape.count()));
  if (!numbers) return numbers.error();
  read_wide<float>(v.type, v.data, 0, numbers->data(), v.shape.count());
  return scales{*over, *numbers};
}

}  // namespace

status matmul_integer::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(1);
  const result<stacked_product> p = stack_of(a.shape, b.shape);
  if (!p) return p.error();
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, p->y);
  if (!y) return y.error();
  if (y->empty()) return {};
  const result<std::span<std::int32_t>> x = without_zero(c, a, c.input(2), true, "a_zero_point");
  if (!x) return x.error();
  const result<std::span<std::int32_t>> w = without_zero(c, b, c.input(3), false, "b_zero_point");
  if (!w) return w.error();
  return each_row(c, *p, *x, *w, [&](std::int64_t product, std::int64_t row, const std::int32_t* sum) {
    std::copy_n(sum, p->n, y->data() + (product * p->m + row) * p->n);
  });
}

status qlinear_matmul::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(3), &y_zero = c.input(7);
  const result<stacked_product> p = stack_of(a.shape, b.shape);
  if (!p) return p.error();
  const result<value*> y = c.output(0, p->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const result<std::span<std::int32_t>> x = without_zero(c, a, c.input(2), true, "a_zero_point");
  if (!x) return x.error();
  const result<std::span<std::int32_t>> w = without_zero(c, b, c.input(5), false, "b_zero_point");
  if (!w) return w.error();
  const result<scales> a_scale = read_scales(c, c.input(1), a.shape, p->m, p->a_stack.count(), "a_scale");
  if (!a_scale) return a_scale.error();
  const result<scales> b_scale = read_scales(c, c.input(4), b.shape, p->n, p->b_stack.count(), "b_scale");
  if (!b_scale) return b_scale.error();
  const result<scales> y_scale = read_scales(c, c.input(6), p->y, p->m, p->count(), "y_scale");
  if (!y_scale) return y_scale.error();
  const result<spread> zero_over = spread_of(y_zero.shape, p->y, p->m, p->count(), "y_zero_point");
  if (!zero_over) return zero_over.error();
  const integer_range range = range_of((*y)->type);
  const bool is_signed = (*y)->type == dtype::i8;
  const auto* const zeros = static_cast<const std::uint8_t*>(y_zero.data);
  auto* const out = static_cast<std::uint8_t*>((*y)->data);
  return each_row(c, *p, *x, *w, [&](std::int64_t product, std::int64_t row, const std::int32_t* sum) {
    const std::int64_t a_matrix = matrix_of(p->a_stack, p->stack, product);
    const std::int64_t b_matrix = matrix_of(p->b_stack, p->stack, product);
    const float from_scale = a_scale->at(a_matrix, row), to_scale = y_scale->at(product, row);
    const std::uint8_t code = zeros[zero_over->at(product, row)];
    const std::int64_t zero = is_signed ? std::int64_t(std::int8_t(code)) : std::int64_t{code};
    for (std::int64_t j = 0; j < p->n; ++j) {
      const float v = float(sum[j]) * scale_of_sums(from_scale, b_scale->at(b_matrix, j), to_scale);
      out[(product * p->m + row) * p->n + j] = std::uint8_t(saturated_sum(v, zero, range));
    }
  });
}

}  // namespace cameo::inline CAMEO_ABI::eps
