#include <cameo/eps/cpu/linear_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include <cmath>
#include <limits>

#include "operands/operand_values.hpp"
#include "operands/scratch_of.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/float_output.hpp"
#include "skeletons/map.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

// ONNX's operators lack some attributes of com.microsoft's, which a file may contain for them, unchecked: the kernels
// keep them in their ranges.
constexpr std::int64_t most_states = 8, most_dilation = std::int64_t{1} << 31;

/// The shape of past_state and present_state: that of one state, with the window in front if there is one.
extents states_of(const extents& one, std::int64_t window) {
  extents all = one;
  if (window) all.insert(0, window);
  return all;
}

/// The sizes of a run of LinearAttention.
struct linear_sizes {
  std::int64_t batches, length, size, value_size;  // `size`: elements of a query or key; value_size: those of a value
  std::int64_t decays;                             // elements of decay per position: heads, or heads * size
  std::int64_t betas;                              // elements of beta per position: heads, or 1
};

/// Access to the inputs, by position and head.
struct linear_inputs {
  row_rooms<float> q, k, v, decay, beta;
};

/// Computes one head of keys, position by position. `s` is its state, [size, value_size].
struct linear_head {
  const linear_attention& how;
  const linear_sizes& z;
  float scale;
  const linear_inputs& in;
  std::size_t lane;
  float *s, *room, *y;
  const value &past, *present;  // the states of all heads; present: null if the node does not have the output

  /// Updates the state with position `row` (counted through all batches), and computes the outputs of the queries that
  /// use head `h` of keys.
  void step(std::int64_t row, std::int64_t h) const {
    const std::int64_t n = z.size, m = z.value_size;
    const float *const key = in.k.read(lane, (row * how.key_heads + h) * n, n), *const given = in.v.read(
                                                                                    lane, (row * how.key_heads + h) * m,
                                                                                    m);
    if (how.decays) {
      const bool each = z.decays != how.key_heads;
      const float* const g = in.decay.read(lane, row * z.decays + h * (each ? n : 1), each ? n : 1);
      const float all = each ? 0 : std::exp(g[0]);
      for (std::int64_t i = 0; i < n; ++i) scale_row(s + i * m, each ? std::exp(g[i]) : all);
    }
    const float* added = given;
    if (how.corrects) {
      std::fill_n(room, m, 0.0f);
      for (std::int64_t i = 0; i < n; ++i) add_row(s + i * m, key[i], room);
      const float rate = *in.beta.read(lane, row * z.betas + (z.betas == 1 ? 0 : h), 1);
      for (std::int64_t j = 0; j < m; ++j) room[j] = rate * (given[j] - room[j]);
      added = room;
    }
    for (std::int64_t i = 0; i < n; ++i) add_row(added, key[i], s + i * m);
    if (how.key_heads > how.query_heads) return attend(row, h / (how.key_heads / how.query_heads), h, how.key_heads);
    const std::int64_t group = how.query_heads / how.key_heads;
    for (std::int64_t at = h * group; at < (h + 1) * group; ++at) attend(row, at, at, how.query_heads);
  }

  /// Computes all positions of a head, counted through all batches, from its past state on; `heads` is their number.
  void run(const run_context& c, std::int64_t head, std::int64_t heads) const {
    const std::int64_t cells = z.size * z.value_size, window = how.window, slots = std::max<std::int64_t>(1, window);
    const auto place = [&](std::int64_t slot) { return (slot * heads + head) * cells; };
    if (past) load_floats(past, place(slots - 1), s, cells);
    else std::fill_n(s, cells, 0.0f);
    for (std::int64_t slot = 0; present && window && slot < window - std::min(window, z.length); ++slot) {
      std::fill_n(room, z.value_size, 0.0f);  // states before the first position are 0
      for (std::int64_t i = 0; i < z.size; ++i)
        save_floats(room, *present, place(slot) + i * z.value_size, z.value_size);
    }
    detail::stop_pace pace;
    for (std::int64_t t = 0; t < z.length; ++t) {
      if (c.stopped(pace)) return;
      step(head / how.key_heads * z.length + t, head % how.key_heads);
      const std::int64_t slot = slots - z.length + t;
      if (present && slot >= 0) save_floats(s, *present, place(slot), cells);
    }
    if (present && z.length == 0 && !window) save_floats(s, *present, head * cells, cells);
  }

