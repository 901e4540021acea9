#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/recurrent.hpp>
#include <cameo/geometry/recurrent.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cstring>

#include "functions/form.hpp"
#include "skeletons/map.hpp"

#include "functions/quantized.hpp"
#include "memory_attention.hpp"
#include "operands/operand_values.hpp"
#include "operands/scratch_of.hpp"
#include "skeletons/float_output.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// An activation function of recurrent operators.
struct activation_row {
  char name[16];  // in lower case
  unary_row (*loop)(dtype);
  unary_parameters preset;
  bool takes_alpha, takes_beta;
};
// The presets of alpha and beta are those of ONNX, or of ONNX Runtime where ONNX has none, and for ThresholdedRelu.
constexpr activation_row activation_rows[] = {
    {"relu", float_loop<op::Relu>, {}, false, false},
    {"tanh", float_loop<op::Tanh>, {}, false, false},
    {"sigmoid", float_loop<op::Sigmoid>, {}, false, false},
    {"affine", float_loop<form<op::RNN, "Affine">>, {}, true, true},
    {"leakyrelu", float_loop<op::LeakyRelu>, {0.01f, 0}, true, false},
    {"thresholdedrelu", float_loop<op::ThresholdedRelu>, {}, true, false},
    {"scaledtanh", float_loop<form<op::RNN, "ScaledTanh">>, {}, true, true},
    {"hardsigmoid", float_loop<op::HardSigmoid>, {0.2f, 0.5f}, true, true},
    {"elu", float_loop<op::Elu>, {1, 0}, true, false},
    {"softsign", float_loop<op::Softsign>, {}, false, false},
    {"softplus", float_loop<op::Softplus>, {}, false, false},
};
const activation_row* find_activation(std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  for (const activation_row& row : activation_rows)
    if (std::ranges::equal(name, std::string_view{row.name}, {}, lower)) return &row;
  return nullptr;
}

/// y[i] = f(clamp(y[i], -clip, clip)); a clip of 0 does not clamp.
template <class C>
void activate(const gate_activation& how, C clip, C* y, std::int64_t n) {
  if (clip > 0)
    for (std::int64_t i = 0; i < n; ++i) y[i] = std::clamp(y[i], -clip, clip);
  how.row(how.parameters, y, y, n);
}

/// Checks the lengths of sequences, if they are given: [batch] numbers up to `most`.
status check_lengths(std::string_view name, const value& lengths, std::int64_t most) {
  for (std::int64_t b = 0; lengths && b < lengths.shape[0]; ++b)
    if (status fits = check_element(name, lengths.as_unchecked<std::int32_t>()[b], 0, most); !fits) return fits;
  return {};
}

/// Checks the inputs, and returns the sizes of a run.
result<geometry::recurrent> read_sizes(const recurrent_state& how, run_context& c) {
  const auto of = [&](std::size_t i) { return geometry::shape_of(c.input(i)); };
  geometry::recurrent_inputs in{of(0), of(1), of(2), of(4), of(5), of(6)};
  if (how.attends) {
    for (const std::size_t i : {8, 9, 10, 11})
      if (status given = check_needs("the attention", true, "QW, MW, V and M", bool(c.input(i))); !given) return given;
    in.memory = of(11), in.answer_weights = of(13);
    in.attends = true, in.has_answer_weights = bool(c.input(13));
  }
  result<geometry::recurrent> made =
      geometry::recurrent_of<std::int64_t>(in, {0, how.directions, how.gates(), how.batch_first, how.quantized});
  if (!made) return made.error();
  if (status fits = check_lengths("sequence_lens", c.input(4), made->steps); !fits) return fits;
  if (how.attends)
    if (status fits = check_lengths("memory_seq_lens", c.input(12), in.memory[1]); !fits) return fits;
  return made;
}

/// Computes y [m, n] = x [m, k] * R^T with packed panels of R, on the calling thread if others don't pay.
template <class C>
struct step_product {
  std::int64_t m, n, k;
  const C* packed;
  C* rows;  // a buffer for packed x

