#include <cameo/kernel/checked_kernel.hpp>
#include <cameo/op/shape_contract.hpp>

#include <algorithm>
#include <atomic>
#include <memory>

namespace CAMEO_NAMESPACE::detail {
namespace {

constexpr std::size_t most_inputs = 24;  // of those that a pattern can state
using named_shapes = geometry::named_shape<std::int64_t>[most_inputs];

/// The shapes of inputs that were checked once, so that runs with the same shapes need not check them again. Several
/// runs at a time may read and write it: it is written once.
struct checked_shapes {
  enum : std::uint8_t { empty, filling, filled };
  std::uint8_t state = empty;  // atomic
  extents* shapes = nullptr;   // of the inputs that are compared

  std::atomic_ref<std::uint8_t> atomic_state() { return std::atomic_ref{state}; }
};

/// A kernel whose inputs are checked before each run, unless they have shapes that were checked before: those that were
/// known when it was bound, or those of its first runs. Constants stay, and are not compared.
struct checked_kernel {
  bound_kernel inner;
  const op_version* version = nullptr;
  std::span<const attribute> attributes;
  std::uint8_t open[most_inputs] = {};  // the inputs that have patterns and are not constants
  std::uint8_t opens = 0;
  mutable checked_shapes remembered[2] = {};

  std::size_t count(std::size_t inputs) const { return std::min({inputs, version->inputs.size(), most_inputs}); }
  status check(const named_shapes& shapes, std::size_t inputs) const {
    const attribute_sizes sizes = attribute_sizes::read(*version, attributes);
    return geometry::check_shapes<std::int64_t>(version->shapes, std::span{shapes, count(inputs)}, sizes.known(),
                                                sizes.lists());
  }
  /// Allocates what is remembered: the shapes that are known when a kernel is bound, if all of them are, and match;
  /// else space for those of two runs. (The run refuses shapes that do not match: the branch of an If may never run.)
  status prepare(bind_context& context) {
    const std::size_t inputs = count(context.inputs.size());
    named_shapes shapes{};
    bool all_known = true;
    for (std::size_t i = 0; i < inputs; ++i) {
      const operand& in = context.inputs[i];
      shapes[i].name = version->inputs[i].name;
      if (!in.present) continue;
      if (in.kind != type_kind::tensor || in.optional || !in.fixed_shape()) all_known = false;
      else shapes[i].shape = in.shape;
      if (!context.is_constant(i) && must_be_tensor(i)) open[opens++] = std::uint8_t(i);
    }
    const bool matches = all_known && check(shapes, inputs);
    const std::size_t places = matches ? 1 : std::size(remembered);
    const result<std::span<extents>> kept = context.keep<extents>(places * opens);
    if (!kept) return kept.error();
    for (std::size_t i = 0; i < places; ++i) remembered[i].shapes = kept->data() + i * opens;
    for (std::size_t k = 0; matches && k < opens; ++k) remembered[0].shapes[k] = context.inputs[open[k]].shape;
    if (matches) remembered[0].state = checked_shapes::filled;
    return {};
  }
  /// True if input i has a pattern that only tensors match.
  bool must_be_tensor(std::size_t i) const {
    std::string_view rest = version->shapes;
    while (i-- > 0) geometry::detail::take(rest, ' ');
    return !rest.empty() && rest.front() != '*';
  }
  bool has_checked(const run_context& c) const {
    for (checked_shapes& each : remembered) {
      if (each.atomic_state().load(std::memory_order_acquire) != checked_shapes::filled) return false;
      std::size_t k = 0;
      while (k < opens && c.input(open[k]).kind == value_kind::tensor && c.input(open[k]).shape == each.shapes[k]) ++k;
      if (k == opens) return true;
    }
    return false;
  }
  /// Remembers the shapes of a run. An input that is not a tensor has none: it would look like a scalar's.
  void remember(const run_context& c) const {
    for (std::size_t k = 0; k < opens; ++k)
      if (c.input(open[k]).kind != value_kind::tensor) return;
    for (checked_shapes& each : remembered) {
      std::uint8_t expected = checked_shapes::empty;
      if (!each.shapes || !each.atomic_state().compare_exchange_strong(expected, checked_shapes::filling)) continue;
      for (std::size_t k = 0; k < opens; ++k) std::construct_at(each.shapes + k, c.input(open[k]).shape);
      each.atomic_state().store(checked_shapes::filled, std::memory_order_release);
      return;
    }
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
  if (status fits = self.check(shapes, c.input_count()); !fits) return fits;
  self.remember(c);
  return self.inner.run(self.inner.state, c);
}

}  // namespace

result<bound_kernel> check_shapes_first(bind_context& context, std::span<const op_version> versions,
                                        bound_kernel bound) {
  const op_version* version = &versions.back();
  for (const op_version& each : versions)
    if (each.since == context.since) version = &each;
  if (!version->shapes) return bound;
  checked_kernel made{bound, version, context.attributes};
  if (status fits = made.prepare(context); !fits) return fits;
  const checked_kernel* const kept = context.state.keep(made);
  if (!kept) return status_code::out_of_memory;
  return bound_kernel{kept, run_checked};
}

}  // namespace CAMEO_NAMESPACE::detail
