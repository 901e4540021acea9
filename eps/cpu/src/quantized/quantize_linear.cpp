#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/eps/cpu/quantize_linear.hpp>
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include "code_rows.hpp"
#include "dynamic_range.hpp"
#include "elementwise/cast_rows.hpp"
#include "functions/quantized.hpp"
#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

bool is_quantized_type(dtype type) {
  return (detail::bit_of(type) &
          (mask_of<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::int32_t, uint4, int4, uint2, int2>)) !=
         0;
}

/// The assignment of scales to elements. Element (o, a, i) of x, as [outer, axis, inner], has the scale with index
/// (o * blocks + a / block) * inner + i if scales are by block, a if they are by axis, and 0 if the tensor has one.
struct placed_scales {
  enum class kind : std::uint8_t { tensor, axis, blocks } how = kind::tensor;
  std::int64_t length = 1, inner = 1, block = 1, blocks = 1;

  /// `count` consecutive elements, whose scales begin at index `scale` and advance by `step`.
  struct piece {
    std::int64_t scale, step, count;
  };
  piece piece_at(std::int64_t at) const {
    if (how == kind::tensor) return {0, 0, std::numeric_limits<std::int64_t>::max()};
    const std::int64_t row = at / inner, a = row % length, left = inner - at % inner;
    if (how == kind::axis) return inner == 1 ? piece{a, 1, length - a} : piece{a, 0, left};
    const std::int64_t first = (row / length * blocks + a / block) * inner;
    return inner == 1 ? piece{first, 0, std::min(block - a % block, length - a)} : piece{first + at % inner, 1, left};
  }
};

result<placed_scales> place_scales(const linear_quantization& q, const extents& x, const extents& scale) {
  placed_scales made;
  if (scale.count() == 1 && scale.rank() <= 1) return made;
  const auto along = geometry::slices_of<std::int64_t>(x, q.axis);
  if (!along) return along.error();
  const std::size_t at = along->axis;
  made.length = along->size, made.inner = along->inner;
  if (q.block == 0) {
    if (status s = check_shape("the scale", scale, {x[at]}); !s) return s;
    made.how = placed_scales::kind::axis;
    return made;
  }
  extents want = x;
  want[at] = x[at] / q.block + (x[at] % q.block != 0);
  if (status s = check_shape("the scale", scale, want); !s) return s;
  made.how = placed_scales::kind::blocks, made.block = q.block, made.blocks = want[at];
  return made;
}

/// Scales and zero points as floats, which represent zero points of at most 16 bits exactly. Absent zero points are 0.
struct placed_quantization {
  placed_scales places;
  std::span<const float> scale, zero;

  /// Divides elements [first, first + n) into pieces, and calls f(offset from `first`, scales, count) for each.
  template <class F>
  void each_piece(std::int64_t first, std::int64_t n, F&& f) const {
    for (std::int64_t done = 0; done < n;) {
      const placed_scales::piece p = places.piece_at(first + done);
      const std::int64_t m = std::min(n - done, p.count);
      f(done, code_scales{scale.data() + p.scale, zero.data() + p.scale, p.step}, m);
      done += m;
    }
  }
};

/// Reads scales as floats. QuantizeLinear allows int32 too, which read_wide<float>() does not convert.
void read_scales(const value& scale, float* to, std::int64_t n) {
  if (scale.type == dtype::i32) std::copy_n(static_cast<const std::int32_t*>(scale.data), n, to);
  else read_wide<float>(scale.type, scale.data, 0, to, n);
}

status read_parameters(const value& scale, const value& zero, std::span<float> scales, std::span<float> zeros) {
  const std::int64_t count = scale.shape.count();
  read_scales(scale, scales.data(), count);
  std::ranges::fill(zeros, 0.0f);
  if (!zero) return {};
  if (status s = check_count("the zero point", zero.shape.count(), count); !s) return s;
  if (!is_quantized_type(zero.type)) {
    read_wide<float>(zero.type, zero.data, 0, zeros.data(), count);
    return {};
  }
  std::int64_t wide[cast_block];
  for (std::int64_t i = 0; i < count; i += cast_block) {
    const std::int64_t n = std::min(cast_block, count - i);
    read_wide<std::int64_t>(zero.type, zero.data, i, wide, n);
    std::copy_n(wide, n, zeros.data() + i);
  }
  return {};
}

