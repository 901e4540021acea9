#include <cameo/op/internal_nhwc.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rules/channels_last.hpp>

#include <numeric>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {

bool has_channels_last_form(const rewriter& r, const node_view& n) {
  // Resize and MaxUnpool have inputs with dims and positions, which would have to change, too.
  if (!r.may_touch(n) || !n.domain().empty() || n.has_op<op::Resize, op::MaxUnpool>() || look::has_further_outputs(n))
    return false;
  const std::vector<dim>* const shape = r.shape(n.input(0));
  return shape && shape->size() >= 3 && r.around().ops.find(op::internal_nhwc::Conv::domain, n.op_type());
}

node_id make_channels_last(rewriter& r, const node_view& n) {
  const std::size_t rank = r.shape(n.input(0))->size();
  std::vector<std::int64_t> to_last{0}, to_second{0, std::int64_t(rank) - 1};
  for (std::size_t i = 2; i < rank; ++i) to_last.push_back(std::int64_t(i)), to_second.push_back(std::int64_t(i) - 1);
  to_last.push_back(1);
  edit e{r, n};
  const auto transposed = [&](value_id v, std::span<const std::int64_t> perm) {
    return e.add<op::Transpose>({v}, {attribute_of("perm", perm)});
  };
  std::vector<value_id> inputs;
  for (value_view v : n.inputs()) inputs.push_back(v.id());
  inputs[0] = transposed(inputs[0], to_last);
  const value_id made = e.add(op::internal_nhwc::Conv::domain, n.op_type(), inputs, n.raw().attributes);
  if (made == value_id::none) return node_id::none;
  const node_id moved = r.in()[made].producer;
  e.replace(n.output(0), transposed(made, to_second));
  return e.commit() ? moved : node_id::none;
}

}  // namespace CAMEO_NAMESPACE
