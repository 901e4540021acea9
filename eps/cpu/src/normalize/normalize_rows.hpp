#pragma once
#include <cameo/eps/cpu/axis_normalization.hpp>
#include <cameo/eps/cpu/batch_normalization.hpp>
#include <cameo/eps/cpu/gated_norms.hpp>
#include <cameo/eps/cpu/group_normalization.hpp>
#include <cameo/eps/cpu/layer_normalization.hpp>
#include <cameo/eps/cpu/lrn.hpp>
#include <cameo/eps/cpu/mean_variance_normalization.hpp>
#include <cameo/eps/cpu/skip_layer_normalization.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// A row for an operator in which each result depends on all elements along one axis (Softmax): its versions, and the
/// element types for which its function, normalize(Op{}, block) in functions/normals.hpp, is compiled.
template <class Op, class Since, class Set>
using normalization = skeleton_row<Op, Since, Set, axis_normalization>;

// clang-format off
using normalizations = row_list<
    normalization<op::Softmax, since<1>, float_elements>,
    normalization<op::LogSoftmax, since<1>, float_elements>,
    normalization<op::Hardmax, since<1>, float_elements>,
    normalization<op::LpNormalization, since<1>, float_elements>
>;
using other_normalizations = row_list<
    computes<op::BatchNormalization, since<1, 9>, batch_normalization>,
    computes<op::BatchNormalization, since<14, 14>, batch_normalization, "T", "U">,
    computes<op::BatchNormalization, since<15>, batch_normalization, "T", "T1", "T2">,
    computes<op::InstanceNormalization, since<1>, group_normalization<op::InstanceNormalization>>,
    computes<op::GroupNormalization, since<18>, group_normalization<op::GroupNormalization>>,
    computes<op::contrib::LayerNormalization, since<1, 16>, layer_normalization<op::LayerNormalization>, "T", "V">,
    computes<op::LayerNormalization, since<17>, layer_normalization<op::LayerNormalization>, "T", "U">,
    computes<op::RMSNormalization, since<23>, layer_normalization<op::RMSNormalization>, "T", "V">,
    computes<op::contrib::SimplifiedLayerNormalization, since<1>,
             layer_normalization<op::contrib::SimplifiedLayerNormalization>, "T", "V">,
    computes<op::LRN, since<1>, lrn>,
    computes<op::contrib::MeanVarianceNormalization, since<1>, mean_variance_normalization>,
    computes<op::microsoft::SkipLayerNormalization, since<1>,
             skip_layer_normalization<op::microsoft::SkipLayerNormalization>>,
    computes<op::microsoft::SkipSimplifiedLayerNormalization, since<1>,
             skip_layer_normalization<op::microsoft::SkipSimplifiedLayerNormalization>>,
    computes<op::microsoft::EmbedLayerNormalization, since<1>, embed_layer_normalization, "T">,
    computes<op::microsoft::QEmbedLayerNormalization, since<1>, quantized_embed_layer_normalization, "T">,
    computes<op::microsoft::GatedRMSNorm, since<1>, gated_rms_norm>,
    computes<op::microsoft::BranchwiseRMSNorm, since<1>, branchwise_rms_norm>,
    computes<op::microsoft::GatedAdd, since<1>, gated_add>,
    computes<op::microsoft::ScaledSiLU, since<1>, scaled_silu>,
    computes<op::microsoft::LinearAttentionGate, since<1>, linear_attention_gate>,
    computes<op::microsoft::HyperConnectionPreMix, since<1>, hyper_connection_pre_mix>,
    computes<op::microsoft::HyperConnectionPostMix, since<1>, hyper_connection_post_mix>,
    computes<op::microsoft::EngramGate, since<1>, engram_gate>
>;
// clang-format on
using normalize_rows = decltype(normalizations{} + other_normalizations{});

}  // namespace CAMEO_NAMESPACE::eps
