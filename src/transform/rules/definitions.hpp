#pragma once
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/transform.hpp>

/// The definitions that take more than a line. src/transform/rules/definitions.cpp lists all.
namespace CAMEO_NAMESPACE::define {

inline constexpr transform_condition when_saved{.phase = transform_phase::before_saving};

/// NegativeLogLikelihoodLoss: the element of each target's class, weighted, and reduced.
struct likelihood_loss {
  static constexpr std::string_view name = "NegativeLogLikelihoodLossDefinition";
  using roots = op_set<op::NegativeLogLikelihoodLoss>;
  using makes = op_set<op::Div, op::Equal, op::Gather, op::GatherElements, op::Mul, op::Neg, op::ReduceMean,
                       op::ReduceSum, op::Squeeze, op::Unsqueeze, op::Where>;
  static bool rewrite(rewriter&, const node_view&);
};
/// SoftmaxCrossEntropyLoss: likelihood_loss of LogSoftmax, which is its second output.
struct cross_entropy_loss {
  static constexpr std::string_view name = "SoftmaxCrossEntropyLossDefinition";
  using roots = op_set<op::SoftmaxCrossEntropyLoss>;
  using makes =
      op_set<op::Div, op::Equal, op::Gather, op::GatherElements, op::Mul, op::Neg, op::ReduceMean, op::ReduceSum,
             op::Squeeze, op::Unsqueeze, op::Where, op::LogSoftmax, op::ReduceLogSumExp, op::Sub>;
  static bool rewrite(rewriter&, const node_view&);
};
/// CenterCropPad: Pad where the input is smaller, then Slice where it is larger.
struct center_crop_pad {
  static constexpr std::string_view name = "CenterCropPadDefinition";
  using roots = op_set<op::CenterCropPad>;
  using makes =
      op_set<op::Add, op::Cast, op::Concat, op::Div, op::Gather, op::Max, op::Pad, op::Shape, op::Slice, op::Sub>;
  static bool rewrite(rewriter&, const node_view&);
};
/// GroupNormalization of version 21 (earlier ones are deprecated): InstanceNormalization of the groups, then scale and
/// bias of each channel.
struct group_normalization {
  static constexpr std::string_view name = "GroupNormalizationDefinition";
  using roots = op_set<op::GroupNormalization>;
  using makes =
      op_set<op::Add, op::Cast, op::Concat, op::InstanceNormalization, op::Mul, op::Reshape, op::Shape, op::Unsqueeze>;
  static bool rewrite(rewriter&, const node_view&);
};
/// SequenceMap: a Loop over the first sequence that appends the outputs of the body.
struct sequence_map {
  static constexpr std::string_view name = "SequenceMapDefinition";
  using makes =
      op_set<op::Identity, op::Loop, op::SequenceAt, op::SequenceEmpty, op::SequenceInsert, op::SequenceLength>;
  static result<bool> run(rewriter&);
};

}  // namespace CAMEO_NAMESPACE::define
