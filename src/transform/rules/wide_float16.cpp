// Makes float16 nodes float32 if they would round what the next node reads.
#include "transform/rules/wide_float16.hpp"

#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/rules/standard.hpp>
#include <cameo/transform/rules/wide_float16.hpp>
#include <cameo/transform/transform.hpp>

#include "core/config_keys.hpp"
#include "transform/rules/float32_nodes.hpp"

#include <algorithm>
#include <vector>

namespace CAMEO_NAMESPACE {
namespace {

/// What a node does to float16 values.
enum class float16_use : std::uint8_t {
  other,     // reads and makes float16
  moves,     // returns numbers that it reads, or their negatives: rounding before or after makes no difference
  computes,  // computes new numbers
};

// Operators whose roles do not determine their use.
using rounds_itself = op_set<op::Cast, op::CastLike, op::BitCast>;
using selects =
    op_set<op::Abs, op::CenterCropPad, op::Clip, op::Concat, op::Max, op::Min, op::Neg, op::Pad, op::ReduceMax,
           op::ReduceMin, op::Relu, op::Split, op::Trilu, op::Where, op::microsoft::ExpandDims, op::microsoft::Trilu>;
using normalizes_or_reduces =
    op_set<op::ArgMax, op::ArgMin, op::BatchNormalization, op::CumProd, op::CumSum, op::GlobalAveragePool,
           op::GlobalLpPool, op::GroupNormalization, op::InstanceNormalization, op::LayerNormalization, op::LRN,
           op::MeanVarianceNormalization, op::NegativeLogLikelihoodLoss, op::RMSNormalization,
           op::SoftmaxCrossEntropyLoss, op::contrib::LayerNormalization, op::contrib::MeanVarianceNormalization,
           op::contrib::SimplifiedLayerNormalization, op::microsoft::BranchwiseRMSNorm, op::microsoft::GatedRMSNorm,
           op::microsoft::GroupNorm, op::microsoft::SkipGroupNorm, op::microsoft::SkipLayerNormalization,
           op::microsoft::SkipSimplifiedLayerNormalization>;
using computes_elements =
    op_set<op::PRelu, op::SwiGLU, op::microsoft::BiasAdd, op::microsoft::BiasGelu, op::microsoft::BiasSplitGelu,
           op::microsoft::FastGelu, op::microsoft::GatedAdd, op::microsoft::ScaledSiLU>;

template <class Set>
bool is_one_of(const op_row& op) {
  return std::ranges::find(Set::ids, op.id) != std::end(Set::ids);
}

/// True for a Dropout that returns its input.
bool passes_everything(const node_view& n) { return n.has_op<op::Dropout>() && is_inference(n); }

float16_use use_of(const node_view& n) {
  if (!n.op() || !n.subgraphs().empty() || is_one_of<rounds_itself>(*n.op())) return float16_use::other;
  if (passes_everything(n) || n.has_role(role::moves) || n.has_role(role::is_identity) || is_one_of<selects>(*n.op()))
    return float16_use::moves;
  if (n.has_role(role::is_random)) return float16_use::other;
  const bool computes = n.has_role(role::is_pointwise) || n.has_role(role::broadcasts) || n.has_role(role::reduces) ||
                        n.has_role(role::normalizes) || is_one_of<normalizes_or_reduces>(*n.op()) ||
                        is_one_of<computes_elements>(*n.op());
  return computes ? float16_use::computes : float16_use::other;
}

bool is_float16(const value_view& v) { return float32_nodes::is_float16(v); }

/// True for operators that read only the size of a value.
bool reads_size(const node_view& n) { return n.has_op<op::Shape, op::Size>(); }

/// True for a node that returns the same in each run, if its inputs do: constant folding may replace it. Its float16
/// results are rounded at every level, even if it is not folded, so that all levels give the same results.
bool repeats(const node_view& n) {
  constexpr role varies = role::is_random | role::is_compiled_context | role::needs_training;
  return n.op() && !detail::has_role(n.op()->roles, varies) && n.subgraphs().empty() &&
         (n.input_count() > 0 || n.has_role(role::is_constant));
}

/// True if a value depends only on constants and sizes. `nodes_left` limits the search; beyond the limit the answer is
/// false.
bool is_fixed(const graph& in, value_id v, int& nodes_left) {
  const graph* home = &in;
  for (; (*home)[v].outer != value_id::none; home = home->outer()) v = (*home)[v].outer;
  if (home->constant_of(v)) return true;
  const node_view n = value_view{*home, v}.producer();
  if (!n || --nodes_left < 0) return false;
  if (reads_size(n)) return true;
  if (!repeats(n)) return false;
  for (value_view each : n.inputs())
    if (each && !is_fixed(*home, each.id(), nodes_left)) return false;
  return true;
}

/// The nodes of one graph between which values are float32: those that compute and, on the paths between them, those
/// that move elements. Nodes whose inputs depend only on constants and sizes are not among them.
class wide_chains {
 public:
  explicit wide_chains(const rewriter& r)
      : r_{r},
        uses_(r.in().node_capacity()),
        fixed_(r.in().value_count()),
        comes_(r.in().value_count()),
        goes_(r.in().value_count()) {
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      int nodes_left = 256;
      const value_view v{r.in(), value_id(i)};
      fixed_[i] = r.constant(v) || (v.is_capture() && is_fixed(r.in(), v.id(), nodes_left));
    }
    const std::span<const node_id> order = r.in().order();
    for (node_id id : order) follow(id);
    for (auto at = order.rbegin(); at != order.rend(); ++at) trace_back(*at);
  }
  bool has(node_id id) const {
    const node_view n = r_.node(id);
    const bool reads = any(n.inputs(), comes_), is_read = any(n.outputs(), goes_);
    switch (uses_[index_of(id)]) {
      case float16_use::computes: return reads || is_read;
      case float16_use::moves: return reads && is_read;
      case float16_use::other: return false;
    }
    return false;
  }

