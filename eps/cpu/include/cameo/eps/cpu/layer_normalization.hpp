#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/contrib.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that LayerNormalization, RMSNormalization and SimplifiedLayerNormalization share.
struct layer_normalization_state {
  using elements = float_elements;
  double epsilon = 0;
  std::int64_t axis = -1;
  bool centers = true;          // subtracts the mean: LayerNormalization only
  std::size_t mean_output = 0;  // 0: no such output
  std::size_t inverse_output = 0;

  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

/// Normalizations over the axes from `axis` on. LayerNormalization: y = (x - mean) / sqrt(variance + epsilon) * Scale +
/// B, and, as optional outputs, the mean and 1 / sqrt(variance + epsilon), whose normalized axes have size 1.
/// RMSNormalization and ONNX Runtime's SimplifiedLayerNormalization: y = x / sqrt(mean(x^2) + epsilon) * scale; the
/// latter also returns 1 / sqrt(...). Scale and B broadcast to x. Statistics of floats are summed in float over at most
/// 4096 elements, then in double, whatever stash_type is. y may be the buffer of x.
template <class Op>
struct layer_normalization : layer_normalization_state {
  static constexpr bool instantiated =
      is_one_of<Op, op::LayerNormalization, op::RMSNormalization, op::contrib::SimplifiedLayerNormalization>;
  static result<layer_normalization> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