result<placed_quantization> read_quantization(const linear_quantization& q, run_context& c) {
  const value &x = c.input(0), &scale = c.input(1);
  const result<placed_scales> places = place_scales(q, x.shape, scale.shape);
  if (!places) return places.error();
  if (!q.scales.empty()) return placed_quantization{*places, q.scales, q.zeros};
  const auto count = std::size_t(scale.shape.count());
  const result<std::span<float>> scales = c.scratch<float>(count), zeros = c.scratch<float>(count);
  if (!scales) return scales.error();
  if (!zeros) return zeros.error();
  if (status read = read_parameters(scale, c.input(2), *scales, *zeros); !read) return read;
  return placed_quantization{*places, *scales, *zeros};
}

/// The most scales that a plan keeps as floats.
constexpr std::int64_t most_kept = 1 << 16;
constexpr std::int64_t elements_per_task = 32 * cast_block;

constexpr float none = 0;
constexpr std::array<float, cast_block> ones = [] {
  std::array<float, cast_block> made{};
  made.fill(1);
  return made;
}();
constexpr code_scales as_they_are{ones.data(), &none, 0};

/// n elements of x as floats: in place, or converted in the buffer `room`.
const float* floats_of_block(const value& x, std::int64_t first, float* room, std::int64_t n) {
  if (x.type == dtype::f32) return static_cast<const float*>(x.data) + first;
  if (x.type == dtype::i32) dequantize_row(static_cast<const std::int32_t*>(x.data) + first, as_they_are, room, n);
  else read_wide<float>(x.type, x.data, first, room, n);
  return room;
}

template <class T>
void round_to(float* v, std::int64_t n) {
  T narrow[cast_block];
  narrow_row(v, narrow, n);
  widen_row(narrow, v, n);
}
/// v = x / scale, rounded to the type `precision`.
void divide(const float* x, const code_scales& by, dtype precision, float* v, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) v[i] = x[i] / by.scale[i * by.step];
  if (precision == dtype::f16) round_to<float16>(v, n);
  if (precision == dtype::bf16) round_to<bfloat16>(v, n);
}

/// The type of whole bytes in which values of a type are computed.
dtype whole_bytes(dtype type) {
  if (detail::bit_of(type) & mask_of<int4, int2>) return dtype::i8;
  return detail::bit_of(type) & mask_of<uint4, uint2> ? dtype::u8 : type;
}
using code_types = detail::element_set<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t>;

/// Computes y block by block, on several workers: f(first, n, to) writes n floats, for the elements from `first` on,
/// which are converted to the type of y.
template <class F>
status write_float_blocks(run_context& c, value& y, bool saturate, const F& f) {
  const cast_state how{dtype::f32, y.type, saturate};
  parallel_elements(c, y.shape.count(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
    float made[cast_block];
    for (; begin < end; begin += cast_block) {
      const std::int64_t n = std::min(cast_block, end - begin);
      f(begin, n, made);
      write_wide<float>(how, made, y.data, begin, n);
    }
  });
  return {};
}

status quantize_to_integers(const placed_quantization& with, run_context& c, const value& x, value& y,
                            dtype precision) {
  const integer_range range = range_of(y.type);
  const unsigned bits = detail::row_of(y.type).bits;
  const bool is_narrow = precision == dtype::f16 || precision == dtype::bf16;
  const bool is_direct = x.type == dtype::f32 && !is_narrow && bits >= 8;  // no buffer is needed
  code_types::call(whole_bytes(y.type), [&]<class T>(std::type_identity<T>) {
    parallel_elements(c, x.shape.count(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
      float room[cast_block];
      T codes[cast_block];
      const std::int64_t block = is_direct ? end - begin : cast_block;
      for (; begin < end; begin += block) {
        const std::int64_t n = std::min(block, end - begin);
        const float* const from = floats_of_block(x, begin, room, n);
        T* const to = bits < 8 ? codes : static_cast<T*>(y.data) + begin;
        with.each_piece(begin, n, [&](std::int64_t i, const code_scales& by, std::int64_t m) {
          if (is_narrow) divide(from + i, by, precision, room + i, m);
          const code_scales rest = is_narrow ? code_scales{ones.data(), by.zero, by.step} : by;
          quantize_row(is_narrow ? room + i : from + i, rest, float(range.low), float(range.high), to + i, m);
        });
        if constexpr (sizeof(T) == 1)
          if (bits < 8) pack_codes(codes, bits, static_cast<std::uint8_t*>(y.data) + begin * bits / 8, n);
      }
    });
  });
  return {};
}

