#pragma once
#include <cameo/eps/cpu/fourier.hpp>
#include <cameo/eps/cpu/time_warping.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators of signals.
// clang-format off
using signal_rows = row_list<
    computes<op::DFT, since<17>, dft>,
    computes<op::STFT, since<17>, stft>,
    computes<op::MelWeightMatrix, since<17>, mel_weight_matrix, "T3">,
    computes<op::microsoft::DynamicTimeWarping, since<1>, time_warping>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
