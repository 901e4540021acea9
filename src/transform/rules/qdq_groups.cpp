// Selects DequantizeLinear, a node and QuantizeLinear as a group, and replaces it by one node on integers.
#include <cameo/op/group_actions.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/transform.hpp>

#include "core/config_keys.hpp"
#include "transform/rules/look.hpp"
#include "transform/rules/quantization.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::string_view optimizer = "QDQSelectorActionTransformer";

/// The operator that a target becomes, and the action for it.
struct target_row {
  detail::op_id target;
  std::string_view action, domain, op;  // of the new node; empty: that of the target
};
template <class Target, class Made = Target>
constexpr target_row row_for(std::string_view action) {
  return {detail::op_id_of<Target>, action, Made::domain, Made::name};
}
namespace ms = op::microsoft;
constexpr std::string_view drop = "drop", drop_bytes = "drop_no_int16_support",
                           drop_ordered = "drop_no_int16_support_and_positive_scale";
constexpr target_row target_rows[] = {row_for<op::Conv, op::QLinearConv>("Conv"),
                                      row_for<op::MatMul, op::QLinearMatMul>("MatMul"),
                                      row_for<op::Gemm, ms::QGemm>("Gemm"),
                                      row_for<op::Where, ms::QLinearWhere>("Where"),
                                      row_for<op::Add, ms::QLinearAdd>("2DQ"),
                                      row_for<op::Mul, ms::QLinearMul>("2DQ"),
                                      row_for<op::AveragePool, ms::QLinearAveragePool>("1DQ"),
                                      row_for<op::GlobalAveragePool, ms::QLinearGlobalAveragePool>("1DQ"),
                                      row_for<op::Sigmoid, ms::QLinearSigmoid>("1DQ"),
                                      row_for<op::LeakyRelu, ms::QLinearLeakyRelu>("1DQ_CPU"),
                                      row_for<op::Softmax, ms::QLinearSoftmax>("1DQ_CPU"),
                                      row_for<op::Concat, ms::QLinearConcat>("*DQ"),
                                      row_for<op::Split>("dropSplitQDQ"),
                                      row_for<op::ArgMax>("dropDQ"),
                                      row_for<op::Expand>(drop),
                                      row_for<op::Flatten>(drop),
                                      row_for<op::Gather>(drop),
                                      row_for<op::GatherElements>(drop),
                                      row_for<op::Reshape>(drop),
                                      row_for<op::Slice>(drop),
                                      row_for<op::Squeeze>(drop),
                                      row_for<op::Tile>(drop),
                                      row_for<op::Transpose>(drop),
                                      row_for<op::Unsqueeze>(drop),
                                      row_for<op::Resize>(drop_bytes),
                                      row_for<op::DepthToSpace>(drop_bytes),
                                      row_for<op::MaxPool>(drop_ordered),
                                      row_for<op::ReduceMax>(drop_ordered),
                                      row_for<op::ReduceMin>(drop_ordered)};

const target_row* row_of(const node_view& n) {
  const auto at = std::find_if(std::begin(target_rows), std::end(target_rows),
                               [&](const target_row& row) { return n.op() && n.op()->id == row.target; });
  return at == std::end(target_rows) ? nullptr : at;
}

group_form form_of(const target_row& row) {
  bool known = false;
  return find_group_action(optimizer, row.action, known)->form;
}

bool is_byte(dtype t) { return t == dtype::u8 || t == dtype::i8; }

/// True for 8-bit integers with one quantization for the whole tensor, or for each index of `axis` (-1: only the
/// former).
bool is_quantized(const rewriter& r, const node_view& n, std::int64_t axis) {
  const auto [integers, floats] = quantized_sides{n};
  const value_view scale = n.input(1);
  const std::vector<dim>*const steps = r.shape(scale), *const shape = r.shape(integers);
  if (!is_byte(integers.element()) || scale.element() != dtype::f32 || floats.element() != dtype::f32 || !steps)
    return false;
  if (has_blocks_or_precision(n)) return false;
  const std::vector<dim>* const zeros = n.input(2) ? r.shape(n.input(2)) : steps;
  const auto count = [](const std::vector<dim>& dims) {
    return dims.empty() ? dim::fixed(1) : dims.size() == 1 ? dims[0] : dim{};
  };
  if (!zeros || !count(*steps).known() || !count(*steps).same(count(*zeros))) return false;
  if (count(*steps).same(dim::fixed(1))) return true;
  std::int64_t along = n.attributes<op::QuantizeLinear>().axis;
  return axis >= 0 && shape && normalize_axis(along, shape->size()) && along == axis;
}