 private:
  /// Computes an output: the state multiplied by a query.
  void attend(std::int64_t row, std::int64_t query_head, std::int64_t out_head, std::int64_t out_heads) const {
    const float* const query = in.q.read(lane, (row * how.query_heads + query_head) * z.size, z.size);
    float* const to = y + (row * out_heads + out_head) * z.value_size;
    std::fill_n(to, z.value_size, 0.0f);
    for (std::int64_t i = 0; i < z.size; ++i) add_row(s + i * z.value_size, query[i], to);
    scale_row(to, scale);
  }
  void scale_row(float* to, float by) const {
    for (std::int64_t j = 0; j < z.value_size; ++j) to[j] *= by;
  }
  void add_row(const float* from, float by, float* to) const {
    for (std::int64_t j = 0; j < z.value_size; ++j) to[j] += by * from[j];
  }
};

/// The index of an absent input: a decay or beta that update_rule does not need is not read.
constexpr std::size_t not_read = std::numeric_limits<std::size_t>::max();

status read_sizes(const linear_attention& how, run_context& c, linear_sizes& z) {
  const value &decay = c.input(how.decays ? 4 : not_read), &beta = c.input(how.corrects ? 5 : not_read);
  if (status usable = usable_inputs(c, {0, 1, 2}); !usable) return usable;
  const extents& s = c.input(0).shape;
  z = {s[0], s[1], s[2] / how.query_heads, c.input(2).shape[2] / how.key_heads, 0, 0};
  if (decay) z.decays = decay.shape[2];
  if (beta) z.betas = beta.shape[2];
  return check_all(
      {check_needs("update_rule", how.decays, "decay", bool(decay)),
       check_needs("update_rule", how.corrects, "beta", bool(beta)),
       check_input("past_state", c.input(3), states_of({z.batches, how.key_heads, z.size, z.value_size}, how.window))});
}

}  // namespace

result<linear_attention> linear_attention::bind(bind_context& c) {
  const attributes_of<op::microsoft::LinearAttention> a{c.attributes};
  using rule = op::update_rule_choice;
  const auto [few, many] = std::minmax(a.q_num_heads, a.kv_num_heads);
  if (status s = of_model(check_multiple("q_num_heads or kv_num_heads", many, few, "the other")); !s) return s;
  const std::int64_t window = std::clamp<std::int64_t>(a.state_window, 0, most_states);
  linear_attention made{a.q_num_heads, a.kv_num_heads, window, a.scale};
  made.decays = a.update_rule == rule::gated || a.update_rule == rule::gated_delta;
  made.corrects = a.update_rule == rule::delta || a.update_rule == rule::gated_delta;
  return made;
}

status linear_attention::run(run_context& c) const {
  linear_sizes z{};
  if (status fits = read_sizes(*this, c, z); !fits) return fits;
  const value& past = c.input(3);
  const std::int64_t heads = z.batches * key_heads, cells = z.size * z.value_size;
  const extents of_y{z.batches, z.length, std::max(query_heads, key_heads) * z.value_size};
  const auto y = float_output<float>::make(c, 0, of_y);
  if (!y) return y.error();
  const extents of_states = states_of({z.batches, key_heads, z.size, z.value_size}, window);
  const result<value*> made = optional_output(c, 1, of_states);
  if (!made) return made.error();
  const value* const present = *made;
  const auto rooms_of = [&](std::size_t i, std::int64_t n) { return row_rooms<float>::make(c, c.input(i), 1, n); };
  const auto q = rooms_of(0, z.size), k = rooms_of(1, z.size), v = rooms_of(2, z.value_size);
  const auto decay = rooms_of(4, z.size), beta = rooms_of(5, 1);
  if (!q || !k || !v || !decay || !beta) return status_code::out_of_memory;
  const linear_inputs in{*q, *k, *v, *decay, *beta};
  const auto rooms = scratch_of<float>(c, {std::int64_t(c.lanes()), z.size + 1, z.value_size});
  if (!rooms) return rooms.error();
  const float by = scale != 0 ? scale : float(1 / std::sqrt(double(std::max<std::int64_t>(1, z.size))));
  c.parallel_lanes(std::size_t(heads), [&](std::size_t head, std::size_t lane) {
    float* const s = *rooms + std::int64_t(lane) * (cells + z.value_size);
    linear_head{*this, z, by, in, lane, s, s + cells, y->data, past, present}.run(c, std::int64_t(head), heads);
  });
  y->store(c);
  return {};
}

