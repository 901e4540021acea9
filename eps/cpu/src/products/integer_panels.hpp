#pragma once
#include <cameo/core/checked.hpp>
#include <cameo/kernel/bind_context.hpp>
#include <cameo/kernel/run_context.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "machine/lane_scratch.hpp"
#include "microkernels/integer_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

// Quantized weights of 8 bits, packed as panels for integer products and convolutions.
//
// A panel is consecutive columns of B, as many as a register tile has. A dot-product group ("cell" in names) is the 32
// bits that an instruction multiplies and adds to one sum: four bytes or two int16 (see integer_loops.hpp). A run is
// what is contiguous in a row of A: all of it in a matrix product, one tap of the window in a convolution.

/// Weights minus their zero points, packed for one arithmetic: panels of [run][group][column][element of a group], or
/// of groups sorted by kind (panel_kinds), filled up with zeros. In front of the panels are the sums of the columns,
/// [panel][column]: rows of uint8 are multiplied with their zero point, and start_sums() subtracts what that adds.
struct integer_panels {
  const integer_arithmetic* arithmetic = nullptr;
  const std::byte* data = nullptr;
  std::int64_t n = 0, runs = 1, numbers = 0;  // columns, runs of a row, elements of a run

  std::int64_t cells() const { return arithmetic->cells_of(numbers); }
  std::int64_t width() const {
    return arithmetic->panels_of(n) * arithmetic->columns;
  }  // columns, with those that fill the last panel
  const std::int32_t* column_sums() const { return reinterpret_cast<const std::int32_t*>(data); }
  const std::byte* panel(std::int64_t i) const {
    return data + width() * std::int64_t(sizeof(std::int32_t)) + i * panel_step();
  }
  /// Bytes from one panel to the next.
  std::int64_t panel_step() const { return arithmetic->panel_size(runs, cells()); }
  /// Computes the bytes of the sums and the panels; false if that overflows.
  [[nodiscard]] bool size(std::size_t& bytes) const {
    std::int64_t most = 0, all = 0;
    if (n < 0 || n > std::numeric_limits<std::int64_t>::max() - arithmetic->columns) return false;
    // A column has a sum, and at most 8 bytes of each group; a panel has a byte for each group's kind, and up to 63
    // more.
    if (!checked_multiply(runs, cells() + 64, most) || !checked_multiply(most + 1, 16 * width(), most)) return false;
    all =
        width() * std::int64_t(sizeof(std::int32_t)) + arithmetic->panels_of(n) * arithmetic->panel_size(runs, cells());
    bytes = std::size_t(all);
    return true;
  }
};

/// The most columns of a panel of any instruction set.
inline constexpr std::size_t widest_panel = 32;

/// Makes the lists that micro-kernels need for panels of groups sorted by kind (panel_kinds::list()). Each worker keeps
/// the list of the panel that it multiplied last.
class panel_lists {
 public:
  status prepare(run_context& c, const integer_panels& form) {
    if (!form.arithmetic->sort) return {};
    const auto room = lane_scratch<std::int64_t>::make(c, 1 + panel_kinds{form.runs, form.cells()}.listed());
    if (!room) return room.error();
    room_ = *room, is_needed_ = true;
    for (std::size_t lane = 0; lane < c.lanes(); ++lane) *room_.at(lane) = 0;
    return {};
  }
  /// Sets `line.list`; the members for the panel, the taps and `ahead` are set already. All calls for one prepare()
  /// have the same taps. Called by worker `lane`.
  void put(integer_line& line, std::size_t lane) const {
    if (!is_needed_) return;
    std::int64_t* const made = room_.at(lane);
    const auto panel = std::int64_t(reinterpret_cast<std::intptr_t>(line.w));
    const panel_kinds kinds{line.tap_count, line.cells};
    for (std::int64_t i = 0; line.ahead != 0 && i < kinds.bytes(); i += 64) __builtin_prefetch(line.w + line.ahead + i);
    if (std::exchange(*made, panel) != panel) kinds.list(line.w, line.taps, made + 1);
    line.list = made + 1;
  }

 private:
  lane_scratch<std::int64_t> room_;
  bool is_needed_ = false;
};

/// A tensor of uint8 or int8, and the zero point of each column, or of all.
struct integer_codes {
  const std::uint8_t* data;
  bool is_signed;
  const std::int32_t* zero;
  std::int64_t zero_step;  // 0: one zero point for all columns

  std::int32_t at(std::int64_t i) const { return is_signed ? std::int32_t(std::int8_t(data[i])) : data[i]; }
};

/// True if every weight of a type minus its zero point fits in int8.
inline bool fit_bytes(bool is_signed, std::span<const std::int32_t> zeros) {
  return std::all_of(zeros.begin(), zeros.end(), [&](std::int32_t zero) { return zero == (is_signed ? 0 : 128); });
}

/// Fills panels: element r of run t of column j is from.at(j * column_step + offset(t, r)) minus the zero point of j.
template <class Offset>
void pack_integers(const integer_panels& form, const integer_codes& from, std::int64_t column_step, std::byte* to,
                   const Offset& offset) {
  const integer_arithmetic& by = *form.arithmetic;
  const panel_kinds kinds{form.runs, form.cells()};
  auto* const sums = reinterpret_cast<std::int32_t*>(to);
  std::byte* panel = to + form.width() * std::int64_t(sizeof *sums);
  std::fill_n(sums, form.width(), 0);
  for (std::int64_t first = 0; first < form.width(); first += by.columns) {
    std::byte* out = panel + by.panel_size(form.runs, kinds.cells) - form.runs * kinds.cells * by.columns * 4;
    const auto put = [&](std::int32_t number) {
      const auto half = std::int16_t(number);
      if (by.per_cell == 2) std::memcpy(out, &half, sizeof half), out += sizeof half;
      else *out++ = std::byte(std::uint8_t(number));
    };
    for (std::int64_t t = 0; t < form.runs; ++t)
      for (std::int64_t r = 0; r < form.numbers; r += by.per_cell) {
        const std::int64_t there = std::min(by.per_cell, form.numbers - r);
        std::int64_t at[4] = {};
        for (std::int64_t i = 0; i < there; ++i) at[i] = offset(t, r + i);
        for (std::int64_t j = first; j < first + by.columns; ++j)
          for (std::int64_t i = 0; i < by.per_cell; ++i) {
            std::int32_t number = 0;
            if (i < there && j < form.n) number = from.at(j * column_step + at[i]) - from.zero[j * from.zero_step];
            sums[j] = std::int32_t(std::uint32_t(sums[j]) + std::uint32_t(number));
            put(number);
          }
      }
    if (by.sort) by.sort(kinds, panel);
    panel = out;
  }
}

/// Computes the initial values of sums, [width]: `add` (or 0 if null), minus what the zero point of the rows adds to
/// sums of bytes, plus what the arithmetic's `middle` subtracts from them. Sums wrap, so the order does not matter.
inline void start_sums(const integer_panels& form, const std::int32_t* add, std::int32_t row_zero,
                       std::int32_t* start) {
  const std::int32_t* const sums = form.column_sums();
  const std::int32_t zero = (form.arithmetic->per_cell == 4 ? row_zero : 0) - form.arithmetic->middle;
  for (std::int64_t j = 0; j < form.width(); ++j)
    start[j] =
        std::int32_t((add && j < form.n ? std::uint32_t(add[j]) : 0u) - std::uint32_t(zero) * std::uint32_t(sums[j]));
}

}  // namespace CAMEO_NAMESPACE::eps
