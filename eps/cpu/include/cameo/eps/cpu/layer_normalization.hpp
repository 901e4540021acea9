#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The common part of LayerNormalization, RMSNormalization and SimplifiedLayerNormalization.
struct layer_normalization_state {
  using elements = float_elements;
  double epsilon = 0;
  std::int64_t axis = -1;
  bool centers = true;          // the other two don't
  std::size_t mean_output = 0;  // 0: none
  std::size_t inverse_output = 0;

  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

/// Over the axes from `axis` on: LayerNormalization y = (x - mean) / sqrt(variance + epsilon) * Scale + B, and, as
/// optional outputs, the mean and 1 / sqrt(variance + epsilon) with those axes as 1; RMSNormalization y = x / sqrt(mean
/// of x² + epsilon) * scale, as does ONNX Runtime's SimplifiedLayerNormalization, which also returns 1 / sqrt(...).
/// Scale and B broadcast to x. Statistics of floats are summed in float over at most 4096 elements, then in double, for
/// any stash_type. y may be x.
template <class Op>
struct layer_normalization : layer_normalization_state {
  static constexpr bool instantiated =
      is_one_of<Op, op::LayerNormalization, op::RMSNormalization, op::contrib::SimplifiedLayerNormalization>;
  static result<layer_normalization> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