  void run(run_context& c, const C* x, C* y) const {
    if (m == 0 || n == 0) return;
    pack_a(matrix_ref<C>{x, k, 1}, m, k, rows);
    const std::int64_t tile = tile_of<C>().columns;
    const std::int64_t grain = grain_of(1 << 18, m * k * tile) * tile;
    parallel_for(c, n, grain, [&](std::int64_t first, std::int64_t last) {
      multiply_block(gemm_block<C>{m, last - first, k, rows, packed + first * k, y + first, n, {}});
    });
  }
};

/// Rounds x to the values that dynamic quantization to uint8 can represent, as DynamicQuantizeLSTM does.
template <class C>
void round_to_steps(const C* x, std::int64_t count, C* y) {
  C low = 0, high = 0;
  for (std::int64_t i = 0; i < count; ++i) low = std::min(low, x[i]), high = std::max(high, x[i]);
  const C step = (high - low) / C(255);
  const integer_range bytes = range_of(dtype::u8);
  const std::int64_t zero = step > 0 ? saturated_sum(-low / step, 0, bytes) : 0;
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = step > 0 ? C(saturated_sum(x[i] / step, zero, bytes) - zero) * step : C(0);
}

/// Computes one direction of one run.
template <class C>
struct direction {
  const recurrent_state& how;
  geometry::recurrent s;
  std::int64_t d = 0;
  bool reverse = false;
  const C* bias = nullptr;                             // the bias of R, [gates * hidden]; null: none
  const C* peepholes = nullptr;                        // [3 * hidden], of i, o, f; null: none
  const std::int32_t* lengths = nullptr;               // the length of each batch; null: all have s.steps
  C* gates = nullptr;                                  // of all steps, [length * batch, width], with the rows of X
  C* products = nullptr;                               // [batch, width]
  C* reset = nullptr;                                  // [batch, hidden], for GRU
  C* state = nullptr;                                  // [batch, hidden]
  C* memory = nullptr;                                 // the cell state of LSTM, [batch, hidden]
  value *y = nullptr, *y_h = nullptr, *y_c = nullptr;  // the outputs; null: the node does not have them
  C* rounded = nullptr;                                // a buffer for the state in quantized precision, or null
  const memory_attention<C>* memories = nullptr;       // the attention of AttnLSTM, or null
  C* step_input = nullptr;  // with attention, [batch, hidden + answer]: the state and the answer
  step_product<C> by_state = {}, by_reset = {};

  std::int64_t length_of(std::int64_t b) const { return lengths ? lengths[b] : s.steps; }
  /// The position in the sequence of batch b at step t; -1 if the sequence has ended.
  std::int64_t time(std::int64_t t, std::int64_t b) const {
    const std::int64_t n = length_of(b);
    return t >= n ? -1 : reverse ? n - 1 - t : t;
  }
  C* gates_at(std::int64_t time, std::int64_t b) const {
    return gates + (how.batch_first ? b * s.steps + time : time * s.batch + b) * s.width;
  }
  std::int64_t y_at(std::int64_t time, std::int64_t b) const {
    const std::int64_t row =
        how.batch_first ? (b * s.steps + time) * s.directions + d : (time * s.directions + d) * s.batch + b;
    return row * s.hidden;
  }

  /// The position of the state of batch b in an input or output.
  std::int64_t state_at(std::int64_t b) const {
    return (how.batch_first ? b * s.directions + d : d * s.batch + b) * s.hidden;
  }
  /// Sets the state before the first step: the initial one, or 0. The final state of an empty sequence is 0, whatever
  /// its initial state is.
  void begin(const value& initial, C* to) const {
    for (std::int64_t b = 0; b < s.batch; ++b, to += s.hidden)
      if (initial && !(lengths && lengths[b] == 0)) load_floats(initial, state_at(b), to, s.hidden);
      else std::fill_n(to, s.hidden, C(0));
  }
  /// Writes the state after the last step.
  void finish(const C* from, const value* to) const {
    for (std::int64_t b = 0; to && b < s.batch; ++b) save_floats(from + b * s.hidden, *to, state_at(b), s.hidden);
  }

