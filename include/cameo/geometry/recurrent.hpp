#pragma once
#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// The attributes of RNN, GRU, LSTM and their variants that shapes depend on.
struct recurrent_attributes {
  std::int64_t hidden = 0;  // hidden_size; 0: that of R
  std::int64_t directions = 1, gates = 1;
  bool batch_first = false;  // the attribute layout
  bool transposed = false;   // W and R are [directions, inputs or hidden, gates * hidden], as DynamicQuantizeLSTM's are
};

/// The shapes of the inputs, which may be unknown or absent.
template <size_kind D>
struct basic_recurrent_inputs {
  shape_view<D> x = {}, w = {}, r = {}, lengths = {}, initial_h = {}, initial_c = {};
  shape_view<D> memory = {}, answer_weights = {};  // of AttnLSTM, M and AW
  bool attends = false;                            // AttnLSTM: W has columns for the result of the attention, too
  bool has_answer_weights = false;
};
/// Inputs whose shapes are known.
using recurrent_inputs = basic_recurrent_inputs<std::int64_t>;

/// A recurrent network: its sizes, and the shapes of Y and of the last states. `width` is the number of elements of all
/// gates, `answer` that of the result of an attention, which W reads after the inputs.
template <size_kind D>
struct basic_recurrent {
  D steps{}, batch{}, inputs{}, hidden{}, width{}, answer{};
  std::int64_t directions = 1, gates = 1;
  sizes<D> y, state;
};
/// A recurrent network whose sizes are known.
using recurrent = basic_recurrent<std::int64_t>;

/// Checks an RNN, GRU or LSTM; ranks, and sizes that its own row of operators states, are not checked again. Refuses
/// weights for another number of directions, lengths and states that do not fit X, and sizes that overflow.
template <size_kind D>
constexpr result<basic_recurrent<D>> recurrent_of(const basic_recurrent_inputs<D>& in, const recurrent_attributes& how);

namespace detail {
/// Sets the size of the result of an attention, and checks that W has columns for it.
template <size_kind D>
constexpr status read_answer(const basic_recurrent_inputs<D>& in, basic_recurrent<D>& out) {
  if (in.has_answer_weights) out.answer = in.answer_weights ? in.answer_weights[2] : D{};
  else out.answer = in.memory ? in.memory[2] : D{};
  D columns{};
  if (!checked_sum(out.inputs, out.answer, columns))
    return wrong<D>("X has ", out.inputs, " inputs, the attention ", out.answer, ": more than 64 bits count");
  if (in.w && differ(in.w[2], columns))
    return wrong<D>("W has shape ", in.w.sizes, ", must have ", out.inputs, " + ", out.answer, " columns");
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_recurrent<D>> recurrent_of(const basic_recurrent_inputs<D>& in,
                                                  const recurrent_attributes& how) {
  if (how.hidden < 0) return wrong_attribute("attribute hidden_size is ", how.hidden, ", must be 1 or more");
  basic_recurrent<D> made;
  made.directions = how.directions, made.gates = how.gates;
  const D directions = fixed<D>(how.directions);
  if (in.w && differ(in.w[0], directions))
    return wrong<D>("W has shape ", in.w.sizes, ", must have ", directions, " along axis 0, the number of directions");
  if (in.x) {
    made.steps = in.x[how.batch_first ? 1 : 0], made.batch = in.x[how.batch_first ? 0 : 1], made.inputs = in.x[2];
    const D rows[] = {made.steps, made.batch};
    if (D count{}; !checked_product<D>(rows, count))
      return wrong<D>("X has shape ", in.x.sizes, ", more steps than 64 bits count");
  }
  if (how.hidden > 0) made.hidden = fixed<D>(how.hidden);
  else if (in.r) made.hidden = in.r[how.transposed ? 1 : 2];
  const D biases[] = {made.hidden, fixed<D>(2 * how.gates), directions}, gates[] = {made.hidden, fixed<D>(how.gates)};
  if (D count{}; !checked_product<D>(biases, count) || !checked_product<D>(gates, made.width))
    return wrong<D>("the network has ", made.hidden, " hidden elements: more gates than 64 bits count");
  if (in.attends)
    if (status s = detail::read_answer(in, made); !s) return s;
  if (how.batch_first) {
    made.y = {made.batch, made.steps, directions, made.hidden};
    made.state = {made.batch, directions, made.hidden};
  } else {
    made.y = {made.steps, directions, made.batch, made.hidden};
    made.state = {directions, made.batch, made.hidden};
  }
  const sizes<D> batch{made.batch};
  if (status s = check_same<D>(in.lengths, batch, "sequence_lens"); !s) return s;
  if (status s = check_same<D>(in.initial_h, made.state, "initial_h"); !s) return s;
  if (status s = check_same<D>(in.initial_c, made.state, "initial_c"); !s) return s;
  return made;
}

// Compiled in geometry/recurrent.cpp, once for loading and once for running.
extern template result<basic_recurrent<dim>> recurrent_of(const basic_recurrent_inputs<dim>&,
                                                          const recurrent_attributes&);
extern template result<recurrent> recurrent_of(const recurrent_inputs&, const recurrent_attributes&);

}  // namespace CAMEO_NAMESPACE::geometry
