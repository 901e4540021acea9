#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// The same elements in other extents: no element moves. For all types, also those smaller than a byte.

/// A 0 in the wanted shape keeps the input's size there (unless `allowzero`), one -1 is computed from the others.
struct reshape {
  bool zero_is_a_size;
  const attribute* shape;  // version 1; later ones have an input
  static result<reshape> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Two axes: those before `axis` and the others.
struct flatten {
  std::int64_t axis;
  static result<flatten> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Drops axes of size 1: the given ones, or all.
struct squeeze {
  const attribute* axes;  // before version 13
  static result<squeeze> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Adds axes of size 1; `axes` count in the output.
struct unsqueeze {
  const attribute* axes;  // before version 13
  static result<unsqueeze> bind(bind_context& c);
  status run(run_context& c) const;
};

/// com.microsoft's ExpandDims: one more axis of size 1, where the input `axis` says; it counts in the output.
struct expand_dims {
  static result<expand_dims> bind(bind_context& c);
  status run(run_context& c) const;
};

/// Passes on a value of any kind: tensor, sequence, an empty optional.
struct identity {
  static result<identity> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
