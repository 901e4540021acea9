#pragma once
#include <cameo/eps/cpu/arg_extreme.hpp>
#include <cameo/eps/cpu/cumulative.hpp>
#include <cameo/eps/cpu/loss.hpp>
#include <cameo/eps/cpu/reduce.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// A row for an operator that reduces any axes: its versions, and the element types for which its function, fold<Op, T>
/// in functions/folds.hpp, is compiled.
template <class Op, class Since, class Set>
using reduction = skeleton_row<Op, Since, Set, reduce>;

// clang-format off
using reductions = row_list<
    reduction<op::ReduceSum, since<1>, large_number_elements>,
    reduction<op::ReduceMean, since<1>, large_number_elements>,
    reduction<op::ReduceProd, since<1>, large_number_elements>,
    reduction<op::ReduceL1, since<1>, large_number_elements>,
    reduction<op::ReduceL2, since<1>, large_number_elements>,
    reduction<op::ReduceLogSum, since<1>, large_number_elements>,
    reduction<op::ReduceLogSumExp, since<1>, large_number_elements>,
    reduction<op::ReduceSumSquare, since<1>, large_number_elements>,
    reduction<op::ReduceMax, since<1>, extreme_elements>,
    reduction<op::ReduceMin, since<1>, extreme_elements>
>;
using other_reductions = row_list<
    computes<op::ArgMax, since<1>, arg_extreme<op::ArgMax>>,
    computes<op::ArgMin, since<1>, arg_extreme<op::ArgMin>>,
    computes<op::CumSum, since<11>, cumulative<op::CumSum>>,
    computes<op::CumProd, since<26>, cumulative<op::CumProd>>,
    computes<op::SoftmaxCrossEntropyLoss, since<12>, loss>,
    computes<op::NegativeLogLikelihoodLoss, since<12>, loss>
>;
// clang-format on
using reduce_rows = decltype(reductions{} + other_reductions{});

}  // namespace CAMEO_NAMESPACE::eps
