#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Constant: the value of the node's one attribute, of any kind. Reading a model replaces most of these nodes by
/// initializers, so that this kernel is rarely needed.
struct constant {
  value held;
  static result<constant> bind(bind_context& c);
  status run(run_context& c) const { return c.forward(0, held); }
};

/// ConstantOfShape: a tensor of the shape that the input contains, filled with the element of `value`, or with 0.0f.
struct constant_of_shape {
  value element;
  static result<constant_of_shape> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
