#pragma once
#include <cameo/eps/cpu/constant.hpp>
#include <cameo/eps/cpu/generate.hpp>
#include <cameo/eps/cpu/random.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Constants, ranges, indices of elements, and random numbers.
// clang-format off
using generate_rows = row_list<
    takes_any<op::Constant, since<1>, constant>,
    takes_any<op::ConstantOfShape, since<9>, constant_of_shape>,
    moves<op::OneHot, since<9>, one_hot, "T3">,
    computes<op::microsoft::Range, since<1>, range_of>,
    computes<op::Range, since<11>, range_of>,
    computes<op::EyeLike, since<9>, eye_like, "T2">,
    computes<op::NonZero, since<9>, non_zero>,
    computes<op::RandomNormal, since<1>, random<op::RandomNormal>, "T">,
    computes<op::RandomUniform, since<1>, random<op::RandomUniform>, "T">,
    computes<op::RandomNormalLike, since<1>, random<op::RandomNormalLike>, "T2">,
    computes<op::RandomUniformLike, since<1>, random<op::RandomUniformLike>, "T2">,
    computes<op::Bernoulli, since<15>, random<op::Bernoulli>, "T2">,
    computes<op::Multinomial, since<7>, random<op::Multinomial>>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
