#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that InstanceNormalization and GroupNormalization share.
struct group_normalization_state {
  using elements = float_elements;
  double epsilon = 0;
  std::int64_t groups = 0;       // 0: a group for each channel
  bool scale_per_group = false;  // opset 18's GroupNormalization

  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

/// InstanceNormalization and GroupNormalization: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, with the
/// statistics of each group of channels of each image of the batch; in InstanceNormalization a group is a channel.
/// scale and bias are [channels]. y may be the buffer of x.
template <class Op>
struct group_normalization : group_normalization_state {
  static constexpr bool instantiated = is_one_of<Op, op::InstanceNormalization, op::GroupNormalization>;
  static result<group_normalization> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
