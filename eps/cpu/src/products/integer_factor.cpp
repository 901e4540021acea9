// Packs the quantized B of an integer product as panels, while binding or in a run.
#include "integer_factor.hpp"

#include <cmath>

namespace CAMEO_NAMESPACE::eps {
namespace {

result<std::span<const std::int32_t>> filled(const value* zero, const result<std::span<std::int32_t>>& room) {
  if (!room) return room.error();
  for (std::size_t i = 0; i < room->size(); ++i) (*room)[i] = zero ? code_of(*zero, std::int64_t(i)) : 0;
  return std::span<const std::int32_t>{*room};
}

/// True if the tensor is known to have one element.
bool is_single(const operand& o) {
  bool single = o.has_rank;
  for (std::size_t i = 0; single && i < o.shape.rank(); ++i) single = o.shape[i] == 1;
  return single;
}

/// True for a constant of 8 bits that can be packed in advance.
bool is_constant_matrix(const bind_context& c, std::size_t input) {
  if (!c.prepack || !c.is_constant(input)) return false;
  const value& b = *c.inputs[input].constant;
  return b.shape.rank() == 2 && b.shape.count() > 0 && (b.type == dtype::u8 || b.type == dtype::i8);
}

void pack_matrix(const integer_panels& form, const code_matrix& b, std::byte* to) {
  const integer_codes codes{b.data, b.is_signed, b.zeros.data(), b.zeros.size() > 1 ? 1 : 0};
  const std::int64_t column = b.transposed ? b.k : 1, row = b.transposed ? 1 : b.n;
  pack_integers(form, codes, column, to, [&](std::int64_t, std::int64_t r) { return r * row; });
}

}  // namespace

result<integer_factor> integer_factor::bind(bind_context& c, std::size_t input, std::size_t zero_input,
                                            std::size_t row_zero_input, bool transposed) {
  integer_factor made;
  if (!is_constant_matrix(c, input) || (c.has_input(row_zero_input) && !is_single(c.inputs[row_zero_input])))
    return made;
  const value& b = *c.inputs[input].constant;
  const std::int64_t k = b.shape[transposed ? 1 : 0], n = b.shape[transposed ? 0 : 1];
  const value* const zero = c.has_input(zero_input) ? c.constant(zero_input) : nullptr;
  if (c.has_input(zero_input) && !zero) return made;
  const std::int64_t count = zero ? zero->shape.count() : 1;
  if (count != 1 && count != n) return made;  // the run reports the error
  const result<std::span<const std::int32_t>> zeros = keep_zeros(c, zero);
  if (!zeros) return zeros.error();
  const bool is_signed = b.type == dtype::i8;
  // A product may have a single row. If B fits in a cache, finding sorted groups would then take as long as
  // multiplying.
  constexpr std::int64_t cached = 1 << 17;
  const integer_panels form{&arithmetic_for({is_signed, *zeros, k, k >= cached / n}), nullptr, n, 1, k};
  std::size_t size = 0;
  if (!form.size(size)) return status_code::out_of_memory;
  const result<std::span<const std::byte>> packed =
      c.pack<std::byte>(input, size, [&](const value& from, std::span<std::byte> to) -> status {
        pack_matrix(form, {static_cast<const std::uint8_t*>(from.data), is_signed, transposed, k, n, *zeros},
                    to.data());
        return {};
      });
  if (!packed) return packed.error();
  return integer_factor{form.arithmetic, packed->data(), k, n};
}

integer_panels panels_of(const integer_factor& b) { return {b.arithmetic, b.data, b.n, 1, b.k}; }

result<integer_panels> panels_of(run_context& c, const code_matrix& b, bool rows_differ, std::span<std::byte>& room) {
  const integer_arithmetic& by =
      rows_differ ? best_integer_loops().shorts : arithmetic_for({b.is_signed, b.zeros, b.k, false});
  integer_panels form{&by, nullptr, b.n, 1, b.k};
  std::size_t size = 0;
  if (!form.size(size)) return status_code::out_of_memory;
  if (room.size() < size) {
    const result<std::span<std::byte>> made = c.scratch<std::byte>(size);
    if (!made) return made.error();
    room = *made;
  }
  pack_matrix(form, b, room.data());
  form.data = room.data();
  return form;
}

result<std::span<const std::int32_t>> read_zeros(run_context& c, const value& zero) {
  const std::int64_t count = zero ? zero.shape.count() : 1;
  return filled(zero ? &zero : nullptr, c.scratch<std::int32_t>(std::size_t(count)));
}
result<std::span<const std::int32_t>> keep_zeros(bind_context& c, const value* zero) {
  const std::int64_t count = zero ? zero->shape.count() : 1;
  return filled(zero, c.keep<std::int32_t>(std::size_t(count)));
}

const integer_arithmetic& arithmetic_for(weight_form w) {
  const integer_loops& cells = best_integer_loops();
  if (!fit_bytes(w.is_signed, w.zeros)) return cells.shorts;
  // Quantization maps the largest weight of a column to 127; the more weights a column has, the smaller most of them
  // are beside it, and the fewer dot-product groups need weights of int16 (cell_kind::wide). In ResNet-50 and
  // MobileNetV2 with a scale for each channel, columns with fewer weights than this had too many such groups.
  constexpr std::int64_t enough = 384;
  return cells.bytes.sort && (!w.may_sort || w.depth < enough) ? cells.shorts : cells.bytes;
}

bool all_finite(std::span<const float> scales) {
  return std::all_of(scales.begin(), scales.end(), [](float scale) { return std::isfinite(scale); });
}

code_form form_of(dtype type, std::int64_t zero, const float* scales) {
  const integer_range range = range_of(type);
  return {scales, float(range.low - zero), float(range.high - zero), std::int32_t(zero)};
}

}  // namespace CAMEO_NAMESPACE::eps
