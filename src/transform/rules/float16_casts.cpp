// Adds Casts around float16 nodes for which ONNX Runtime has no float16 kernel, so that it can run a saved model: these
// nodes then compute in float32.
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rules/definitions.hpp>
#include <cameo/transform/transform.hpp>

#include "transform/rules/definitions.hpp"
#include "transform/rules/float32_nodes.hpp"

#include <algorithm>
#include <array>

namespace CAMEO_NAMESPACE {
namespace {

/// The first version with a float16 kernel in ONNX Runtime 1.31 for processors.
struct float16_row {
  detail::op_id op;
  int since = 1;
};
template <declared_op... Ops>
constexpr std::array<float16_row, sizeof...(Ops)> always{{{detail::op_id_of<Ops>}...}};
// Constant stands for initializers.
constexpr auto from_the_first =
    always<op::Attention, op::BitCast, op::Cast, op::Compress, op::Concat, op::ConcatFromSequence, op::Constant,
           op::ConstantOfShape, op::Dropout, op::Expand, op::Flatten, op::Gather, op::GatherElements, op::GatherND,
           op::Identity, op::IsNaN, op::LayerNormalization, op::Optional, op::OptionalGetElement,
           op::OptionalHasElement, op::RandomNormalLike, op::RandomUniformLike, op::Reshape, op::ReverseSequence,
           op::RMSNormalization, op::RotaryEmbedding, op::Round, op::Scatter, op::ScatterElements, op::ScatterND,
           op::SequenceAt, op::SequenceConstruct, op::SequenceEmpty, op::SequenceErase, op::SequenceInsert,
           op::SequenceLength, op::Shape, op::Shrink, op::Sign, op::Size, op::Slice, op::Split, op::SplitToSequence,
           op::Squeeze, op::TensorScatter, op::Transpose, op::Unsqueeze, op::microsoft::ExpandDims,
           op::microsoft::GatherBlockQuantized, op::microsoft::GroupQueryAttention, op::microsoft::MatMulNBits,
           op::microsoft::QMoE, op::microsoft::RotaryEmbedding, op::microsoft::SkipLayerNormalization,
           op::microsoft::SkipSimplifiedLayerNormalization, op::microsoft::SparseAttention,
           op::microsoft::UnfoldTensor>;
constexpr float16_row from_a_version[] = {
    {detail::op_id_of<op::Clip>, 12},          {detail::op_id_of<op::DequantizeLinear>, 19},
    {detail::op_id_of<op::IsInf>, 20},         {detail::op_id_of<op::Max>, 12},
    {detail::op_id_of<op::Min>, 12},           {detail::op_id_of<op::Mod>, 10},
    {detail::op_id_of<op::QuantizeLinear>, 19}};

bool has_float16_kernel(const node_view& n) {
  const auto covers = [&](const float16_row& row) { return n.op()->id == row.op && n.since() >= row.since; };
  return std::ranges::any_of(from_the_first, covers) || std::ranges::any_of(from_a_version, covers);
}

struct cast_float16 {
  static constexpr std::string_view name = "InsertCastTransformer";
  using makes = op_set<op::Cast>;

  static bool needs_casts(const rewriter& r, const node_view& n) {
    if (!r.may_touch(n) || !n.op() || !n.subgraphs().empty() || has_float16_kernel(n)) return false;
    bool any = false;
    for (value_view v : n.inputs()) any = any || float32_nodes::is_float16(v);
    for (value_view v : n.outputs()) any = any || float32_nodes::is_float16(v);
    return any;
  }

  static result<bool> run(rewriter& r) {
    bool changed = false;
    float32_nodes wide{r};
    for (node_id id : detail::ordered_nodes(r.in()))
      if (const node_view n = r.node(id); needs_casts(r, n)) changed = wide.replace(n) || changed;
    return changed;
  }
};

}  // namespace

const transform_table& rules::float16_casts::table() {
  return transform_list<optimization_level::basic, cast_float16>::table<define::when_saved>();
}

}  // namespace CAMEO_NAMESPACE
