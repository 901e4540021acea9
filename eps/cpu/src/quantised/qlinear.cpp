#include <cameo/eps/cpu/qlinear.hpp>
#include <cameo/kernel/broadcast.hpp>

#include <array>
#include <cmath>
#include <limits>

#include "common/operand_values.hpp"
#include "quantized.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

constexpr std::int64_t elements_at_once = 1 << 14;

std::int64_t code_at(dtype type, const void* data, std::int64_t i) {
  const std::uint8_t byte = static_cast<const std::uint8_t*>(data)[i];
  return type == dtype::i8 ? std::int64_t(std::int8_t(byte)) : std::int64_t{byte};
}

/// What codes of a tensor stand for.
struct linear_code {
  dtype type = dtype::u8;
  float scale = 1;
  std::int64_t zero = 0;

  /// From the inputs with these numbers; the zero point may be left out.
  static result<linear_code> read(run_context& c, dtype type, std::size_t scale_at, std::size_t zero_at) {
    linear_code made{type};
    const value& scale = c.input(scale_at);
    if (scale.type != dtype::f32 || scale.shape.count() != 1)
      return bad_input("the scale, input ", scale_at, ", is ", scale.type, " ", scale.shape,
                       "; it must be one float for the whole tensor");
    made.scale = static_cast<const float*>(scale.data)[0];
    if (!c.has_input(zero_at) || !c.input(zero_at)) return made;
    const value& zero = c.input(zero_at);
    if (zero.type != type || zero.shape.count() != 1)
      return bad_input("the zero point, input ", zero_at, ", is ", zero.type, " ", zero.shape, "; it must be one ",
                       type, " for the whole tensor");
    made.zero = code_at(type, zero.data, 0);
    return made;
  }
  float meaning(std::int64_t code) const { return float(code - zero) * scale; }
  std::uint8_t code(float v) const { return std::uint8_t(saturated_sum(v / scale, zero, range_of(type))); }
  /// What each byte stands for.
  std::array<float, 256> meanings() const {
    std::array<float, 256> table{};
    for (int byte = 0; byte < 256; ++byte) {
      const auto b = std::uint8_t(byte);
      table[b] = meaning(code_at(type, &b, 0));
    }
    return table;
  }
};

/// The codes of f(what a byte stands for), for each byte; without f, of what it stands for.
std::array<std::uint8_t, 256> table_of(const linear_code& from, const linear_code& to, const activation& f = {}) {
  std::array<float, 256> meanings = from.meanings();
  apply_activation(f, meanings.data(), 256);
  std::array<std::uint8_t, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = to.code(meanings[i]);
  return table;
}

/// exp of the distance from the largest of `length` codes, which is one of 256 (a negative scale turns the order
/// round), all times the same number, and small enough that their sum, and each of them times `steps`, is finite. They
/// are ONNX Runtime's to the bit: with others a quotient next to a half gets another code.
std::array<float, 256> powers_of_distances(float scale, std::int64_t length, float steps) {
  double start = double(std::log(std::numeric_limits<float>::max() / float(length))) - 5;
  if (!std::isfinite(float(std::exp(start)) * steps)) start = 0;
  std::array<float, 256> powers{};
  for (int d = 0; d < 256; ++d) powers[std::size_t(d)] = float(std::exp(start - double(std::abs(scale)) * d));
  return powers;
}

const std::uint8_t* codes(const value& v) { return static_cast<const std::uint8_t*>(v.data); }
std::uint8_t* codes(value& v) { return static_cast<std::uint8_t*>(v.data); }

}  // namespace

status qlinear_binary_state::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(3);
  const result<linear_code> a_code = linear_code::read(c, a.type, 1, 2), b_code = linear_code::read(c, b.type, 4, 5),
                            y_code = linear_code::read(c, a.type, 6, 7);
  for (const result<linear_code>* each : {&a_code, &b_code, &y_code})
    if (!*each) return each->error();
  broadcast_loops<2> loops;
  if (!loops.make({&a.shape, &b.shape})) return bad_input("A ", a.shape, " and B ", b.shape, " don't broadcast");
  const result<value*> y = c.output(0, loops.shape());
  if (!y) return y.error();
  const std::array<float, 256> a_means = a_code->meanings(), b_means = b_code->meanings();
  const std::int64_t a_step = loops.steps()[0], b_step = loops.steps()[1];
  parallel_for(c, loops.count(), elements_at_once, [&](std::int64_t begin, std::int64_t end) {
    loops.rows(begin, end, [&](std::int64_t out, const std::array<std::int64_t, 2>& in, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        const float l = a_means[codes(a)[in[0] + i * a_step]], r = b_means[codes(b)[in[1] + i * b_step]];
        codes(**y)[out + i] = y_code->code(product ? l * r : l + r);
      }
    });
  });
  return {};
}

