#include <cameo/eps/cpu/layout.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/transform.hpp>

#include "layouts.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

struct blocked_channels {
  static constexpr std::string_view name = "NchwcTransformer";
  using roots = op_set<op::Conv, op::microsoft::FusedConv>;
  using makes = op_set<op::nchwc::Conv, op::nchwc::ReorderInput, op::nchwc::ReorderOutput, op::nchwc::MaxPool,
                       op::nchwc::AveragePool, op::nchwc::GlobalMaxPool, op::nchwc::GlobalAveragePool>;
  static result<bool> run(rewriter& r) { return !r.in().order().empty() && block_channels(r); }
};

struct channels_last {
  static constexpr std::string_view name = "NhwcTransformer";
  using roots = op_set<op::QLinearConv, op::microsoft::QLinearConv>;
  using makes = op_set<op::microsoft::QLinearConv, op::microsoft::NhwcMaxPool, op::Transpose>;
  static result<bool> run(rewriter& r) { return !r.in().order().empty() && put_channels_last(r); }
};

}  // namespace

const transform_table& nchwc_layout::table() {
  return transform_list<optimization_level::layout, blocked_channels, channels_last>::table();
}

}  // namespace CAMEO_NAMESPACE::eps
