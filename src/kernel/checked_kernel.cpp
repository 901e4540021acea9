#include <cameo/kernel/checked_kernel.hpp>
#include <cameo/op/shape_contract.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::detail {
namespace {

constexpr std::size_t most_inputs = 24;  // of those that a pattern can state
using named_shapes = geometry::named_shape<std::int64_t>[most_inputs];

/// A kernel whose inputs are checked before each run, unless they have the shapes that were known, and checked, when it
/// was bound.
struct checked_kernel {
  bound_kernel inner;
  const op_version* version = nullptr;
  attribute_sizes sizes;
  std::span<const extents> checked;  // of all inputs, or empty

  std::size_t count(std::size_t inputs) const { return std::min({inputs, version->inputs.size(), most_inputs}); }
  status check(const named_shapes& shapes, std::size_t inputs) const {
    return geometry::check_shapes<std::int64_t>(version->shapes, std::span{shapes, count(inputs)}, sizes.known(),
                                                sizes.lists());
  }
  /// Stores the shapes that are known when a kernel is bound, if all of them are, and match.
  status check_known(bind_context& context) {
    named_shapes shapes{};
    const std::size_t inputs = count(context.inputs.size());
    for (std::size_t i = 0; i < inputs; ++i) {
      const operand& in = context.inputs[i];
      shapes[i].name = version->inputs[i].name;
      if (!in.present) continue;
      if (in.kind != type_kind::tensor || in.optional || !in.fixed_shape()) return {};
      shapes[i].shape = in.shape;
    }
    if (!check(shapes, inputs)) return {};  // the run refuses them: the branch of an If may never run
    const result<std::span<extents>> kept = context.keep<extents>(inputs);
    if (!kept) return kept.error();
    for (std::size_t i = 0; i < inputs; ++i) (*kept)[i] = context.inputs[i].shape;
    checked = *kept;
    return {};
  }
  /// True if input i has a pattern that only tensors match.
  bool must_be_tensor(std::size_t i) const {
    std::string_view rest = version->shapes;
    while (i-- > 0) geometry::detail::take(rest, ' ');
    return !rest.empty() && rest.front() != '*';
  }
  bool has_checked(const run_context& c) const {
    if (checked.empty()) return false;
    for (std::size_t i = 0; i < checked.size(); ++i)
      if (c.has_input(i) && c.input(i).shape != checked[i]) return false;
    return true;
  }
};

status run_checked(const void* state, run_context& c) {
  const checked_kernel& self = *static_cast<const checked_kernel*>(state);
  if (self.has_checked(c)) return self.inner.run(self.inner.state, c);
  named_shapes shapes{};
  for (std::size_t i = 0; i < self.count(c.input_count()); ++i) {
    const value& v = c.input(i);
    shapes[i].name = self.version->inputs[i].name;
    if (v.kind == value_kind::tensor) shapes[i].shape = geometry::shape_of(v);
    else if (v && self.must_be_tensor(i))
      return refuse(status_code::invalid_argument, shapes[i].name, " must be a tensor");
  }
  status fits = self.check(shapes, c.input_count());
  return fits ? self.inner.run(self.inner.state, c) : std::move(fits);
}

}  // namespace

result<bound_kernel> check_shapes_first(bind_context& context, std::span<const op_version> versions,
                                        bound_kernel bound) {
  const op_version* version = &versions.back();
  for (const op_version& each : versions)
    if (each.since == context.since) version = &each;
  if (!version->shapes) return bound;
  checked_kernel made{bound, version, attribute_sizes::read(*version, context.attributes), {}};
  if (status fits = made.check_known(context); !fits) return fits;
  const checked_kernel* const kept = context.state.keep(made);
  if (!kept) return status_code::out_of_memory;
  return bound_kernel{kept, run_checked};
}

}  // namespace CAMEO_NAMESPACE::detail
