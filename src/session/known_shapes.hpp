#pragma once
#include <cameo/session/session.hpp>

namespace CAMEO_NAMESPACE {

/// Shapes of a session's outputs that follow from those of its inputs.
class known_shapes {
 public:
  explicit known_shapes(const session&);
  /// Whether all dims of output i are sizes, or dims of inputs.
  bool knows(std::size_t i) const { return outputs_[i].has_value(); }
  /// The shape of output i in a run with these inputs, which have the ranks that the model says. False, and nothing
  /// written, if it is not known.
  bool find(std::size_t i, std::span<const value> inputs, extents& to) const;

 private:
  /// A size, or that of an input's axis.
  struct known_dim {
    std::int64_t size = -1;
    std::size_t input = 0, axis = 0;
  };
  std::vector<std::optional<std::vector<known_dim>>> outputs_;
};

}  // namespace CAMEO_NAMESPACE
