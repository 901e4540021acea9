#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Concat: the inputs one after another along `axis`; all other axes have equal sizes.
struct concat {
  std::int64_t axis;
  static result<concat> bind(bind_context& c) {
    return concat{attributes_of<op::Concat>{c.attributes}.axis.value_or(1)};  // version 1 has this default
  }
  status run(run_context& c) const;
};

/// Split: slices of the input along `axis`, of the given sizes or of equal size (since version 18 the last may be
/// smaller).
struct split {
  std::int64_t axis, num_outputs;      // num_outputs: 0 if it is absent
  attribute_list<std::int64_t> sizes;  // before version 13
  bool uneven;
  static result<split> bind(bind_context& c);
  status run(run_context& c) const;
};

/// ConcatFromSequence: the tensors of a sequence joined along `axis`, which is a new axis if `new_axis` is set.
struct concat_from_sequence {
  std::int64_t axis;
  bool new_axis;
  static result<concat_from_sequence> bind(bind_context& c) {
    const attributes_of<op::ConcatFromSequence> a{c.attributes};
    return concat_from_sequence{a.axis, a.new_axis != 0};
  }
  status run(run_context& c) const;
};

/// SplitToSequence: a sequence of slices along `axis`, of equal size (the last may be smaller), of the given sizes, or
/// of size 1; in the last case the axis is removed unless `keepdims` is set.
struct split_to_sequence {
  std::int64_t axis;
  bool keeps_axis;
  static result<split_to_sequence> bind(bind_context& c) {
    const attributes_of<op::SplitToSequence> a{c.attributes};
    return split_to_sequence{a.axis, a.keepdims != 0};
  }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