status qlinear_map_state::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> from = linear_code::read(c, x.type, 1, 2), to = linear_code::read(c, x.type, 3, 4);
  if (!from) return from.error();
  if (!to) return to.error();
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const std::array<std::uint8_t, 256> table = table_of(*from, *to, function);
  parallel_for(c, x.shape.count(), elements_at_once, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) codes(**y)[begin] = table[codes(x)[begin]];
  });
  return {};
}

status qlinear_softmax::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> from = linear_code::read(c, x.type, 1, 2), to = linear_code::read(c, x.type, 3, 4);
  if (!from) return from.error();
  if (!to) return to.error();
  std::int64_t at = axis;
  if (!normalize_axis(at, x.shape.rank())) return no_such_axis(axis, x.shape.rank());
  const result<value*> y = c.output(0, x.shape);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const auto a = std::size_t(at);
  const std::int64_t inner = to_the_end ? 1 : x.shape.count(a + 1, x.shape.rank());
  const std::int64_t length = to_the_end ? x.shape.count(a, x.shape.rank()) : x.shape[a];
  const float steps_of_one = 1 / to->scale;
  const std::array<float, 256> powers = powers_of_distances(from->scale, length, steps_of_one);
  const std::int64_t sign = from->scale < 0 ? -1 : 1;
  parallel_for(c, x.shape.count() / length, std::max<std::int64_t>(1, elements_at_once / length),
               [&](std::int64_t begin, std::int64_t end) {
                 for (; begin < end; ++begin) {
                   const std::int64_t first = begin / inner * inner * length + begin % inner;
                   const auto code = [&](std::int64_t i) { return sign * code_at(x.type, x.data, first + i * inner); };
                   std::int64_t most = code(0);
                   for (std::int64_t i = 1; i < length; ++i) most = std::max(most, code(i));
                   float sum = 0;
                   for (std::int64_t i = 0; i < length; ++i) sum += powers[std::size_t(most - code(i))];
                   for (std::int64_t i = 0; i < length; ++i) {
                     const float steps = powers[std::size_t(most - code(i))] * steps_of_one / sum;
                     codes(**y)[first + i * inner] = std::uint8_t(saturated_sum(steps, to->zero, range_of(x.type)));
                   }
                 }
               });
  return {};
}

status qlinear_global_average_pool::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> from = linear_code::read(c, x.type, 1, 2), to = linear_code::read(c, x.type, 3, 4);
  if (!from) return from.error();
  if (!to) return to.error();
  const std::size_t rank = x.shape.rank();
  if (rank < 3) return bad_input("X ", x.shape, " needs a batch, channels and at least one axis more");
  extents shape = x.shape;
  for (std::size_t i = channels_last ? 1 : 2; i < rank - (channels_last ? 1 : 0); ++i) shape[i] = 1;
  const result<value*> y = c.output(0, shape);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const std::int64_t channels = channels_last ? x.shape.back() : x.shape[1];
  const std::int64_t points = x.shape.count() / (*y)->shape.count();
  parallel_for(c, shape.count(), std::max<std::int64_t>(1, elements_at_once / std::max<std::int64_t>(1, points)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (; begin < end; ++begin) {
                   const std::int64_t step = channels_last ? channels : 1;
                   const std::int64_t first =
                       channels_last ? begin / channels * channels * points + begin % channels : begin * points;
                   std::int64_t sum = 0;
                   for (std::int64_t i = 0; i < points; ++i) sum += code_at(x.type, x.data, first + i * step);
                   const double mean = (double(sum) / double(points) - double(from->zero)) * double(from->scale);
                   codes(**y)[begin] = to->code(float(mean));
                 }
               });
  return {};
}

result<qlinear_average_pool> qlinear_average_pool::bind(bind_context& c) {
  const result<window> shape = window::bind(c);
  if (!shape) return shape.error();
  return qlinear_average_pool{*shape, c.int_or("count_include_pad", 0) != 0, c.int_or("channels_last", 0) != 0};
}

