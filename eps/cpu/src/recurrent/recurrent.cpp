#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/recurrent.hpp>
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

/// The sizes of a run, which have been checked.
struct sizes {
  std::int64_t length, batch, inputs, hidden, gates, directions;
  std::int64_t answer = 0;  // elements of the attention's answer, which are appended to the inputs that W multiplies
  std::int64_t width() const { return gates * hidden; }
  extents state(bool batch_first) const {
    return batch_first ? extents{batch, directions, hidden} : extents{directions, batch, hidden};
  }
};

/// Checks the lengths of sequences, if they are given: [batch] numbers up to `most`.
status check_lengths(std::string_view name, const value& lengths, std::int64_t most) {
  for (std::int64_t b = 0; lengths && b < lengths.shape[0]; ++b)
    if (status fits = check_element(name, lengths.as_unchecked<std::int32_t>()[b], 0, most); !fits) return fits;
  return {};
}

/// Checks the inputs of the attention, and sets the size of its result ("answer").
status check_memory(run_context& c, sizes& s) {
  const value &memory = c.input(11), &lengths = c.input(12);
  for (const std::size_t i : {8, 9, 10, 11})
    if (status given = check_needs("the attention", true, "QW, MW, V and M", bool(c.input(i))); !given) return given;
  if (status fits = check_lengths("memory_seq_lens", lengths, memory.shape[1]); !fits) return fits;
  s.answer = c.input(13) ? c.input(13).shape[2] : memory.shape[2];
  return check_count("a row of W, without its inputs,", c.input(1).shape[2] - s.inputs, s.answer);
}

