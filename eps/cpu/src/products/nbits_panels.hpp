#pragma once
#include <cameo/core/checked.hpp>
#include <cameo/kernel/bind_context.hpp>

#include <algorithm>
#include <cstring>

#include "nbits_weights.hpp"
#include "skeletons/row_rooms.hpp"

// Packs weights of 2, 4 or 8 bits as panels (see nbits_loops.hpp), from the layout of any operator.
//
// A `Form` describes that layout. Columns of all matrices are numbered one after the other. Its members:
//
//   codes, scales               the indices of the inputs with the quantized weights and their scales
//   group(value, j, g)          the 32 bits of column j with weights from g * 32 / bits on, the first in the lowest
//                               bits; `value` is the input's value
//   scale(value, j, b)          the scale of block b of column j
//
// and, if there may be zero points,
//
//   zeros, zero_type            the index and the element type of their input; undefined if the node has none
//   zero(value, j, b)           the zero point of block b of column j, if they are uint8
//   float_zero(value, j, b)     the zero point, if they are floats
namespace CAMEO_NAMESPACE::eps {

/// Memory for the panels that a run packs, which several factors use one after the other.
struct nbits_rooms {
  std::span<std::uint32_t> codes;
  std::span<float> scales, float_zeros;
  std::span<std::uint8_t> zeros;
};

/// Computes the elements of `rows` rows (groups or blocks) of all panels; false if that overflows.
inline bool panel_elements(const nbits_matrix& m, std::int64_t rows, std::size_t& count) {
  const nbits_loops& by = best_nbits_loops();
  std::int64_t all = 0;
  if (!checked_multiply(by.panels_of(m.n) * by.columns, rows, all) || !checked_multiply(all, m.count, all))
    return false;
  count = std::size_t(all);
  return true;
}

/// Fills a panel with at(j, r) for each row r and column j, and with 0 for the columns that fill it up.
template <class T, class At>
void fill_panel(const nbits_matrix& m, std::int64_t rows, std::int64_t panel, T* to, const At& at) {
  const nbits_loops& by = best_nbits_loops();
  const std::int64_t panels = by.panels_of(m.n), first = panel % panels * by.columns, before = panel / panels * m.n;
  to += panel * rows * by.columns;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = first; j < first + by.columns; ++j) *to++ = j < m.n ? at(before + j, r) : T(0);
}

/// Packs one of the arrays of nbits_factor from a constant input, in memory that lives as long as the plan.
template <class T, class At>
status pack_part(bind_context& c, std::size_t input, const nbits_matrix& m, std::int64_t rows, std::span<T>,
                 const T*& part, const At& at) {
  std::size_t count = 0;
  if (!panel_elements(m, rows, count)) return status_code::out_of_memory;
  const result<std::span<const T>> made = c.pack<T>(input, count, [&](const value& from, std::span<T> to) -> status {
    const std::int64_t panels = m.count * best_nbits_loops().panels_of(m.n);
    for (std::int64_t p = 0; p < panels; ++p)
      fill_panel(m, rows, p, to.data(), [&](std::int64_t j, std::int64_t r) { return at(from, j, r); });
    return {};
  });
  if (!made) return made.error();
  part = made->data();
  return {};
}
/// Packs one of the arrays of nbits_factor in a run: in `room`, or in scratch memory if that is too small.
template <class T, class At>
status pack_part(run_context& c, std::size_t input, const nbits_matrix& m, std::int64_t rows, std::span<T> room,
                 const T*& part, const At& at) {
  std::size_t count = 0;
  if (!panel_elements(m, rows, count)) return status_code::out_of_memory;
  if (room.size() < count) {
    const result<std::span<T>> made = c.scratch<T>(count);
    if (!made) return made.error();
    room = *made;
  }
  const value& from = c.input(input);
  const std::int64_t panels = m.count * best_nbits_loops().panels_of(m.n);
  const auto fill = [&](std::int64_t p, std::size_t) {
    fill_panel(m, rows, p, room.data(), [&](std::int64_t j, std::int64_t r) { return at(from, j, r); });
  };
  if (!parallel_each(c, panels, 4, fill)) return status_code::canceled;
  part = room.data();
  return {};
}

/// Packs B as panels. Context is bind_context, for constant inputs, or run_context.
template <class Context, class Form>
result<nbits_factor> pack_panels(Context& c, const nbits_matrix& m, const Form& f, const nbits_rooms& rooms = {}) {
  const auto group = [&](const value& v, std::int64_t j, std::int64_t g) { return f.group(v, j, g); };
  const auto scale = [&](const value& v, std::int64_t j, std::int64_t b) { return f.scale(v, j, b); };
  nbits_factor made;
  const std::uint32_t* codes = nullptr;
  status done = pack_part(c, f.codes, m, m.groups(), rooms.codes, codes, group);
  if (done) done = pack_part(c, f.scales, m, m.blocks(), rooms.scales, made.scales, scale);
  if constexpr (requires(const value& v) { f.zero(v, 0, 0); })
    if (done && f.zero_type == dtype::u8)
      done = pack_part(c, f.zeros, m, m.blocks(), rooms.zeros, made.zeros,
                       [&](const value& v, std::int64_t j, std::int64_t b) { return f.zero(v, j, b); });
  if constexpr (requires(const value& v) { f.float_zero(v, 0, 0); })
    if (done && f.zero_type != dtype::u8 && f.zero_type != dtype::undefined)
      done = pack_part(c, f.zeros, m, m.blocks(), rooms.float_zeros, made.float_zeros,
                       [&](const value& v, std::int64_t j, std::int64_t b) { return f.float_zero(v, j, b); });
  if (!done) return done;
  made.codes = reinterpret_cast<const std::byte*>(codes);
  return made;
}

}  // namespace CAMEO_NAMESPACE::eps
