#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::eps {

/// ai.onnx.preview's FlexAttention: prob_mod(softmax(score_mod(scale * Q * K^T))) * V, with Q [batch, heads, length,
/// size], K and V [batch, key heads, keys, size]. The subgraphs score_mod and prob_mod get and return all scores in the
/// type softmax_precision; its default is double for double and float for all others. All scores are in memory, in that
/// type and in the type of the arithmetic, which is double for double and float for all others.
struct flex_attention {
  using elements = float_elements;
  int score_mod = -1, prob_mod = -1;
  dtype precision = dtype::f32;
  std::optional<float> scale = {};  // none: 1 / sqrt(size)

  static result<flex_attention> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
  template <class C>
  status change(run_context&, int graph, const extents& shape, std::span<C> scores) const;
};

}  // namespace CAMEO_NAMESPACE::eps
