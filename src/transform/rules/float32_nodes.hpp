#pragma once
#include <cameo/transform/rewriter.hpp>

#include <cstddef>
#include <map>

CAMEO_BEGIN_NAMESPACE

/// Replaces nodes of float16 in one graph by nodes of float32 with Casts around them. A value that such a node produces
/// reaches the next one as float32: between two of them there is no Cast, so their values are not rounded.
class float32_nodes {
 public:
  /// Float16 constants of up to `most_copied` elements become float32 constants; others are read through a Cast.
  explicit float32_nodes(rewriter& r, std::int64_t most_copied = 0) : to_{r}, most_copied_{most_copied} {}

  static bool is_float16(const value_view& v) { return v && v.element() == dtype::f16; }

  /// True for a float16 value that is there as float32, too.
  bool has(const value_view& v) const { return v && wide_.count(v.id()) != 0; }

  /// Replaces a node, with all of its float16 inputs and outputs; to be called in order of execution. Readers of other
  /// kinds, graph outputs and subgraphs get the outputs through a Cast, which rounds. False, with nothing changed, if
  /// the operator does not take float32 or no kernel runs it.
  bool replace(const node_view&);

 private:
  value_id widened(edit&, const node_view& reader, const value_view&);

  rewriter& to_;
  std::int64_t most_copied_;
  std::map<value_id, value_id> wide_ = {};  // float16 values, and the same values as float32
};

CAMEO_END_NAMESPACE
