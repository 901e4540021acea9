#pragma once
#include <cameo/transform/family.hpp>

namespace CAMEO_NAMESPACE {

// Fusions into operators of ONNX Runtime (com.microsoft, and those that it adds to ONNX's domain). They belong to level
// extended: a provider lists them with `using transforms`, and a fusion happens if the provider has a kernel for the
// new operator. Compiled once in src/transform/rules/<name>.cpp.

namespace rules {
/// Gelu in all variants, FastGelu, QuickGelu, and a bias before them.
struct gelu_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// LayerNormalization and SimplifiedLayerNormalization from their parts, with the sum before them.
struct normalization_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// Transposed operands and constant factors become parts of matrix products.
struct matmul_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// Attention, as exporters of BERT, GPT-2, ViT, Llama and Whisper write it, with masks and the past, becomes
/// MultiHeadAttention. Padding masks are assumed to be 0 or 1.
struct attention_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// Integer products that are scaled to float become MatMulIntegerToFloat, or DynamicQuantizeMatMul together with the
/// quantization of their left operand. A bias is fused, too.
struct dynamic_quantization_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// Products with constants of 2, 4 or 8 bits that DequantizeLinear converts (by blocks of rows, by columns or as a
/// whole) become MatMulNBits, so that quantized values stay in memory. The other factor is quantized to bytes, too
/// (accuracy level 4), if session.qdq_matmulnbits_accuracy_level says so. Not applied with session.disable_quant_qdq.
struct few_bit_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};
/// Like few_bit_fusion, for products whose other factor stays float.
struct few_bit_float_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// Activations, and additions before them, become parts of convolutions and products.
struct activation_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// A node between DequantizeLinear and QuantizeLinear becomes a node on integers (QLinearConv, QGemm and similar), or
/// runs on the integers itself. These are groups (transform/groups.hpp): a session applies them before other rewrites
/// of this level, or saves the selection for other programs. Not applied with session.disable_quant_qdq.
struct qdq_fusion : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

/// Applies shape_folding again: fused operators have shapes that their parts left unknown.
struct late_shape_folding : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};

}  // namespace rules

namespace detail {
/// With session.round_float16: refuses each new float16 node that may round less often than the nodes that it replaces
/// (transform_table::takes). It rewrites nothing.
struct rounded_fusions : detail::family_at<optimization_level::extended> {
  CAMEO_API static const transform_table& table();
};
}  // namespace detail

namespace rules {
/// The fusions for a provider with kernels for all of them, followed by its own families.
template <transform_family... Own>
using standard_fusions_and =
    transform_set<qdq_fusion, few_bit_fusion, few_bit_float_fusion, gelu_fusion, normalization_fusion, attention_fusion,
                  matmul_fusion, dynamic_quantization_fusion, activation_fusion, late_shape_folding,
                  detail::rounded_fusions, Own...>;
}  // namespace rules

}  // namespace CAMEO_NAMESPACE
