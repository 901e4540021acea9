#include <cameo/eps/cpu/qlinear.hpp>
#include <cameo/geometry/joining.hpp>
#include <cameo/kernel/broadcast.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "code_rows.hpp"
#include "linear_code.hpp"
#include "machine/parallel_rows.hpp"
#include "operands/refuse.hpp"
#include "whole_sums.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

code_scale scale_of(const linear_code& code) { return {code.scale, float(code.zero)}; }

/// The exponentials of a quantized Softmax, by distance from the largest of `length` values (for a negative scale, from
/// the least): exp(start - |scale| * distance). `start` is such that their sum, and each of them times `steps`, is
/// finite. They have the same bits as in ONNX Runtime, since otherwise a quotient next to a tie would be rounded
/// differently.
std::array<float, 256> powers_of_distances(float scale, std::int64_t length, float steps) {
  double start = double(std::log(std::numeric_limits<float>::max() / float(length))) - 5;
  if (!std::isfinite(float(std::exp(start)) * steps)) start = 0;
  std::array<float, 256> powers{};
  for (int d = 0; d < 256; ++d) powers[std::size_t(d)] = float(std::exp(start - double(std::abs(scale)) * d));
  return powers;
}

/// The values of a Softmax along an axis, or over all axes from it on.
result<geometry::slices> slices_of(const extents& x, std::int64_t axis, bool to_the_end) {
  const auto at = geometry::axis_of<std::int64_t>(axis, x.rank());
  if (!at) return at.error();
  return geometry::slices_at<std::int64_t>(x, *at, to_the_end ? x.rank() : *at + 1);
}

bool is_identity(const code_table& table) {
  for (std::size_t i = 0; i < 256; ++i)
    if (table[i] != i) return false;
  return true;
}
void map_or_copy(const code_table& table, bool identity, const std::uint8_t* x, std::uint8_t* y, std::int64_t n) {
  if (identity) std::memcpy(y, x, std::size_t(n));
  else map_codes(table.data(), x, y, n);
}

}  // namespace

status qlinear_binary_state::finish(bind_context& c) {
  const dtype type = c.inputs[0].type;
  a = linear_code_inputs::bind(c, type, 1, 2);
  b = linear_code_inputs::bind(c, type, 4, 5);
  y = linear_code_inputs::bind(c, type, 6, 7);
  c.may_overwrite(0, 0);
  c.may_overwrite(0, 3);
  if (product || !a.is_known || !b.is_known || !y.is_known) return {};
  const code_zip by{scale_of(a.known), scale_of(b.known), scale_of(y.known)};
  const result<const proven_sum*> found =
      with_codes(type, [&]<class T>(std::type_identity<T>) { return prove_sum<T>(c, by); });
  if (!found) return found.error();
  proven = *found;
  return {};
}

status qlinear_binary_state::run(run_context& c) const {
  const value &left = c.input(0), &right = c.input(3);
  const dtype type = left.type;
  const result<linear_code> a_code = a.read(c, type), b_code = b.read(c, type), y_code = y.read(c, type);
  for (const result<linear_code>* each : {&a_code, &b_code, &y_code})
    if (!*each) return each->error();
  broadcast_loops<2> loops;
  if (status s = loops.make({&left.shape, &right.shape}); !s) return s;
  const result<value*> out = c.output(0, loops.shape());
  if (!out) return out.error();
  const code_zip by{scale_of(*a_code), scale_of(*b_code), scale_of(*y_code)};
  with_codes(type, [&]<class T>(std::type_identity<T>) {
    const auto zip = product ? &zip_codes<code_product<T>> : &zip_codes<code_sum<T>>;
    const auto* const l = static_cast<const T*>(left.data);
    const auto* const r = static_cast<const T*>(right.data);
    auto* const to = static_cast<T*>((*out)->data);
    parallel_for(c, loops.count(), codes_at_once, [&](std::int64_t begin, std::int64_t end) {
      loops.rows(begin, end, [&](std::int64_t at, const std::array<std::int64_t, 2>& in, std::int64_t n) {
        std::int64_t done = 0;
        if (proven && loops.steps()[0] == 1 && loops.steps()[1] == 1)
          done = proven->add(proven->factors, codes(left) + in[0], codes(right) + in[1], codes(**out) + at, n);
        zip(by, l + in[0] + done * loops.steps()[0], loops.steps()[0], r + in[1] + done * loops.steps()[1],
            loops.steps()[1], to + at + done, n - done);
      });
    });
  });
  return {};
}

