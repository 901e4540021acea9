#include <cameo/eps/cpu/binary.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <atomic>

#include "operands/refuse.hpp"
#include "zip.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t grain = 1 << 16;

/// Appends ones to the shape of b, so that NumPy's broadcasting gives the result of the attribute `axis` (opset < 7).
/// False if b does not fit. Axes of 1 broadcast too, although opset 6 does not allow that: PyTorch's exporter relied on
/// it.
bool align_by_axis(const extents& a, const extents& b, std::int64_t axis, extents& aligned) {
  aligned = b;
  std::int64_t elements = 0;
  if (b.checked_count(elements) && elements == 1) {
    aligned = {};
    return true;
  }
  if (b.rank() > a.rank()) return false;
  if (axis < 0) axis = std::int64_t(a.rank() - b.rank());
  if (axis > std::int64_t(a.rank() - b.rank())) return false;
  aligned.resize(a.rank() - std::size_t(axis), 1);
  for (std::size_t i = 0; i < b.rank(); ++i)
    if (b[i] != 1 && b[i] != a[std::size_t(axis) + i]) return false;
  return true;
}

/// Before opset 7, a slope per channel (PRelu) is a vector that belongs to axis 1.
void align_to_channel(const extents& x, extents& slope) {
  if (slope.rank() == 1 && x.rank() > 2 && slope[0] == x[1]) slope.resize(x.rank() - 1, 1);
}

status do_not_fit(const extents& a, const extents& b, const char* why) {
  return bad_input("shapes ", a, " and ", b, why);
}

/// True if a divisor is zero; possibly false if the run is stopped before it is found.
bool has_zero(run_context& c, const value& v, std::size_t bytes) {
  const auto find = [&]<class T>(std::type_identity<T>) {
    std::atomic<bool> found{false};
    const T* const elements = static_cast<const T*>(v.data);
    parallel_elements(c, v.shape.count(), grain, [&](std::int64_t first, std::int64_t last) {
      bool here = false;
      for (std::int64_t i = first; i < last; ++i) here |= elements[i] == 0;
      if (here) found.store(true, std::memory_order_relaxed);
    });
    return found.load(std::memory_order_relaxed);
  };
  switch (bytes) {
    case 1: return find(std::type_identity<std::uint8_t>{});
    case 2: return find(std::type_identity<std::uint16_t>{});
    case 4: return find(std::type_identity<std::uint32_t>{});
    default: return find(std::type_identity<std::uint64_t>{});
  }
}

}  // namespace

status binary_state::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(1);
  extents fitted = b.shape;
  switch (align) {
    case alignment::by_axis:
      if (!align_by_axis(a.shape, b.shape, axis, fitted))
        return do_not_fit(a.shape, b.shape, ": the second must be part of the first, or a scalar (opset < 7)");
      break;
    case alignment::none:
      if (a.shape != b.shape) return do_not_fit(a.shape, b.shape, " differ, and broadcast is not 1 (opset < 7)");
      break;
    case alignment::channel: align_to_channel(a.shape, fitted); break;
    default: break;
  }
  broadcast_loops<2> loops;
  if (!loops.make({&a.shape, &fitted})) return do_not_fit(a.shape, b.shape, " do not broadcast to a common one");
  if (align != alignment::both_ways && loops.shape() != a.shape)
    return do_not_fit(a.shape, b.shape, ": the second must broadcast to the first");
  const result<value*> out = c.output(0, loops.shape());
  if (!out) return out.error();
  if (loops.count() == 0) return {};
  // If the run is stopped before all of b was checked, nothing is divided, as run_zip() skips its work too.
  if (divides && has_zero(c, b, b_bytes)) return bad_input("integer division by zero");
  run_zip(c, row, loops, grain, {a.data, a_bytes}, {b.data, b_bytes}, (*out)->data, out_bytes);
  return {};
}

void binary_state::finish(bind_context& c, binary_row found) {
  const auto bytes = [](dtype type) { return std::uint8_t(detail::row_of(type).bits / 8); };
  row = found;
  a_bytes = bytes(c.inputs[0].type), b_bytes = bytes(c.inputs[1].type), out_bytes = bytes(c.outputs[0].type);
  if (c.since < 7 && align == alignment::both_ways) {
    const attributes_of<op::Add> a{c.attributes};
    align = a.broadcast != 0 ? alignment::by_axis : alignment::none;
    axis = a.axis.value_or(-1);
  }
  if (a_bytes == out_bytes) c.may_overwrite(0, 0);
  if (b_bytes == out_bytes) c.may_overwrite(0, 1);
}

}  // namespace CAMEO_NAMESPACE::eps
