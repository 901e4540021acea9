#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Indices count from the end when negative; one out of range is INVALID_ARGUMENT.

/// Slices of `axis`, one for each index: out[a.., i.., b..] = data[a.., indices[i..], b..].
struct gather {
  std::int64_t axis;
  static result<gather> bind(bind_context& c) { return gather{c.int_or("axis", 0)}; }
  status run(run_context& c) const;
};

/// One element for each index: its own place in `indices`, with the index for `axis`.
struct gather_elements {
  std::int64_t axis;
  static result<gather_elements> bind(bind_context& c) { return gather_elements{c.int_or("axis", 0)}; }
  status run(run_context& c) const;
};

/// The last axis of `indices` holds places in the axes of `data` after the first `batch_dims`, which both share.
struct gather_nd {
  std::int64_t batch_dims;
  static result<gather_nd> bind(bind_context& c) { return gather_nd{c.int_or("batch_dims", 0)}; }
  status run(run_context& c) const;
};

/// The slices of `axis` (without it: the elements) for which the condition is true, up to the condition's end.
struct compress {
  std::int64_t axis;
  bool flat;
  static result<compress> bind(bind_context& c) { return compress{c.int_or("axis", 0), !c.find("axis")}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