status qlinear_map_state::finish(bind_context& c, std::string_view function_name) {
  const result<activation> f = activation_named(function_name, dtype::f32);
  if (!f) return f.error();
  function = *f;
  function.give(0, attributes_of<op::microsoft::QLinearLeakyRelu>{c.attributes}.alpha);  // Sigmoid takes none
  input = linear_code_inputs::bind(c, c.inputs[0].type, 1, 2);
  output = linear_code_inputs::bind(c, c.inputs[0].type, 3, 4);
  if (input.is_known && output.is_known) table = table_of(input.known, output.known, function);
  c.may_overwrite(0, 0);
  return {};
}

status qlinear_map_state::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> x_code = input.read(c, x.type), y_code = output.read(c, x.type);
  if (!x_code) return x_code.error();
  if (!y_code) return y_code.error();
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const code_table now = input.is_known && output.is_known ? table : table_of(*x_code, *y_code, function);
  parallel_for(c, x.shape.count(), codes_at_once, [&](std::int64_t begin, std::int64_t end) {
    map_codes(now.data(), codes(x) + begin, codes(**y) + begin, end - begin);
  });
  return {};
}

result<qlinear_softmax> qlinear_softmax::bind(bind_context& c) {
  const operand& x = c.inputs[0];
  const attributes_of<op::microsoft::QLinearSoftmax> a{c.attributes};
  qlinear_softmax made{a.axis, a.opset < 13, linear_code_inputs::bind(c, x.type, 1, 2),
                       linear_code_inputs::bind(c, x.type, 3, 4)};
  if (!made.input.is_known || !made.output.is_known || !x.fixed_shape()) return made;
  const auto along = slices_of(x.shape, made.axis, made.to_the_end);
  if (!along) return made;
  made.known_length = along->size;
  const result<std::span<float>> kept = c.keep<float>(256);
  if (!kept) return kept.error();
  std::ranges::copy(powers_of_distances(made.input.known.scale, made.known_length, 1 / made.output.known.scale),
                    kept->begin());
  made.known_powers = *kept;
  return made;
}

namespace {

/// The rows of a Softmax: each has `length` values, which are `inner` apart.
struct softmax_rows {
  std::int64_t length, inner;
  dtype type;
  std::int64_t sign;              // the sign of the scale: with a negative one, the order of values is reversed
  std::array<float, 256> powers;  // exponentials, by distance to the row's largest value
  std::array<float, 256> steps;   // the exponentials in units of the scale of Y
  linear_code y_code;

  static constexpr std::int64_t at_once = 4;

  std::int64_t first_of(std::int64_t row) const { return row / inner * inner * length + row % inner; }
  std::int64_t code(const std::uint8_t* x, std::int64_t i) const { return sign * code_of(type, x[i * inner]); }

  std::int64_t most(const std::uint8_t* x) const {
    if (inner == 1 && sign > 0)
      return with_codes(type, [&]<class T>(std::type_identity<T>) -> std::int64_t {
        return most_of_codes(reinterpret_cast<const T*>(x), length);
      });
    std::int64_t found = code(x, 0);
    for (std::int64_t i = 1; i < length; ++i) found = std::max(found, code(x, i));
    return found;
  }

  /// Writes one row of y: exponentials / sum, quantized.
  void finish(const std::uint8_t* x, std::int64_t largest, float sum, std::uint8_t* y) const {
    const linear_code quotient{y_code.type, sum, y_code.zero};
    if (inner == 1 && length >= 256) {  // by tables: the result for each distance, and then for each byte
      code_table by_distance, by_byte;
      write_codes(quotient, steps.data(), by_distance.data(), 256);
      for (int byte = 0; byte < 256; ++byte) {
        const std::int64_t distance = largest - sign * code_of(type, std::uint8_t(byte));
        by_byte[std::size_t(byte)] =
            by_distance[std::size_t(distance & 255)];  // & is for bytes that the row does not have
      }
      return map_codes(by_byte.data(), x, y, length);
    }
    constexpr std::int64_t block = 256;
    float numbers[block];
    std::uint8_t made[block];
    for (std::int64_t done = 0; done < length; done += block) {
      const std::int64_t n = std::min(block, length - done);
      for (std::int64_t i = 0; i < n; ++i) numbers[i] = steps[std::size_t(largest - code(x, done + i))];
      write_codes(quotient, numbers, made, n);
      for (std::int64_t i = 0; i < n; ++i) y[(done + i) * inner] = made[i];
    }
  }

