#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Negative indices count from the end of an axis; an index that is out of range is INVALID_ARGUMENT.

/// Gather: slices of `axis`, one for each index: out[a.., i.., b..] = data[a.., indices[i..], b..].
struct gather {
  std::int64_t axis;
  static result<gather> bind(bind_context& c) { return gather{c.int_or("axis", 0)}; }
  status run(run_context& c) const;
};

/// GatherElements: one element for each index, at the position of the index, with the index itself along `axis`.
struct gather_elements {
  std::int64_t axis;
  static result<gather_elements> bind(bind_context& c) { return gather_elements{c.int_or("axis", 0)}; }
  status run(run_context& c) const;
};

/// GatherND: the last axis of `indices` holds positions in the axes of `data` after the first `batch_dims` axes, which
/// `data` and `indices` share.
struct gather_nd {
  std::int64_t batch_dims;
  static result<gather_nd> bind(bind_context& c) { return gather_nd{c.int_or("batch_dims", 0)}; }
  status run(run_context& c) const;
};

/// Compress: the slices of `axis` (without `axis`: the elements) for which the condition is true; slices beyond the end
/// of the condition are left out.
struct compress {
  std::int64_t axis;
  bool flat;
  static result<compress> bind(bind_context& c) { return compress{c.int_or("axis", 0), !c.find("axis")}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
