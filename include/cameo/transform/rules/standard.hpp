#pragma once
#include <cameo/transform/transform.hpp>

namespace cameo::inline CAMEO_ABI {

// The rewrites that cameo brings, in families: each is a list of transforms of one level, compiled once in
// src/transform/rules/<name>.cpp, where its rules stand under their names.

/// Constant folding, dead code.
struct constant_folding {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// If with a constant condition is the branch that is taken.
struct constant_branches {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Nodes that give what they get: Identity, Dropout, arithmetic with 0 and 1, casts and casts of casts, transposes,
/// slices, pads and reshapes that change nothing; limits of limits, reshapes of reshapes.
struct elimination {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Batch normalization, factors and sums that are constant for each channel, put into the weights and biases of
/// convolutions and products; a product and a bias become Gemm; zeros around pictures become a convolution's pads.
struct weight_folding {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Shapes that are worked out from other shapes: constants where they are known, one of those that are the same, and
/// Reshape to a constant shape where a computed one says no more.
struct shape_folding {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// What is computed twice is computed once; equal small constants become one.
struct common_subexpressions {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Transposes that undo each other, or would if what stands between them worked on axes in another order.
struct transposes {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Each reader of a DequantizeLinear gets one of its own. Sessions apply it at every level, before all else, unless
/// session.disable_quant_qdq says no.
struct own_dequantizers {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// QuantizeLinear and DequantizeLinear that cancel each other, or move past what only moves elements. Integers stay
/// the same. Left out by session.disable_quant_qdq.
struct qdq {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Pairs that only round floats: results change a little. For session.enable_quant_qdq_cleanup.
struct qdq_cleanup {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// What a session applies before providers choose their nodes, unless it is told otherwise.
using standard_transforms = transform_set<elimination, shape_folding, constant_folding, constant_branches,
                                          common_subexpressions, weight_folding, transposes, qdq>;

}  // namespace cameo::inline CAMEO_ABI