 private:
  /// Propagates marks forwards: a node passes on that a value was computed.
  void follow(node_id id) {
    const node_view n = r_.node(id);
    const bool fixed = reads_size(n) || (repeats(n) && reads_fixed(n));
    if (fixed)
      for (value_view v : n.outputs())
        if (v) fixed_[index_of(v.id())] = true;
    const float16_use use = r_.may_touch(n) && !fixed ? use_of(n) : float16_use::other;
    uses_[index_of(id)] = use;
    if (use == float16_use::computes || (use == float16_use::moves && any(n.inputs(), comes_)))
      mark(n.outputs(), comes_);
  }
  void trace_back(node_id id) {
    const node_view n = r_.node(id);
    const float16_use use = uses_[index_of(id)];
    if (use == float16_use::computes || (use == float16_use::moves && any(n.outputs(), goes_))) mark(n.inputs(), goes_);
  }
  bool reads_fixed(const node_view& n) const {
    for (value_view v : n.inputs())
      if (v && !fixed_[index_of(v.id())]) return false;
    return true;
  }
  template <class Values>
  static bool any(const Values& values, const std::vector<bool>& marks) {
    for (value_view v : values)
      if (is_float16(v) && marks[index_of(v.id())]) return true;
    return false;
  }
  template <class Values>
  static void mark(const Values& values, std::vector<bool>& marks) {
    for (value_view v : values)
      if (is_float16(v)) marks[index_of(v.id())] = true;
  }

  const rewriter& r_;
  std::vector<float16_use> uses_;   // by node
  std::vector<bool> fixed_;         // by value: depends only on constants and sizes
  std::vector<bool> comes_, goes_;  // by value: comes from, or goes to, a node that computes
};

struct keep_float32 {
  static constexpr std::string_view name = "KeepFloat32";
  using makes = op_set<op::Cast>;

  /// Vectors for channels are converted once; larger constants take memory only while they are used.
  static constexpr std::int64_t most_copied = std::int64_t{1} << 16;

  static bool has_float16(const graph& g) {
    for (std::size_t i = 0; i < g.value_count(); ++i)
      if (is_float16({g, value_id(i)})) return true;
    return false;
  }
  static result<bool> run(rewriter& r) {
    if (!has_float16(r.in())) return false;
    std::vector<node_id> found;
    const wide_chains chains{r};
    for (node_id id : r.in().order())
      if (chains.has(id) || (reads_size(r.node(id)) && r.may_touch(r.node(id)))) found.push_back(id);
    float32_nodes wide{r, most_copied};
    bool changed = false;
    for (node_id id : found) {
      const node_view n = r.node(id);
      // A value whose size alone is read is not rounded.
      if (reads_size(n) && !wide.has(n.input(0))) continue;
      changed = wide.replace(n) || changed;
    }
    return changed;
  }
};

constexpr key_condition rounded[] = {{config_key<"session.round_float16">.key}};
constexpr transform_condition unless_rounded{.phase = transform_phase::last, .excluded = rounded},
    if_rounded{.phase = transform_phase::at_level_and_after_groups, .required = rounded};

/// False for a node that rounds once where a product and a sum round twice.
bool rounds_before_bias(const node_view& made) {
  return !made.has_op<op::Gemm>() || !made.input(2) || !is_float16(made.output(0));
}

/// False for a float16 node that may round less often than the nodes that it replaces.
bool rounds_as_often(const node_view& made) {
  if (use_of(made) == float16_use::moves) return true;
  if (made.has_op<op::microsoft::FusedMatMul>() && made.attributes<op::microsoft::FusedMatMul>().alpha == 1.0f)
    return true;
  for (value_view v : made.outputs())
    if (is_float16(v)) return false;
  return true;
}

/// True if a node that computes reads a value, perhaps after nodes that only move it. `readers_left` limits the search;
/// beyond the limit the answer is true.
bool is_computed_with(const value_view& v, int& readers_left) {
  for (const node_view reader : v.consumers()) {
    const float16_use use = use_of(reader);
    if (use == float16_use::computes || --readers_left < 0) return true;
    if (use != float16_use::moves) continue;
    for (value_view moved : reader.outputs())
      if (is_float16(moved) && is_computed_with(moved, readers_left)) return true;
  }
  return false;
}

}  // namespace

bool is_inference(const node_view& dropout) {
  if (dropout.since() < 7 && dropout.attributes<op::Dropout>().is_test == 0) return false;
  if (!dropout.input(2)) return true;
  const value* const training = dropout.in().constant_of(dropout.input(2).id());
  return training && training->kind == value_kind::tensor && training->type == dtype::boolean &&
         training->memory == 0 && training->shape.count() == 1 &&
         *static_cast<const std::uint8_t*>(training->data) == 0;
}

bool rounds_between_chains(const value_view& x, const node_view& last_cast) {
  const node_view producer = x.producer();
  if (!is_float16(x) || !is_float16(last_cast.output(0)) || !producer || use_of(producer) == float16_use::other)
    return false;
  int readers_left = 256;
  return is_computed_with(last_cast.output(0), readers_left);
}

const transform_table& detail::wide_float16::table() {
  return transform_list<optimization_level::all, keep_float32>::table<unless_rounded>();
}

const transform_table& detail::rounded_products::table() {
  return transform_list<level>::table<if_rounded, rounds_before_bias>();
}

const transform_table& detail::rounded_fusions::table() {
  return transform_list<level>::table<if_rounded, rounds_as_often>();
}

}  // namespace CAMEO_NAMESPACE
