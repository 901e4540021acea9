#include "op/operand_use.hpp"

#include <cameo/op/microsoft.hpp>
#include <cameo/op/ml.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

using detail::op_id_of;

using use = operand_use;

constexpr operand_row operand_rows[] = {
    {op_id_of<op::Cast>, 0, use::carried},
    {op_id_of<op::Where>, 1, use::carried},
    {op_id_of<op::Where>, 2, use::carried},
    {op_id_of<op::Add>, 0, use::shifted, 1},
    {op_id_of<op::Add>, 1, use::shifted, 0},
    {op_id_of<op::Sub>, 0, use::unshifted, 1},
    {op_id_of<op::Div>, 1, use::ones},
    {op_id_of<op::Mod>, 1, use::ones},

    {op_id_of<op::Gather>, 1, use::index, 0, "axis"},
    {op_id_of<op::GatherElements>, 1, use::index, 0, "axis"},
    {op_id_of<op::Scatter>, 1, use::index, 0, "axis"},
    {op_id_of<op::ScatterElements>, 1, use::index, 0, "axis"},
    {op_id_of<op::GatherND>, 1, use::tuple, 0, "batch_dims"},
    {op_id_of<op::ScatterND>, 1, use::tuple, 0},
    {op_id_of<op::TensorScatter>, 2, use::zeros},
    {op_id_of<op::OneHot>, 0, use::below, 1},
    {op_id_of<op::OneHot>, 1, use::ones},
    {op_id_of<op::RoiAlign>, 2, use::index, 0},
    {op_id_of<op::NegativeLogLikelihoodLoss>, 1, use::index, 0, {}, 1},
    {op_id_of<op::SoftmaxCrossEntropyLoss>, 1, use::index, 0, {}, 1},
    {op_id_of<op::RotaryEmbedding>, 3, use::index, 1},
    {op_id_of<op::ml::ArrayFeatureExtractor>, 1, use::index, 0, {}, -1},
    {op_id_of<op::SequenceAt>, 1, use::zeros},
    {op_id_of<op::SequenceErase>, 1, use::zeros},
    {op_id_of<op::SequenceInsert>, 2, use::zeros},

    {op_id_of<op::ReverseSequence>, 1, use::length, 0, "time_axis"},
    {op_id_of<op::RNN>, 4, use::length, 0},
    {op_id_of<op::GRU>, 4, use::length, 0},
    {op_id_of<op::LSTM>, 4, use::length, 0},
    {op_id_of<op::Attention>, 3, use::ones},
    {op_id_of<op::Attention>, 6, use::length, 1, {}, -2},

    {op_id_of<op::Slice>, 1, use::zeros},
    {op_id_of<op::Slice>, 2, use::ends},
    {op_id_of<op::Slice>, 3, use::places},
    {op_id_of<op::Slice>, 4, use::ones},
    {op_id_of<op::Pad>, 1, use::zeros},
    {op_id_of<op::Pad>, 3, use::places},
    {op_id_of<op::Unsqueeze>, 1, use::places},
    {op_id_of<op::Squeeze>, 1, use::places},
    {op_id_of<op::CumSum>, 1, use::zeros},
    {op_id_of<op::CumProd>, 1, use::zeros},
    {op_id_of<op::DFT>, 1, use::ones},
    {op_id_of<op::DFT>, 2, use::zeros},
    {op_id_of<op::STFT>, 1, use::ones},
    {op_id_of<op::STFT>, 3, use::ones},
    {op_id_of<op::MelWeightMatrix>, 0, use::ones},
    {op_id_of<op::MelWeightMatrix>, 1, use::ones},
    {op_id_of<op::MelWeightMatrix>, 2, use::ones},
    {op_id_of<op::MelWeightMatrix>, 3, use::zeros},
    {op_id_of<op::MelWeightMatrix>, 4, use::zeros},
    {op_id_of<op::NonMaxSuppression>, 2, use::ones},
    {op_id_of<op::NonMaxSuppression>, 3, use::zeros},
    {op_id_of<op::SplitToSequence>, 1, use::ones},
    {op_id_of<op::Upsample>, 1, use::ones},
    {op_id_of<op::Reshape>, 1, use::form},
    {op_id_of<op::Expand>, 1, use::ones},
    {op_id_of<op::Tile>, 1, use::ones},
    {op_id_of<op::ConstantOfShape>, 0, use::ones},
    {op_id_of<op::CenterCropPad>, 1, use::ones},
    {op_id_of<op::Resize>, 2, use::ones},
    {op_id_of<op::Resize>, 3, use::ones},
    {op_id_of<op::TopK>, 1, use::ones},
    {op_id_of<op::Range>, 2, use::ones},

    {op_id_of<op::microsoft::GatherND>, 1, use::tuple, 0},
    {op_id_of<op::microsoft::GatherBlockQuantized>, 1, use::index, 0, "gather_axis"},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, 0, use::index, 2},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, 1, use::index, 4},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, 7, use::ones},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, 8, use::index, 3},
    {op_id_of<op::microsoft::QEmbedLayerNormalization>, 0, use::index, 2},
    {op_id_of<op::microsoft::QEmbedLayerNormalization>, 1, use::index, 4},
    {op_id_of<op::microsoft::QEmbedLayerNormalization>, 7, use::ones},
    {op_id_of<op::microsoft::RotaryEmbedding>, 1, use::index, 2},
    {op_id_of<op::microsoft::Attention>, 3, use::ones},
    {op_id_of<op::microsoft::MultiHeadAttention>, 4, use::ones},
    {op_id_of<op::microsoft::GroupQueryAttention>, 5, use::zeros},
    {op_id_of<op::microsoft::GroupQueryAttention>, 6, use::ones},
};

}  // namespace

operand_row use_of_operand(const op_row& op, std::size_t input) {
  const auto* const row = std::find_if(std::begin(operand_rows), std::end(operand_rows), [&](const operand_row& each) {
    return each.op == op.id && each.input == input;
  });
  if (row != std::end(operand_rows)) return *row;
  // A concatenation takes the elements of all inputs; other operators that move elements take those of the first.
  const bool joins = op.id == op_id_of<op::Concat>;
  if (joins || (input == 0 && detail::has_role(op.roles, role::moves | role::is_identity)))
    return {op.id, 0, use::carried};
  if (input == 1 && detail::has_role(op.roles, role::reduces)) return {op.id, 1, use::places};
  return {op.id, 0, use::none};
}

}  // namespace CAMEO_NAMESPACE
