#pragma once
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE {

/// What is known of an input or output of a node before a run.
struct operand {
  type_kind kind = type_kind::unknown;  // for an optional, the kind of its content
  dtype type = dtype::undefined;        // of elements; for a sequence of tensors, of the tensors' elements
  bool present = false;                 // false: the node does not have this input or output
  bool optional = false;                // an optional that may be empty
  bool has_rank = false;                // true: `shape` has the rank, with -1 for dims known only in a run
  extents shape = {};
  const value* constant = nullptr;  // null unless the value is the same in every run

  /// True when every dim is known.
  bool fixed_shape() const {
    if (!has_rank) return false;
    for (std::int64_t d : shape)
      if (d < 0) return false;
    return true;
  }
};

namespace detail {
/// A node as it is matched against kernels, in a graph or a draft.
struct node_signature {
  op_id op;
  int since = 0;  // the version that applies
  std::span<const operand> inputs, outputs;
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
