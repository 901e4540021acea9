#pragma once
// Written by cameo reduce: tests/data/keywords/model.ort
#include <cameo/eps/cpu/axis_normalization.hpp>
#include <cameo/eps/cpu/conv.hpp>
#include <cameo/eps/cpu/gemm.hpp>
#include <cameo/eps/cpu/pool.hpp>
#include <cameo/eps/cpu/reshape.hpp>
#include <cameo/eps/cpu/transpose.hpp>
#include <cameo/eps/cpu/unary.hpp>
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/ml.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

// clang-format off
using keywords_kernels = kernel_list<
    erased_entry<op::Relu, since<14, 14>, constrain<"T", float>, unary<op::Relu, float>>,
    erased_entry<op::Softmax, since<13, 13>, constrain<"T", float>, axis_normalization<op::Softmax>>,
    kernel_entry<op::Gemm, since<13, 13>, constrain<"T", float>, gemm>,
    kernel_entry<op::Conv, since<11, 11>, constrain<"T", float>, conv>,
    kernel_entry<op::AveragePool, since<11, 11>, constrain<"T", float>, average_pool>,
    erased_entry<op::Reshape, since<14, 14>, any_types, reshape>,
    erased_entry<op::Transpose, since<13, 13>, constrain<"T", float>, transpose>>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
