#include <cameo/op/infer.hpp>
#include <cameo/op/shape_contract.hpp>

#include "infer/tools.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {

dtype infer_context::element(std::size_t i) const {
  return has_input(i) && input(i)->is_tensor() ? input(i)->type : dtype::undefined;
}

const std::vector<dim>* infer_context::shape(std::size_t i) const {
  return has_input(i) && input(i)->is_tensor() && input(i)->shape ? &*input(i)->shape : nullptr;
}

std::optional<std::vector<std::int64_t>> infer_context::constant_ints(std::size_t i) const {
  const value* found = i < input_count() ? constant(i) : nullptr;
  return found ? infer::integers_of(*found) : std::nullopt;
}

status check_input_shapes(const infer_context& c) {
  const op_version& version = c.version();
  if (!version.shapes) return status_code::ok;
  std::vector<geometry::named_shape<dim>> inputs(std::min(c.input_count(), version.inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].name = version.inputs[i].name;
    if (const std::vector<dim>* shape = c.shape(i)) inputs[i].shape = std::span<const dim>{*shape};
  }
  const detail::attribute_sizes sizes = detail::attribute_sizes::read(version, c.attributes());
  return geometry::check_shapes<dim>(version.shapes, inputs, sizes.known(), sizes.lists());
}

namespace {

/// The common dim of one axis of a broadcast: a known size wins over a symbol, and anything wins over 1.
result<dim> broadcast_dim(dim a, dim b, std::size_t axis) {
  if (a.size == 1 || a.same(b)) return b;
  if (b.size == 1) return a;
  if (a.known() && b.known())
    return infer::invalid("dims ", a, " and ", b, " of axis ", axis,
                          " of the result do not broadcast: they must be equal, or one of them 1");
  return a.known() ? a : b.known() ? b : dim{};
}

}  // namespace

result<std::vector<dim>> infer_broadcast(std::span<const std::vector<dim>* const> shapes) {
  std::size_t rank = 0;
  for (const std::vector<dim>* shape : shapes) rank = std::max(rank, shape->size());
  std::vector<dim> joined(rank, dim::fixed(1));
  for (const std::vector<dim>* shape : shapes) {
    const std::size_t first = rank - shape->size();
    for (std::size_t i = 0; i < shape->size(); ++i) {
      result<dim> one = broadcast_dim(joined[first + i], (*shape)[i], first + i);
      if (!one) return one.error();
      joined[first + i] = *one;
    }
  }
  return joined;
}

}  // namespace CAMEO_NAMESPACE
