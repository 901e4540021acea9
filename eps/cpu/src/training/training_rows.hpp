#pragma once
#include <cameo/eps/cpu/optimizers.hpp>
#include <cameo/op/training.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators of the domain ai.onnx.preview.training.
// clang-format off
using training_rows = row_list<
    computes<op::training::Adagrad, since<1>, optimizer_of<op::training::Adagrad>, "T1", "T3">,
    computes<op::training::Adam, since<1>, optimizer_of<op::training::Adam>, "T1", "T3">,
    computes<op::training::Momentum, since<1>, optimizer_of<op::training::Momentum>, "T1", "T3">
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
