#include <cameo/eps/cpu/qgemm.hpp>
#include <cameo/geometry/product.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "operands/refuse.hpp"
#include "products/integer_factor.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Quantizes sums, which include C, or converts them to floats.
struct scaling {
  float alpha;
  const value &a_scale, &b_scale, &y_scale, &y_zero;
  const value& y;
  std::int64_t n;
  std::int64_t b_step = b_scale.shape.count() == 1 ? 0 : 1;

  float factor(std::int64_t j) const {
    const float a = alpha * a_scale.as_unchecked<float>()[0], b = b_scale.as_unchecked<float>()[j * b_step];
    return y.type == dtype::f32 ? a * b : scale_of_sums(a, b, y_scale.as_unchecked<float>()[0]);
  }
  std::int64_t zero() const { return y_zero ? code_of(y_zero, 0) : 0; }
  void store(const integer_block& block, const float* factors) const {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::int64_t to = (block.row + i) * n + block.column;
      const std::int32_t* const sums = block.sums + i * block.step;
      for (std::int64_t j = 0; j < block.columns; ++j) {
        const float v = factors[block.column + j] * float(sums[j]);
        if (y.type == dtype::f32) static_cast<float*>(y.data)[to + j] = v;
        else static_cast<std::uint8_t*>(y.data)[to + j] = std::uint8_t(saturated_sum(v, zero(), range_of(y.type)));
      }
    }
  }
};

/// C, which may be absent.
struct integer_addend {
  const value& v;
  const geometry::gemm& sizes;

  bool rows_differ() const { return v && sizes.c_row_stride != 0; }
  /// Adds `count` elements of a row, from `column` on, to sums.
  void add_to(std::int32_t* sums, std::int64_t row, std::int64_t column, std::int64_t count) const {
    const std::int32_t* const from = static_cast<const std::int32_t*>(v.data) + row * sizes.c_row_stride;
    for (std::int64_t j = 0; j < count; ++j)
      sums[j] = std::int32_t(std::uint32_t(sums[j]) + std::uint32_t(from[(column + j) * sizes.c_column_stride]));
  }
};

/// Checks the inputs.
result<geometry::gemm> sizes_of(run_context& c, const qgemm& how) {
  result<geometry::gemm> made = geometry::gemm_of<std::int64_t>(c.input(0).shape, how.transpose_a, c.input(3).shape,
                                                                how.transpose_b, geometry::shape_of(c.input(6)));
  if (!made) return made;
  if (status s = check_per_column("b_scale", c.input(4), made->n); !s) return s;
  if (status s = check_per_column("b_zero_point", c.input(5), made->n); !s) return s;
  const bool has_scale = bool(c.input(7));
  if ((c.output_type(0) == dtype::f32) == has_scale)
    return bad_input("Y is ", c.output_type(0),
                     has_scale ? " though there is a y_scale" : " though there is no y_scale");
  return made;
}

/// B as panels: those of a constant, or made of B's elements for this run.
result<integer_panels> panels_of_b(run_context& c, const qgemm& how, const geometry::gemm& sizes) {
  if (how.packed.data) return panels_of(how.packed);
  const result<std::span<const std::int32_t>> zeros = read_zeros(c, c.input(5));
  if (!zeros) return zeros.error();
  const value& b = c.input(3);
  std::span<std::byte> room;
  const auto* const codes = static_cast<const std::uint8_t*>(b.data);
  return panels_of(c, code_matrix{codes, b.type == dtype::i8, how.transpose_b, sizes.k, sizes.n, *zeros}, false, room);
}

}  // namespace

result<qgemm> qgemm::bind(bind_context& c) {
  const attributes_of<op::microsoft::QGemm> a{c.attributes};
  const result<integer_factor> b = integer_factor::bind(c, 3, 5, 2, a.transB != 0);
  if (!b) return b.error();
  return qgemm{a.transA != 0, a.transB != 0, a.alpha, *b};
}

status qgemm::run(run_context& c) const {
  const value &a = c.input(0), &a_scale = c.input(1), &a_zero = c.input(2), &b_scale = c.input(4);
  const value &add = c.input(6), &y_scale = c.input(7), &y_zero = c.input(8);
  const result<geometry::gemm> sizes = sizes_of(c, *this);
  if (!sizes) return sizes.error();
  const std::int64_t m = sizes->m, k = sizes->k, n = sizes->n;
  const integer_addend addend{add, *sizes};
  const result<value*> y = c.output(0, {m, n});
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const result<std::span<const std::int32_t>> a_zeros = read_zeros(c, a_zero);
  if (!a_zeros) return a_zeros.error();
  const result<integer_panels> panels = panels_of_b(c, *this, *sizes);
  if (!panels) return panels.error();
  integer_product product{m, k, {}, sizes->a_row_stride, sizes->a_column_stride, *panels, nullptr};
  product.a = {static_cast<const std::uint8_t*>(a.data), a.type == dtype::i8, a_zeros->data(), 0};
  const auto width = std::size_t(product.b.width());
  const result<std::span<std::int32_t>> start = c.scratch<std::int32_t>(width);
  const result<std::span<float>> factors = c.scratch<float>(width);
  if (!start || !factors) return status_code::out_of_memory;
  const scaling how{alpha, a_scale, b_scale, y_scale, y_zero, **y, n};
  std::fill(factors->begin(), factors->end(), 0.0f);
  for (std::int64_t j = 0; j < n; ++j) (*factors)[std::size_t(j)] = how.factor(j);
  // A C that is equal for all rows is included in the initial values of sums.
  const bool rows_differ = addend.rows_differ();
  start_sums(product.b, nullptr, zero_as_bytes(product.a.is_signed, (*a_zeros)[0]), start->data());
  if (add && !rows_differ) addend.add_to(start->data(), 0, 0, n);
  product.start = start->data();
  if (!rows_differ && (*y)->type == dtype::f32) {
    const result<std::span<float>> bias = c.scratch<float>(width);
    if (!bias) return bias.error();
    std::fill(bias->begin(), bias->end(), -0.0f);
    return multiply_to_floats(c, product, {factors->data(), bias->data()}, static_cast<float*>((*y)->data));
  }
  if (!rows_differ && all_finite(*factors))
    return multiply_to_codes(c, product, form_of((*y)->type, how.zero(), factors->data()),
                             static_cast<std::uint8_t*>((*y)->data));
  return multiply_to_sums(c, product, [&](const integer_block& block) {
    for (std::int64_t i = 0; rows_differ && i < block.rows; ++i)
      addend.add_to(block.sums + i * block.step, block.row + i, block.column, block.columns);
    how.store(block, factors->data());
  });
}

}  // namespace CAMEO_NAMESPACE::eps
