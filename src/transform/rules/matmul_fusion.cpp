// Matrix products that transpose and scale on the way: com.microsoft's FusedMatMul.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/transform.hpp>

#include "transform/rules/look.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

using namespace look;

/// A product as FusedMatMul says it: MatMul is one without attributes.
struct matrix_product {
  value_id operands[2];
  bool transposed[2];
  float alpha;

  explicit matrix_product(const node_view& n)
      : operands{n.input(0).id(), n.input(1).id()},
        transposed{int_attribute(n, "transA") != 0, int_attribute(n, "transB") != 0},
        alpha{n.is<op::MatMul>() ? 1.0f : float_attribute(n, "alpha", 1)} {}

  static bool is_plain(const node_view& n) {
    return int_attribute(n, "transBatchA") == 0 && int_attribute(n, "transBatchB") == 0;
  }
  value_id add_to(edit& e) const {
    return e.add<op::microsoft::FusedMatMul>({operands[0], operands[1]},
                                             {attribute_of("alpha", alpha), attribute_of("transA", int(transposed[0])),
                                              attribute_of("transB", int(transposed[1]))});
  }
};

/// A Transpose that swaps the last two axes and no others.
bool swaps_last_two(const rewriter& r, const node_view& n) {
  const std::vector<dim>* const shape = r.shape(n.input(0));
  const std::span<const std::int64_t> perm = ints_attribute(n, "perm");
  if (!n.find("perm")) return shape && shape->size() == 2;
  const std::size_t rank = perm.size();
  if (rank < 2) return false;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (perm[i] != std::int64_t(i)) return false;
  return perm[rank - 2] == std::int64_t(rank - 1) && perm[rank - 1] == std::int64_t(rank - 2);
}

struct fuse_transpose {
  static constexpr std::string_view name = "MatmulTransposeFusion";
  using roots = op_set<op::MatMul, op::microsoft::FusedMatMul>;
  using makes = op_set<op::microsoft::FusedMatMul>;
  using needs = op_set<op::Transpose>;

  static bool rewrite(rewriter& r, const node_view& root) {
    if (!matrix_product::is_plain(root) || !is_float(root.input(0))) return false;
    for (std::size_t i = 0; i < 2; ++i)
      if (without_transpose(r, root, i)) return true;
    return false;
  }
  /// The operand may be cast after it is transposed: then what is not transposed is cast.
  static bool without_transpose(rewriter& r, const node_view& root, std::size_t i) {
    const value_view operand = root.input(i);
    const node_view cast = made_by<op::Cast>(r, operand);
    const value_view moved = cast ? cast.input(0) : operand;
    const node_view transpose = made_by<op::Transpose>(r, moved);
    if (!transpose || !operand.sole_use() || !moved.sole_use() || !swaps_last_two(r, transpose)) return false;
    edit e{r, root};
    matrix_product made{root};
    made.operands[i] = transpose.input(0).id();
    if (cast) made.operands[i] = e.add(cast.domain(), cast.op_type(), {&made.operands[i], 1}, cast.raw().attributes);
    made.transposed[i] = !made.transposed[i];
    e.replace(root.output(0), made.add_to(e));
    return e.commit();
  }
};

struct fuse_scale {
  static constexpr std::string_view name = "MatMulScaleFusion";
  using roots = op_set<op::MatMul, op::microsoft::FusedMatMul>;
  using makes = op_set<op::microsoft::FusedMatMul>;

  static bool rewrite(rewriter& r, const node_view& root) {
    if (!matrix_product::is_plain(root) || !is_float(root.input(0))) return false;
    matrix_product made{root};
    double alpha = made.alpha;
    bool changed = false;
    for (std::size_t i = 0; i < 2; ++i)
      if (const node_view n = made_by<op::Mul, op::Div>(r, root.input(i)); n && root.input(i).sole_use())
        for (std::size_t x = 0; x < 2; ++x)
          if (const auto f = scalar_factor(r, n, x); f && !look::number(r, n.input(x))) {
            made.operands[i] = n.input(x).id();
            alpha *= *f, changed = true;
            break;
          }
    node_view last = root;
    if (const node_view n = only_reader<op::Mul, op::Div>(r, root.output(0)))
      if (const auto f = scalar_factor(r, n, n.input(0) == root.output(0) ? 0 : 1)) {
        last = n;
        alpha *= *f, changed = true;
      }
    made.alpha = float(alpha);
    if (!changed || !std::isfinite(made.alpha)) return false;
    edit e{r, root};
    e.replace(last.output(0), made.add_to(e));
    return e.commit();
  }
};

}  // namespace

const transform_table& matmul_fusion::table() {
  return transform_list<optimization_level::extended, fuse_transpose, fuse_scale>::table();
}

}  // namespace cameo::inline CAMEO_ABI
