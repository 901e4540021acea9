#pragma once
#include <cameo/eps/cpu/col2im.hpp>
#include <cameo/eps/cpu/conv.hpp>
#include <cameo/eps/cpu/conv_transpose.hpp>
#include <cameo/eps/cpu/deform_conv.hpp>
#include <cameo/eps/cpu/max_unpool.hpp>
#include <cameo/eps/cpu/nchwc_conv.hpp>
#include <cameo/eps/cpu/nchwc_pool.hpp>
#include <cameo/eps/cpu/nchwc_reorder.hpp>
#include <cameo/eps/cpu/pool.hpp>
#include <cameo/eps/cpu/pool_with_mask.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The row of a kernel on images in the blocked layout (NCHWc: [N, C / 16, H, W, 16]), which are float.
template <class Op, class Kernel>
struct blocked : erased_entry<Op, since<1>, constrain<"T", float>, Kernel> {};

/// Convolutions and pooling, in the plain and in the blocked layout.
// clang-format off
using convolution_rows = row_list<
    kernel_entry<op::Conv, since<1>, allow<"T">(float_elements{}), conv>,
    kernel_entry<op::ConvTranspose, since<1>, allow<"T">(float_elements{}), conv_transpose>,
    kernel_entry<op::MaxPool, since<1>, constrain<"T", float, double, float16, bfloat16, std::int8_t, std::uint8_t>,
                 max_pool>,
    kernel_entry<op::AveragePool, since<1>, allow<"T">(float_elements{}), average_pool>,
    kernel_entry<op::LpPool, since<1>, allow<"T">(float_elements{}), lp_pool>,
    kernel_entry<op::GlobalAveragePool, since<1>, allow<"T">(float_elements{}), global_average_pool>,
    kernel_entry<op::GlobalMaxPool, since<1>, allow<"T">(float_elements{}), global_max_pool>,
    kernel_entry<op::GlobalLpPool, since<1>, allow<"T">(float_elements{}), global_lp_pool>,
    kernel_entry<op::microsoft::FusedConv, since<1>, allow<"T">(first_float_elements{}), fused_conv>,
    computes<op::DeformConv, since<19>, deform_conv>,
    computes<op::microsoft::ConvTransposeWithDynamicPads, since<1>, conv_transpose_with_dynamic_pads>,
    computes<op::microsoft::MaxpoolWithMask, since<1>, max_pool_with_mask>,
    moves<op::MaxUnpool, since<9>, max_unpool>,
    computes<op::Col2Im, since<18>, col2im>,
    blocked<op::nchwc::ReorderInput, nchwc_reorder_input>,
    blocked<op::nchwc::ReorderOutput, nchwc_reorder_output>,
    blocked<op::nchwc::Conv, nchwc_conv>,
    blocked<op::nchwc::MaxPool, nchwc_max_pool>,
    blocked<op::nchwc::AveragePool, nchwc_average_pool>,
    blocked<op::nchwc::GlobalMaxPool, nchwc_global_max_pool>,
    blocked<op::nchwc::GlobalAveragePool, nchwc_global_average_pool>,
    blocked<op::nchwc::Upsample, nchwc_upsample>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
