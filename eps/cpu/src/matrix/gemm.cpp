#include <cameo/eps/cpu/gemm.hpp>
#include <cameo/geometry/product.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <utility>

#include "products/constant_factor.hpp"
#include "skeletons/row_list.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Makes C the bias of the epilogue. A C of float16 or bfloat16 that is a row, a column or a number is widened first;
/// a larger one is added `later`, when the sums are stored.
template <class From, class T>
status keep_addend(run_context& c, const geometry::gemm& sizes, float beta, gemm_epilogue<T>& e,
                   narrow_epilogue& later) {
  const value& addend = c.input(2);
  if (!addend || beta == 0) return {};  // with beta 0, an infinity in C must not give NaN
  if (is_narrow_v<From> && sizes.c_row_stride != 0 && sizes.c_column_stride != 0) {
    later = {narrow_elements::make(static_cast<const From*>(addend.data)), beta, std::exchange(e.f, {})};
    return {};
  }
  result<const T*> bias = static_cast<const T*>(addend.data);
  if constexpr (is_narrow_v<From>) bias = wide_vector<T>(c, addend);
  if (!bias) return bias.error();
  e.bias = *bias, e.bias_row_stride = sizes.c_row_stride, e.bias_column_stride = sizes.c_column_stride;
  return {};
}

}  // namespace

template <class T>
result<gemm<T>> gemm<T>::bind(bind_context& c) {
  const attributes_of<op::Gemm> a{c.attributes};
  gemm made{a.alpha, a.beta, a.transA != 0, a.transB != 0, {}};
  const value* const b = c.is_constant(1) ? c.inputs[1].constant : nullptr;
  if (!b || b->shape.rank() != 2) return made;
  const std::int64_t k = b->shape[made.transpose_b ? 1 : 0], n = b->shape[made.transpose_b ? 0 : 1];
  const std::int64_t rows = known_rows(c.inputs[0], made.transpose_a);
  if (status s = keep_factor<T>(c, made.transpose_b, k, n, rows, made); !s) return s;
  return made;
}

template <class T>
status gemm<T>::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(1), &addend = c.input(2);
  const auto sizes =
      geometry::gemm_of<std::int64_t>(a.shape, transpose_a, b.shape, transpose_b, geometry::shape_of(addend));
  if (!sizes) return sizes.error();
  const std::int64_t m = sizes->m, k = sizes->k, n = sizes->n;
  result<tensor_view<T>> y = c.output<T>(0, {m, n});
  if (!y) return y.error();
  if (y->empty()) return {};
  gemm_problem<number, T> p{m, n, k, {}, {}, packed_b.data, nullptr};
  p.for_few_rows = packed_b.for_few_rows;
  p.a = {nullptr, sizes->a_row_stride, sizes->a_column_stride},
  p.b = {nullptr, sizes->b_row_stride, sizes->b_column_stride};
  if constexpr (std::is_integral_v<T>) {
    p.a.data = static_cast<const T*>(a.data), p.b.data = static_cast<const T*>(b.data), p.c = y->data();
    return multiply_integers(c, p, [&](T v, std::int64_t i, std::int64_t j) {
      const auto* const added = static_cast<const T*>(addend.data);
      const T w = added ? added[i * sizes->c_row_stride + j * sizes->c_column_stride] : T(0);
      if (alpha == 1 && beta == 1) return T(std::make_unsigned_t<T>(v) + std::make_unsigned_t<T>(w));
      return saturated<T>(double(alpha) * double(v) + double(beta) * double(w));
    });
  } else {
    result<number*> room = buffer_for_numbers<number>(c, *y);
    if (!room) return room.error();
    const auto numbers = number_source<number, elements_like<T>>::make(static_cast<const T*>(a.data));
    p.a = {numbers, p.a.row_stride, p.a.column_stride}, p.c = *room;
    if (!packed_b.data && !bf16_b) p.b.data = static_cast<const T*>(b.data);
    p.epilogue.alpha = number(alpha), p.epilogue.beta = number(beta), p.epilogue.f = f;
    narrow_epilogue epilogue;
    if (status s = keep_addend<T>(c, *sizes, beta, p.epilogue, epilogue); !s) return s;
    if (status done = multiply_by_factor<T>(c, p, bf16_b); !done) return done;
    store_numbers(c, *room, *y, epilogue);
    return {};
  }
}

template <class T>
result<fused_gemm<T>> fused_gemm<T>::bind(bind_context& c) {
  const attributes_of<op::microsoft::FusedGemm> a{c.attributes};
  result<activation> f = activation_named(a.activation, dtype_of<typename gemm<T>::number>);
  if (!f) return f.error();
  result<gemm<T>> made = gemm<T>::bind(c);
  if (!made) return made.error();
  made->f = *f;
  made->f.give(0, a.activation_alpha.value_or(f->a));
  made->f.give(1, (a.activation == "Selu" ? a.activation_gamma : a.activation_beta).value_or(f->b));
  return fused_gemm{*made};
}

template struct bound_kernels<first_float_elements, fused_gemm>;
template struct bound_kernels<large_number_elements, gemm>;

}  // namespace CAMEO_NAMESPACE::eps