result<causal_conv> causal_conv::bind(bind_context& c) {
  const attributes_of<op::microsoft::CausalConvWithState> a{c.attributes};
  if (a.ndim != 1)
    return refuse(status_code::not_implemented, "ndim is ", a.ndim, "; convolutions along one axis are there");
  return causal_conv{std::clamp<std::int64_t>(a.dilation, 1, most_dilation),
                     std::clamp<std::int64_t>(a.state_window, 0, most_states),
                     a.activation != decltype(a.activation)::none, a.channels_last != 0};
}

namespace {

/// The sizes of a run of a convolution.
struct conv_sizes {
  std::int64_t batches, length, channels, taps, kept;  // kept: the positions of a state
  std::int64_t row, room;                              // elements of a row with its state, and of a thread's buffer
  extents states;

  static status read(const causal_conv& how, const run_context& c, conv_sizes& z) {
    const extents &s = c.input(0).shape, &w = c.input(1).shape;
    if (!how.channels_last)
      if (status fits = check_count("the shape of input", std::int64_t(s.rank()), 3); !fits) return fits;
    if (status usable = usable_sizes("input", s); !usable) return usable;
    const std::size_t axis = how.channels_last ? 1 : 2;
    z.batches = s[0], z.length = s[axis], z.channels = how.channels_last ? s.count(2, s.rank()) : s[1], z.taps = w[2];
    if (status fits = check_shape("weight", w, {z.channels, 1, z.taps}); !fits) return fits;
    std::int64_t all = 0;
    if (!checked_multiply(z.taps - 1, how.dilation, z.kept) || !checked_add(z.kept, z.length, z.row) ||
        !checked_add(z.row, std::max(z.length, z.kept), z.room) ||
        !checked_multiply(z.room, std::int64_t(c.lanes()), all))
      return status_code::out_of_memory;
    extents one = s;
    one[axis] = z.kept;
    z.states = states_of(one, how.window);
    return check_input("past_state", c.input(3), z.states);
  }
};

}  // namespace

status causal_conv::run(run_context& c) const {
  const value &x = c.input(0), &past = c.input(3);
  conv_sizes z{};
  if (status read = conv_sizes::read(*this, c, z); !read) return read;
  const std::int64_t length = z.length, channels = z.channels, taps = z.taps, before = z.kept;
  const result<value*> y = c.output(0, x.shape), present = c.output(1, z.states);
  if (!y) return y.error();
  if (!present) return present.error();
  const auto weights = wide_vector<float>(c, c.input(1)), added = wide_vector<float>(c, c.input(2));
  const result<std::span<float>> rooms = c.scratch<float>(c.lanes() * std::size_t(z.room));
  if (!weights || !added || !rooms) return status_code::out_of_memory;
  const std::int64_t slots = std::max<std::int64_t>(1, window), all = z.batches * channels;
  const std::int64_t step = channels_last ? channels : 1;
  const auto first_of = [&](std::int64_t r, std::int64_t n) {
    return channels_last ? r / channels * n * channels + r % channels : r * n;
  };
  parallel_each(c, all, 1 + (1 << 13) / (z.row * taps + 1), [&](std::int64_t r, std::size_t lane) {
    float* const in = rooms->data() + std::int64_t(lane) * z.room;
    float* const to = in + z.row;
    const float* const kernel = *weights + r % channels * taps;
    if (past) gather_floats(past, (slots - 1) * all * before + first_of(r, before), step, 1, in, before);
    else std::fill_n(in, before, 0.0f);
    gather_floats(x, first_of(r, length), step, 1, in + before, length);
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const std::int64_t end = length - slots + slot + 1;  // the number of positions before the end of the slot's state
      if (window && end < 1) std::fill_n(to, before, 0.0f);
      scatter_floats(window && end < 1 ? to : in + end, **present, slot * all * before + first_of(r, before), step, 1,
                     before);
    }
    const float start = *added ? (*added)[r % channels] : 0;
    for (std::int64_t t = 0; t < length; ++t) {
      float sum = start;
      for (std::int64_t j = 0; j < taps; ++j) sum += kernel[j] * in[t + j * dilation];
      to[t] = sum;
    }
    if (silu) map_loop<op::Swish, float>()({1}, to, to, length);
    scatter_floats(to, **y, first_of(r, length), step, 1, length);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