  void rnn_cell(std::int64_t b, C* gate) const {
    const C* const from = products + b * s.width;
    for (std::int64_t j = 0; j < s.hidden; ++j) gate[j] += from[j];
    activate(how.f[d], C(how.clip), gate, s.hidden);
    std::copy_n(gate, s.hidden, state + b * s.hidden);
  }
  /// The order of gates is i, o, f, c.
  void lstm_cell(std::int64_t b, C* gate) const {
    const std::int64_t n = s.hidden;
    const C* const from = products + b * s.width;
    C *const i = gate, *const o = gate + n, *const f = gate + 2 * n, *const g = gate + 3 * n;
    C *const cell = memory + b * n, *const out = state + b * n;
    for (std::int64_t j = 0; j < s.width; ++j) gate[j] += from[j];
    if (peepholes)
      for (std::int64_t j = 0; j < n; ++j) i[j] += peepholes[j] * cell[j], f[j] += peepholes[2 * n + j] * cell[j];
    activate(how.f[d], C(how.clip), i, n);
    if (how.input_forget) {
      for (std::int64_t j = 0; j < n; ++j) f[j] = C(1) - i[j];
    } else {
      activate(how.f[d], C(how.clip), f, n);
    }
    activate(how.g[d], C(how.clip), g, n);
    for (std::int64_t j = 0; j < n; ++j) cell[j] = f[j] * cell[j] + i[j] * g[j];
    if (peepholes)
      for (std::int64_t j = 0; j < n; ++j) o[j] += peepholes[n + j] * cell[j];
    activate(how.f[d], C(how.clip), o, n);
    std::copy_n(cell, n, out);
    activate(how.h[d], C(0), out, n);
    for (std::int64_t j = 0; j < n; ++j) out[j] *= o[j];
  }
  /// Computes the gates z and r, and the part of h that depends on r and the state; gru_cell() then computes h. The
  /// order of gates is z, r, h.
  void gru_gates(std::int64_t b, C* gate) const {
    const std::int64_t n = s.hidden;
    const C* const from = products + b * s.width;
    for (std::int64_t j = 0; j < 2 * n; ++j) gate[j] += from[j];
    activate(how.f[d], C(how.clip), gate, 2 * n);
    for (std::int64_t j = 0; j < n; ++j) {
      const C r = gate[n + j];
      if (how.linear_before_reset) gate[2 * n + j] += r * (from[2 * n + j] + (bias ? bias[2 * n + j] : C(0)));
      else reset[b * n + j] = r * state[b * n + j];
    }
  }
  void gru_cell(std::int64_t b, C* gate) const {
    const std::int64_t n = s.hidden;
    C* const h = gate + 2 * n;
    if (!how.linear_before_reset)
      for (std::int64_t j = 0; j < n; ++j) h[j] += products[b * n + j];
    activate(how.g[d], C(how.clip), h, n);
    for (std::int64_t j = 0; j < n; ++j) {
      C& out = state[b * n + j];
      out = (C(1) - gate[j]) * h[j] + gate[j] * out;
    }
  }