/// A node between a target and QuantizeLinear that changes nothing, since its bounds include all integers.
node_view redundant_after(const rewriter& r, const value_view& made) {
  const node_view cut = look::only_reader<op::Relu, op::Clip>(r, made);
  if (!cut || cut.input(0) != made) return {};
  const node_view q = look::only_reader<op::QuantizeLinear>(r, cut.output(0));
  const std::optional<quantization> bounds = q && q.input(0) == cut.output(0) ? quantization_of(r, q) : std::nullopt;
  return bounds && is_made_redundant(r, cut, *bounds) ? cut : node_view{};
}

/// Selects the group of a target.
class selection {
 public:
  selection(const rewriter& r, const node_view& target, const group_policy& policy, rewrite_group& to)
      : r_{r}, target_{target}, policy_{policy}, group_{to} {}

  bool make(const target_row& row) {
    group_.action = row.action;
    group_.target = target_.id();
    switch (form_of(row)) {
      case group_form::unary: return take(0) && target_fits() && end_in_one_type();
      case group_form::binary:
        return target_.has_op<op::MatMul>() ? matrix_product() : take(0) && take(1) && end_in_one_type();
      case group_form::variadic: return all_inputs() && end_in_one_type();
      case group_form::convolution: return convolution();
      case group_form::product: return product();
      case group_form::choice: return take(1) && take(2) && end_in_one_type();
      case group_form::parts: return take(0) && all_outputs();
      case group_form::in_place: return in_place(row.action);
      case group_form::activation: break;
    }
    return false;
  }

 private:
  /// The DequantizeLinear of an input, if it has no other reader.
  node_view dequantizer(std::size_t input) const {
    const node_view dq = look::made_by<op::DequantizeLinear>(r_, target_.input(input));
    return dq && dq.output(0).sole_use() ? dq : node_view{};
  }
  bool take(std::size_t input, std::int64_t axis = -1) {
    const node_view dq = dequantizer(input);
    if (!dq || !is_quantized(r_, dq, axis)) return false;
    group_.inputs.push_back(dq.id());
    return true;
  }
  /// Adds the QuantizeLinear of the only output.
  bool end() {
    if (look::has_further_outputs(target_)) return false;
    value_view made = target_.output(0);
    if (const node_view cut = redundant_after(r_, made)) group_.middle = cut.id(), made = cut.output(0);
    return end(made);
  }
  bool end(const value_view& made) {
    const node_view q = look::only_reader<op::QuantizeLinear>(r_, made);
    if (!q || q.input(0) != made || !is_quantized(r_, q, -1)) return false;
    group_.outputs.push_back(q.id());
    return true;
  }
  dtype input_type(std::size_t i) const { return r_.node(group_.inputs[i]).input(0).element(); }
  dtype output_type() const { return r_.node(group_.outputs[0]).output(0).element(); }
  bool end_in_one_type() {
    if (!end()) return false;
    for (std::size_t i = 0; i < group_.inputs.size(); ++i)
      if (input_type(i) != output_type()) return false;
    return true;
  }
  /// False if the target uses what QLinearAveragePool does not support.
  bool target_fits() const {
    const std::span<const std::int64_t> gaps = target_.attributes<op::AveragePool>().dilations;
    return std::all_of(gaps.begin(), gaps.end(), [](std::int64_t gap) { return gap == 1; });
  }
  bool signs_allowed() const {
    return input_type(0) != dtype::i8 || (policy_.signed_activations && input_type(1) == dtype::i8);
  }

