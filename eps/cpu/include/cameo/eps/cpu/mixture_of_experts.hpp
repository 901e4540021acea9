#pragma once
#include <cameo/eps/cpu/detail/nbits_weights.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>

namespace CAMEO_NAMESPACE::eps {

/// What MoE and QMoE of com.microsoft share: each row of input [rows, H] or [batch, length, H] goes through the k
/// experts that router_probs [rows, experts] prefers (of equal ones the last), and what they give is added up by the
/// softmax of those scores. An expert is fc2 * f(fc1 * x + bias) + bias; f is an activation, whose result fc3 * x +
/// bias may multiply, or swiglu, whose two halves come from fc1 (swiglu_fusion 1: by turns, 2: one after the other) or
/// from fc1 and fc3. Rows of one expert are one product. `use_sparse_mixer` has no effect, as in ONNX Runtime on CPUs.
/// Computes in float. Constant weights are packed once, in the bits that they have.
struct mixture_of_experts {
  using elements = text_model_elements;
  enum class function : std::uint8_t { relu, gelu, silu, identity, swiglu } f = function::relu;
  std::int64_t k = 1, fusion = 0;
  bool normalized = false;
  float alpha = 1, beta = 0, limit = 0;  // of swiglu
  // Of QMoE: bits of fc1, fc2, fc3 (0: weights are floats), and elements of a row that share a scale (0: all of it).
  std::int64_t bits[3] = {}, block = 0;
  struct panels {
    nbits_factor few_bits;
    const void* floats = nullptr;
  } packed[3] = {};  // of fc1, fc2, fc3, all experts'; null: packed or read as they are in the run

  status run(run_context&) const;

 protected:
  static status read(const bind_context&, mixture_of_experts&);
  template <class T>
  static status keep_floats(bind_context&, std::size_t input, const void*& panels);
  status keep_codes(bind_context&, std::size_t layer, nbits_factor& panels) const;
};

struct moe : mixture_of_experts {
  static result<moe> bind(bind_context&);
};

/// Weights are codes of 2, 4 or 8 bits, packed from the low bits on, with scales and perhaps zero points by rows or
/// blocks of rows; multiplied as MatMulNBits does it. router_weights, if given, is what results are added up by,
/// without a softmax. Not for the floats of few bits, nor for weights_prepacked 1.
struct qmoe : mixture_of_experts {
  static bool accepts(const bind_context&);
  static result<qmoe> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
