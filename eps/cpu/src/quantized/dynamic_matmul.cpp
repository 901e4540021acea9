#include <cameo/eps/cpu/dynamic_matmul.hpp>

#include <algorithm>

#include "code_rows.hpp"
#include "dynamic_range.hpp"
#include "machine/parallel_rows.hpp"
#include "operands/refuse.hpp"
#include "products/code_product.hpp"
#include "products/stacked_product.hpp"

namespace CAMEO_NAMESPACE::eps {

status multiply_to_floats(run_context& c, const scaled_codes& with, const integer_factor& packed, float* y) {
  const result<stacked_product> p = stack_of(with.a, with.b);
  if (!p) return p.error();
  if (status s = check_per_column("b_scale", with.b_scale, p->n); !s) return s;
  if (status s = check_per_column("b_zero_point", with.b_zero, p->n); !s) return s;
  if (status s = check_count("bias", with.bias ? with.bias.shape.count() : p->n, p->n); !s) return s;
  const std::size_t n = std::size_t(p->n), width = n + widest_panel;
  const result<std::span<float>> factors = c.scratch<float>(width), bias = c.scratch<float>(width);
  if (!factors || !bias) return status_code::out_of_memory;
  const float a_scale = with.a_scale.as_unchecked<float>()[0];
  const tensor_view<const float> scales = with.b_scale.as_unchecked<float>();
  std::fill(factors->begin(), factors->end(), 0.0f), std::fill(bias->begin(), bias->end(), -0.0f);
  for (std::size_t j = 0; j < n; ++j) (*factors)[j] = a_scale * scales[scales.count() == 1 ? 0 : std::int64_t(j)];
  if (with.bias) std::copy_n(with.bias.as_unchecked<float>().data(), n, bias->data());
  product_run all{c, *p, packed, with.a, with.a_zero, with.b, with.b_zero};
  if (status s = all.prepare(); !s) return s;
  return all.each([&](const integer_product& product, std::int64_t row, std::int64_t) {
    return multiply_to_floats(c, product, {factors->data(), bias->data()}, y + row * p->n);
  });
}

result<matmul_integer_to_float> matmul_integer_to_float::bind(bind_context& c) {
  return integer_factor::bind(c, 1, 5, 4).transform([](const auto& b) { return matmul_integer_to_float{b}; });
}

status matmul_integer_to_float::run(run_context& c) const {
  const scaled_codes factors{c.input(0), c.input(1), c.input(2), c.input(3), c.input(4), c.input(5), c.input(6)};
  const result<stacked_product> p = stack_of(factors.a, factors.b);
  if (!p) return p.error();
  const result<tensor_view<float>> y = c.output<float>(0, p->y);
  if (!y || y->empty()) return y ? status{} : y.error();
  return multiply_to_floats(c, factors, b, y->data());
}

result<dynamic_quantize_matmul> dynamic_quantize_matmul::bind(bind_context& c) {
  const std::size_t no_input = c.inputs.size();
  return integer_factor::bind(c, 1, 3, no_input).transform([](const auto& b) { return dynamic_quantize_matmul{b}; });
}

status dynamic_quantize_matmul::run(run_context& c) const {
  const tensor_view<const float> a = c.input<float>(0);
  const result<stacked_product> p = stack_of(c.input(0), c.input(1));
  if (!p) return p.error();
  const result<tensor_view<float>> y = c.output<float>(0, p->y);
  if (!y || y->empty()) return y ? status{} : y.error();
  const result<std::span<std::uint8_t>> room = c.scratch<std::uint8_t>(a.size());
  if (!room) return room.error();
  const result<byte_quantization> made = quantize_dynamically(c, a, room->data());
  if (!made) return made.error();
  const value codes = value::tensor(dtype::u8, a.shape(), room->data());
  const value scale = value::tensor(dtype::f32, {}, &made->scale), zero = value::tensor(dtype::u8, {}, &made->zero);
  const scaled_codes factors{codes, c.input(1), scale, c.input(2), zero, c.input(3), c.input(4)};
  return multiply_to_floats(c, factors, b, y->data());
}

namespace {

/// Y [m, n] = A [m, k] * B [k, n], one row of Y at a time.
template <class A, class B>
void multiply_shorts(run_context& c, const stacked_product& p, const A* a, const B* b, std::int32_t* y) {
  parallel_each_row(c, p.m, grain_of(1 << 16, p.k * p.n), [&](std::int64_t row, std::size_t) {
    std::fill_n(y + row * p.n, p.n, 0);
    for (std::int64_t l = 0; l < p.k; ++l) add_shorts(b + l * p.n, std::int32_t{a[row * p.k + l]}, y + row * p.n, p.n);
  });
}

}  // namespace

status matmul_integer16::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(1);
  const result<stacked_product> p = stack_of(a, b);
  if (!p) return p.error();
  const result<value*> y = c.output(0, p->y);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  for (std::int64_t i = 0; i < p->count(); ++i) {
    if (c.stopped()) return status_code::canceled;
    const std::int64_t of_a = p->matrix_of_a(i), of_b = p->matrix_of_b(i);
    elements::call(a.type, [&]<class A>(std::type_identity<A>) {
      elements::call(b.type, [&]<class B>(std::type_identity<B>) {
        multiply_shorts(c, *p, static_cast<const A*>(a.data) + of_a * p->m * p->k,
                        static_cast<const B*>(b.data) + of_b * p->k * p->n,
                        static_cast<std::int32_t*>((*y)->data) + i * p->m * p->n);
      });
    });
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
