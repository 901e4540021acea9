#include <cameo/geometry/einsum.hpp>
#include <cameo/geometry/product.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

namespace CAMEO_NAMESPACE::infer {
namespace {

/// A product of input 0 and input `right`.
status give_product(infer_context& c, dtype type, std::size_t right) {
  return give(c, 0, type, geometry::matrix_product_of<dim>(shape_of(c, 0), shape_of(c, right)));
}
status give_gemm(infer_context& c, dtype type, shape_view a, bool transpose_a, shape_view b, bool transpose_b,
                 shape_view bias = {}) {
  const auto made = geometry::gemm_of(a, transpose_a, b, transpose_b, bias);
  if (!made) return made.error();
  return give(c, 0, type, copy_of(made->y()));
}

}  // namespace

status matmul(infer_context& c) { return give_product(c, c.element(0), 1); }
status matmul_integer(infer_context& c) { return give_product(c, dtype::i32, 1); }
status matmul_integer_to_float(infer_context& c) { return give_product(c, c.element(2), 1); }
status qlinear_matmul(infer_context& c) { return give_product(c, c.element(7), 3); }

status fused_matmul(infer_context& c) {
  const attributes_of<op::microsoft::FusedMatMul> a{c.attributes()};
  return give(c, 0, c.element(0),
              geometry::matrix_product_of<dim>(shape_of(c, 0), shape_of(c, 1), {a.transA != 0, a.transBatchA != 0},
                                               {a.transB != 0, a.transBatchB != 0}));
}

/// A sparse matrix times a dense matrix.
status sparse_matmul(infer_context& c) {
  const attributes_of<op::microsoft::SparseToDenseMatMul> a{c.attributes()};
  const value_type* const left = c.has_input(0) ? c.input(0) : nullptr;
  const dims* const sparse = left && left->shape ? &*left->shape : nullptr;
  if (status s = check_rank(sparse, 2, 2, "A"); !s) return s;
  return give(c, 0, c.element(1),
              geometry::matrix_product_of<dim>(view_of(sparse), shape_of(c, 1), {a.transA != 0, false},
                                               {a.transB != 0, false}));
}

/// B is [K, N], whatever shape its quantized values have.
status matmul_nbits(infer_context& c) {
  std::optional<dims> out = copy_of(c.shape(0));
  if (out) out->back() = dim::fixed(attributes_of<op::microsoft::MatMulNBits>{c.attributes()}.N);
  return give(c, 0, c.element(0), std::move(out));
}

/// Versions before 7 have other rules for broadcasting C, which are not checked.
status gemm(infer_context& c) {
  const attributes_of<op::Gemm> a{c.attributes()};
  return give_gemm(c, c.element(0), shape_of(c, 0), a.transA != 0, shape_of(c, 1), a.transB != 0,
                   c.version().since < 7 ? shape_view{} : shape_of(c, 2));
}

/// Codes where Y has a scale, floats where it has none.
status qgemm(infer_context& c) {
  const attributes_of<op::microsoft::QGemm> a{c.attributes()};
  const dtype coded = c.has_input(8) ? c.element(8) : c.element(0);
  return give_gemm(c, c.has_input(7) ? coded : dtype::f32, shape_of(c, 0), a.transA != 0, shape_of(c, 3),
                   a.transB != 0);
}

namespace {
result<output_shape> einsum_of(const infer_context& c) {
  geometry::einsum_equation equation{attributes_of<op::Einsum>{c.attributes()}.equation};
  if (status s = equation.check_inputs(c.input_count()); !s) return s;
  geometry::basic_einsum<dim> labels;
  geometry::einsum_term term;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    if (status s = equation.read_input(term); !s) return s;
    if (status s = labels.add(term, shape_of(c, i), i); !s) return s;
  }
  if (status s = equation.read_output(term); !s) return s;
  return labels.output_of(term);
}
}  // namespace

status einsum(infer_context& c) { return give(c, 0, c.element(0), einsum_of(c)); }

}  // namespace CAMEO_NAMESPACE::infer