  /// Computes several rows at a time, to hide the latency of additions: each sum is formed in the order of its row.
  void run(const std::uint8_t* x, std::uint8_t* y, std::int64_t first, std::int64_t last) const {
    const std::uint8_t* rows[at_once];
    std::int64_t largest[at_once];
    float sums[at_once] = {};
    for (std::int64_t r = 0; r < at_once; ++r) {
      rows[r] = x + first_of(std::min(first + r, last - 1));
      largest[r] = most(rows[r]);
    }
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t r = 0; r < at_once; ++r) sums[r] += powers[std::size_t(largest[r] - code(rows[r], i))];
    for (std::int64_t r = 0; first + r < last; ++r) finish(rows[r], largest[r], sums[r], y + (rows[r] - x));
  }
};

}  // namespace

status qlinear_softmax::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> x_code = input.read(c, x.type), y_code = output.read(c, x.type);
  if (!x_code) return x_code.error();
  if (!y_code) return y_code.error();
  const auto along = slices_of(x.shape, axis, to_the_end);
  if (!along) return along.error();
  const result<value*> y = c.output(0, x.shape);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const std::int64_t inner = along->inner, length = along->size;
  const float steps_of_one = 1 / y_code->scale;
  softmax_rows rows{length, inner, x.type, x_code->scale < 0 ? -1 : 1, {}, {}, *y_code};
  if (!known_powers.empty() && length == known_length) std::ranges::copy(known_powers, rows.powers.begin());
  else rows.powers = powers_of_distances(x_code->scale, length, steps_of_one);
  for (std::size_t d = 0; d < 256; ++d) rows.steps[d] = rows.powers[d] * steps_of_one;
  const std::int64_t count = x.shape.count() / length, per = softmax_rows::at_once;
  const std::int64_t grain = grain_of(codes_at_once / 4, length * per);
  parallel_each_row(c, (count + per - 1) / per, grain, [&](std::int64_t i, std::size_t) {
    rows.run(codes(x), codes(**y), i * per, std::min(count, (i + 1) * per));
  });
  return {};
}

result<qlinear_concat> qlinear_concat::bind(bind_context& c) {
  const std::size_t parts = c.inputs.size() < 2 ? 0 : (c.inputs.size() - 2) / 3;
  if (parts == 0 || c.inputs.size() != 2 + 3 * parts)
    return bad_input("after Y's scale and zero point come a tensor, a scale and a zero point for each part");
  const result<std::span<linear_code_inputs>> from = c.keep<linear_code_inputs>(parts);
  const result<std::span<code_table>> tables = c.keep<code_table>(parts);
  if (!from || !tables) return status_code::out_of_memory;
  const attributes_of<op::microsoft::QLinearConcat> a{c.attributes};
  qlinear_concat made{a.axis, linear_code_inputs::bind(c, c.outputs[0].type, 0, 1), *from, *tables};
  for (std::size_t p = 0; p < parts; ++p) {
    linear_code_inputs& part = (*from)[p];
    part = linear_code_inputs::bind(c, c.inputs[2].type, 3 + 3 * p, 4 + 3 * p);
    if (part.is_known && made.output.is_known) (*tables)[p] = table_of(part.known, made.output.known);
    else made.tables = {};
  }
  return made;
}

