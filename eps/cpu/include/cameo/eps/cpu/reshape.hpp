#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/read_attribute.hpp>

namespace CAMEO_NAMESPACE::eps {

// Operators that give the same elements another shape: no element moves. For all types, also those smaller than a byte.

/// Reshape: a 0 in the requested shape keeps the input's size of that axis (unless `allowzero` is set); one -1 is
/// computed from the other sizes.
struct reshape {
  bool zero_is_a_size;
  attribute_list<std::int64_t> shape;  // in version 1; later versions have an input
  static result<reshape> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Flatten: two axes, the product of the axes before `axis` and the product of the others.
struct flatten {
  std::int64_t axis;
  static result<flatten> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Squeeze: removes axes of size 1, the given ones or all.
struct squeeze {
  attribute_list<std::int64_t> axes;  // before version 13
  static result<squeeze> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Unsqueeze: adds axes of size 1; `axes` are axes of the output.
struct unsqueeze {
  attribute_list<std::int64_t> axes;  // before version 13
  static result<unsqueeze> bind(bind_context& c);
  status run(run_context& c) const;
};

/// com.microsoft's ExpandDims: adds an axis of size 1; the input `axis` is an axis of the output.
struct expand_dims {
  static result<expand_dims> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Identity: forwards a value of any kind, such as a tensor, a sequence or an empty optional.
struct identity {
  static result<identity> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
