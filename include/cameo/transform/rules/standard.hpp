#pragma once
#include <cameo/transform/rules/definitions.hpp>

namespace CAMEO_NAMESPACE {

// The rewrites of cameo, in families: each is a list of transforms of one level, compiled once in
// src/transform/rules/<name>.cpp, which contains its rules.

namespace rules {
/// Folds constants and removes dead code.
struct constant_folding : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Replaces an If with a constant condition by the branch that is taken.
struct constant_branches : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Removes nodes that do not change their input: Identity, Dropout, arithmetic with 0 and 1, casts and casts of casts,
/// transposes, slices, pads and reshapes without effect; Clip of Clip, Reshape of Reshape. Gathers rows of a large
/// table before a Cast makes them wider.
struct elimination : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Folds batch normalization, factors and sums that are constant for each channel into the weights and biases of
/// convolutions and products; makes Gemm from a product and a bias, and pads of a convolution from zeros around its
/// image.
struct weight_folding : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Simplifies shapes that are computed from other shapes: known ones become constants, equal ones become one, and
/// Reshape gets a constant shape where the computed one adds no information.
struct shape_folding : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Computes equal expressions only once; merges equal small constants.
struct common_subexpressions : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Removes transposes that cancel, or would if the nodes between them worked on axes in another order.
struct transposes : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Gives each reader of a DequantizeLinear a separate one: at every level, before all other rewrites, unless
/// session.disable_quant_qdq is set.
struct own_dequantizers : detail::family_at<optimization_level::none> {
  CAMEO_API static const transform_table& table();
};
}  // namespace rules

namespace detail {
/// Gives convolutions on blocked channels (com.microsoft.nchwc) plain weights if ONNX Runtime packed them: at every
/// level. See blocked-weights in docs/oddities.md.
struct unpacked_weights : detail::family_at<optimization_level::none> {
  CAMEO_API static const transform_table& table();
};

/// Replaces an If with a constant condition by the branch that is taken, if the other one breaks a rule and has no
/// types: at every level, since no kernel could be bound to the other one. See broken-unused-branch in
/// docs/oddities.md.
struct broken_branches : detail::family_at<optimization_level::none> {
  CAMEO_API static const transform_table& table();
};

/// Replaces ai.onnx.preview.training's Gradient by operators that compute it, backwards from y: at every level, since
/// there is no kernel for it. NOT_IMPLEMENTED, with the name of the operator, where an operator has no derivative.
struct derivatives : detail::family_at<optimization_level::none> {
  CAMEO_API static const transform_table& table();
};

/// With session.round_float16: refuses each new float16 node that rounds once where a product and a sum round twice
/// (transform_table::takes). Rewrites nothing itself.
struct rounded_products : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};
}  // namespace detail

namespace rules {
/// Removes a DequantizeLinear and the same QuantizeLinear after it. Not applied with session.disable_double_qdq_remover
/// or session.disable_quant_qdq.
struct double_qdq : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Removes pairs of QuantizeLinear and DequantizeLinear that cancel, or moves them past nodes that only move elements.
/// Integers stay the same. Not applied with session.disable_quant_qdq.
struct qdq : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Removes pairs of QuantizeLinear and DequantizeLinear that only round floats, so that results change a little.
/// Applied with session.enable_quant_qdq_cleanup.
struct qdq_cleanup : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// The transforms that a session applies by default. Each provider may add transforms for its own nodes.
using standard_transforms =
    transform_set<detail::broken_branches, detail::derivatives, own_dequantizers, detail::unpacked_weights, elimination,
                  shape_folding, constant_folding, constant_branches, common_subexpressions, weight_folding, transposes,
                  double_qdq, qdq, qdq_cleanup, definitions, float16_casts, detail::rounded_products>;
}  // namespace rules

}  // namespace CAMEO_NAMESPACE
