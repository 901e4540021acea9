// Losses of classes by gathering.
#include "transform/rules/definitions.hpp"

namespace CAMEO_NAMESPACE::define {
namespace {

/// From this opset on, axes are an input.
constexpr std::int64_t axes_as_input = 13;

template <declared_op Op>
value_id at_axis_1(edit& e, const node_view& n, value_id x) {
  constexpr std::int64_t axes[] = {1};
  if (n.raw().opset < axes_as_input) return e.add<Op>({x}, {attribute_of("axes", std::span<const std::int64_t>{axes})});
  return e.add<Op>({x, e.ints("axes", axes)});
}

template <declared_op Op>
value_id reduced(edit& e, value_id x) {
  return e.add<Op>({x}, {attribute_of("keepdims", 0)});
}

/// The loss of each target, given the logarithms of all classes [N, C, ...]: their own class's, negative, times its
/// weight; 0 where the target is the one to ignore. Then their sum, their mean (over the sum of weights), or all of
/// them.
value_id loss_of(edit& e, const node_view& n, value_id logs) {
  const dtype type = n.input(0).element(), index = n.input(1).element();
  using reduction = op::negative_log_likelihood_loss_reduction_choice;
  const auto a = n.attributes<op::NegativeLogLikelihoodLoss>();
  value_id target = n.input(1).id(), skips = value_id::none, zero = value_id::none, weight = value_id::none;
  if (a.ignore_index) {
    skips = e.add<op::Equal>({target, e.scalar("ignored", index, double(*a.ignore_index))});
    target = e.add<op::Where>({skips, e.scalar("first_class", index, 0), target});  // any that there is
    zero = e.scalar("zero", type, 0);
  }
  const value_id classes = at_axis_1<op::Unsqueeze>(e, n, target);
  const value_id found = e.add<op::GatherElements>({logs, classes}, {attribute_of("axis", 1)});
  value_id loss = e.add<op::Neg>({at_axis_1<op::Squeeze>(e, n, found)});
  if (n.input(2)) {
    weight = e.add<op::Gather>({n.input(2).id(), target});
    loss = e.add<op::Mul>({loss, weight});
  }
  if (a.ignore_index) {
    loss = e.add<op::Where>({skips, zero, loss});
    weight = e.add<op::Where>({skips, zero, n.input(2) ? weight : e.scalar("one", type, 1)});
  }
  if (a.reduction == reduction::none) return loss;
  if (a.reduction == reduction::sum) return reduced<op::ReduceSum>(e, loss);
  if (weight == value_id::none) return reduced<op::ReduceMean>(e, loss);
  return e.add<op::Div>({reduced<op::ReduceSum>(e, loss), reduced<op::ReduceSum>(e, weight)});
}

bool has_types(const node_view& n) {
  return n.input(0).element() != dtype::undefined && n.input(1).element() != dtype::undefined;
}

}  // namespace

bool likelihood_loss::rewrite(rewriter& r, const node_view& n) {
  if (!r.may_touch(n) || !has_types(n)) return false;
  edit e{r, n};
  e.replace(n.output(0), loss_of(e, n, n.input(0).id()));
  return e.commit();
}

bool cross_entropy_loss::rewrite(rewriter& r, const node_view& n) {
  if (!r.may_touch(n) || !has_types(n)) return false;
  edit e{r, n};
  const value_id scores = n.input(0).id();
  constexpr std::int64_t classes[] = {1};
  value_id logs;
  if (n.raw().opset < axes_as_input) {  // LogSoftmax is of all later axes together there
    const attribute axes = attribute_of("axes", std::span<const std::int64_t>{classes});
    logs = e.add<op::Sub>({scores, e.add<op::ReduceLogSumExp>({scores}, {axes})});
  } else {
    logs = e.add<op::LogSoftmax>({scores}, {attribute_of("axis", 1)});
  }
  if (n.output(0)) e.replace(n.output(0), loss_of(e, n, logs));
  if (n.output(1)) e.replace(n.output(1), logs);
  return e.commit();
}

}  // namespace CAMEO_NAMESPACE::define