result<sizes> read_sizes(const recurrent_state& how, run_context& c) {
  const extents &x = c.input(0).shape, &w = c.input(1).shape, &r = c.input(2).shape;
  if (status fits = check_shape("W", w, {how.directions, w[1], w[2]}); !fits) return fits;
  sizes s{x[how.batch_first ? 1 : 0],
          x[how.batch_first ? 0 : 1],
          x[2],
          r[how.quantized ? 1 : 2],
          how.gates(),
          how.directions};
  std::int64_t width = 0, all = 0, rows = 0;
  const bool fits_r = checked_multiply(s.hidden, 2 * s.gates, width) && checked_multiply(width, s.directions, all);
  const extents state = s.state(how.batch_first);
  const bool is_lstm = how.kind == recurrent_state::cell::lstm;
  if (status fits =
          check_all({check_fits("X", checked_multiply(s.length, s.batch, rows)), check_fits("R", fits_r),
                     check_input("sequence_lens", c.input(4), {s.batch}), check_input("initial_h", c.input(5), state),
                     is_lstm ? check_input("initial_c", c.input(6), state) : status{},
                     how.attends ? check_memory(c, s) : status{}});
      !fits)
    return fits;
  if (status fits = check_lengths("sequence_lens", c.input(4), s.length); !fits) return fits;
  return s;
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
  sizes s;
  std::size_t d;
  bool reverse;
  const C* bias;                        // the bias of R, [gates * hidden]; null: none
  const C* peepholes;                   // [3 * hidden], of i, o, f; null: none
  const std::int32_t* lengths;          // the length of each batch; null: all have s.length
  C* gates;                             // the gates of all steps, [length * batch, width], with the rows of X
  C* products;                          // [batch, width]
  C* reset;                             // [batch, hidden], for GRU
  C* state;                             // [batch, hidden]
  C* memory;                            // the cell state of LSTM, [batch, hidden]
  value* y;                             // the output Y, or null
  C* rounded;                           // a buffer for the state in quantized precision, or null
  const memory_attention<C>* memories;  // the attention of AttnLSTM, or null
  C* step_input;                        // with attention, [batch, hidden + answer]: the state and the answer
  step_product<C> by_state, by_reset;

  std::int64_t length_of(std::int64_t b) const { return lengths ? lengths[b] : s.length; }
  /// The position in the sequence of batch b at step t; -1 if the sequence has ended.
  std::int64_t time(std::int64_t t, std::int64_t b) const {
    const std::int64_t n = length_of(b);
    return t >= n ? -1 : reverse ? n - 1 - t : t;
  }
  C* gates_at(std::int64_t time, std::int64_t b) const {
    return gates + (how.batch_first ? b * s.length + time : time * s.batch + b) * s.width();
  }
  std::int64_t y_at(std::int64_t time, std::int64_t b) const {
    const std::int64_t row = how.batch_first ? (b * s.length + time) * s.directions + std::int64_t(d)
                                             : (time * s.directions + std::int64_t(d)) * s.batch + b;
    return row * s.hidden;
  }

  void rnn_cell(std::int64_t b, C* gate) const {
    const C* const from = products + b * s.width();
    for (std::int64_t j = 0; j < s.hidden; ++j) gate[j] += from[j];
    activate(how.f[d], C(how.clip), gate, s.hidden);
    std::copy_n(gate, s.hidden, state + b * s.hidden);
  }
  /// The order of gates is i, o, f, c.
  void lstm_cell(std::int64_t b, C* gate) const {
    const std::int64_t n = s.hidden;
    const C* const from = products + b * s.width();
    C *const i = gate, *const o = gate + n, *const f = gate + 2 * n, *const g = gate + 3 * n;
    C *const cell = memory + b * n, *const out = state + b * n;
    for (std::int64_t j = 0; j < s.width(); ++j) gate[j] += from[j];
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
    const C* const from = products + b * s.width();
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
    parallel_each_row(c, s.batch, grain_of(4096, s.width()), [&](std::int64_t b, std::size_t) {
      if (const std::int64_t at = time(t, b); at >= 0) f(b, gates_at(at, b));
    });
  }
  status run(run_context& c) const {
    using cell = recurrent_state::cell;
    for (std::int64_t t = 0; t < s.length; ++t) {
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

/// Reads X, W and R, and dequantizes quantized weights.
template <class C>
status read_factors(const recurrent_state& how, run_context& c, number_source<C, or_narrow<C>> (&factors)[3]) {
  for (const std::size_t i : {0, 1, 2}) {
    if (i == 0 || !how.quantized) {
      factors[i] = source_of<C>(c.input(i));
      continue;
    }
    const result<const C*> decoded = decoded_weights<C>(c, i, i == 1 ? 8 : 10);
    if (!decoded) return decoded.error();
    factors[i] = {*decoded};
  }
  return {};
}

/// Calls f(offset in an input or output, offset in [batch, hidden]) for the state of direction d of each batch.
template <class F>
void each_state_row(const recurrent_state& how, const sizes& s, std::int64_t d, const F& f) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const std::int64_t row = how.batch_first ? b * s.directions + d : d * s.batch + b;
    f(row * s.hidden, b * s.hidden);
  }
}

/// Prepares the attention of direction d: computes its keys, and sets its results ("answers") to 0.
template <class C>
result<memory_attention<C>> read_memory(run_context& c, const sizes& s, std::int64_t d) {
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
result<const C*> joined_weights(run_context& c, const sizes& s, const C* w, const C* r) {
  const std::int64_t n = s.hidden, row = n + s.answer;
  const result<C*> made = scratch_of<C>(c, {s.width(), row});
  if (!made) return made.error();
  for (std::int64_t i = 0; i < s.width(); ++i) {
    std::copy_n(r + i * n, n, *made + i * row);
    std::copy_n(w + i * (s.inputs + s.answer) + s.inputs, s.answer, *made + i * row + n);
  }
  return static_cast<const C*>(*made);
}

/// Computes the part of the gates that does not depend on the state: X * W^T plus the biases. (With
/// linear_before_reset, GRU's bias of R for h is added later, as it is multiplied by the reset gate.)
template <class C>
status multiply_inputs(run_context& c, const recurrent_state& how, const sizes& s,
                       const number_source<C, or_narrow<C>>& x, const number_source<C, or_narrow<C>>& w, const C* bias,
                       C* sum_of_biases, C* gates) {
  const std::int64_t width = s.width();
  gemm_epilogue<C> epilogue;
  if (bias) {
    for (std::int64_t j = 0; j < width; ++j) {
      const bool later = how.kind == recurrent_state::cell::gru && how.linear_before_reset && j >= 2 * s.hidden;
      sum_of_biases[j] = bias[j] + (later ? C(0) : bias[width + j]);
    }
    epilogue.bias = sum_of_biases, epilogue.bias_column_stride = 1;
  }
  const auto multiply_by = [&]<class B>(const B* from) {
    gemm_problem<C, B> p{s.length * s.batch, width, s.inputs, {}, {from, 1, s.inputs + s.answer}, nullptr, gates};
    if constexpr (is_narrow_v<B>) p.a = {x, s.inputs, 1};
    else p.a = {x.data, s.inputs, 1};  // X has the type of W
    p.epilogue = epilogue;
    return multiply(c, p);
  };
  if constexpr (std::is_same_v<C, float>)
    if (w.narrow) return w.narrow.as_typed(multiply_by);
  return multiply_by(w.data);
}

}  // namespace

result<recurrent_state> recurrent_state::read(const bind_context& c, cell kind) {
  const attributes_of<op::LSTM> a{c.attributes};  // the other operators have no more, but for linear_before_reset
  recurrent_state made;
  made.kind = kind;
  made.directions = a.direction == op::direction_choice::bidirectional ? 2 : 1;
  made.backwards = a.direction == op::direction_choice::reverse;
  made.hidden = a.hidden_size.value_or(0), made.clip = a.clip.value_or(0);
  made.batch_first = a.layout != 0, made.input_forget = a.input_forget != 0;
  made.linear_before_reset = kind == cell::gru && attributes_of<op::GRU>{c.attributes}.linear_before_reset != 0;
  const std::size_t each = kind == cell::rnn ? 1 : kind == cell::lstm ? 3 : 2;
  const std::span<const std::string_view> names = a.activations;
  const std::span<const float> alphas = a.activation_alpha, betas = a.activation_beta;
  std::size_t alpha = 0, beta = 0;
  // The default of RNN's activations in ONNX has two names for any direction; files may contain it.
  const bool is_default = kind == cell::rnn && names.size() == 2;
  if (!names.empty() && !is_default)
    if (status s =
            of_model(check_count("activations", std::int64_t(names.size()), std::int64_t(each) * made.directions));
        !s)
      return s;
  for (std::size_t d = 0; d < std::size_t(made.directions); ++d)
    for (std::size_t i = 0; i < each; ++i) {
      const bool gate = kind != cell::rnn && i == 0;
      const std::string_view name = names.empty() ? gate ? "sigmoid" : "tanh" : names[d * each + i];
      const activation_row* const row = find_activation(name);
      if (!row) return bad_attribute("activation '", name, "' is not one that ONNX defines");
      gate_activation& to = (i == 0 ? made.f : i == 1 ? made.g : made.h)[d];
      to = {row->loop(c.inputs[0].type), row->preset};
      if (row->takes_alpha && alpha < alphas.size()) to.parameters.a = alphas[alpha++];
      if (row->takes_beta && beta < betas.size()) to.parameters.b = betas[beta++];
    }
  return made;
}

template <class C>
status recurrent_state::run_as(run_context& c) const {
  const result<sizes> read = read_sizes(*this, c);
  if (!read) return read.error();
  const sizes s = *read;
  const bool is_lstm = kind == cell::lstm;
  const extents y_shape = batch_first ? extents{s.batch, s.length, s.directions, s.hidden}
                                      : extents{s.length, s.directions, s.batch, s.hidden};
  const extents state_shape = s.state(batch_first);
  const result<value*> y = optional_output(c, 0, y_shape), y_h = optional_output(c, 1, state_shape);
  result<value*> y_c = static_cast<value*>(nullptr);
  if (is_lstm) y_c = optional_output(c, 2, state_shape);
  if (!y) return y.error();
  if (!y_h) return y_h.error();
  if (!y_c) return y_c.error();
  const result<const C*> all_biases = wide_vector<C>(c, c.input(3)), all_peepholes = wide_vector<C>(c, c.input(7));
  if (!all_biases || !all_peepholes) return status_code::out_of_memory;
  number_source<C, or_narrow<C>> factors[3];
  if (status done = read_factors(*this, c, factors); !done) return done;
  C* rounded = nullptr;
  if (quantized) {
    const result<C*> x = scratch_of<C>(c, {s.length, s.batch, s.inputs}),
                     of_state = scratch_of<C>(c, {s.batch, s.hidden});
    if (!x) return x.error();
    if (!of_state) return of_state.error();
    round_to_steps(factors[0].data, s.length * s.batch * s.inputs, *x);
    factors[0] = {*x}, rounded = *of_state;
  }
  const auto* const lengths = c.input(4) ? c.input(4).as_unchecked<std::int32_t>().data() : nullptr;
  const std::int64_t width = s.width(), n = s.hidden;
  const result<C*> gates = scratch_of<C>(c, {s.length, s.batch, width}), products = scratch_of<C>(c, {s.batch, width});
  const result<C*> reset = scratch_of<C>(c, {s.batch, n}), state = scratch_of<C>(c, {s.batch, n}),
                   memory = scratch_of<C>(c, {s.batch, n});
  const result<C*> biases = scratch_of<C>(c, {width}),
                   step_input = scratch_of<C>(c, {attends ? s.batch : 0, n + s.answer});
  for (const result<C*>* r : {&gates, &products, &reset, &state, &memory, &biases, &step_input})
    if (!*r) return r->error();
  if (*y && lengths) std::memset((*y)->data, 0, (*y)->bytes());
  for (std::int64_t d = 0; d < s.directions; ++d) {
    const number_source<C, or_narrow<C>> w = factors[1] + d * width * (s.inputs + s.answer);
    number_source<C, or_narrow<C>> r = factors[2] + d * width * n;
    result<memory_attention<C>> memories = memory_attention<C>{};
    if (attends) {
      memories = read_memory<C>(c, s, d);
      if (!memories) return memories.error();
      const result<const C*> both = joined_weights<C>(c, s, w.data, r.data);
      if (!both) return both.error();
      r = {*both};
    }
    const C* const bias = *all_biases ? *all_biases + d * 2 * width : nullptr;
    if (status done = multiply_inputs(c, *this, s, factors[0], w, bias, *biases, *gates); !done) return done;
    const bool two_steps = kind == cell::gru && !linear_before_reset;
    const result<step_product<C>> by_state = pack_step<C>(c, r, s.batch, width, n + s.answer);
    if (!by_state) return by_state.error();
    result<step_product<C>> by_reset = step_product<C>{};
    if (two_steps) by_reset = pack_step<C>(c, r + 2 * n * n, s.batch, n, n);
    if (!by_reset) return by_reset.error();
    each_state_row(*this, s, d, [&](std::int64_t from, std::int64_t to) {
      for (const auto& [room, i] : {std::pair{*state, std::size_t{5}}, std::pair{*memory, std::size_t{6}}})
        if (c.input(i) && (i == 5 || is_lstm)) load_floats(c.input(i), from, room + to, n);
        else std::fill_n(room + to, n, C(0));
    });
    for (std::int64_t b = 0; lengths && b < s.batch; ++b)
      if (lengths[b] == 0) {  // the final state of an empty sequence is 0, whatever the initial state is
        std::fill_n(*state + b * n, n, C(0));
        std::fill_n(*memory + b * n, n, C(0));
      }
    const C* const peepholes = is_lstm && *all_peepholes ? *all_peepholes + d * 3 * n : nullptr;
    const C* const own_bias = bias ? bias + width : nullptr;
    const memory_attention<C>* const attended = attends ? &*memories : nullptr;
    const direction<C> one{*this,     s,         std::size_t(d), backwards || d == 1,
                           own_bias,  peepholes, lengths,        *gates,
                           *products, *reset,    *state,         *memory,
                           *y,        rounded,   attended,       *step_input,
                           *by_state, *by_reset};
    if (status done = one.run(c); !done) return done;
    each_state_row(*this, s, d, [&](std::int64_t to, std::int64_t from) {
      if (*y_h) save_floats(*state + from, **y_h, to, n);
      if (*y_c) save_floats(*memory + from, **y_c, to, n);
    });
  }
  return {};
}

status recurrent_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
