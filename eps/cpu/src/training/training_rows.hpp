#pragma once
#include <cameo/eps/cpu/optimizers.hpp>
#include <cameo/op/training.hpp>

#include "skeletons/row_list.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// Steps of training.
// clang-format off
using training_rows = row_list<
    erased_entry<op::training::Adagrad, since<1>, any_types, optimizer_of<op::training::Adagrad>>,
    erased_entry<op::training::Adam, since<1>, any_types, optimizer_of<op::training::Adam>>,
    erased_entry<op::training::Momentum, since<1>, any_types, optimizer_of<op::training::Momentum>>
>;
// clang-format on

}  // namespace cameo::inline CAMEO_ABI::eps
