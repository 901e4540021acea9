#include <cameo/eps/cpu/bias_gelu.hpp>
#include <cameo/kernel/broadcast.hpp>

#include <cmath>

#include <detail/float_rows.hpp>

#include "binary_rows.hpp"
#include "refuse.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

template <class F, bool ByTanh>
struct on_floats {
  static void vectors(const float* x, std::int64_t x_step, const float* bias, std::int64_t bias_step, float* out,
                      std::int64_t n) {
    if (x_step && bias_step) biased_gelu(ByTanh, x, bias, out, n);
    else if (x_step && *bias == 0) map_floats(ByTanh ? float_map::gelu_by_tanh : float_map::gelu, x, out, n);
    else
      for (std::int64_t i = 0; i < n; ++i) out[i] = F{}(x[i * x_step], bias[i * bias_step]);
  }
};
struct exact : on_floats<exact, false> {
  template <class T>
  T operator()(T a, T b) const {
    const T x = a + b;
    return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
  }
};
struct by_tanh : on_floats<by_tanh, true> {
  template <class T>
  T operator()(T a, T b) const {
    const T x = a + b;
    return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  }
};

}  // namespace

status bias_gelu_state::run(run_context& c) const {
  const value &x = c.input(0), &bias = c.input(1);
  const extents& shape = x.shape;
  if (bias && (bias.shape.rank() != 1 || shape.rank() == 0 || bias.shape[0] != shape.back()))
    return bad_input("the bias has shape ", bias.shape, "; it must be as long as the last axis of ", shape);
  static constexpr extents scalar{};
  static constexpr std::uint64_t zero = 0;  // of any float type
  broadcast_loops<2> loops;
  if (!loops.make({&shape, bias ? &bias.shape : &scalar})) return bad_input("the bias does not broadcast");
  const result<value*> out = c.output(0, shape);
  if (!out) return out.error();
  const auto* const a = static_cast<const std::byte*>(x.data);
  const auto* const b = static_cast<const std::byte*>(bias ? bias.data : &zero);
  auto* const to = static_cast<std::byte*>((*out)->data);
  parallel_elements(c, loops.count(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    loops.rows(first, last, [&](std::int64_t at, const auto& from, std::int64_t n) {
      row(a + from[0] * bytes, loops.steps()[0], b + from[1] * bytes, loops.steps()[1], to + at * bytes, n);
    });
  });
  return {};
}

template <class Op>
result<bias_gelu<Op>> bias_gelu<Op>::bind(bind_context& c) {
  using function = std::conditional_t<std::is_same_v<Op, op::microsoft::BiasGelu>, exact, by_tanh>;
  bias_gelu made;
  const dtype type = c.inputs[0].type;
  made.row = find_binary_row<float_elements, function>(type);
  if (!made.row) return status{status_code::not_implemented, "no row for this type"};
  made.bytes = row_of(type).bits / 8;
  c.may_overwrite(0, 0);
  return made;
}

template struct bias_gelu<op::microsoft::BiasGelu>;
template struct bias_gelu<op::microsoft::FastGelu>;

}  // namespace cameo::inline CAMEO_ABI::eps
