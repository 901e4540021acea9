#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/unary.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A gate's activation with its parameters: an operator's loop over floats, or doubles.
struct gate_activation {
  unary_row row = nullptr;
  unary_parameters parameters;
};

/// The common part of RNN, LSTM and GRU: attributes, and the loop over a sequence. Computes in float, or double
/// for doubles. A product of all inputs with W comes first; then each step multiplies the last step's output with R,
/// packed once per run. A batch ends with its own sequence_lens; later outputs are 0, and the last state stays.
/// Quantized: W [directions, inputs, gates * hidden] and R [directions, hidden, gates * hidden] are codes of 8 bits
/// with scales and zero points, one per direction or per column; their other factor is first rounded to 256 steps
/// between its smallest and largest number, as DynamicQuantizeLinear does. One that `attends` asks a memory after each
/// step, as Bahdanau's attention does: query state * QW, keys M * MW, weights softmax(V * tanh(keys
/// + query)) over the memory_seq_lens; the answer is their sum of M, or [state, sum] * AW, and W reads it behind the
/// next inputs. Scratch: the gates of the whole sequence, [seq, batch, gates * hidden], and the keys.
struct recurrent_state {
  using elements = float_elements;
  enum class cell : std::uint8_t { rnn, lstm, gru } kind = cell::rnn;
  std::int64_t directions = 1, hidden = 0;  // hidden 0: taken from R
  bool backwards = false;                   // the only direction is `reverse`
  bool batch_first = false, input_forget = false, linear_before_reset = false;
  bool quantized = false;
  bool attends = false;
  float clip = 0;                    // 0: none
  gate_activation f[2], g[2], h[2];  // by direction

  std::int64_t gates() const { return kind == cell::rnn ? 1 : kind == cell::lstm ? 4 : 3; }
  static result<recurrent_state> of(const bind_context&, cell);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

/// ONNX's RNN, LSTM and GRU, in all directions, and ONNX Runtime's LSTMs with weights of 8 bits and with attention.
template <class Op>
struct recurrent : recurrent_state {
  static constexpr bool instantiated =
      is_one_of<Op, op::RNN, op::LSTM, op::GRU, op::microsoft::AttnLSTM, op::microsoft::DynamicQuantizeLSTM>;
  static result<recurrent> bind(bind_context& c) {
    constexpr cell kind = std::is_same_v<Op, op::RNN>   ? cell::rnn
                          : std::is_same_v<Op, op::GRU> ? cell::gru
                                                        : cell::lstm;
    result<recurrent_state> state = of(c, kind);
    if (!state) return state.error();
    state->quantized = std::is_same_v<Op, op::microsoft::DynamicQuantizeLSTM>;
    state->attends = std::is_same_v<Op, op::microsoft::AttnLSTM>;
    return recurrent{*state};
  }
};

}  // namespace CAMEO_NAMESPACE::eps