status qlinear_average_pool::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> from = linear_code::read(c, x.type, 1, 2), to = linear_code::read(c, x.type, 3, 4);
  if (!from) return from.error();
  if (!to) return to.error();
  if (x.shape.rank() < 3) return bad_input("X ", x.shape, " needs a batch, channels and at least one axis more");
  extents first_channels = x.shape;  // [N, C, ...]
  if (channels_last) {
    first_channels.insert(1, x.shape.back());
    first_channels.resize(x.shape.rank());
  }
  const result<placed_window> w = shape.place(first_channels, shape.kernel, true);
  if (!w) return w.error();
  extents y_shape{x.shape[0]};
  if (!channels_last) y_shape.push_back(first_channels[1]);
  for (std::size_t i = 0; i < w->rank; ++i) y_shape.push_back(w->axes[i].out);
  if (channels_last) y_shape.push_back(first_channels[1]);
  const result<value*> y = c.output(0, y_shape);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const std::int64_t channels = first_channels[1], outs = w->out_count(), ins = w->in_count(), taps = w->taps();
  // Element `point` of plane (n, channel), for so many points.
  const auto place = [&](std::int64_t plane, std::int64_t point, std::int64_t points) {
    return channels_last ? (plane / channels * points + point) * channels + plane % channels : plane * points + point;
  };
  parallel_for(c, y_shape.count(), std::max<std::int64_t>(1, elements_at_once / std::max<std::int64_t>(1, taps)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (; begin < end; ++begin) {
                   const std::int64_t plane = begin / outs, point = begin % outs;
                   std::int64_t sum = 0, inside = 0;
                   for (std::int64_t t = 0; t < taps; ++t) {
                     std::int64_t o = point, k = t, at = 0, step = 1;
                     bool in_image = true;
                     for (std::size_t d = w->rank; d-- > 0;) {
                       const window_axis& axis = w->axes[d];
                       const std::int64_t i =
                           o % axis.out * axis.stride - axis.pad_begin + k % axis.kernel * axis.dilation;
                       in_image = in_image && i >= 0 && i < axis.in;
                       at += i * step, step *= axis.in, o /= axis.out, k /= axis.kernel;
                     }
                     if (!in_image) continue;
                     sum += code_at(x.type, x.data, place(plane, at, ins)), ++inside;
                   }
                   const std::int64_t counted = include_pad ? taps : inside;
                   const double total = double(sum - inside * from->zero) * double(from->scale);
                   codes(**y)[place(plane, point, outs)] = to->code(float(total / double(counted)));
                 }
               });
  return {};
}

status qlinear_concat::run(run_context& c) const {
  const std::size_t parts = c.input_count() < 2 ? 0 : (c.input_count() - 2) / 3;
  if (parts == 0 || c.input_count() != 2 + 3 * parts)
    return bad_input("after Y's scale and zero point come a tensor, a scale and a zero point for each part");
  extents shape = c.input(2).shape;
  std::int64_t at = axis;
  if (!normalize_axis(at, shape.rank())) return no_such_axis(axis, shape.rank());
  const auto a = std::size_t(at);
  const dtype type = c.input(2).type;
  std::int64_t total = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const value& part = c.input(2 + 3 * p);
    bool fits = part.shape.rank() == shape.rank() && part.type == type;
    for (std::size_t i = 0; fits && i < shape.rank(); ++i) fits = i == a || part.shape[i] == shape[i];
    if (!fits || !checked_add(total, part.shape[a], total))
      return bad_input("part ", p, " is ", part.type, " ", part.shape, ", which does not fit ", type, " ",
                       c.input(2).shape, " along axis ", at);
  }
  const result<linear_code> to = linear_code::read(c, c.output_type(0), 0, 1);
  if (!to) return to.error();
  shape[a] = total;
  const result<value*> y = c.output(0, shape);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const std::int64_t outer = shape.count(0, a), row = shape.count(a, shape.rank());
  std::uint8_t* out = codes(**y);
  for (std::size_t p = 0; p < parts; ++p) {
    const value& part = c.input(2 + 3 * p);
    const result<linear_code> from = linear_code::read(c, type, 3 + 3 * p, 4 + 3 * p);
    if (!from) return from.error();
    const std::array<std::uint8_t, 256> table = table_of(*from, *to);
    const std::int64_t own = part.shape.count() / outer;
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < own; ++i) out[o * row + i] = table[codes(part)[o * own + i]];
    out += own;
  }
  return {};
}

status qlinear_where::run(run_context& c) const {
  const value &condition = c.input(0), &x = c.input(1), &y = c.input(4);
  const result<linear_code> x_code = linear_code::read(c, x.type, 2, 3), y_code = linear_code::read(c, x.type, 5, 6),
                            z_code = linear_code::read(c, x.type, 7, 8);
  for (const result<linear_code>* each : {&x_code, &y_code, &z_code})
    if (!*each) return each->error();
  broadcast_loops<3> loops;
  if (!loops.make({&condition.shape, &x.shape, &y.shape}))
    return bad_input("condition ", condition.shape, ", X ", x.shape, " and Y ", y.shape, " don't broadcast");
  const result<value*> z = c.output(0, loops.shape());
  if (!z) return z.error();
  const std::array<std::uint8_t, 256> of_x = table_of(*x_code, *z_code), of_y = table_of(*y_code, *z_code);
  const auto steps = loops.steps();
  const auto* const chosen = static_cast<const bool*>(condition.data);
  parallel_for(c, loops.count(), elements_at_once, [&](std::int64_t begin, std::int64_t end) {
    loops.rows(begin, end, [&](std::int64_t out, const std::array<std::int64_t, 3>& in, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        codes(**z)[out + i] =
            chosen[in[0] + i * steps[0]] ? of_x[codes(x)[in[1] + i * steps[1]]] : of_y[codes(y)[in[2] + i * steps[2]]];
    });
  });
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
