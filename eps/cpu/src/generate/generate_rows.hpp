#pragma once
#include <cameo/eps/cpu/random.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// Random numbers.
// clang-format off
using random_rows = row_list<
    computes<op::RandomNormal, since<1>, random<op::RandomNormal>, "T">,
    computes<op::RandomUniform, since<1>, random<op::RandomUniform>, "T">,
    computes<op::RandomNormalLike, since<1>, random<op::RandomNormalLike>, "T2">,
    computes<op::RandomUniformLike, since<1>, random<op::RandomUniformLike>, "T2">,
    computes<op::Bernoulli, since<15>, random<op::Bernoulli>, "T2">,
    computes<op::Multinomial, since<7>, random<op::Multinomial>>
>;
// clang-format on

}  // namespace eps
CAMEO_END_NAMESPACE
