#pragma once
#include <cameo/graph/views.hpp>
#include <cameo/op/geometry_of.hpp>

namespace CAMEO_NAMESPACE {

/// The shapes of a node's inputs, as far as they are inferred, for geometry_of().
inline node_shapes<dim> shapes_of(const node_view& node) {
  node_shapes<dim> made;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const value_view in = node.input(i);
    const value_type* const type = in ? in.type() : nullptr;
    const bool fits = type && type->is_tensor() && type->shape && type->shape->size() <= max_rank;
    made.push_back(fits ? geometry::output_shape<dim>{geometry::shape_view<dim>{*type->shape}}
                        : geometry::output_shape<dim>{});
  }
  return made;
}

/// The checked geometry of a node of a graph, as far as its shapes are known: for a provider that compiles nodes.
///
///   const result<geometry::basic_conv<dim>> g = geometry_of<op::Conv>(node);
template <class Op>
auto geometry_of(const node_view& node) {
  return geometry_of<Op>(node.raw().attributes, shapes_of(node));
}

}  // namespace CAMEO_NAMESPACE
