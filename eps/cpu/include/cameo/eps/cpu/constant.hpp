#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The value of its one attribute, of any kind. Reading a model leaves only few of these nodes.
struct constant {
  value held;
  static result<constant> bind(bind_context& c);
  status run(run_context& c) const { return c.forward(0, held); }
};

/// A tensor of the shape that the input holds, filled with the one element of `value`, or with 0.0f.
struct constant_of_shape {
  value element;
  static result<constant_of_shape> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