  /// Calls f(batch, its gates), on several workers, for all batches that have not ended at step t.
  template <class F>
  void each_batch(run_context& c, std::int64_t t, const F& f) const {
    parallel_each_row(c, s.batch, grain_of(4096, s.width), [&](std::int64_t b, std::size_t) {
      if (const std::int64_t at = time(t, b); at >= 0) f(b, gates_at(at, b));
    });
  }
  status run(run_context& c) const {
    using cell = recurrent_state::cell;
    for (std::int64_t t = 0; t < s.steps; ++t) {
      if (c.stopped()) return status_code::canceled;
      if (rounded) round_to_steps(state, s.batch * s.hidden, rounded);
      for (std::int64_t b = 0; memories && b < s.batch; ++b) {
        C* const to = std::copy_n(state + b * s.hidden, s.hidden, step_input + b * (s.hidden + s.answer));
        std::copy_n(memories->answer(b), s.answer, to);
      }
      by_state.run(c, memories ? step_input : rounded ? rounded : state, products);
      if (how.kind == cell::gru) {
        if (!how.linear_before_reset) std::fill_n(reset, s.batch * s.hidden, C(0));
        each_batch(c, t, [&](std::int64_t b, C* gate) { gru_gates(b, gate); });
        if (!how.linear_before_reset) by_reset.run(c, reset, products);
      }
      each_batch(c, t, [&](std::int64_t b, C* gate) {
        if (how.kind == cell::rnn) rnn_cell(b, gate);
        else if (how.kind == cell::lstm) lstm_cell(b, gate);
        else gru_cell(b, gate);
        if (memories) memories->attend(b, state + b * s.hidden);
        if (y) save_floats(state + b * s.hidden, *y, y_at(time(t, b), b), s.hidden);
      });
    }
    return {};
  }
};

/// Packs R^T of one direction as panels.
template <class C>
result<step_product<C>> pack_step(run_context& c, const number_source<C, or_narrow<C>>& r, std::int64_t m,
                                  std::int64_t n, std::int64_t k) {
  std::size_t b_size = 0, a_size = 0;
  if (!packed_b_size<C>(k, n, b_size) || !packed_a_size<C>(m, k, a_size)) return status_code::out_of_memory;
  const result<std::span<C>> panels = c.scratch<C>(b_size), rows = c.scratch<C>(a_size);
  if (!panels || !rows) return status_code::out_of_memory;
  if (n > 0) pack_b(matrix_ref<C, or_narrow<C>>{r, 1, k}, k, n, panels->data());
  return step_product<C>{m, n, k, panels->data(), rows->data()};
}

/// Dequantizes 8-bit weights (input i, [directions, rows, columns]) to a transposed [directions, columns, rows] of C.
/// The inputs `scale_at` and scale_at + 1 are the scales and zero points: one per direction, or one per column.
template <class C>
result<const C*> decoded_weights(run_context& c, std::size_t i, std::size_t scale_at) {
  const value &codes = c.input(i), &scale = c.input(scale_at), &zero = c.input(scale_at + 1);
  const std::int64_t directions = codes.shape[0], rows = codes.shape[1], columns = codes.shape[2];
  const bool by_column = scale.shape.rank() == 2;
  if (status fits = check_shape(i == 1 ? "W_zero_point" : "R_zero_point", zero.shape, scale.shape); !fits) return fits;
  const result<C*> made = scratch_of<C>(c, {directions, rows, columns});
  if (!made) return made.error();
  for (std::int64_t d = 0; d < directions; ++d)
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t at = by_column ? d * columns + column : d;
      const C factor = C(scale.as_unchecked<float>()[at]);
      const std::int32_t origin = code_of(zero, at);
      for (std::int64_t row = 0; row < rows; ++row)
        (*made)[(d * columns + column) * rows + row] =
            C(code_of(codes, (d * rows + row) * columns + column) - origin) * factor;
    }
  return static_cast<const C*>(*made);
}

/// Reads X, W and R. In quantized precision it rounds X, dequantizes W and R, and takes a buffer for rounded states.
template <class C>
status read_factors(run_context& c, direction<C>& to, number_source<C, or_narrow<C>> (&factors)[3]) {
  factors[0] = source_of<C>(c.input(0));
  if (!to.how.quantized) return factors[1] = source_of<C>(c.input(1)), factors[2] = source_of<C>(c.input(2)), status{};
  const result<const C*> w = decoded_weights<C>(c, 1, 8), r = decoded_weights<C>(c, 2, 10);
  if (!w) return w.error();
  if (!r) return r.error();
  const geometry::recurrent& s = to.s;
  const result<C*> x = scratch_of<C>(c, {s.steps, s.batch, s.inputs}), state = scratch_of<C>(c, {s.batch, s.hidden});
  if (!x || !state) return status_code::out_of_memory;
  round_to_steps(factors[0].data, s.steps * s.batch * s.inputs, *x);
  factors[0] = {*x}, factors[1] = {*w}, factors[2] = {*r}, to.rounded = *state;
  return {};
}

