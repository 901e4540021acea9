#pragma once
#include <cameo/eps/cpu/detail/nbits_weights.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that MoE and QMoE of com.microsoft share. Each row of the input [rows, H] or [batch, length, H] is
/// processed by the k experts with the highest router_probs [rows, experts] (of equal ones the last); their results are
/// added with the softmax of these scores as weights. An expert is fc2 * f(fc1 * x + bias) + bias. f is an activation,
/// whose result may be multiplied by fc3 * x + bias; or f is swiglu, whose two operands come from fc1 (swiglu_fusion 1:
/// in alternating elements, 2: one operand after the other) or from fc1 and fc3. The rows of one expert are one matrix
/// product. `use_sparse_mixer` has no effect, as in ONNX Runtime on CPUs. Computes in float. Constant weights are
/// packed once, in the bits that they have.
struct mixture_of_experts {
  using elements = text_model_elements;
  op::activation_type_choice f = op::activation_type_choice::relu;
  std::int64_t k = 1, fusion = 0;
  bool normalized = false;
  float alpha = 1, beta = 0, limit = 0;  // of swiglu
  // For QMoE: the bits of fc1, fc2, fc3 (0: float weights), and how many elements of a row share a scale (0: all).
  std::int64_t bits[3] = {}, block = 0;
  struct panels {
    nbits_factor few_bits;
    const void* floats = nullptr;
  } packed[3] = {};  // fc1, fc2, fc3 of all experts; null: packed, or read in place, in every run

  status run(run_context&) const;

 protected:
  template <class Attributes>
  void read(const Attributes&);
  template <class T>
  static status keep_floats(bind_context&, std::size_t input, const void*& panels);
  status keep_codes(bind_context&, std::size_t layer, nbits_factor& panels) const;
};

struct moe : mixture_of_experts {
  static result<moe> bind(bind_context&);
};

/// QMoE: the weights have 2, 4 or 8 bits, packed from the low bits on, with scales and optional zero points for rows or
/// for blocks of rows; they are multiplied as in MatMulNBits. router_weights, if given, are the weights of the results,
/// without a softmax. Weights that are floats of few bits and weights_prepacked 1 are not supported.
struct qmoe : mixture_of_experts {
  static bool accepts(const bind_context&);
  static result<qmoe> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
