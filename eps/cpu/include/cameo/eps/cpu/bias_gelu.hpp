#pragma once
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/op/microsoft.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The common part of BiasGelu and FastGelu.
struct bias_gelu_state {
  binary_row row = nullptr;
  std::int64_t bytes = 0;  // of an element

  status run(run_context&) const;
};

/// y = gelu(x + bias): BiasGelu exactly, FastGelu by tanh and with an optional bias. The bias is one-dimensional, along
/// the last axis of x. y may be x.
template <class Op>
struct bias_gelu : bias_gelu_state {
  static constexpr bool instantiated = is_one_of<Op, op::microsoft::BiasGelu, op::microsoft::FastGelu>;
  static result<bias_gelu> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
