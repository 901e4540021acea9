#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

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

/// com.microsoft's RotaryEmbedding and MRotaryEmbedding, the same but for how angles are found: rows of cos_cache and
/// sin_cache [positions, pairs] by position_ids, [batch, sequence] or one number that counts on. MRotaryEmbedding takes
/// each pair's row by one of three positions [3, batch, sequence]: `sections` pairs of each, one after the other or
/// mixed, and multiplies what it turned by `scale`. As in ONNX Runtime, RotaryEmbedding has no `scale`, and
/// `is_packed_batching` has no effect.
struct microsoft_rotary_embedding : rotary_embedding {
  std::int64_t streams = 1, sections[3] = {};
  bool mixed = false;
  float scale = 1;

  status run(run_context&) const;

 protected:
  template <class Op>
  static result<microsoft_rotary_embedding> read(bind_context&);

 private:
  std::int64_t stream_of(std::int64_t pair) const;
};
template <class Op>
struct rotary_embedding_of : microsoft_rotary_embedding {
  static result<rotary_embedding_of> bind(bind_context& c) {
    const result<microsoft_rotary_embedding> made = read<Op>(c);
    if (!made) return made.error();
    return rotary_embedding_of{*made};
  }
};

}  // namespace CAMEO_NAMESPACE::eps
