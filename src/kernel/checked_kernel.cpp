#include <cameo/kernel/checked_kernel.hpp>
#include <cameo/op/shape_contract.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::detail {
namespace {

struct checked_kernel {
  bound_kernel inner;
  const op_version* version = nullptr;
  attribute_sizes sizes;
};

status run_checked(const void* state, run_context& c) {
  const checked_kernel& self = *static_cast<const checked_kernel*>(state);
  geometry::named_shape<std::int64_t> inputs[24]{};
  const std::size_t count = std::min({c.input_count(), self.version->inputs.size(), std::size(inputs)});
  for (std::size_t i = 0; i < count; ++i) {
    const value& v = c.input(i);
    inputs[i].name = self.version->inputs[i].name;
    if (v.kind == value_kind::tensor) inputs[i].shape = geometry::shape_of(v);
  }
  status fits =
      geometry::check_shapes<std::int64_t>(self.version->shapes, std::span{inputs, count}, self.sizes.known());
  return fits ? self.inner.run(self.inner.state, c) : std::move(fits);
}

}  // namespace

result<bound_kernel> check_shapes_first(bind_context& context, std::span<const op_version> versions,
                                        bound_kernel bound) {
  const op_version* version = &versions.back();
  for (const op_version& each : versions)
    if (each.since == context.since) version = &each;
  if (!version->shapes) return bound;
  const checked_kernel* const kept =
      context.state.keep(checked_kernel{bound, version, attribute_sizes::read(*version, context.attributes)});
  if (!kept) return status_code::out_of_memory;
  return bound_kernel{kept, run_checked};
}

}  // namespace CAMEO_NAMESPACE::detail
