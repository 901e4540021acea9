#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's RotaryEmbedding: rotates pairs of elements of every head by angles that depend on the position. X is [batch,
/// heads, sequence, size] or [batch, sequence, heads * size]. The elements of a pair are neighbors if interleaved, else
/// `rotated` / 2 apart; elements after the first `rotated` are not changed. Computes in float.
struct rotary_embedding {
  using elements = text_model_elements;
  std::int64_t heads = 0, rotated = 0;  // rotated 0: all elements
  bool interleaved = false;

  static result<rotary_embedding> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's RotaryEmbedding and MRotaryEmbedding, which differ from ONNX's in how angles are found: rows of
/// cos_cache and sin_cache [positions, pairs] are selected by position_ids, which are [batch, sequence] or one number,
/// the position of the first row. MRotaryEmbedding selects the row of each pair by one of three positions [3, batch,
/// sequence]: `sections` pairs have each of the three, one section after the other or interleaved; rotated elements are
/// multiplied by `scale`. As in ONNX Runtime, RotaryEmbedding has no `scale`, and `is_packed_batching` has no effect.
struct microsoft_rotary_embedding : rotary_embedding {
  std::int64_t streams = 1, sections[3] = {};
  bool mixed = false;
  float scale = 1;

  static result<microsoft_rotary_embedding> bind(bind_context&);
  status run(run_context&) const;

 private:
  std::int64_t stream_of(std::int64_t pair) const;
};

}  // namespace CAMEO_NAMESPACE::eps
