#pragma once
#include <cameo/transform/family.hpp>

CAMEO_BEGIN_NAMESPACE

// Fusions into the operators that ONNX Runtime has for them (com.microsoft, and its own in ONNX's domain). They belong
// to level extended: a provider lists them with `using transforms`, and a fusion happens where the provider has a
// kernel for the new operator. Compiled once in src/transform/rules/<name>.cpp.

namespace rules {
/// Gelu in all its forms, FastGelu, QuickGelu, and a bias before them.
struct gelu_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// LayerNormalization and SimplifiedLayerNormalization from their parts, with the sum before them.
struct normalization_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// Transposed operands and constant factors, into matrix products.
struct matmul_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// Attention in the forms that exporters of BERT, GPT-2, ViT, Llama and Whisper write, with masks and the past, to
/// MultiHeadAttention. Padding masks are taken to be 0 or 1.
struct attention_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// Products of integers that are scaled to floats afterwards, with the quantisation of the left operand before them and
/// what is added: MatMulIntegerToFloat and DynamicQuantizeMatMul.
struct dynamic_quantization_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// Products with constants of 2, 4 or 8 bits that DequantizeLinear makes floats, of blocks of rows, of columns or as a
/// whole, become MatMulNBits: the codes stay what memory holds. Its rows become bytes as well (accuracy level 4) as
/// session.qdq_matmulnbits_accuracy_level says. Not applied with session.disable_quant_qdq.
struct few_bit_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};
/// The same where rows stay floats.
struct few_bit_float_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// Activations, and what is added before them, into convolutions and products.
struct activation_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// A node between DequantizeLinear and QuantizeLinear becomes one on integers (QLinearConv, QGemm and their like), or
/// works on the integers itself. Groups (transform/groups.hpp): a session applies them before other rewrites of this
/// level, or saves the selection for other programs. Not applied with session.disable_quant_qdq.
struct qdq_fusion {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

/// Applies shape_folding once more: fused operators know shapes that their parts left unknown.
struct late_shape_folding {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};

}  // namespace rules

namespace detail {
/// With session.round_float16: refuses each new float16 node that may round less often than the nodes that it replaces
/// (transform_table::takes). Rewrites nothing itself.
struct rounded_fusions {
  static constexpr optimization_level level = optimization_level::extended;
  CAMEO_API static const transform_table& table();
};
}  // namespace detail

namespace rules {
/// The fusions for a provider with kernels for all of them, and families of its own.
template <transform_family... Own>
using standard_fusions_and =
    transform_set<qdq_fusion, few_bit_fusion, few_bit_float_fusion, gelu_fusion, normalization_fusion, attention_fusion,
                  matmul_fusion, dynamic_quantization_fusion, activation_fusion, late_shape_folding,
                  detail::rounded_fusions, Own...>;
/// The same without families of its own.
using standard_fusions = standard_fusions_and<>;
}  // namespace rules

CAMEO_END_NAMESPACE
