#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/read_attribute.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Slice: the elements start, start + step, ... before end, along each of the axes. Negative starts and ends count from
/// the end of the axis; all are clamped to the axis. A negative step goes backwards.
struct slice {
  attribute_list<std::int64_t> starts, ends, axes;  // in version 1; later versions have inputs
  static result<slice> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Expand: the input broadcast to the common shape of itself and `shape`.
struct expand {
  static result<expand> bind(bind_context&) { return expand{}; }
  status run(run_context& c) const;
};

/// Tile: the input repeated along each axis; in version 1 `tiles` times along `axis`, two inputs of the tensor's type.
struct tile {
  bool one_axis;
  static result<tile> bind(bind_context& c) { return tile{c.since < 6}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
