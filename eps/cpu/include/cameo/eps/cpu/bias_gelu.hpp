#pragma once
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/op/microsoft.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that BiasGelu and FastGelu share.
struct bias_gelu_state {
  binary_row row = nullptr;
  std::int64_t bytes = 0;  // the size of an element

  status run(run_context&) const;
};

/// com.microsoft's BiasGelu and FastGelu: y = gelu(x + bias). BiasGelu computes gelu exactly, FastGelu approximates it
/// by tanh and has an optional bias. The bias has one axis, as long as the last axis of x. y may be the buffer of x.
template <class Op>
struct bias_gelu : bias_gelu_state {
  static constexpr bool instantiated = is_one_of<Op, op::microsoft::BiasGelu, op::microsoft::FastGelu>;
  static result<bias_gelu> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
