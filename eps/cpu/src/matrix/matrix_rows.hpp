#pragma once
#include <cameo/eps/cpu/det.hpp>
#include <cameo/eps/cpu/einsum.hpp>
#include <cameo/eps/cpu/gemm.hpp>
#include <cameo/eps/cpu/inverse.hpp>
#include <cameo/eps/cpu/matmul.hpp>
#include <cameo/eps/cpu/sparse_matmul.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators of matrices. (The kernel of a kernel_entry row is compiled separately for each type.)
// clang-format off
using matrix_rows = row_list<
    kernel_entry<op::MatMul, since<1>, multiplied_types<"T">, matmul>,
    kernel_entry<op::Gemm, since<1>, multiplied_types<"T">, gemm>,
    kernel_entry<op::microsoft::FusedMatMul, since<1>, allow<"T">(float_elements{}), matmul>,
    kernel_entry<op::microsoft::FusedGemm, since<1>, allow<"T">(first_float_elements{}), fused_gemm>,
    computes<op::Einsum, since<12>, einsum>,
    computes<op::Det, since<11>, det>,
    kernel_entry<op::microsoft::TransposeMatMul, since<1>, allow<"T">(float_elements{}), matmul>,
    computes<op::microsoft::Inverse, since<1>, inverse>,
    computes<op::microsoft::CDist, since<1>, row_distances>,
    computes<op::microsoft::SparseToDenseMatMul, since<1>, sparse_matmul, "T1">
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
