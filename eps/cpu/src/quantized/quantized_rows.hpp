#pragma once
#include <cameo/eps/cpu/dynamic_matmul.hpp>
#include <cameo/eps/cpu/gather_block_quantized.hpp>
#include <cameo/eps/cpu/integer_conv.hpp>
#include <cameo/eps/cpu/integer_matmul.hpp>
#include <cameo/eps/cpu/matmul_fp4.hpp>
#include <cameo/eps/cpu/matmul_nbits.hpp>
#include <cameo/eps/cpu/mixture_of_experts.hpp>
#include <cameo/eps/cpu/nhwc_max_pool.hpp>
#include <cameo/eps/cpu/qgemm.hpp>
#include <cameo/eps/cpu/qlinear.hpp>
#include <cameo/eps/cpu/quantize_linear.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators of quantized tensors, and those that quantize and dequantize.
// clang-format off
using quantized_rows = row_list<
    erased_entry<op::QuantizeLinear, since<10>, any_types, quantize_linear>,
    erased_entry<op::DequantizeLinear, since<10>, any_types, dequantize_linear>,
    erased_entry<op::DynamicQuantizeLinear, since<11>, any_types, dynamic_quantize_linear>,
    computes<op::microsoft::QuantizeLinear, since<1>, quantize_linear, "T1", "T2">,
    computes<op::microsoft::DequantizeLinear, since<1>, dequantize_linear, "T1", "T2">,
    erased_entry<op::MatMulInteger, since<10>, any_types, matmul_integer>,
    computes<op::microsoft::MatMulInteger16, since<1>, matmul_integer16, "T1", "T2">,
    computes<op::microsoft::MatMulIntegerToFloat, since<1>, matmul_integer_to_float, "T3">,
    computes<op::microsoft::DynamicQuantizeMatMul, since<1>, dynamic_quantize_matmul, "T2">,
    kernel_entry<op::microsoft::NhwcMaxPool, since<1>, constrain<"T", std::int8_t, std::uint8_t>, nhwc_max_pool>,
    computes<op::microsoft::MatMulNBits, since<1>, matmul_nbits, "T1">,
    computes<op::microsoft::MoE, since<1>, moe>,
    computes<op::microsoft::QMoE, since<1>, qmoe, "T", "T2">,
    computes<op::microsoft::MatMulBnb4, since<1>, matmul_bnb4, "T1">,
    computes<op::microsoft::MatMulFpQ4, since<1>, matmul_fpq4, "T1">,
    computes<op::microsoft::GatherBlockQuantized, since<1>, gather_block_quantized, "T2">,
    erased_entry<op::ConvInteger, since<10>, any_types, conv_integer>,
    erased_entry<op::QLinearMatMul, since<10, 10>, any_types, qlinear_matmul>,
    computes<op::QLinearMatMul, since<21>, qlinear_matmul_of_codes, "T1", "T2", "T3">,
    erased_entry<op::QLinearConv, since<10>, any_types, qlinear_conv>,
    erased_entry<op::microsoft::QLinearConv, since<1>, any_types, qlinear_conv>,
    erased_entry<op::microsoft::QGemm, since<1>, any_types, qgemm>,
    computes<op::microsoft::QLinearAdd, since<1>, qlinear_binary<op::microsoft::QLinearAdd>>,
    computes<op::microsoft::QLinearMul, since<1>, qlinear_binary<op::microsoft::QLinearMul>>,
    computes<op::microsoft::QLinearLeakyRelu, since<1>, qlinear_map<op::microsoft::QLinearLeakyRelu>>,
    computes<op::microsoft::QLinearSigmoid, since<1>, qlinear_map<op::microsoft::QLinearSigmoid>>,
    computes<op::microsoft::QLinearSoftmax, since<1>, qlinear_softmax>,
    computes<op::microsoft::QLinearGlobalAveragePool, since<1>, qlinear_global_average_pool>,
    computes<op::microsoft::QLinearAveragePool, since<1>, qlinear_average_pool>,
    computes<op::microsoft::QLinearConcat, since<1>, qlinear_concat, "T8">,
    computes<op::microsoft::QLinearWhere, since<1>, qlinear_where, "T">
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