/// Makes the outputs, which are 0 after the end of a shorter sequence.
template <class C>
status make_outputs(run_context& c, direction<C>& to) {
  value** const outputs[] = {&to.y, &to.y_h, &to.y_c};
  for (std::size_t i = 0; i < (to.how.kind == recurrent_state::cell::lstm ? 3 : 2); ++i) {
    const result<value*> made = optional_output(c, i, i == 0 ? to.s.y : to.s.state);
    if (!made) return made.error();
    *outputs[i] = *made;
  }
  if (to.y && to.lengths) std::memset(to.y->data, 0, to.y->bytes());
  return {};
}

/// Takes the memory that all directions use, with a buffer for sums of biases.
template <class C>
status take_memory(run_context& c, direction<C>& to, C*& biases) {
  const geometry::recurrent& s = to.s;
  const std::int64_t width = s.width, n = s.hidden;
  const std::pair<C**, extents> all[] = {{&to.gates, {s.steps, s.batch, width}},
                                         {&to.products, {s.batch, width}},
                                         {&to.reset, {s.batch, n}},
                                         {&to.state, {s.batch, n}},
                                         {&to.memory, {s.batch, n}},
                                         {&biases, {width}},
                                         {&to.step_input, {to.how.attends ? s.batch : 0, n + s.answer}}};
  for (const auto& [room, shape] : all) {
    const result<C*> made = scratch_of<C>(c, shape);
    if (!made) return made.error();
    *room = *made;
  }
  return {};
}

/// Prepares the attention of direction d: computes its keys, and sets its results ("answers") to 0.
template <class C>
result<memory_attention<C>> read_memory(run_context& c, const geometry::recurrent& s, std::int64_t d) {
  const extents& shape = c.input(11).shape;
  const std::int64_t size = c.input(8).shape[2], steps = shape[1], depth = shape[2];
  const C* in[14] = {};
  for (const std::size_t i : {8, 9, 10, 11, 13})
    in[i] = static_cast<const C*>(c.input(i).data);  // AttnLSTM has no narrow types
  const result<C*> keys = scratch_of<C>(c, {s.batch, steps, size}), answers = scratch_of<C>(c, {s.batch, s.answer});
  if (!keys || !answers) return status_code::out_of_memory;
  const C *const of_query = in[8] + d * s.hidden * size, *const score = in[10] + d * size;
  const C* const of_answer = in[13] ? in[13] + d * (s.hidden + depth) * s.answer : nullptr;
  const std::int32_t* const lengths = c.input(12) ? c.input(12).as_unchecked<std::int32_t>().data() : nullptr;
  memory_attention<C> made{s.batch, s.hidden, steps, depth,     size,    s.answer, in[11],
                           *keys,   of_query, score, of_answer, lengths, *answers, nullptr};
  const result<C*> rooms = scratch_of<C>(c, {s.batch, made.room()});
  if (!rooms) return rooms.error();
  made.rooms = *rooms;
  std::fill_n(*answers, s.batch * s.answer, C(0));
  const gemm_problem<C> p{s.batch * steps, size, depth, {in[11], depth, 1}, {in[9] + d * depth * size, size, 1},
                          nullptr,         *keys};
  if (status done = multiply(c, p); !done) return done;
  return made;
}

