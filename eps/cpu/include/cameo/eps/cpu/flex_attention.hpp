#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ai.onnx.preview's FlexAttention: softmax(score_mod(scale * Q * K^T)) through prob_mod, times V, of Q [batch, heads,
/// length, size], K and V [batch, heads of keys, keys, size]. The two graphs get and give all scores in the type that
/// softmax_precision says, float or double unless it does. All scores are in memory, in that type and as computed:
/// doubles in double, all others in float.
struct flex_attention {
  using elements = float_elements;
  int score_mod = -1, prob_mod = -1;
  dtype precision = dtype::f32;
  float scale = 0;
  bool scaled = false;  // else by 1 / sqrt(size)

  static result<flex_attention> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
  template <class C>
  status change(run_context&, int graph, const extents& shape, std::span<C> scores) const;
};

}  // namespace CAMEO_NAMESPACE::eps
