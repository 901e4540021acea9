#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::eps {

// Negative indices count from the end of an axis; an index that is out of range is INVALID_ARGUMENT.

/// Gather: slices of `axis`, one for each index: out[a.., i.., b..] = data[a.., indices[i..], b..].
struct gather {
  std::int64_t axis;
  static result<gather> bind(bind_context& c) { return gather{attributes_of<op::Gather>{c.attributes}.axis}; }
  status run(run_context& c) const;
};

/// GatherElements: one element for each index, at the position of the index, with the index itself along `axis`.
struct gather_elements {
  std::int64_t axis;
  static result<gather_elements> bind(bind_context& c) {
    return gather_elements{attributes_of<op::GatherElements>{c.attributes}.axis};
  }
  status run(run_context& c) const;
};

/// GatherND: the last axis of `indices` holds positions in the axes of `data` after the first `batch_dims` axes, which
/// `data` and `indices` share.
struct gather_nd {
  std::int64_t batch_dims;
  static result<gather_nd> bind(bind_context& c) {
    return gather_nd{attributes_of<op::GatherND>{c.attributes}.batch_dims};
  }
  status run(run_context& c) const;
};

/// Compress: the slices of `axis` (without `axis`: the elements) for which the condition is true; slices beyond the end
/// of the condition are left out.
struct compress {
  std::optional<std::int64_t> axis;
  static result<compress> bind(bind_context& c) { return compress{attributes_of<op::Compress>{c.attributes}.axis}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