status quantize_to_floats(const placed_quantization& with, run_context& c, const value& x, value& y, dtype precision,
                          bool saturate) {
  return write_float_blocks(c, y, saturate, [&](std::int64_t first, std::int64_t n, float* made) {
    float room[cast_block];
    const float* const from = floats_of_block(x, first, room, n);
    with.each_piece(first, n, [&](std::int64_t i, const code_scales& by, std::int64_t m) {
      divide(from + i, by, precision, made + i, m);
      for (std::int64_t k = 0; k < m; ++k) made[i + k] += by.zero[k * by.step];
    });
  });
}

/// Dequantizes n elements; at most cast_block, unless they are integers of whole bytes.
void dequantize_block(const placed_quantization& with, const value& x, std::int64_t first, float* to, std::int64_t n) {
  const unsigned bits = detail::row_of(x.type).bits;
  const auto each = [&](const auto* from) {
    with.each_piece(first, n, [&](std::int64_t i, const code_scales& by, std::int64_t m) {
      dequantize_row(from + i, by, to + i, m);
    });
  };
  if (!is_quantized_type(x.type)) {  // floats of 8 bits or less
    float wide[cast_block];
    read_wide<float>(x.type, x.data, first, wide, n);
    return with.each_piece(first, n, [&](std::int64_t i, const code_scales& by, std::int64_t m) {
      for (std::int64_t k = 0; k < m; ++k) to[i + k] = (wide[i + k] - by.zero[k * by.step]) * by.scale[k * by.step];
    });
  }
  if (x.type == dtype::i32) return each(static_cast<const std::int32_t*>(x.data) + first);
  code_types::call(whole_bytes(x.type), [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) == 1) {
      if (bits < 8) {
        T codes[cast_block];
        unpack_codes(static_cast<const std::uint8_t*>(x.data) + first * bits / 8, bits, codes, n);
        return each(static_cast<const T*>(codes));
      }
    }
    each(static_cast<const T*>(x.data) + first);
  });
}

status dequantize(const placed_quantization& with, run_context& c, const value& x, value& y) {
  const bool is_direct = y.type == dtype::f32 && detail::row_of(x.type).bits >= 8 && is_quantized_type(x.type);
  if (!is_direct)
    return write_float_blocks(
        c, y, true, [&](std::int64_t first, std::int64_t n, float* to) { dequantize_block(with, x, first, to, n); });
  parallel_elements(c, x.shape.count(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
    dequantize_block(with, x, begin, static_cast<float*>(y.data) + begin, end - begin);
  });
  return {};
}

/// Dequantizes int32, whose zero points float does not represent exactly: differences are computed in int64.
status dequantize_int32(const placed_quantization& with, run_context& c, const value& x, value& y) {
  const auto* const codes = static_cast<const std::int32_t*>(x.data);
  const auto* const zeros = static_cast<const std::int32_t*>(c.input(2).data);
  return write_float_blocks(c, y, true, [&](std::int64_t first, std::int64_t n, float* to) {
    with.each_piece(first, n, [&](std::int64_t i, const code_scales& by, std::int64_t m) {
      const std::int32_t* const zero = zeros + (by.zero - with.zero.data());
      for (std::int64_t k = 0; k < m; ++k)
        to[i + k] = float(std::int64_t{codes[first + i + k]} - zero[k * by.step]) * by.scale[k * by.step];
    });
  });
}
bool has_zero_points(const value& zero) {
  if (!zero) return false;
  const auto* const all = static_cast<const std::int32_t*>(zero.data);
  return std::any_of(all, all + zero.shape.count(), [](std::int32_t v) { return v != 0; });
}

}  // namespace

