#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Inputs one after another along `axis`; the other axes are of equal size.
struct concat {
  std::int64_t axis;
  static result<concat> bind(bind_context& c) { return concat{c.int_or("axis", 1)}; }  // version 1 has this default
  status run(run_context& c) const;
};

/// Pieces of the input along `axis`: of the sizes given, or equal ones (from version 18 on, the last may be smaller).
struct split {
  std::int64_t axis, wanted;  // wanted: num_outputs, or 0
  std::span<const std::int64_t> sizes;
  bool has_sizes, uneven;
  static result<split> bind(bind_context& c);
  status run(run_context& c) const;
};

/// The tensors of a sequence joined along `axis`, which is a new axis if `new_axis` is set.
struct concat_from_sequence {
  std::int64_t axis;
  bool new_axis;
  static result<concat_from_sequence> bind(bind_context& c) {
    return concat_from_sequence{c.int_or("axis", 0), c.int_or("new_axis", 0) != 0};
  }
  status run(run_context& c) const;
};

/// A sequence of pieces: of equal size (the last may be smaller), of the sizes given, or of size 1 (the axis is then
/// removed unless `keepdims`).
struct split_to_sequence {
  std::int64_t axis;
  bool keeps_axis;
  static result<split_to_sequence> bind(bind_context& c) {
    return split_to_sequence{c.int_or("axis", 0), c.int_or("keepdims", 1) != 0};
  }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
