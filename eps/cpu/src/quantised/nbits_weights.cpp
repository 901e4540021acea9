// B of MatMulNBits as panels.
#include "nbits_weights.hpp"

#include <cameo/core/checked.hpp>

#include <algorithm>
#include <cstring>

#include "common/float_values.hpp"
#include "common/refuse.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// How many elements the parts of a factor have, with columns that fill up the last panel.
struct factor_sizes {
  std::size_t codes, parameters;  // bytes of codes; scales, and zero points
  factor_sizes(const nbits_matrix& m, const nbits_cells& by) {
    const std::int64_t width = by.panels_of(m.n) * by.columns;
    codes = std::size_t(width * m.depth() * m.bits / 8), parameters = std::size_t(width * m.blocks());
  }
};

void pack_panel_codes(const nbits_matrix& m, const nbits_cells& by, const std::uint8_t* from, std::int64_t panel,
                      std::byte* to) {
  const std::int64_t groups = m.depth() * m.bits / 32, first = panel * by.columns;
  const std::int64_t there = std::min(by.columns, m.n - first);
  to += panel * groups * by.columns * 4;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t j = 0; j < there; ++j) std::memcpy(to + 4 * j, from + ((first + j) * groups + g) * 4, 4);
    std::fill_n(to + 4 * there, 4 * (by.columns - there), std::byte{});
    to += 4 * by.columns;
  }
}

/// Number b of each column j is at(j, b).
template <class T, class At>
void pack_panel_parameters(const nbits_matrix& m, const nbits_cells& by, std::int64_t panel, T* to, const At& at) {
  const std::int64_t first = panel * by.columns;
  to += panel * m.blocks() * by.columns;
  for (std::int64_t b = 0; b < m.blocks(); ++b)
    for (std::int64_t j = first; j < first + by.columns; ++j) *to++ = j < m.n ? at(j, b) : T(0);
}

std::uint8_t zero_code(const nbits_matrix& m, const value& zeros, std::int64_t j, std::int64_t b) {
  const std::int64_t bit = b * m.bits;
  const auto* const column = static_cast<const std::uint8_t*>(zeros.data) + j * m.zero_bytes();
  return std::uint8_t(column[bit / 8] >> bit % 8 & ((1 << m.bits) - 1));
}

void pack_panel_floats(const nbits_matrix& m, const nbits_cells& by, const value& from, std::int64_t panel, float* to) {
  pack_panel_parameters(m, by, panel, to,
                        [&](std::int64_t j, std::int64_t b) { return float_at<float>(from, j * m.blocks() + b); });
}
void pack_panel_zeros(const nbits_matrix& m, const nbits_cells& by, const value& from, std::int64_t panel,
                      std::uint8_t* to) {
  pack_panel_parameters(m, by, panel, to, [&](std::int64_t j, std::int64_t b) { return zero_code(m, from, j, b); });
}

/// A part of the factor, packed from input `i` panel by panel.
template <class T, class Pack>
status pack_part(bind_context& c, std::size_t i, std::size_t count, std::int64_t panels, const T*& part,
                 const Pack& pack) {
  const result<std::span<const T>> made = c.pack<T>(i, count, [&](const value& from, std::span<T> to) -> status {
    for (std::int64_t p = 0; p < panels; ++p) pack(from, p, to.data());
    return {};
  });
  if (!made) return made.error();
  part = made->data();
  return {};
}
template <class T, class Pack>
status pack_part(run_context& c, std::size_t i, std::size_t count, std::int64_t panels, const T*& part,
                 const Pack& pack) {
  const result<std::span<T>> made = c.scratch<T>(count);
  if (!made) return made.error();
  parallel_each(c, panels, 4, [&](std::int64_t p, std::size_t) { pack(c.input(i), p, made->data()); });
  part = made->data();
  return {};
}