result<linear_quantization> linear_quantization::read(bind_context& c) {
  linear_quantization made;
  const attributes_of<op::QuantizeLinear> a{c.attributes};
  made.axis = a.axis, made.block = std::max<std::int64_t>(0, a.block_size);  // old versions do not state it
  made.saturate = a.saturate != 0, made.precision = dtype(a.precision);
  const value* const scale = c.constant(1);
  const value* const zero = c.constant(2);
  if (!scale || (c.has_input(2) && !zero) || scale->shape.count() > most_kept) return made;
  const auto count = std::size_t(scale->shape.count());
  const result<std::span<float>> scales = c.keep<float>(count), zeros = c.keep<float>(count);
  if (!scales) return scales.error();
  if (!zeros) return zeros.error();
  // An error is reported by the run, as it is for scales that are not constant.
  if (read_parameters(*scale, zero ? *zero : value{}, *scales, *zeros)) made.scales = *scales, made.zeros = *zeros;
  return made;
}

result<quantize_linear> quantize_linear::bind(bind_context& c) {
  return linear_quantization::read(c).transform([](const auto& q) { return quantize_linear{q}; });
}

status quantize_linear::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const result<placed_quantization> with = read_quantization(*this, c);
  if (!with) return with.error();
  const dtype division = precision == dtype::undefined ? c.input(1).type : precision;
  if (is_quantized_type((*y)->type)) return quantize_to_integers(*with, c, x, **y, division);
  return quantize_to_floats(*with, c, x, **y, division, saturate);
}

result<dequantize_linear> dequantize_linear::bind(bind_context& c) {
  return linear_quantization::read(c).transform([](const auto& q) { return dequantize_linear{q}; });
}

status dequantize_linear::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const result<placed_quantization> with = read_quantization(*this, c);
  if (!with) return with.error();
  return x.type == dtype::i32 && has_zero_points(c.input(2)) ? dequantize_int32(*with, c, x, **y)
                                                             : dequantize(*with, c, x, **y);
}

namespace {

/// The range of a tensor, which always includes 0.
result<float_range> range_of_tensor(run_context& c, const tensor_view<const float>& x) {
  constexpr std::int64_t at_once = 1 << 14;
  const std::int64_t pieces = (x.count() + at_once - 1) / at_once;
  const result<std::span<float_range>> found = c.scratch<float_range>(std::size_t(pieces));
  if (!found) return found.error();
  const bool whole = parallel_for(c, x.count(), at_once, [&](std::int64_t first, std::int64_t last) {
    float_range& piece = (*found)[std::size_t(first / at_once)];
    piece = {0, 0};
    range_of_row(x.data() + first, last - first, piece.low, piece.high);
  });
  float_range all{0, 0};
  if (whole)
    for (const float_range& piece : *found) all = {std::min(all.low, piece.low), std::max(all.high, piece.high)};
  return all;
}

}  // namespace

byte_quantization quantization_of(const float_range& x) {
  const float step = x.high == x.low ? 1 : (x.high - x.low) / 255;  // 1 if all are 0
  // The step is 0 if the range is too small for a float.
  return {step, step == 0 ? std::uint8_t(0) : std::uint8_t(saturated_sum(-x.low / step, 0, range_of(dtype::u8)))};
}

result<byte_quantization> quantize_dynamically(run_context& c, const tensor_view<const float>& x, std::uint8_t* codes) {
  const result<float_range> range = range_of_tensor(c, x);
  if (!range) return range.error();
  const byte_quantization made = quantization_of(*range);
  const auto zero = float(made.zero);
  parallel_for(c, x.count(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    if (made.scale == 0) std::fill(codes + first, codes + last, std::uint8_t(0));
    else quantize_row(x.data() + first, {&made.scale, &zero, 0}, 0, 255, codes + first, last - first);
  });
  return made;
}

status dynamic_quantize_linear::run(run_context& c) const {
  const tensor_view<const float> x = c.input<float>(0);
  const result<value*> y = c.output(0, x.shape());
  if (!y) return y.error();
  const result<tensor_view<float>> scale = c.output<float>(1, {});
  if (!scale) return scale.error();
  const result<tensor_view<std::uint8_t>> zero = c.output<std::uint8_t>(2, {});
  if (!zero) return zero.error();
  const result<byte_quantization> made = quantize_dynamically(c, x, static_cast<std::uint8_t*>((*y)->data));
  if (!made) return made.error();
  (*scale)[0] = made->scale;
  (*zero)[0] = made->zero;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
