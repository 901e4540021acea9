#include <cameo/geometry/broadcast.hpp>
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

result<std::vector<dim>> infer_broadcast(std::span<const std::vector<dim>* const> shapes) {
  geometry::basic_common_shape<dim> joined;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (status s = joined.add(*shapes[i], i); !s) return s;
  return std::vector<dim>(joined.begin(), joined.end());
}

}  // namespace CAMEO_NAMESPACE
