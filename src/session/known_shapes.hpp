#pragma once
#include <cameo/session/session.hpp>

namespace CAMEO_NAMESPACE {

/// Computes the shapes of a session's outputs that follow from the shapes of its inputs.
class known_shapes {
 public:
  explicit known_shapes(const session&);
  /// True if each dim of output i is a fixed size or a dim of an input.
  bool is_known(std::size_t i) const { return outputs_[i].has_value(); }
  /// Stores in `to` the shape of output i in a run with these inputs, which must have the declared ranks. Returns
  /// false, and does not change `to`, if the shape is not known.
  bool find(std::size_t i, std::span<const value> inputs, extents& to) const;

 private:
  /// A fixed size, or (size < 0) the size of an input's axis.
  struct known_dim {
    std::int64_t size = -1;
    std::size_t input = 0, axis = 0;
  };
  std::vector<std::optional<std::vector<known_dim>>> outputs_;
};

}  // namespace CAMEO_NAMESPACE
