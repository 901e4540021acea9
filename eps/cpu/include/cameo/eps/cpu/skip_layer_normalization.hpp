#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/microsoft.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that SkipLayerNormalization and SkipSimplifiedLayerNormalization share.
struct skip_layer_normalization_state {
  using elements = text_model_elements;
  double epsilon = 0;
  bool centers = true;  // subtracts the mean; SkipSimplifiedLayerNormalization does not

  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

/// Skip normalizations over the last axis: t = input + skip [+ bias], y = normalized t * gamma [+ beta]. t is
/// normalized as in LayerNormalization, or as in RMSNormalization for SkipSimplifiedLayerNormalization (which has no
/// beta). input is [batch, sequence, size] or [sequence, size]; skip has this shape or is repeated for every batch.
/// Optional outputs are the mean and 1 / sqrt(variance + epsilon) of each row, and t. y may be the buffer of input or
/// skip.
template <class Op>
struct skip_layer_normalization : skip_layer_normalization_state {
  static constexpr bool instantiated =
      is_one_of<Op, op::microsoft::SkipLayerNormalization, op::microsoft::SkipSimplifiedLayerNormalization>;
  static result<skip_layer_normalization> bind(bind_context&);
};

/// com.microsoft's EmbedLayerNormalization: the sum of the table rows that input_ids [batch, sequence], positions and
/// segment_ids select, normalized over the last axis, times gamma, plus beta. Positions are 0, 1, 2, ... unless
/// position_ids [1 or batch, sequence] are given. The output mask_index is the number of ones in each row of `mask`, or
/// 0; embedding_sum is the sum before it is normalized.
struct embed_layer_normalization {
  using elements = text_model_elements;
  double epsilon = 0;

  static result<embed_layer_normalization> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's QEmbedLayerNormalization: EmbedLayerNormalization with quantized tables, gamma and beta, each with a
/// scale and a zero point, without position_ids and embedding_sum.
struct quantized_embed_layer_normalization {
  using elements = detail::element_set<float>;
  double epsilon = 0;

  static result<quantized_embed_layer_normalization> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