/// Concatenates R and the columns of W that multiply the result of attention (`answer` numbers): [width, hidden +
/// answer].
template <class C>
result<const C*> joined_weights(run_context& c, const geometry::recurrent& s, const C* w, const C* r) {
  const std::int64_t n = s.hidden, row = n + s.answer;
  const result<C*> made = scratch_of<C>(c, {s.width, row});
  if (!made) return made.error();
  for (std::int64_t i = 0; i < s.width; ++i) {
    std::copy_n(r + i * n, n, *made + i * row);
    std::copy_n(w + i * (s.inputs + s.answer) + s.inputs, s.answer, *made + i * row + n);
  }
  return static_cast<const C*>(*made);
}

/// Computes the part of the gates that does not depend on the state: X * W^T plus the biases. (With
/// linear_before_reset, GRU's bias of R for h is added later, as it is multiplied by the reset gate.)
template <class C>
status multiply_inputs(run_context& c, const recurrent_state& how, const geometry::recurrent& s,
                       const number_source<C, or_narrow<C>>& x, const number_source<C, or_narrow<C>>& w, const C* bias,
                       C* sum_of_biases, C* gates) {
  const std::int64_t width = s.width;
  gemm_epilogue<C> epilogue;
  if (bias) {
    for (std::int64_t j = 0; j < width; ++j) {
      const bool later = how.kind == recurrent_state::cell::gru && how.linear_before_reset && j >= 2 * s.hidden;
      sum_of_biases[j] = bias[j] + (later ? C(0) : bias[width + j]);
    }
    epilogue.bias = sum_of_biases, epilogue.bias_column_stride = 1;
  }
  const auto multiply_by = [&]<class B>(const B* from) {
    gemm_problem<C, B> p{s.steps * s.batch, width, s.inputs, {}, {from, 1, s.inputs + s.answer}, nullptr, gates};
    if constexpr (is_narrow_v<B>) p.a = {x, s.inputs, 1};
    else p.a = {x.data, s.inputs, 1};  // X has the type of W
    p.epilogue = epilogue;
    return multiply(c, p);
  };
  if constexpr (std::is_same_v<C, float>)
    if (w.narrow) return w.narrow.as_typed(multiply_by);
  return multiply_by(w.data);
}

/// Prepares direction to.d: packs its weights, and computes the part of its gates that does not depend on the state.
template <class C>
status begin_direction(run_context& c, direction<C>& to, const number_source<C, or_narrow<C>> (&factors)[3],
                       const C* biases, C* sum_of_biases, memory_attention<C>& memories) {
  const recurrent_state& how = to.how;
  const geometry::recurrent& s = to.s;
  const std::int64_t width = s.width, n = s.hidden;
  const number_source<C, or_narrow<C>> w = factors[1] + to.d * width * (s.inputs + s.answer);
  number_source<C, or_narrow<C>> r = factors[2] + to.d * width * n;
  if (how.attends) {
    const result<memory_attention<C>> read = read_memory<C>(c, s, to.d);
    if (!read) return read.error();
    const result<const C*> both = joined_weights<C>(c, s, w.data, r.data);
    if (!both) return both.error();
    memories = *read, to.memories = &memories, r = {*both};
  }
  const C* const bias = biases ? biases + to.d * 2 * width : nullptr;
  to.bias = bias ? bias + width : nullptr;
  if (status done = multiply_inputs(c, how, s, factors[0], w, bias, sum_of_biases, to.gates); !done) return done;
  const result<step_product<C>> by_state = pack_step<C>(c, r, s.batch, width, n + s.answer);
  if (!by_state) return by_state.error();
  to.by_state = *by_state;
  if (how.kind != recurrent_state::cell::gru || how.linear_before_reset) return {};
  const result<step_product<C>> by_reset = pack_step<C>(c, r + 2 * n * n, s.batch, n, n);
  if (by_reset) to.by_reset = *by_reset;
  return by_reset.error();
}