  /// Adds a bias of integers, whose scale must be the product of the factors' scales.
  bool bias() {
    if (!target_.input(2)) return group_.inputs.push_back(node_id::none), true;
    const node_view dq = dequantizer(2);
    if (!dq || dq.input(0).element() != dtype::i32 || dq.attributes<op::DequantizeLinear>().block_size != 0)
      return false;
    const value *const steps = r_.constant(dq.input(1)), *const zeros = r_.constant(dq.input(2));
    const value *const x = r_.constant(r_.node(group_.inputs[0]).input(1)), *const w = r_.constant(
                                                                                r_.node(group_.inputs[1]).input(1));
    if (!steps || !x || !w || steps->type != dtype::f32 || x->type != dtype::f32 || w->type != dtype::f32) return false;
    if (dq.input(2) && !all_equal(zeros, 0)) return false;
    for (std::int64_t i = 0; i < std::max(steps->shape.count(), w->shape.count()); ++i) {
      const auto at = [&](const value& v) {
        return detail::element_at<float>(v, v.shape.count() == 1 ? 0 : std::min(i, v.shape.count() - 1));
      };
      if (!(std::abs(at(*steps) - at(*x) * at(*w)) <= 1e-3f * std::abs(at(*steps)))) return false;
    }
    if (steps->shape.count() != 1 && w->shape.count() != 1 && steps->shape.count() != w->shape.count()) return false;
    group_.inputs.push_back(dq.id());
    return true;
  }
  bool convolution() {
    return take(0) && take(1, 0) && bias() && end() && input_type(0) == output_type() && signs_allowed();
  }
  bool matrix_product() {
    const std::vector<dim>* const b = r_.shape(target_.input(1));
    return b && take(0) && take(1, b->size() == 2 ? 1 : -1) && end() && input_type(0) == output_type() &&
           signs_allowed();
  }
  /// Adds the nodes around a product. Its output stays float unless it is quantized again.
  bool product() {
    const auto a = target_.attributes<op::Gemm>();
    if (!take(0) || !take(1, a.transB ? 0 : 1) || !bias()) return false;
    if (target_.input(2) && a.beta != 1) return false;
    if (input_type(0) == dtype::i8 && input_type(1) != dtype::i8) return false;
    const value_view made = target_.output(0);
    const bool is_read_as_integers = look::only_reader<op::QuantizeLinear>(r_, made) || redundant_after(r_, made);
    return !is_read_as_integers || (end() && input_type(0) == output_type());
  }
  bool all_inputs() {
    group_.variadic_input = true;
    for (std::size_t i = 0; i < target_.input_count(); ++i)
      if (!take(i)) return false;
    return target_.input_count() > 0;
  }
  /// Adds the QuantizeLinears of all outputs, which must have the scale, zero point and type of the input.
  bool all_outputs() {
    group_.variadic_output = true;
    const std::optional<quantization> whole = quantization_of(r_, r_.node(group_.inputs[0]));
    for (value_view made : target_.outputs()) {
      if (!whole || !made || !end(made)) return false;
      const std::optional<quantization> part = quantization_of(r_, r_.node(group_.outputs.back()));
      if (!part || !same(*whole, *part)) return false;
    }
    return true;
  }
  /// Adds an input whose elements are moved or selected, not computed with.
  bool in_place(std::string_view action) {
    const node_view dq = dequantizer(0);
    const std::optional<quantization> p = dq ? quantization_of(r_, dq) : std::nullopt;
    if (!p || !p->whole_tensor() || (action != drop && !is_byte(p->type))) return false;
    group_.inputs.push_back(dq.id());
    if (action == "dropDQ") return true;
    if (look::has_further_outputs(target_)) return false;
    const node_view q = look::only_reader<op::QuantizeLinear>(r_, target_.output(0));
    const std::optional<quantization> after =
        q && q.input(0) == target_.output(0) ? quantization_of(r_, q) : std::nullopt;
    if (!after || !same(*p, *after)) return false;
    if (target_.has_op<op::MaxPool>() && target_.since() < 12) return false;
    if (target_.has_op<op::Resize>() && target_.attributes<op::Resize>().mode != op::grid_sample_mode_choice::nearest)
      return false;
    group_.outputs.push_back(q.id());
    return true;
  }

  const rewriter& r_;
  const node_view& target_;
  const group_policy& policy_;
  rewrite_group& group_;
};

/// Makes the node that replaces a group.
class replacement {
 public:
  replacement(edit& e, const rewriter& r, const rewrite_group& group, const target_row& row)
      : e_{e}, r_{r}, group_{group}, row_{row}, target_{r.node(group.target)} {}