template <class Context>
result<nbits_factor> pack_factor(Context& c, const nbits_matrix& m, bool has_zeros, dtype zero_type) {
  const nbits_cells& by = best_integer_cells().few_bits;
  const factor_sizes sizes{m, by};
  const std::int64_t panels = by.panels_of(m.n);
  nbits_factor made;
  const auto floats = [&](const value& from, std::int64_t p, float* to) { pack_panel_floats(m, by, from, p, to); };
  status done = pack_part(c, 1, sizes.codes, panels, made.codes, [&](const value& b, std::int64_t p, std::byte* to) {
    pack_panel_codes(m, by, static_cast<const std::uint8_t*>(b.data), p, to);
  });
  if (done) done = pack_part(c, 2, sizes.parameters, panels, made.scales, floats);
  if (done && has_zeros && zero_type != dtype::u8)
    done = pack_part(c, 3, sizes.parameters, panels, made.float_zeros, floats);
  if (done && has_zeros && zero_type == dtype::u8)
    done =
        pack_part(c, 3, sizes.parameters, panels, made.zeros,
                  [&](const value& from, std::int64_t p, std::uint8_t* to) { pack_panel_zeros(m, by, from, p, to); });
  if (!done) return done;
  return made;
}

status check_count(const value& v, std::string_view name, std::int64_t count) {
  if (!v || v.shape.count() == count) return {};
  return bad_input(name, " has shape ", v.shape, "; it must have ", count, " elements");
}

}  // namespace

status check_matrix(const nbits_matrix& m) {
  constexpr std::int64_t most = std::int64_t{1} << 15, wide = std::int64_t{1} << 40;
  if (m.bits != 2 && m.bits != 4 && m.bits != 8) return bad_attribute("bits is ", m.bits, "; it must be 2, 4 or 8");
  if (m.block < 16 || m.block > most || (m.block & (m.block - 1)) != 0)
    return bad_attribute("block_size is ", m.block, "; it must be a power of two from 16 to ", most);
  std::int64_t all = 0;
  if (m.k < 1 || m.n < 1 || m.k > wide || m.n > wide || !checked_multiply(m.depth() * 8, m.n + 64, all))
    return bad_attribute("K is ", m.k, " and N is ", m.n, "; they must be sizes of a matrix");
  return {};
}

status check_weights(const nbits_matrix& m, const value& b, const value& scales, const value& zeros,
                     const value& bias) {
  status fits = check_count(b, "B", m.n * m.blocks() * m.block_bytes());
  if (fits) fits = check_count(scales, "scales", m.n * m.blocks());
  if (fits) fits = check_count(zeros, "zero_points", m.n * (zeros.type == dtype::u8 ? m.zero_bytes() : m.blocks()));
  return fits ? check_count(bias, "bias", m.n) : fits;
}

result<nbits_factor> pack_weights(bind_context& c, const nbits_matrix& m) {
  const bool has_zeros = c.has_input(3);
  if (!c.prepack || !c.is_constant(1) || !c.is_constant(2) || (has_zeros && !c.is_constant(3))) return nbits_factor{};
  const value none{};
  const value& zeros = has_zeros ? *c.inputs[3].constant : none;
  if (status fits = check_weights(m, *c.inputs[1].constant, *c.inputs[2].constant, zeros, none); !fits) return fits;
  return pack_factor(c, m, has_zeros, zeros.type);
}
result<nbits_factor> pack_weights(run_context& c, const nbits_matrix& m) {
  return pack_factor(c, m, c.has_input(3), c.has_input(3) ? c.input(3).type : dtype::undefined);
}

void dequantise(run_context& c, const nbits_matrix& m, const value& b, const value& scales, const value& zeros,
                const std::int32_t* groups, float* to) {
  const auto* const codes = static_cast<const std::uint8_t*>(b.data);
  const std::int64_t bytes = m.blocks() * m.block_bytes(), middle = std::int64_t{1} << (m.bits - 1);
  parallel_each(c, m.n, 1 + (1 << 14) / m.k, [&](std::int64_t j, std::size_t) {
    for (std::int64_t i = 0; i < m.k; ++i) {
      const std::int64_t bit = i * m.bits, block = groups ? groups[i] : i / m.block;
      const int code = codes[j * bytes + bit / 8] >> bit % 8 & ((1 << m.bits) - 1);
      const float zero = !zeros                    ? float(middle)
                         : zeros.type == dtype::u8 ? float(zero_code(m, zeros, j, block))
                                                   : float_at<float>(zeros, j * m.blocks() + block);
      to[j * m.k + i] = (float(code) - zero) * float_at<float>(scales, j * m.blocks() + block);
    }
  });
}

}  // namespace cameo::inline CAMEO_ABI::eps
