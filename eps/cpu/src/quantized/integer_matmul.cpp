#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/integer_matmul.hpp>

#include "products/stacked_product.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Scales, and how they are assigned to the rows (or columns) of a stack of matrices.
struct scales {
  spread placing;
  std::span<float> numbers;
  float at(std::int64_t matrix, std::int64_t r) const { return numbers[std::size_t(placing.at(matrix, r))]; }
};
result<scales> read_scales(run_context& c, const value& v, const extents& whole, std::int64_t size,
                           std::int64_t matrices, std::string_view what) {
  const result<spread> over = spread_of(v, whole, size, matrices, what);
  if (!over) return over.error();
  const result<std::span<float>> numbers = c.scratch<float>(std::size_t(v.shape.count()));
  if (!numbers) return numbers.error();
  using floats = detail::element_set<float, float16, bfloat16>;
  for (std::size_t i = 0; i < numbers->size(); ++i)
    (*numbers)[i] =
        floats::visit(v.type, 0.0f, [&]<class T>(std::type_identity<T>) { return float(detail::element_at<T>(v, i)); });
  return scales{*over, *numbers};
}

}  // namespace

status matmul_integer::run(run_context& c) const {
  const value &a = c.input(0), &b_value = c.input(1);
  const result<stacked_product> p = stack_of(a, b_value);
  if (!p) return p.error();
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, p->y);
  if (!y) return y.error();
  if (y->empty()) return {};
  product_run all{c, *p, b, a, c.input(2), b_value, c.input(3)};
  if (status s = all.prepare(); !s) return s;
  return all.each([&](const integer_product& product, std::int64_t row, std::int64_t) {
    return multiply_to_sums(c, product, y->data() + row * p->n);
  });
}

namespace {

/// Quantizes the sums of qlinear_matmul.
struct product_scaling {
  const stacked_product& p;
  scales a, b, y;
  spread zero_over;
  const value& zero;
  dtype type;
  std::span<float> factors;  // the scales of one matrix, by column

  /// True if all rows of A share a scale, and all rows of Y share a scale and a zero point.
  bool is_by_columns() const { return a.placing.step == 0 && y.placing.step == 0 && zero_over.step == 0; }
  float factor(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    return scale_of_sums(a.at(p.matrix_of_a(matrix), row), b.at(p.matrix_of_b(matrix), column), y.at(matrix, row));
  }
  void store(const integer_block& block, std::int64_t matrix, std::uint8_t* to) const {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::int64_t row = (block.row + i) % p.m, at = matrix + (block.row + i) / p.m;
      const std::int64_t origin = zero ? code_of(zero, zero_over.at(at, row)) : 0;
      for (std::int64_t j = 0; j < block.columns; ++j) {
        const float v = float(block.sums[i * block.step + j]) * factor(at, row, block.column + j);
        to[(block.row + i) * p.n + block.column + j] = std::uint8_t(saturated_sum(v, origin, range_of(type)));
      }
    }
  }
};

}  // namespace

status qlinear_matmul::run(run_context& c) const {
  const value &a = c.input(0), &b_value = c.input(3), &y_zero = c.input(7);
  const result<stacked_product> p = stack_of(a, b_value);
  if (!p) return p.error();
  const result<value*> y = c.output(0, p->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const result<scales> a_scale = read_scales(c, c.input(1), a.shape, p->m, extents{p->a.stack}.count(), "a_scale");
  if (!a_scale) return a_scale.error();
  const result<scales> b_scale =
      read_scales(c, c.input(4), b_value.shape, p->n, extents{p->b.stack}.count(), "b_scale");
  if (!b_scale) return b_scale.error();
  const result<scales> y_scale = read_scales(c, c.input(6), p->y, p->m, p->count(), "y_scale");
  if (!y_scale) return y_scale.error();
  const result<spread> zero_over = spread_of(y_zero, p->y, p->m, p->count(), "y_zero_point");
  if (!zero_over) return zero_over.error();
  product_run all{c, *p, b, a, c.input(2), b_value, c.input(5)};
  if (status s = all.prepare(); !s) return s;
  const result<std::span<float>> factors = c.scratch<float>(std::size_t(p->n) + widest_panel);
  if (!factors) return factors.error();
  std::fill(factors->begin(), factors->end(), 0.0f);
  const product_scaling scaling{*p, *a_scale, *b_scale, *y_scale, *zero_over, y_zero, (*y)->type, *factors};
  auto* const out = static_cast<std::uint8_t*>((*y)->data);
  return all.each([&](const integer_product& product, std::int64_t row, std::int64_t matrix) -> status {
    std::uint8_t* const to = out + row * p->n;
    if (scaling.is_by_columns()) {
      for (std::int64_t j = 0; j < p->n; ++j) (*factors)[std::size_t(j)] = scaling.factor(matrix, 0, j);
      if (all_finite(*factors)) {
        const std::int64_t origin = y_zero ? code_of(y_zero, zero_over->at(matrix, 0)) : 0;
        return multiply_to_codes(c, product, form_of((*y)->type, origin, factors->data()), to);
      }
    }
    return multiply_to_sums(c, product, [&](const integer_block& block) { scaling.store(block, matrix, to); });
  });
}

namespace {

using code_elements = qlinear_matmul_of_codes::elements;

/// Reads quantized values, or zero points, as floats; a single 0 if `v` is absent.
result<std::span<const float>> read_codes(run_context& c, const value& v) {
  const std::int64_t count = v ? v.shape.count() : 1;
  const result<std::span<float>> made = c.scratch<float>(std::size_t(count));
  if (!made) return made.error();
  (*made)[0] = 0;
  code_elements::call(v.type, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(v.data);
    parallel_elements(c, count, 1 << 14, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) (*made)[std::size_t(i)] = float(from[i]);
    });
  });
  return std::span<const float>{*made};
}

