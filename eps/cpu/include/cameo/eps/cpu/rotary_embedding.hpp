#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// Rotates pairs of elements of every head by angles of their position: ONNX's RotaryEmbedding. X [batch, heads,
/// sequence, size] or [batch, sequence, heads * size]; pairs are neighbours when interleaved, else half a rotation
/// apart; elements after the first `rotated` are not changed. Computes in float.
struct rotary_embedding {
  using elements = text_model_elements;
  std::int64_t heads = 0, rotated = 0;  // rotated 0: all
  bool interleaved = false;

  static result<rotary_embedding> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
