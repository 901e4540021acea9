// Fuses activations into the convolutions and products before them: com.microsoft's FusedConv and FusedGemm.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/fusions.hpp>

#include <limits>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using namespace look;

using activations = op_set<op::Relu, op::Sigmoid, op::Tanh, op::LeakyRelu, op::HardSigmoid, op::Clip>;

/// The parameters of an activation in FusedConv's order; std::nullopt if they are not the same in every run. Until
/// version 11, the limits of Clip are attributes.
std::optional<std::vector<float>> parameters_of(const rewriter& r, const node_view& n) {
  if (n.has_op<op::LeakyRelu>()) return std::vector{n.attributes<op::LeakyRelu>().alpha};
  if (n.has_op<op::HardSigmoid>())
    return std::vector{n.attributes<op::HardSigmoid>().alpha, n.attributes<op::HardSigmoid>().beta};
  if (!n.has_op<op::Clip>()) return std::vector<float>{};
  constexpr float lowest = std::numeric_limits<float>::lowest(), highest = std::numeric_limits<float>::max();
  const auto a = n.attributes<op::Clip>();
  std::vector<float> limits{a.min.value_or(lowest), a.max.value_or(highest)};
  for (std::size_t i = 0; i < 2; ++i)
    if (n.input(i + 1)) {
      const auto limit = number_in(r, n.input(i + 1));
      if (!limit) return {};
      limits[i] = float(*limit);
    }
  if (!(limits[0] <= limits[1])) return {};
  return limits;
}

std::vector<value_id> all_inputs(const node_view& n) {
  std::vector<value_id> all;
  for (value_view v : n.inputs()) all.push_back(v.id());
  return all;
}

/// The attributes of a convolution, with an activation as FusedConv has it.
std::optional<std::vector<attribute>> with_activation(const rewriter& r, const node_view& conv, const node_view& f,
                                                      std::vector<float>& parameters) {
  const auto found = parameters_of(r, f);
  if (!found) return {};
  parameters = *found;
  std::vector<attribute> all{conv.raw().attributes.begin(), conv.raw().attributes.end()};
  all.push_back(attribute_of("activation", f.op_type()));
  if (!parameters.empty()) all.push_back(attribute_of("activation_params", std::span<const float>{parameters}));
  return all;
}

/// FusedConv of ONNX Runtime takes float32 convolutions of one to three axes.
bool may_fuse(const rewriter& r, const value_view& v) {
  const std::vector<dim>* const shape = r.shape(v);
  return v.sole_use() && v.element() == dtype::f32 && shape && shape->size() >= 3 && shape->size() <= 5;
}

/// Adds a convolution with the activation of its result.
bool add_fused(edit& e, const rewriter& r, const node_view& conv, const node_view& f) {
  std::vector<float> parameters;
  const auto attributes = with_activation(r, conv, f, parameters);
  if (!attributes) return false;
  e.replace(f.output(0), e.add<op::microsoft::FusedConv>(all_inputs(conv), *attributes));
  return true;
}

struct fuse_conv_activation {
  static constexpr std::string_view name = "ConvActivationFusion";
  using roots = activations;
  using makes = op_set<op::microsoft::FusedConv>;
  using needs = op_set<op::Conv>;
  static bool rewrite(rewriter& r, const node_view& root) {
    const node_view conv = made_by<op::Conv>(r, root.input(0));
    if (!conv || !may_fuse(r, root.input(0))) return false;
    edit e{r, root};
    return add_fused(e, r, conv, root) && e.commit();
  }
};

/// fuse_conv_activation as a group, which can be saved.
struct conv_activation_group {
  static constexpr std::string_view name = fuse_conv_activation::name;
  using roots = op_set<op::Conv>;
  using makes = fuse_conv_activation::makes;
  static bool select(const rewriter& r, const node_view& n, const group_policy&, rewrite_group& to) {
    const node_view f = reader_of(r, n.output(0), activations{});
    if (!f || f.input(0) != n.output(0) || !may_fuse(r, n.output(0)) || !parameters_of(r, f)) return false;
    to.action = "ConvAct", to.target = n.id(), to.outputs.push_back(f.id());
    return true;
  }
  static bool replace(edit& e, const rewriter& r, const rewrite_group& group) {
    return add_fused(e, r, r.node(group.target), r.node(group.outputs[0]));
  }

 private:
  template <class... Ops>
  static node_view reader_of(const rewriter& r, const value_view& v, op_set<Ops...>) {
    return only_reader<Ops...>(r, v);
  }
};

using namespace pattern;

bool has_shape_of(const match_result& m, const value_view& v, const node_view& n) {
  return same_shape(*m.in, v, n.output(0));
}
bool may_fuse_result(const match_result& m, const node_view& n) { return may_fuse(*m.in, n.output(0)); }

/// Relu(Conv(x) + z), where z has the convolution's shape.
constexpr rule conv_add_relu{
    "ConvAddActivationFusion",
    match<op::Relu>(name(n2, any_order(match<op::Add>(name(n1, sole_use(match<op::Conv>(x, w, optional{b}))), z)))),
    make<op::microsoft::FusedConv>(x, w, b, z).copy_all(n1).attr<"activation">(op::Relu::name),
    when(check<has_shape_of>(z, n1), check<may_fuse_result>(n2))};

bool name_of_root(const match_result& m, attribute& made) {
  made = attribute_of({}, m.root.op_type());
  return true;
}
bool slope_of_root(const match_result& m, attribute& made) {
  if (m.root.has_op<op::LeakyRelu>()) made = attribute_of({}, m.root.attributes<op::LeakyRelu>().alpha);
  return true;
}
bool is_float_product(const match_result&, const node_view& gemm) {
  return gemm.since() >= 7 && gemm.output(0).element() == dtype::f32;
}
constexpr rule gemm_activation{
    "GemmActivationFusion",
    match<op::Relu, op::Sigmoid, op::Tanh, op::LeakyRelu>(name(n1, sole_use(match<op::Gemm>(others)))),
    make<op::microsoft::FusedGemm>(inputs_of<0>(n1))
        .copy_all(n1)
        .attr<"activation", name_of_root>()
        .attr<"activation_alpha", slope_of_root>(),
    when(check<is_float_product>(n1))};

}  // namespace

const transform_table& rules::activation_fusion::table() {
  return transform_list<optimization_level::extended, fuse_conv_activation, rule_of<conv_add_relu>,
                        rule_of<gemm_activation>, conv_activation_group>::table();
}

}  // namespace CAMEO_NAMESPACE
