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

// Weights of 8 bits as panels for integer products, and how their sums become codes.

/// Weights for one arithmetic, less their zero points: panels of [run][cell][column][number of a cell], or of
/// several kinds of cells (panel_kinds), zeros where there is no weight. Before them lie the sums of the columns,
/// [panel][column]: rows of u8 still have their zero point, and what that adds is taken away afterwards.
struct integer_panels {
  const integer_arithmetic* by = nullptr;
  const std::byte* data = nullptr;
  std::int64_t n = 0, runs = 1, numbers = 0;  // columns, runs of a row, numbers of a run

  std::int64_t cells() const { return by->cells_of(numbers); }
  std::int64_t width() const { return by->panels_of(n) * by->columns; }  // columns with those that fill up
  const std::int32_t* column_sums() const { return reinterpret_cast<const std::int32_t*>(data); }
  const std::byte* panel(std::int64_t i) const {
    return data + width() * std::int64_t(sizeof(std::int32_t)) + i * panel_step();
  }
  /// Bytes from one panel to the next.
  std::int64_t panel_step() const { return by->panel_size(runs, cells()); }
  /// Bytes of it all; false when that overflows.
  [[nodiscard]] bool size(std::size_t& bytes) const {
    std::int64_t most = 0, all = 0;
    if (n < 0 || n > std::numeric_limits<std::int64_t>::max() - by->columns) return false;
    // A column has its sum, and of each cell at most 8 bytes; a panel has a byte for each cell's kind, and 63 more.
    if (!checked_multiply(runs, cells() + 64, most) || !checked_multiply(most + 1, 16 * width(), most)) return false;
    all = width() * std::int64_t(sizeof(std::int32_t)) + by->panels_of(n) * by->panel_size(runs, cells());
    bytes = std::size_t(all);
    return true;
  }
};

/// The most columns of a panel of any instruction set.
inline constexpr std::size_t widest_panel = 32;

/// What lines read of panels of kinds of cells. Each lane keeps the list of the panel that it was at last.
class panel_lists {
 public:
  status prepare(run_context& c, const integer_panels& form) {
    if (!form.by->sort) return {};
    const auto room = lane_scratch<std::int64_t>::make(c, 1 + panel_kinds{form.runs, form.cells()}.listed());
    if (!room) return room.error();
    room_ = *room, is_needed_ = true;
    for (std::size_t lane = 0; lane < c.lanes(); ++lane) *room_.at(lane) = 0;
    return {};
  }
  /// For a line whose panel, taps and what is ahead are set; within a call all lines have the same taps.
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

/// Codes of a tensor of u8 or s8, and the zero point of each column, or of all.
struct integer_codes {
  const std::uint8_t* data;
  bool is_signed;
  const std::int32_t* zero;
  std::int64_t zero_step;  // 0: one for all columns

  std::int32_t at(std::int64_t i) const { return is_signed ? std::int32_t(std::int8_t(data[i])) : data[i]; }
};

/// Whether weights of a type, less their zero points, are s8 whatever they are.
inline bool fit_bytes(bool is_signed, std::span<const std::int32_t> zeros) {
  return std::all_of(zeros.begin(), zeros.end(), [&](std::int32_t zero) { return zero == (is_signed ? 0 : 128); });
}

/// Fills panels: number r of run t of column j is the code j * column_step + offset(t, r).
template <class Offset>
void pack_integers(const integer_panels& form, const integer_codes& from, std::int64_t column_step, std::byte* to,
                   const Offset& offset) {
  const integer_arithmetic& by = *form.by;
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

/// Where sums begin, [width]: `add` (or nothing), less what a zero point of the rows adds to the sums of bytes, and
/// what the arithmetic's middle takes from them.
inline void start_sums(const integer_panels& form, const std::int32_t* add, std::int32_t row_zero,
                       std::int32_t* start) {
  const std::int32_t* const sums = form.column_sums();
  const std::int32_t zero = (form.by->per_cell == 4 ? row_zero : 0) - form.by->middle;
  for (std::int64_t j = 0; j < form.width(); ++j)
    start[j] =
        std::int32_t((add && j < form.n ? std::uint32_t(add[j]) : 0u) - std::uint32_t(zero) * std::uint32_t(sums[j]));
}

}  // namespace CAMEO_NAMESPACE::eps
