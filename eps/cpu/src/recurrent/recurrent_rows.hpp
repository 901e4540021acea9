#pragma once
#include <cameo/eps/cpu/linear_attention.hpp>
#include <cameo/eps/cpu/recurrent.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operators of recurrent networks.
// clang-format off
using recurrent_rows = row_list<
    computes<op::RNN, since<1>, recurrent<op::RNN>>,
    computes<op::LSTM, since<1>, recurrent<op::LSTM>>,
    computes<op::GRU, since<1>, recurrent<op::GRU>>,
    computes<op::microsoft::AttnLSTM, since<1>, recurrent<op::microsoft::AttnLSTM>, "T">,
    computes<op::microsoft::DynamicQuantizeLSTM, since<1>, recurrent<op::microsoft::DynamicQuantizeLSTM>>,
    computes<op::LinearAttention, since<27>, linear_attention, "T", "S">,
    computes<op::CausalConvWithState, since<27>, causal_conv>,
    computes<op::microsoft::LinearAttention, since<1>, linear_attention, "T", "S">,
    computes<op::microsoft::CausalConvWithState, since<1>, causal_conv>
>;
// clang-format on

}  // namespace CAMEO_NAMESPACE::eps