namespace {

/// The tables of a Concat whose scales are not constant.
result<std::span<const code_table>> tables_of_run(run_context& c, const linear_code_inputs& to,
                                                  std::span<const linear_code_inputs> from) {
  const result<std::span<code_table>> made = c.scratch<code_table>(from.size());
  if (!made) return made.error();
  const result<linear_code> y = to.read(c, c.output_type(0));
  if (!y) return y.error();
  for (std::size_t p = 0; p < from.size(); ++p) {
    const result<linear_code> x = from[p].read(c, c.input(2).type);
    if (!x) return x.error();
    (*made)[p] = table_of(*x, *y);
  }
  return std::span<const code_table>{*made};
}

}  // namespace

status qlinear_concat::run(run_context& c) const {
  geometry::joined all{axis, false};
  for (std::size_t p = 2; p < c.input_count(); p += 3) {
    if (status s = check_type("a tensor", c.input(p).type, c.input(2).type); !s) return s;
    if (status s = all.add(c.input(p).shape, p); !s) return s;
  }
  result<std::span<const code_table>> by = tables;
  if (tables.empty()) by = tables_of_run(c, output, inputs);
  if (!by) return by.error();
  const result<value*> y = c.output(0, all.y());
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const geometry::slices to = all.slices();
  const std::int64_t outer = to.outer, row = to.size * to.inner;
  std::uint8_t* out = codes(**y);
  for (std::size_t p = 0; p < inputs.size(); ++p) {
    const value& part = c.input(2 + 3 * p);
    const std::int64_t own = part.shape.count() / outer;
    const bool identity = is_identity((*by)[p]);
    parallel_for(c, part.shape.count(), codes_at_once, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t i = begin % own, n = std::min(own - i, end - begin);
        map_or_copy((*by)[p], identity, codes(part) + begin, out + begin / own * row + i, n);
        begin += n;
      }
    });
    out += own;
  }
  return {};
}

result<qlinear_where> qlinear_where::bind(bind_context& c) {
  const dtype type = c.inputs[1].type;
  return qlinear_where{linear_code_inputs::bind(c, type, 2, 3), linear_code_inputs::bind(c, type, 5, 6),
                       linear_code_inputs::bind(c, type, 7, 8)};
}

namespace {

/// Requantizes a row of an operand of Where, of at most a block, with the scale of Z.
struct mapped_rows {
  static constexpr std::int64_t block = 1024;
  code_table table;
  std::uint8_t room[block];

  const std::uint8_t* map(const std::uint8_t* x, std::int64_t step, std::int64_t n) {
    if (step) map_codes(table.data(), x, room, n);
    else std::memset(room, table[*x], std::size_t(n));
    return room;
  }
};

}  // namespace

status qlinear_where::run(run_context& c) const {
  const value &condition = c.input(0), &a = c.input(1), &b = c.input(4);
  const result<linear_code> a_code = x.read(c, a.type), b_code = y.read(c, a.type), z_code = z.read(c, a.type);
  for (const result<linear_code>* each : {&a_code, &b_code, &z_code})
    if (!*each) return each->error();
  broadcast_loops<3> loops;
  if (status s = loops.make({&condition.shape, &a.shape, &b.shape}); !s) return s;
  const result<value*> out = c.output(0, loops.shape());
  if (!out) return out.error();
  const code_table of_a = table_of(*a_code, *z_code), of_b = table_of(*b_code, *z_code);
  const auto steps = loops.steps();
  const auto* const chosen = static_cast<const bool*>(condition.data);
  parallel_for(c, loops.count(), codes_at_once, [&](std::int64_t begin, std::int64_t end) {
    mapped_rows from_a{of_a, {}}, from_b{of_b, {}};
    bool repeated[mapped_rows::block];
    loops.rows(begin, end, [&](std::int64_t at, const std::array<std::int64_t, 3>& in, std::int64_t n) {
      for (std::int64_t i = 0; i < n; i += mapped_rows::block) {
        const std::int64_t m = std::min(mapped_rows::block, n - i);
        const bool* which = chosen + in[0] + i * steps[0];
        if (!steps[0])
          std::memset(repeated, *reinterpret_cast<const std::uint8_t*>(which) != 0, std::size_t(m)), which = repeated;
        choose_codes(which, from_a.map(codes(a) + in[1] + i * steps[1], steps[1], m),
                     from_b.map(codes(b) + in[2] + i * steps[2], steps[2], m), codes(**out) + at + i, m);
      }
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
