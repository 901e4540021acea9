#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/unary.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A gate's activation with its parameters: the loop of an activation operator over floats or doubles.
struct gate_activation {
  unary_row row = nullptr;
  unary_parameters parameters;
};

/// The members that RNN, LSTM and GRU share: attributes, and the loop over a sequence. Computes in float, or in double
/// for double. First one matrix product multiplies all inputs by W; then each step multiplies the output of the step
/// before by R, which is packed once per run. A sequence of the batch ends at its sequence_lens: later outputs are 0,
/// and its last state is kept.
///
/// Quantized (DynamicQuantizeLSTM): W [directions, inputs, gates * hidden] and R [directions, hidden, gates * hidden]
/// are 8-bit quantized values with a scale and zero point per direction or per column; the factor that they are
/// multiplied by is quantized in the run, as by DynamicQuantizeLinear.
///
/// With attention (AttnLSTM, `attends`): after each step Bahdanau's attention reads a memory M. The query is state *
/// QW, the keys are M * MW, and the weights are softmax(V * tanh(keys + query)) over the memory_seq_lens. The result is
/// the weighted sum of M, or [state, sum] * AW; W reads it after the inputs of the next step.
///
/// Scratch: the gates of the whole sequence, [seq, batch, gates * hidden], and the keys.
struct recurrent_state {
  using elements = float_elements;
  enum class cell : std::uint8_t { rnn, lstm, gru } kind = cell::rnn;
  std::int64_t directions = 1;
  bool backwards = false;  // the one direction is `reverse`
  bool batch_first = false, input_forget = false, linear_before_reset = false;
  bool quantized = false;
  bool attends = false;
  float clip = 0;                    // 0: not clipped
  gate_activation f[2], g[2], h[2];  // for each direction

  std::int64_t gates() const { return kind == cell::rnn ? 1 : kind == cell::lstm ? 4 : 3; }
  static result<recurrent_state> read(const bind_context&, cell);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

/// ONNX's RNN, LSTM and GRU, in all directions, and com.microsoft's DynamicQuantizeLSTM and AttnLSTM.
template <class Op>
struct recurrent : recurrent_state {
  static constexpr bool instantiated =
      is_one_of<Op, op::RNN, op::LSTM, op::GRU, op::microsoft::AttnLSTM, op::microsoft::DynamicQuantizeLSTM>;
  static result<recurrent> bind(bind_context& c) {
    constexpr cell kind = std::is_same_v<Op, op::RNN>   ? cell::rnn
                          : std::is_same_v<Op, op::GRU> ? cell::gru
                                                        : cell::lstm;
    result<recurrent_state> state = read(c, kind);
    if (!state) return state.error();
    state->quantized = std::is_same_v<Op, op::microsoft::DynamicQuantizeLSTM>;
    state->attends = std::is_same_v<Op, op::microsoft::AttnLSTM>;
    if (state->quantized || state->attends) state->batch_first = false;  // com.microsoft's have no attribute `layout`
    return recurrent{*state};
  }
};

}  // namespace CAMEO_NAMESPACE::eps