/// A quantized tensor, with the scales and zero points of its rows (or columns).
struct code_tensor {
  std::span<const float> codes, zeros;
  scales scale;
  spread zero_over;

  static status read(run_context& c, std::size_t input, const extents& whole, std::int64_t size, std::int64_t matrices,
                     std::string_view name, code_tensor& out) {
    const value &of = c.input(input + 1), &zero = c.input(input + 2);
    const result<scales> scale = read_scales(c, of, whole, size, matrices, name);
    if (!scale) return scale.error();
    const result<spread> over = spread_of(zero, whole, size, matrices, name);
    if (!over) return over.error();
    const auto codes = read_codes(c, c.input(input)), zeros = read_codes(c, zero);
    if (!codes || !zeros) return status_code::out_of_memory;
    out = {*codes, *zeros, *scale, *over};
    return {};
  }
  float zero_at(std::int64_t matrix, std::int64_t i) const { return zeros[std::size_t(zero_over.at(matrix, i))]; }
  /// The dequantized value of element `at`, which is in row (column) i of a matrix.
  float number(std::int64_t at, std::int64_t matrix, std::int64_t i) const {
    return (codes[std::size_t(at)] - zero_at(matrix, i)) * scale.at(matrix, i);
  }
};

}  // namespace

result<qlinear_matmul_of_codes> qlinear_matmul_of_codes::bind(bind_context& c) {
  qlinear_matmul_of_codes made;
  for (const dtype type : {c.inputs[0].type, c.inputs[3].type, c.outputs[0].type})
    made.of_integers = made.of_integers && (type == dtype::u8 || type == dtype::i8);
  if (!made.of_integers) return made;
  const result<qlinear_matmul> integers = qlinear_matmul::bind(c);
  if (!integers) return integers.error();
  made.integers = *integers;
  return made;
}

status qlinear_matmul_of_floats::run(run_context& c) {
  const value &a_value = c.input(0), &b_value = c.input(3), &y_zero = c.input(7);
  const result<stacked_product> p = stack_of(a_value, b_value);
  if (!p) return p.error();
  const result<value*> y = c.output(0, p->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  code_tensor a, b;
  status read = code_tensor::read(c, 0, a_value.shape, p->m, extents{p->a.stack}.count(), "a_scale or a_zero_point", a);
  if (read)
    read = code_tensor::read(c, 3, b_value.shape, p->n, extents{p->b.stack}.count(), "b_scale or b_zero_point", b);
  if (!read) return read;
  const result<scales> y_scale = read_scales(c, c.input(6), p->y, p->m, p->count(), "y_scale");
  if (!y_scale) return y_scale.error();
  const result<spread> zero_over = spread_of(y_zero, p->y, p->m, p->count(), "y_zero_point");
  if (!zero_over) return zero_over.error();
  const result<std::span<const float>> zeros = read_codes(c, y_zero);
  if (!zeros) return zeros.error();
  const std::int64_t work = std::max<std::int64_t>(1, p->k * p->n);
  code_elements::call((*y)->type, [&]<class T>(std::type_identity<T>) {
    T* const to = static_cast<T*>((*y)->data);
    parallel_each(c, p->count() * p->m, 1 + (1 << 14) / work, [&](std::int64_t line, std::size_t) {
      const std::int64_t matrix = line / p->m, row = line % p->m;
      const std::int64_t of_a = p->matrix_of_a(matrix), of_b = p->matrix_of_b(matrix);
      const float zero = (*zeros)[std::size_t(zero_over->at(matrix, row))];
      for (std::int64_t j = 0; j < p->n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < p->k; ++l)
          sum += a.number((of_a * p->m + row) * p->k + l, of_a, row) * b.number((of_b * p->k + l) * p->n + j, of_b, j);
        const float v = sum / y_scale->at(matrix, row);
        if constexpr (std::is_integral_v<T>)
          to[line * p->n + j] = T(saturated_sum(v, std::int64_t(zero), range_of((*y)->type)));
        else to[line * p->n + j] = T(v + zero);
      }
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
