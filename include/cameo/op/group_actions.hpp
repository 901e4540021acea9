#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace CAMEO_NAMESPACE {

// Group rewrites, which can be selected, saved in an ORT file and applied later, under ONNX Runtime's names, and the
// inputs of the node that replaces a group. A group is a node (the target), nodes that produce its inputs and nodes
// that read its outputs. The tables serve both graphs and drafts.

/// The inputs of the node that replaces a group.
enum class group_form : std::uint8_t {
  unary,        // integers, scale and zero point of the input; scale and zero point of the result
  binary,       // as unary, with two inputs
  variadic,     // scale and zero point of the result; then each input as in unary
  convolution,  // as binary; then an integer bias, if there is one
  product,      // two inputs as in binary; the bias; scale and zero point of the result if it is quantized
  choice,       // the target's condition; then as binary
  parts,        // integers of the input; the target's second input. There are several results
  in_place,     // the target itself, on integers
  activation,   // the inputs of the target, which computes the activation as well
};
/// An action of an optimizer, by its names in ORT files.
struct group_action {
  std::string_view optimizer, name;
  group_form form;
};
/// All actions that cameo has, with optimizers in the order in which they are applied.
inline constexpr group_action group_actions[] = {
    {"QDQSelectorActionTransformer", "1DQ", group_form::unary},
    {"QDQSelectorActionTransformer", "1DQ_CPU", group_form::unary},
    {"QDQSelectorActionTransformer", "2DQ", group_form::binary},
    {"QDQSelectorActionTransformer", "*DQ", group_form::variadic},
    {"QDQSelectorActionTransformer", "Conv", group_form::convolution},
    {"QDQSelectorActionTransformer", "MatMul", group_form::binary},
    {"QDQSelectorActionTransformer", "Gemm", group_form::product},
    {"QDQSelectorActionTransformer", "Where", group_form::choice},
    {"QDQSelectorActionTransformer", "dropSplitQDQ", group_form::parts},
    {"QDQSelectorActionTransformer", "dropDQ", group_form::in_place},
    {"QDQSelectorActionTransformer", "drop", group_form::in_place},
    {"QDQSelectorActionTransformer", "drop_no_int16_support", group_form::in_place},
    {"QDQSelectorActionTransformer", "drop_no_int16_support_and_positive_scale", group_form::in_place},
    {"ConvActivationFusion", "ConvAct", group_form::activation},
};
/// Finds an action; null if it is not in the list. `listed` is set to true if the list has any action of the optimizer.
constexpr const group_action* find_group_action(std::string_view optimizer, std::string_view name, bool& listed) {
  listed = false;
  for (const group_action& each : group_actions) {
    if (each.optimizer != optimizer) continue;
    listed = true;
    if (each.name == name) return &each;
  }
  return nullptr;
}

/// Consecutive inputs of one node of the group that become inputs of the new node.
struct group_move {
  /// The node of the group.
  enum class member : std::uint8_t { input, target, output, all_inputs } source;
  std::uint8_t number = 0;  // index of that node among the group's inputs
  /// The first and the last of its inputs. Inputs 0 to 2 of a DequantizeLinear are integers, scale and zero point.
  std::uint8_t first = 0, last = 0;
  bool required = true;  // false: the node, or its input, may be absent
};
namespace detail {
using enum group_move::member;
inline constexpr group_move
    unary_moves[] = {{input, 0, 0, 2}, {output, 0, 1, 2}},
    binary_moves[] = {{input, 0, 0, 2}, {input, 1, 0, 2}, {output, 0, 1, 2}},
    variadic_moves[] = {{output, 0, 1, 2}, {all_inputs, 0, 0, 2}},
    convolution_moves[] = {{input, 0, 0, 2}, {input, 1, 0, 2}, {output, 0, 1, 2}, {input, 2, 0, 0, false}},
    product_moves[] = {{input, 0, 0, 2}, {input, 1, 0, 2}, {input, 2, 0, 0, false}, {output, 0, 1, 2, false}},
    choice_moves[] = {{target}, {input, 0, 0, 2}, {input, 1, 0, 2}, {output, 0, 1, 2}},
    parts_moves[] = {{input}, {target, 0, 1, 1, false}},
    activation_moves[] = {{target}, {target, 0, 1, 1}, {target, 0, 2, 2, false}};
}  // namespace detail

/// The inputs of a group's nodes that become the inputs of the new node, in order. Empty for in_place: there the target
/// stays, and its first input becomes the first input of the group's input node.
constexpr std::span<const group_move> moves_of(group_form form) {
  switch (form) {
    case group_form::unary: return detail::unary_moves;
    case group_form::binary: return detail::binary_moves;
    case group_form::variadic: return detail::variadic_moves;
    case group_form::convolution: return detail::convolution_moves;
    case group_form::product: return detail::product_moves;
    case group_form::choice: return detail::choice_moves;
    case group_form::parts: return detail::parts_moves;
    case group_form::activation: return detail::activation_moves;
    case group_form::in_place: break;
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE
