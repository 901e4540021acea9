#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Elements start, start + step, ... before end, along each of the axes. Negative starts and ends count from the end of
/// the axis; all are cut to it. A negative step goes backwards.
struct slice {
  const attribute *starts, *ends, *axes;  // version 1; later ones have inputs
  static result<slice> bind(bind_context& c);
  status run(run_context& c) const;
};

/// The input repeated to the common shape of itself and `shape`.
struct expand {
  static result<expand> bind(bind_context&) { return expand{}; }
  status run(run_context& c) const;
};

/// The input repeated along each axis; version 1: `tiles` times along `axis`, both inputs of the tensor's own type.
struct tile {
  bool one_axis;
  static result<tile> bind(bind_context& c) { return tile{c.since < 6}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