  bool make() {
    const group_form form = form_of(row_);
    std::vector<value_id> inputs;
    if (form == group_form::in_place) {
      for (value_view v : target_.inputs()) inputs.push_back(v.id());
      inputs[0] = r_.node(group_.inputs[0]).input(0).id();
    } else {
      for (const group_move& move : moves_of(form))
        if (!append(move, inputs)) return false;
    }
    const std::vector<attribute> attributes = attributes_for();
    const std::size_t outputs = std::max<std::size_t>(1, group_.outputs.size());
    const value_id made = e_.add(row_.domain, row_.op, inputs, attributes, outputs);
    if (made == value_id::none) return false;
    if (group_.outputs.empty()) e_.replace(target_.output(0), made);
    for (std::size_t i = 0; i < group_.outputs.size(); ++i)
      e_.replace(r_.node(group_.outputs[i]).output(0), e_.output(i));
    return true;
  }

 private:
  bool append(const group_move& move, std::vector<value_id>& inputs) {
    using enum group_move::member;
    switch (move.source) {
      case all_inputs:
        for (node_id n : group_.inputs) append(r_.node(n), move, inputs);
        return true;
      case target: append(target_, move, inputs); return true;
      case output:
        if (!group_.outputs.empty()) append(r_.node(group_.outputs[0]), move, inputs);
        return !group_.outputs.empty() || !move.required;
      case input: break;
    }
    const node_id n = group_.inputs[move.number];
    if (n != node_id::none) append(r_.node(n), move, inputs);
    else inputs.push_back(value_id::none);
    return n != node_id::none || !move.required;
  }
  void append(const node_view& n, const group_move& move, std::vector<value_id>& inputs) {
    for (std::size_t i = move.first; i <= move.last; ++i)
      inputs.push_back(i == 2 && n != target_ && !n.input(2) ? zero_of(n)
                       : n.input(i)                          ? n.input(i).id()
                                                             : value_id::none);
  }
  /// The zero point of a node that has none, with as many elements as the scale.
  value_id zero_of(const node_view& n) {
    const dtype type = (n.has_op<op::QuantizeLinear>() ? n.output(0) : n.input(0)).element();
    const std::vector<dim>& steps = *r_.shape(n.input(1));
    extents shape;
    for (const dim& d : steps) shape.push_back(d.size);
    const std::vector<std::byte> zeros(std::size_t(shape.count()));
    return e_.constant("zero_point", value::tensor(type, shape, const_cast<std::byte*>(zeros.data())));
  }
  /// The target's attributes that the new operator has, too.
  std::vector<attribute> attributes_for() const {
    if (row_.op == target_.op_type()) return {target_.raw().attributes.begin(), target_.raw().attributes.end()};
    std::vector<attribute> all;
    const op_row* const op = r_.around().ops.find(row_.domain, row_.op);
    for (const attribute& a : target_.raw().attributes)
      if (op &&
          std::ranges::any_of(op->versions.back().attributes, [&](const auto& rule) { return rule.name == a.name; }))
        all.push_back(a);
    if (target_.has_op<op::Softmax>()) {
      if (!target_.attributes<op::Softmax>().axis) all.push_back(attribute_of("axis", target_.since() < 13 ? 1 : -1));
      all.push_back(attribute_of("opset", target_.since()));
    }
    return all;
  }

  edit& e_;
  const rewriter& r_;
  const rewrite_group& group_;
  const target_row& row_;
  const node_view target_;
};

struct qdq_groups {
  static constexpr std::string_view name = optimizer;
  struct roots {
    static constexpr auto ids = [] {
      std::array<detail::op_id, std::size(target_rows)> all{};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = target_rows[i].target;
      return all;
    }();
  };
  struct makes {
    static constexpr auto names = [] {
      std::array<made_op, std::size(target_rows)> all{};
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = {target_rows[i].domain, target_rows[i].op, target_rows[i].target};
      return all;
    }();
  };
  using needs = op_set<op::DequantizeLinear>;
  static bool select(const rewriter& r, const node_view& n, const group_policy& policy, rewrite_group& to) {
    const target_row* const row = row_of(n);
    return row && selection{r, n, policy, to}.make(*row);
  }
  static bool replace(edit& e, const rewriter& r, const rewrite_group& group) {
    const target_row* const row = row_of(r.node(group.target));
    return row && replacement{e, r, group, *row}.make();
  }
};

}  // namespace

constexpr key_condition quantized_off[] = {{config_key<"session.disable_quant_qdq">.key}};
constexpr transform_condition unless_quantized_off{.excluded = quantized_off};

const transform_table& rules::qdq_fusion::table() {
  return transform_list<optimization_level::extended, qdq_groups>::table<unless_quantized_off>();
}

}  // namespace CAMEO_NAMESPACE
