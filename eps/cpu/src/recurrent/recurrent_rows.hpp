#pragma once
#include <cameo/eps/cpu/recurrent.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// Recurrent networks.
// clang-format off
using recurrent_rows = row_list<
    computes<op::RNN, since<1>, recurrent<op::RNN>>,
    computes<op::LSTM, since<1>, recurrent<op::LSTM>>,
    computes<op::GRU, since<1>, recurrent<op::GRU>>,
    computes<op::microsoft::DynamicQuantizeLSTM, since<1>, recurrent<op::microsoft::DynamicQuantizeLSTM>>
>;
// clang-format on

}  // namespace cameo::inline CAMEO_ABI::eps
