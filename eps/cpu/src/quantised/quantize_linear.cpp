#include <cameo/eps/cpu/quantize_linear.hpp>

#include <cmath>
#include <limits>

#include "common/refuse.hpp"
#include "elementwise/cast_rows.hpp"
#include "quantized.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

bool is_quantized_type(dtype type) {
  return (bit_of(type) &
          (mask_of<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::int32_t, uint4, int4, uint2, int2>)) !=
         0;
}

/// Where the scale of an element lies: element (o, a, i) of x as [outer, axis, inner] has number
/// (o * blocks + a / block) * step_inner + i * inner_step, for blocks; number a for axes; 0 for tensors.
struct placed_scales {
  enum class kind : std::uint8_t { tensor, axis, blocks } how = kind::tensor;
  std::int64_t length = 1, inner = 1, block = 1, blocks = 1;

  /// The scale's number for the first element of a run that starts at `at`; consecutive ones are `step` apart.
  std::int64_t first(std::int64_t at) const {
    if (how == kind::tensor) return 0;
    const std::int64_t row = at / inner, a = row % length;
    if (how == kind::axis) return a;
    return (row / length * blocks + a / block) * inner + at % inner;
  }
  std::int64_t step() const { return how == kind::blocks ? 1 : 0; }
  /// How many elements from `at` on have scales that first() and step() tell.
  std::int64_t run(std::int64_t at) const {
    return how == kind::tensor ? std::numeric_limits<std::int64_t>::max() : inner - at % inner;
  }
};

result<placed_scales> place_scales(const linear_quantization& q, const extents& x, const extents& scale) {
  placed_scales made;
  if (scale.count() == 1 && scale.rank() <= 1) return made;
  std::int64_t axis = q.axis;
  if (!normalize_axis(axis, x.rank()))
    return bad_input("axis ", q.axis, " is not in [-", x.rank(), ",", x.rank(), ") of x ", x);
  const auto at = std::size_t(axis);
  made.length = x[at], made.inner = x.count(at + 1, x.rank());
  if (scale.rank() == 1 && q.block == 0) {
    if (scale[0] != x[at]) return bad_input("the scale ", scale, " needs ", x[at], " elements, as axis ", axis, " has");
    made.how = placed_scales::kind::axis;
    return made;
  }
  if (q.block == 0) return bad_input("the scale ", scale, " of x ", x, " needs rank 0 or 1, or a block_size");
  extents want = x;
  want[at] = x[at] / q.block + (x[at] % q.block != 0);
  if (!(want == scale))
    return bad_input("the scale ", scale, " of x ", x, " must be ", want, " for blocks of ", q.block, " on axis ",
                     axis);
  made.how = placed_scales::kind::blocks, made.block = q.block, made.blocks = want[at];
  return made;
}

/// The scales as float, the zero points as W (int64 or float); zeros where there are none.
template <class W>
struct quantization {
  placed_scales places;
  std::span<float> scale;
  std::span<W> zero;
};
template <class W>
result<quantization<W>> read_quantization(const linear_quantization& q, run_context& c) {
  const value &x = c.input(0), &scale = c.input(1);
  result<placed_scales> places = place_scales(q, x.shape, scale.shape);
  if (!places) return places.error();
  const std::int64_t count = scale.shape.count();
  result<std::span<float>> scales = c.scratch<float>(std::size_t(count));
  if (!scales) return scales.error();
  result<std::span<W>> zeros = c.scratch<W>(std::size_t(count));
  if (!zeros) return zeros.error();
  read_wide<float>(scale.type, scale.data, 0, scales->data(), count);
  std::ranges::fill(*zeros, W(0));
  if (const value& zero = c.input(2); zero) {
    if (zero.shape.count() != count)
      return bad_input("the zero point ", zero.shape, " must have the shape of the scale ", scale.shape);
    read_wide<W>(zero.type, zero.data, 0, zeros->data(), count);
  }
  return quantization<W>{*places, *scales, *zeros};
}

/// Calls f(element in the block, scale's number) over [first, first + n).
template <class F>
void each_scaled(const placed_scales& places, std::int64_t first, std::int64_t n, F&& f) {
  const std::int64_t step = places.step();
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t m = std::min(n - done, places.run(first + done)), s = places.first(first + done);
    for (std::int64_t i = 0; i < m; ++i) f(done + i, s + i * step);
    done += m;
  }
}

constexpr std::int64_t elements_per_task = 32 * cast_block;

float rounded_to(dtype precision, float v) {
  if (precision == dtype::f16) return float(float16(v));
  if (precision == dtype::bf16) return float(bfloat16(v));
  return v;
}