/// Reads the activations of all directions, and their parameters, which are listed in the same order.
status read_activations(const op::lstm_attributes& a, dtype type, recurrent_state& to) {
  using cell = recurrent_state::cell;
  const bool is_rnn = to.kind == cell::rnn;
  const std::size_t each = is_rnn ? 1 : to.kind == cell::lstm ? 3 : 2;
  const std::span<const std::string_view> names = a.activations;
  std::size_t alpha = 0, beta = 0;
  // The default of RNN's activations in ONNX has two names for any direction; files may contain it.
  if (!names.empty() && !(is_rnn && names.size() == 2))
    if (status s = of_model(check_count("activations", std::int64_t(names.size()), std::int64_t(each) * to.directions));
        !s)
      return s;
  for (std::size_t d = 0; d < std::size_t(to.directions); ++d)
    for (std::size_t i = 0; i < each; ++i) {
      const std::string_view otherwise = !is_rnn && i == 0 ? "sigmoid" : "tanh";
      const std::string_view name = names.empty() ? otherwise : names[d * each + i];
      const activation_row* const row = find_activation(name);
      if (!row) return bad_attribute("activation '", name, "' is not one that ONNX defines");
      gate_activation& gate = (i == 0 ? to.f : i == 1 ? to.g : to.h)[d];
      gate = {row->loop(type), row->preset};
      if (row->takes_alpha && alpha < a.activation_alpha.size()) gate.parameters.a = a.activation_alpha[alpha++];
      if (row->takes_beta && beta < a.activation_beta.size()) gate.parameters.b = a.activation_beta[beta++];
    }
  return {};
}

}  // namespace

result<recurrent_state> recurrent_state::read(const bind_context& c, cell kind) {
  const attributes_of<op::LSTM> a{c.attributes};  // the other operators have no more, but for linear_before_reset
  recurrent_state made;
  made.kind = kind;
  made.directions = a.direction == op::direction_choice::bidirectional ? 2 : 1;
  made.backwards = a.direction == op::direction_choice::reverse;
  made.clip = a.clip.value_or(0);
  made.batch_first = a.layout != 0, made.input_forget = a.input_forget != 0;
  made.linear_before_reset = kind == cell::gru && attributes_of<op::GRU>{c.attributes}.linear_before_reset != 0;
  if (status read = read_activations(a, c.inputs[0].type, made); !read) return read;
  return made;
}

template <class C>
status recurrent_state::run_as(run_context& c) const {
  const result<geometry::recurrent> read = read_sizes(*this, c);
  if (!read) return read.error();
  direction<C> one{*this, *read};
  if (const value& lengths = c.input(4)) one.lengths = lengths.as_unchecked<std::int32_t>().data();
  if (status made = make_outputs(c, one); !made) return made;
  if (read->batch == 0 || read->hidden == 0) return {};  // no output has elements; X may have 2^62 steps or batches
  const result<const C*> biases = wide_vector<C>(c, c.input(3)), peepholes = wide_vector<C>(c, c.input(7));
  if (!biases || !peepholes) return status_code::out_of_memory;
  number_source<C, or_narrow<C>> factors[3];
  if (status done = read_factors(c, one, factors); !done) return done;
  C* sum_of_biases = nullptr;
  if (status taken = take_memory(c, one, sum_of_biases); !taken) return taken;
  const value none;
  const bool is_lstm = kind == cell::lstm;
  for (one.d = 0; one.d < one.s.directions; ++one.d) {
    one.reverse = backwards || one.d == 1;
    one.peepholes = is_lstm && *peepholes ? *peepholes + one.d * 3 * one.s.hidden : nullptr;
    memory_attention<C> memories{};
    if (status begun = begin_direction(c, one, factors, *biases, sum_of_biases, memories); !begun) return begun;
    one.begin(c.input(5), one.state), one.begin(is_lstm ? c.input(6) : none, one.memory);
    if (status done = one.run(c); !done) return done;
    one.finish(one.state, one.y_h), one.finish(one.memory, one.y_c);
  }
  return {};
}

status recurrent_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
