#pragma once
#include <cameo/transform/rewriter.hpp>

#include <map>

namespace CAMEO_NAMESPACE {

/// Replaces float16 nodes of one graph by float32 nodes with Casts around them. There is no Cast between two such
/// nodes, so values between them are not rounded.
class float32_nodes {
 public:
  /// Float16 constants of up to `most_copied` elements become float32 constants; others are read through a Cast.
  explicit float32_nodes(rewriter& r, std::int64_t most_copied = 0) : rewriter_{r}, most_copied_{most_copied} {}

  static bool is_float16(const value_view& v) { return v && v.element() == dtype::f16; }

  /// True for a float16 value that also exists as float32.
  bool has(const value_view& v) const { return v && wide_.count(v.id()) != 0; }

  /// Replaces a node with all its float16 inputs and outputs. Call it in order of execution. Other readers, graph
  /// outputs and subgraphs get the outputs through a Cast, which rounds. False, without a change, if the operator does
  /// not take float32 or no kernel runs it.
  bool replace(const node_view&);

 private:
  value_id widened(edit&, const node_view& reader, const value_view&);

  rewriter& rewriter_;
  std::int64_t most_copied_;
  std::map<value_id, value_id> wide_ = {};  // float16 values and the equal float32 values
};

}  // namespace CAMEO_NAMESPACE
