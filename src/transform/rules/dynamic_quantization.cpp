// Fuses the chain of dynamically quantized models (DynamicQuantizeLinear, MatMulInteger, Cast, and a product with both
// scales) into com.microsoft's operators.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/algebra.hpp>
#include <cameo/transform/rules/fusions.hpp>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using namespace pattern;

using op::microsoft::DynamicQuantizeMatMul;
using op::microsoft::MatMulIntegerToFloat;

/// True for a value with certainly one element, which does not change the shape of what it is multiplied with.
bool is_single(const rewriter& r, const value_view& v) {
  const std::vector<dim>* const s = r.shape(v);
  return s && (s->empty() || (s->size() == 1 && (*s)[0].known() && (*s)[0].size == 1));
}
/// True for one number, or one for each column of the right factor.
bool is_for_columns(const rewriter& r, const value_view& v, const value_view& right) {
  return is_single(r, v) || look::is_vector_along(r, v, right);
}

/// True for the one scale of the left factor: that of its quantization, if the graph quantizes it.
bool is_left_scale(const match_result& m, const value_view& scale, const value_view& left) {
  const node_view made = look::made_by<op::DynamicQuantizeLinear>(*m.in, left);
  return made ? scale == made.output(1) : is_single(*m.in, scale);
}
bool is_right_scale(const match_result& m, const value_view& scale, const value_view& right) {
  return is_for_columns(*m.in, scale, right);
}
bool is_left_zero(const match_result& m, const value_view& zero) { return !zero || is_single(*m.in, zero); }
bool is_right_zero(const match_result& m, const value_view& zero, const value_view& right) {
  return !zero || is_for_columns(*m.in, zero, right);
}
/// True for a constant for each column. Its other axes have size 1, and are not more than those of the product.
bool is_bias(const match_result& m, const value_view& bias, const value_view& right) {
  if (!bias) return true;
  const std::vector<dim>*const s = m.in->shape(bias), *const out = m.in->shape(m.root.output(0));
  if (!s || s->empty() || !out || s->size() > out->size() || !m.in->constant(bias)) return false;
  for (std::size_t i = 0; i + 1 < s->size(); ++i)
    if (!(*s)[i].known() || (*s)[i].size != 1) return false;
  const dim columns = look::last_dim(*m.in, right);
  return look::has_rank(*m.in, right, 1) ? false : s->back().known() && s->back().same(columns);
}

// x and y are multiplied, with zero points z and w and scales a and b; c is added.
constexpr auto product_of_integers =
    sole_use(match<op::Cast>(sole_use(match<op::MatMulInteger>(x, y, optional{z}, optional{w})))).attr<"to">(1);
constexpr rule integers_to_float{
    "MatMulIntegerToFloatFusion",
    followed(any_order(match<op::Mul>(product_of_integers, any_order(match<op::Mul>(a, b)))), then<op::Add>(c)),
    make<MatMulIntegerToFloat>(x, y, a, b, z, w, c),
    when(check<is_left_scale>(a, x), check<is_right_scale>(b, y), check<is_left_zero>(z), check<is_right_zero>(w, y),
         check<is_bias>(c, y))};

/// Fuses a quantization that only this product reads.
struct quantized_for_product {
  static constexpr std::string_view name = "DynamicQuantizeMatMulFusion";
  using roots = op_set<MatMulIntegerToFloat>;
  using needs = op_set<op::DynamicQuantizeLinear>;
  using makes = op_set<DynamicQuantizeMatMul>;

  static bool rewrite(rewriter& r, const node_view& n) {
    const node_view quantized = look::made_by<op::DynamicQuantizeLinear>(r, n.input(0));
    if (!quantized || !(n.input(0) == quantized.output(0))) return false;
    if (!(n.input(2) == quantized.output(1)) || !n.input(4) || !(n.input(4) == quantized.output(2))) return false;
    for (const std::size_t i : {0u, 1u, 2u})
      if (!quantized.output(i).sole_use()) return false;
    edit e{r, n};
    const value_id inputs[] = {quantized.input(0).id(), n.input(1).id(), n.input(3).id(), n.input(5).id(),
                               n.input(6).id()};
    e.replace(n.output(0), e.add<DynamicQuantizeMatMul>(inputs));
    return e.commit();
  }
};

}  // namespace

const transform_table& rules::dynamic_quantization_fusion::table() {
  return transform_list<optimization_level::extended, rule_of<integers_to_float>, quantized_for_product>::table();
}

}  // namespace CAMEO_NAMESPACE