status quantize_to_integers(const linear_quantization& q, run_context& c, const value& x, value& y, dtype precision) {
  const result<quantization<std::int64_t>> with = read_quantization<std::int64_t>(q, c);
  if (!with) return with.error();
  const cast_state how{dtype::i64, y.type, true};
  const integer_range range = range_of(y.type);
  parallel_elements(c, x.shape.count(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
    float wide[cast_block];
    std::int64_t out[cast_block];
    for (; begin < end; begin += cast_block) {
      const std::int64_t n = std::min(cast_block, end - begin);
      if (x.type == dtype::i32) {
        for (std::int64_t i = 0; i < n; ++i) wide[i] = float(static_cast<const std::int32_t*>(x.data)[begin + i]);
      } else {
        read_wide<float>(x.type, x.data, begin, wide, n);
      }
      each_scaled(with->places, begin, n, [&](std::int64_t i, std::int64_t s) {
        const auto k = std::size_t(s);
        out[i] = saturated_sum(rounded_to(precision, wide[i] / with->scale[k]), with->zero[k], range);
      });
      write_wide<std::int64_t>(how, out, y.data, begin, n);
    }
  });
  return {};
}

status quantize_to_floats(const linear_quantization& q, run_context& c, const value& x, value& y, dtype precision) {
  const result<quantization<float>> with = read_quantization<float>(q, c);
  if (!with) return with.error();
  const cast_state how{dtype::f32, y.type, q.saturate};
  parallel_elements(c, x.shape.count(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
    float wide[cast_block];
    for (; begin < end; begin += cast_block) {
      const std::int64_t n = std::min(cast_block, end - begin);
      if (x.type == dtype::i32) {
        for (std::int64_t i = 0; i < n; ++i) wide[i] = float(static_cast<const std::int32_t*>(x.data)[begin + i]);
      } else {
        read_wide<float>(x.type, x.data, begin, wide, n);
      }
      each_scaled(with->places, begin, n, [&](std::int64_t i, std::int64_t s) {
        const auto k = std::size_t(s);
        wide[i] = rounded_to(precision, wide[i] / with->scale[k]) + with->zero[k];
      });
      write_wide<float>(how, wide, y.data, begin, n);
    }
  });
  return {};
}

template <class W>
status dequantize(const linear_quantization& q, run_context& c, const value& x, value& y) {
  const result<quantization<W>> with = read_quantization<W>(q, c);
  if (!with) return with.error();
  const cast_state how{dtype::f32, y.type, true};
  parallel_elements(c, x.shape.count(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
    W wide[cast_block];
    float out[cast_block];
    for (; begin < end; begin += cast_block) {
      const std::int64_t n = std::min(cast_block, end - begin);
      read_wide<W>(x.type, x.data, begin, wide, n);
      each_scaled(with->places, begin, n, [&](std::int64_t i, std::int64_t s) {
        const auto k = std::size_t(s);
        out[i] = float(wide[i] - with->zero[k]) * with->scale[k];
      });
      write_wide<float>(how, out, y.data, begin, n);
    }
  });
  return {};
}

}  // namespace

result<linear_quantization> linear_quantization::of(const bind_context& c) {
  linear_quantization made;
  made.axis = c.int_or("axis", 1);
  made.block = c.int_or("block_size", 0);
  made.saturate = c.int_or("saturate", 1) != 0;
  if (made.block < 0) return bad_attribute("block_size must be at least 0, not ", made.block);
  const std::int64_t precision = c.int_or("precision", 0);
  if (precision < 0 || precision >= std::int64_t(dtype::count))
    return bad_attribute("precision ", precision, " is no type");
  made.precision = dtype(precision);
  return made;
}

result<quantize_linear> quantize_linear::bind(bind_context& c) {
  const result<linear_quantization> q = linear_quantization::of(c);
  if (!q) return q.error();
  return quantize_linear{*q};
}

status quantize_linear::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const dtype division = precision == dtype::undefined ? c.input(1).type : precision;
  if (is_quantized_type((*y)->type)) return quantize_to_integers(*this, c, x, **y, division);
  return quantize_to_floats(*this, c, x, **y, division);
}

result<dequantize_linear> dequantize_linear::bind(bind_context& c) {
  const result<linear_quantization> q = linear_quantization::of(c);
  if (!q) return q.error();
  return dequantize_linear{*q};
}

status dequantize_linear::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  return is_quantized_type(x.type) ? dequantize<std::int64_t>(*this, c, x, **y) : dequantize<float>(*this, c, x, **y);
}

status dynamic_quantize_linear::run(run_context& c) const {
  const tensor_view<const float> x = c.input<float>(0);
  const result<value*> y = c.output(0, x.shape());
  if (!y) return y.error();
  const result<tensor_view<float>> scale = c.output<float>(1, {});
  if (!scale) return scale.error();
  const result<tensor_view<std::uint8_t>> zero = c.output<std::uint8_t>(2, {});
  if (!zero) return zero.error();
  float low = 0, high = 0;
  for (const float v : x) low = std::min(low, v), high = std::max(high, v);
  const float step = high == low ? 1 : (high - low) / 255;  // of zeros alone: 1
  const integer_range bytes = range_of(dtype::u8);
  const std::int64_t origin = step == 0 ? 0 : saturated_sum(-low / step, 0, bytes);  // 0: too small for a float
  (*scale)[0] = step;
  (*zero)[0] = std::uint8_t(origin);
  auto* const out = static_cast<std::uint8_t*>((*y)->data);
  parallel_for(c, x.count(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first)
      out[first] = step == 0 ? std::uint8_t(0) : std::uint8_t(saturated_sum(x[first] / step, origin, bytes));
  });
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
