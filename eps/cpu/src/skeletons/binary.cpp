#include <cameo/eps/cpu/binary.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <atomic>

#include "operands/refuse.hpp"
#include "zip.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t grain = 1 << 16;

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
  if (align) {
    const auto made = geometry::aligned<std::int64_t>(a.shape, b.shape, *align, axis, "the second input");
    if (!made) return made.error();
    fitted = *made;
  }
  if (to_first)
    if (status s = geometry::check_broadcast<std::int64_t>(b.shape, a.shape, "the second input"); !s) return s;
  broadcast_loops<2> loops;
  if (status s = loops.make({&a.shape, &fitted}); !s) return s;
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
  if (c.since < 7 && !align) {
    const attributes_of<op::Add> a{c.attributes};
    align = a.broadcast != 0 ? geometry::alignment::by_axis : geometry::alignment::none;
    axis = a.axis.value_or(-1);
  }
  if (a_bytes == out_bytes) c.may_overwrite(0, 0);
  if (b_bytes == out_bytes) c.may_overwrite(0, 1);
}

}  // namespace CAMEO_NAMESPACE::eps
