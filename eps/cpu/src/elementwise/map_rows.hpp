#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/unary.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

// The elementwise operators with one input: each has a row here and a function in functions/maps-inl.hpp. The lists
// differ only in the source that compiles their loops.
namespace CAMEO_NAMESPACE::eps {

/// The row of an elementwise operator with one input: its versions, and the element types for which its function,
/// apply(Op{}, x) in functions/maps-inl.hpp, is compiled. Set is an element_set.
template <class Op, class Since, class Set>
using map = skeleton_row<Op, Since, Set, unary>;

// clang-format off
using math_maps = row_list<
    map<op::Reciprocal, since<1>, float_elements>,
    map<op::Sqrt, since<1>, float_elements>,
    map<op::Exp, since<1>, float_elements>,
    map<op::Log, since<1>, float_elements>,
    map<op::Sin, since<7>, float_elements>,
    map<op::Cos, since<7>, float_elements>,
    map<op::Tan, since<7>, float_elements>,
    map<op::Asin, since<7>, float_elements>,
    map<op::Acos, since<7>, float_elements>,
    map<op::Atan, since<7>, float_elements>,
    map<op::Sinh, since<9>, float_elements>,
    map<op::Cosh, since<9>, float_elements>,
    map<op::Tanh, since<1>, float_elements>,
    map<op::Asinh, since<9>, float_elements>,
    map<op::Acosh, since<9>, float_elements>,
    map<op::Atanh, since<9>, float_elements>,
    map<op::Floor, since<1>, float_elements>,
    map<op::Ceil, since<1>, float_elements>,
    map<op::Round, since<11>, float_elements>,
    map<op::Erf, since<9>, number_elements>
>;
using activation_maps = row_list<
    map<op::Sigmoid, since<1>, float_elements>,
    map<op::HardSigmoid, since<1>, float_elements>,
    map<op::LeakyRelu, since<1>, float_elements>,
    map<op::Elu, since<1>, float_elements>,
    map<op::Selu, since<1>, float_elements>,
    map<op::Celu, since<12>, float_elements>,
    map<op::Softplus, since<1>, float_elements>,
    map<op::Softsign, since<1>, float_elements>,
    map<op::ThresholdedRelu, since<10>, float_elements>,
    map<op::contrib::ThresholdedRelu, since<1, 9>, first_float_elements>,
    map<op::contrib::Affine, since<1, 9>, first_float_elements>,
    map<op::contrib::ParametricSoftplus, since<1, 9>, first_float_elements>,
    map<op::contrib::Scale, since<1, 9>, first_float_elements>,
    map<op::contrib::ScaledTanh, since<1, 9>, first_float_elements>,
    map<op::HardSwish, since<14>, float_elements>,
    map<op::Mish, since<18>, float_elements>,
    map<op::Gelu, since<20>, float_elements>,
    map<op::Swish, since<24>, float_elements>,
    map<op::microsoft::Gelu, since<1>, float_elements>,
    map<op::microsoft::QuickGelu, since<1>, float_elements>
>;
using number_maps = row_list<
    map<op::Relu, since<1, 1>, first_float_elements>,
    map<op::Relu, since<6>, signed_elements>,
    map<op::Abs, since<1>, number_elements>,
    map<op::Neg, since<1>, signed_elements>,
    map<op::Sign, since<9>, number_elements>,
    map<op::Shrink, since<9>, first_number_elements>,
    map<op::Not, since<1>, truth_elements>,
    map<op::BitwiseNot, since<18>, integer_elements>,
    map<op::IsNaN, since<9>, any_float_elements>,
    map<op::IsInf, since<10>, any_float_elements>
>;
// clang-format on

using all_maps = decltype(math_maps{} + activation_maps{} + number_maps{});

}  // namespace CAMEO_NAMESPACE::eps
