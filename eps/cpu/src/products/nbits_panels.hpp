#pragma once
#include <cameo/core/checked.hpp>
#include <cameo/kernel/bind_context.hpp>

#include <algorithm>
#include <cstring>

#include "nbits_weights.hpp"
#include "skeletons/row_rooms.hpp"

// Weights of few bits as panels, whatever the form is that an operator gives them.
//
// A form says where its parts are and what they hold, for column j of all matrices one after the other:
//
//   codes, scales                  inputs
//   group(value, j, g)             the 32 bits with codes g * 32 / bits and those after them, the first in the lowest
//   scale(value, j, b)             of block b
//
// and, where there may be zero points,
//
//   zeros, zero_type               input; undefined where there are none, u8, or of floats
//   zero(value, j, b)              of u8; float_zero(value, j, b): of floats
namespace CAMEO_NAMESPACE::eps {

/// Memory for the panels of a factor that a run packs, one after the other's use.
struct nbits_rooms {
  std::span<std::uint32_t> codes;
  std::span<float> scales, float_zeros;
  std::span<std::uint8_t> zeros;
};

/// Elements of a part: `rows` (groups or blocks) of each column of all panels.
inline bool panel_elements(const nbits_matrix& m, std::int64_t rows, std::size_t& count) {
  const nbits_loops& by = best_nbits_loops();
  std::int64_t all = 0;
  if (!checked_multiply(by.panels_of(m.n) * by.columns, rows, all) || !checked_multiply(all, m.count, all))
    return false;
  count = std::size_t(all);
  return true;
}

/// Row r of each column j of panel `panel` is at(j, r); those that fill up the panel are 0.
template <class T, class At>
void fill_panel(const nbits_matrix& m, std::int64_t rows, std::int64_t panel, T* to, const At& at) {
  const nbits_loops& by = best_nbits_loops();
  const std::int64_t panels = by.panels_of(m.n), first = panel % panels * by.columns, before = panel / panels * m.n;
  to += panel * rows * by.columns;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = first; j < first + by.columns; ++j) *to++ = j < m.n ? at(before + j, r) : T(0);
}

/// A part of a constant, for as long as the plan.
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
/// The same in a run: in `room`, or in scratch where it has none.
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

/// B as panels, from a form. Context: of a bind, where all parts are constants, or of a run.
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
