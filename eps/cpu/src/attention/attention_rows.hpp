#pragma once
#include <cameo/eps/cpu/attention.hpp>
#include <cameo/eps/cpu/decoder_masked_attention.hpp>
#include <cameo/eps/cpu/flex_attention.hpp>
#include <cameo/eps/cpu/group_query_attention.hpp>
#include <cameo/eps/cpu/multi_head_attention.hpp>
#include <cameo/eps/cpu/quantized_attention.hpp>
#include <cameo/eps/cpu/rotary_embedding.hpp>
#include <cameo/eps/cpu/sparse_attention.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/op/preview.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The caches of GroupQueryAttention may have types other than its other operands.
struct group_query_row
    : erased_entry<
          op::microsoft::GroupQueryAttention, since<1>,
          constrained_by<op::microsoft::GroupQueryAttention, since<1>, group_query_attention::elements, "T">() &&
              constrained_by<op::microsoft::GroupQueryAttention, since<1>, group_query_attention::cache_elements,
                             "T_CACHE">(),
          group_query_attention> {};

/// Attention operators, and the rotation of queries and keys.
// clang-format off
using attention_rows = row_list<
    computes<op::Attention, since<23>, attention, "T1", "T2">,
    computes<op::preview::FlexAttention, since<1>, flex_attention>,
    computes<op::RotaryEmbedding, since<23>, rotary_embedding>,
    computes<op::microsoft::RotaryEmbedding, since<1>, microsoft_rotary_embedding>,
    computes<op::microsoft::MRotaryEmbedding, since<1>, microsoft_rotary_embedding>,
    computes<op::microsoft::Attention, since<1>, projected_attention>,
    computes<op::microsoft::QAttention, since<1>, quantized_attention, "T3">,
    computes<op::microsoft::DecoderMaskedMultiHeadAttention, since<1>, decoder_masked_attention, "T">,
    computes<op::microsoft::MultiHeadAttention, since<1>, multi_head_attention>,
    group_query_row,
    computes<op::microsoft::SparseAttention, since<1>, sparse_attention>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
