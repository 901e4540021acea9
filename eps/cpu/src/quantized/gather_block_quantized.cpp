#include <cameo/eps/cpu/gather_block_quantized.hpp>
#include <cameo/geometry/gather.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "elementwise/cast_rows.hpp"
#include "functions/quantized.hpp"
#include "operands/operand_values.hpp"
#include "operands/refuse.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The data, scales and zero points of GatherBlockQuantized.
struct coded_blocks {
  dtype type;     // the type of the elements: uint8 with bits 2 or 4 counts as uint2 or uint4
  extents shape;  // in elements
  std::int64_t axis, block;
  const value &data, &scales, &zeros;
  std::int64_t steps[max_rank] = {};  // the strides of the scales along each axis, in elements; 0: broadcast

  bool are_floats() const { return type != dtype::u8 && type != dtype::u4 && type != dtype::i4 && type != dtype::u2; }
  bool pads_rows() const { return data.type == dtype::u8; }  // the zero points of each row of scales begin at a byte
  std::int64_t last_scales() const { return scales.shape.back(); }

  float zero_at(std::int64_t i) const {
    const auto bits = std::int64_t(bits_of(type));
    if (are_floats()) return 0;
    if (!zeros) return pads_rows() ? float(1 << (bits - 1)) : 0.0f;
    const std::int64_t row_bytes = (last_scales() * bits + 7) / 8;
    return code_at(zeros.data, pads_rows() ? i / last_scales() * row_bytes * 8 / bits + i % last_scales() : i);
  }
  float code_at(const void* from, std::int64_t i) const {
    const int code = packed_code(from, i, bits_of(type));
    return float(type == dtype::i4 && code > 7 ? code - 16 : code);
  }
  void read(std::int64_t first, std::int64_t n, float* to) const {
    if (are_floats()) return read_wide<float>(type, data.data, first, to, n);
    for (std::int64_t i = 0; i < n; ++i) to[i] = code_at(data.data, first + i);
  }
  /// The index of the scale of an element.
  std::int64_t scale_of(std::int64_t element) const {
    std::int64_t at = 0;
    for (std::size_t i = shape.rank(); i-- > 0; element /= shape[i]) {
      const std::int64_t place = element % shape[i];
      at += steps[i] * (std::int64_t(i) != axis ? place : block == 0 ? 0 : place / block);
    }
    return at;
  }
};

status place_scales(coded_blocks& b) {
  const extents& s = b.scales.shape;
  extents must = b.shape;
  for (std::size_t i = 0; i < must.rank(); ++i) {
    if (std::int64_t(i) == b.axis) must[i] = b.block == 0 ? 1 : (must[i] + b.block - 1) / b.block;
    else if (b.are_floats() && i < s.rank() && s[i] == 1) must[i] = 1;
  }
  if (status fits = check_shape("scales", s, must); !fits) return fits;
  std::int64_t step = 1;
  for (std::size_t i = s.rank(); i-- > 0; step *= s[i]) b.steps[i] = s[i] == 1 && std::int64_t(i) != b.axis ? 0 : step;
  if (!b.zeros) return {};
  const std::int64_t bits = std::int64_t(bits_of(b.type)), last = s.rank() > 0 ? s.back() : 1;
  const std::int64_t count = b.pads_rows() && last > 0 ? s.count() / last * ((last * bits + 7) / 8) : s.count();
  if (status fits = check_needs("zero_points", true, "data of integers", !b.are_floats()); !fits) return fits;
  return check_count("zero_points", b.zeros.shape.count(), count);
}

/// Dequantizes elements [first, first + n) of the data to the output's type.
void dequantize_slice(const coded_blocks& b, std::int64_t first, std::int64_t n, dtype type, std::byte* to) {
  constexpr std::int64_t some = 256;
  const std::int64_t last = b.shape.back(), to_bytes = bits_of(type) / 8;
  const bool in_blocks = b.axis == std::int64_t(b.shape.rank()) - 1;
  float room[some];
  for (std::int64_t i = 0, m = 0; i < n; i += m) {
    const std::int64_t at = first + i, place = at % last;
    m = std::min({some, n - i, last - place});
    if (in_blocks && b.block != 0) m = std::min(m, b.block - place % b.block);
    b.read(at, m, room);
    const std::int64_t scale = b.scale_of(at), step = in_blocks ? 0 : b.steps[b.shape.rank() - 1];
    for (std::int64_t j = 0; j < m; ++j)
      room[j] = (room[j] - b.zero_at(scale + j * step)) * float_at<float>(b.scales, scale + j * step);
    store_floats(room, type, to + i * to_bytes, m);
  }
}

}  // namespace

result<gather_block_quantized> gather_block_quantized::bind(bind_context& c) {
  const attributes_of<op::microsoft::GatherBlockQuantized> a{c.attributes};
  if (status s = check_power_of_two("block_size", a.block_size ? a.block_size : 16, 16); !s) return s;
  return gather_block_quantized{a.gather_axis, a.quantize_axis, a.block_size, a.bits};
}

status gather_block_quantized::run(run_context& c) const {
  const value &data = c.input(0), &scales = c.input(2);
  const integers indices{c.input(1)};
  const auto by = geometry::axis_of<std::int64_t>(quantize_axis, data.shape.rank(), "attribute quantize_axis");
  if (!by) return by.error();
  coded_blocks b{data.type, data.shape, std::int64_t(*by), block, data, scales, c.input(3)};
  if (data.type == dtype::u8) {
    b.type = bits == 2 ? dtype::u2 : bits == 4 ? dtype::u4 : dtype::u8;
    if (!checked_multiply(b.shape.back(), 8 / bits, b.shape[b.shape.rank() - 1])) return status_code::out_of_memory;
  }
  if (status s = check_needs("block_size is 0, which", block == 0, "data of floats", b.are_floats()); !s) return s;
  if (status s = usable_sizes("data", b.shape); !s) return s;
  if (status s = place_scales(b); !s) return s;
  const auto g = geometry::gather_of<std::int64_t>(b.shape, c.input(1).shape, gather_axis);
  if (!g) return g.error();
  const result<value*> y = c.output(0, g->y);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const std::int64_t inner = g->inner, size = g->size, count = indices.count();
  const std::int64_t bytes = inner * (bits_of((*y)->type) / 8);
  parallel_each(c, g->outer * count, 1 + (1 << 14) / inner, [&](std::int64_t i, std::size_t) {
    std::int64_t index = indices[i % count];
    if (index < 0) index += size;
    std::byte* const to = static_cast<std::byte*>((*y)->data) + i * bytes;
    if (index < 0 || index >= size) std::fill_n(to, bytes, std::byte{});
    else dequantize_slice(b, (i / count * size + index) * inner, inner, (*y)->type, to);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
