#include "session/known_shapes.hpp"

#include <cameo/graph/model.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {

known_shapes::known_shapes(const session& of) {
  const std::vector<io_info>& inputs = of.inputs();
  const auto known = [&](dim d) {
    if (d.known()) return known_dim{d.size};
    for (std::size_t i = 0; d.symbol != 0 && i < inputs.size(); ++i)
      for (std::size_t axis = 0; inputs[i].type.shape && axis < inputs[i].type.shape->size(); ++axis)
        if ((*inputs[i].type.shape)[axis].same(d)) return known_dim{-1, i, axis};
    return known_dim{-1, inputs.size(), 0};
  };
  const graph& g = of.graph().main();
  for (const value_id v : g.outputs()) {
    // The graph's types are used, because io_info also has declared sizes, from which a run may differ.
    const value_type* const type = g[v].type;
    std::optional<std::vector<known_dim>>& made_output = outputs_.emplace_back();
    if (!type || !type->is_tensor() || !type->shape || type->shape->size() > max_rank) continue;
    std::transform(type->shape->begin(), type->shape->end(), std::back_inserter(made_output.emplace()), known);
    const auto is_unknown = [&](const known_dim& d) { return d.input == inputs.size(); };
    if (std::any_of(made_output->begin(), made_output->end(), is_unknown)) made_output.reset();
  }
}

bool known_shapes::find(std::size_t i, std::span<const value> inputs, extents& to) const {
  if (!is_known(i)) return false;
  to.resize(0);
  for (const known_dim& d : *outputs_[i]) to.push_back(d.size >= 0 ? d.size : inputs[d.input].shape[d.axis]);
  return true;
}

}  // namespace CAMEO_NAMESPACE
