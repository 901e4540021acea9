#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/geometry_of.hpp>

namespace CAMEO_NAMESPACE {

/// The shapes of a run's inputs, for geometry_of(). Other inputs than tensors have none.
inline node_shapes<std::int64_t> shapes_of(const run_context& c) {
  node_shapes<std::int64_t> made;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const value& v = c.input(i);
    made.push_back(v.kind == value_kind::tensor ? geometry::output_shape<std::int64_t>{geometry::shape_of(v)}
                                                : geometry::output_shape<std::int64_t>{});
  }
  return made;
}

/// The shapes of a node's inputs, as far as they are known while it is bound, for geometry_of().
inline node_shapes<dim> shapes_of(std::span<const operand> inputs) {
  node_shapes<dim> made;
  for (const operand& in : inputs) {
    geometry::sizes<dim> sizes;
    for (const std::int64_t size : in.shape) sizes.push_back(size < 0 ? dim{} : dim::fixed(size));
    const bool is_known = in.present && in.kind == type_kind::tensor && in.has_rank;
    made.push_back(is_known ? geometry::output_shape<dim>{sizes} : geometry::output_shape<dim>{});
  }
  return made;
}

/// The checked geometry of the node that a kernel is bound for, as far as its shapes are known.
template <class Op>
auto geometry_of(const bind_context& c) {
  return geometry_of<Op>(c.attributes, shapes_of(c.inputs));
}

}  // namespace CAMEO_NAMESPACE
