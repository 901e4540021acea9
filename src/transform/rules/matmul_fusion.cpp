// Fuses transposes and scales into matrix products: com.microsoft's FusedMatMul.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/algebra.hpp>
#include <cameo/transform/rules/fusions.hpp>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using namespace pattern;

using op::microsoft::FusedMatMul;

/// True for a product of floats that FusedMatMul can extend.
bool can_be_fused(const match_result&, const node_view& n) {
  const auto a = n.attributes<FusedMatMul>();
  return look::is_float(n.input(0)) && a.transBatchA == 0 && a.transBatchB == 0;
}

/// A Transpose that swaps the last two axes and no others.
bool swaps_last_two(const match_result& m, const node_view& n) {
  const std::vector<dim>* const shape = m.in->shape(n.input(0));
  const attribute_list<std::int64_t> perm = n.attributes<op::Transpose>().perm;
  if (!perm.given) return shape && shape->size() == 2;
  const std::size_t rank = perm.size();
  if (rank < 2) return false;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (perm[i] != std::int64_t(i)) return false;
  return perm[rank - 2] == std::int64_t(rank - 1) && perm[rank - 1] == std::int64_t(rank - 2);
}

/// A transposed operand. If it is cast afterwards, the value before the Transpose is cast instead.
template <int I>
constexpr auto transposed(value_name<I> v) {
  return perhaps(name(n1, sole_use(match<op::Cast>(name(n2, sole_use(match<op::Transpose>(v)))))));
}
constexpr rule matmul_transposed_left{
    "MatmulTransposeFusion", name(n0, match<op::MatMul, FusedMatMul>(transposed(x), y)),
    make<FusedMatMul>(again(n1, x), y).copy_all(n0).attr<"transA", look::opposite<&look::product_attributes::transA>>(),
    when(check<can_be_fused>(n0), check<swaps_last_two>(n2))};
constexpr rule matmul_transposed_right{
    "MatmulTransposeFusion", name(n0, match<op::MatMul, FusedMatMul>(x, transposed(y))),
    make<FusedMatMul>(x, again(n1, y)).copy_all(n0).attr<"transB", look::opposite<&look::product_attributes::transB>>(),
    when(check<can_be_fused>(n0), check<swaps_last_two>(n2))};

bool scaled_alpha(const match_result& m, attribute& made) {
  made = attribute_of({}, float(double(n0.get(m).attributes<FusedMatMul>().alpha) * s0.get(m)));
  return std::isfinite(made.f);
}
constexpr rule scaled_left{"MatMulScaleFusion", name(n0, match<op::MatMul, FusedMatMul>(product(s0, x), y)),
                           make<FusedMatMul>(x, y).copy_all(n0).attr<"alpha", scaled_alpha>(),
                           when(check<can_be_fused>(n0), check<look::is_factor>(s0))};
constexpr rule scaled_right{"MatMulScaleFusion", name(n0, match<op::MatMul, FusedMatMul>(x, product(s0, y))),
                            make<FusedMatMul>(x, y).copy_all(n0).attr<"alpha", scaled_alpha>(),
                            when(check<can_be_fused>(n0), check<look::is_factor>(s0))};
constexpr rule scaled_product{"MatMulScaleFusion",
                              product(s0, name(n0, sole_use(match<op::MatMul, FusedMatMul>(x, y)))),
                              make<FusedMatMul>(x, y).copy_all(n0).attr<"alpha", scaled_alpha>(),
                              when(check<can_be_fused>(n0), check<look::is_factor>(s0))};

}  // namespace

const transform_table& rules::matmul_fusion::table() {
  return transform_list<optimization_level::extended, rule_of<matmul_transposed_left>, rule_of<matmul_transposed_right>,
                        rule_of<scaled_left>, rule_of<scaled_right>, rule_of<scaled_product>>::table();
}

}  // namespace CAMEO_NAMESPACE
