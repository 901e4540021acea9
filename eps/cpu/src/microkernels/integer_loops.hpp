#pragma once
#include <cameo/core/function_ref.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "machine/instruction_sets.hpp"

namespace CAMEO_NAMESPACE::eps {

// Exact sums of products of integers, for matrix products and convolutions: 32 bits that wrap, equal on every
// instruction set.
//
// What instructions multiply are cells of 32 bits: four bytes (u8 * s8) or two numbers of 16 bits. A cell of a row is
// multiplied by the cells of all columns of a panel; the sums of a tile, some rows by a panel, stay in registers.
//
// Some instruction sets multiply bytes in pairs whose sums saturate at 16 bits. With such an arithmetic there are kinds
// of cells in a panel, by what all of its columns have there; a panel says of each cell what it is in a way that makes
// any content safe.

/// Rows of sums that lie one behind the other, for the columns of one panel.
struct integer_line {
  const std::byte* x;         // first row
  std::int64_t row_step;      // bytes from one row to the next
  std::int64_t stretch;       // rows with that step: then those of the next stretch begin
  std::int64_t stretch_step;  // bytes from the first row of a stretch to that of the next
  const std::int64_t* taps;   // bytes from a row's start to each of its runs of cells
  std::int64_t tap_count;     // runs
  std::int64_t cells;         // of a run
  const std::byte* w;         // the panel: [tap_count][cells][columns of a panel][4 bytes], or panel_kinds
  const std::int64_t* list;   // of panel_kinds and taps; else not read
  std::int64_t rows;          // at least 1, of one stretch where the arithmetic does not take more
  std::int64_t columns;       // of the panel that exist
  std::int64_t ahead;         // bytes from the panel to what is read after it, which comes while this is read; or 0
  const std::int32_t* start;  // [columns of a panel]: where sums begin
  std::int32_t* sums;         // where these are wanted; one of `sums`, `codes` and `floats` is no null
  std::int64_t step;          // elements of `sums`, `floats` or `codes` from one row to the next

  // code = the integer nearest to sum * scale, ties to even, within [low, high], plus zero; its lowest byte is stored.
  const float* scale;  // [columns of a panel], finite for codes
  float low, high;     // integers
  std::int32_t zero;
  std::uint8_t* codes;

  // float = float(sum) * scale + bias, rounded after each of the two.
  const float* bias;  // [columns of a panel]
  float* floats;
};

/// In the order in which they lie in a panel.
enum class cell_kind : std::uint8_t {
  joined,   // two neighbours with bytes, whose pairs stay within 16 bits also where those of both are added
  narrow,   // bytes, whose first two products are a pair within 16 bits, and so are the last two
  turned,   // the same once bytes are in the second order
  crossed,  // the same once they are in the third
  wide,     // numbers of 16 bits, the first and third before the second and fourth
  second    // of two joined ones
};
/// The orders of bytes, from the lowest byte up: each pairs the first with another one.
inline constexpr std::array<std::uint32_t, 3> cell_orders{0x03020100, 0x03010200, 0x02010300};

/// What a panel of cells of several kinds begins with: [run][cell] a cell_kind, and zeros up to bytes(). The cells
/// follow, one kind after the other: joined ones are [2] by [2], wide ones have twice the bytes, and there is room for
/// wide ones alone.
struct panel_kinds {
  static constexpr std::size_t count = std::size_t(cell_kind::second);  // of kinds that lines read
  static constexpr std::size_t values = 8;                              // that a cell's kind is taken for, of a byte
  std::int64_t runs, cells;                                             // cells of a run

  std::int64_t all() const { return runs * cells; }
  std::int64_t bytes() const { return (all() + 63) / 64 * 64; }
  /// Numbers that list() makes.
  std::size_t listed() const { return values * std::size_t(1 + all()); }
  /// What lines read instead: of each kind [1 + all()], how many cells it has, and the bytes from a row's start to
  /// each. The panel may hold anything: no place is outside of the runs.
  void list(const std::byte* panel, const std::int64_t* taps, std::int64_t* to) const;
};

/// The loops for one kind of cells of one instruction set.
struct integer_arithmetic {
  std::int64_t per_cell;   // numbers of a cell: 4 are u8 in rows and s8 in panels, 2 are s16 in both
  std::int64_t columns;    // of a panel
  std::int64_t tile_rows;  // that a line is cut into
  bool takes_stretches;    // more than one
  void (*line)(const integer_line&);
  /// Makes a panel of kinds of cells: its plain cells lie at its end. Null: panels stay plain.
  void (*sort)(const panel_kinds&, std::byte* panel);
  /// What `line` takes from each number of a row before it multiplies; start_sums() makes up for it.
  std::int32_t middle;
  std::int64_t at_once = 1 << 22;    // multiplications that take a few hundred microseconds at most
  std::int64_t row_cache = 1 << 18;  // bytes of rows that stay near, in the second cache, beside a panel

  std::int64_t cells_of(std::int64_t numbers) const { return (numbers + per_cell - 1) / per_cell; }
  std::int64_t panels_of(std::int64_t n) const { return (n + columns - 1) / columns; }
  /// Bytes of a panel; of a number of cells that was found to fit.
  std::int64_t panel_size(std::int64_t runs, std::int64_t cells) const {
    const std::int64_t plain = runs * cells * columns * 4;
    return sort ? panel_kinds{runs, cells}.bytes() + 2 * plain : plain;
  }
};

/// Lines of outputs, one behind the other, of a convolution of codes with one filter per channel. x is u8, all channels
/// of a pixel side by side. Where loops pad by themselves, windows may begin before the image and end behind it.
struct depthwise_lines {
  const std::uint8_t* x;         // the first pixel of the first output's window
  std::int64_t lines, x_step;    // lines, and bytes of x from one to the next
  std::int64_t row_step, pixel;  // bytes from one row of the window to the next, and from one pixel to the next
  std::int64_t rows, columns, stride, dilation;
  std::int64_t row, row_stride, row_dilation, image_rows;  // in rows of the image: where the first line's window begins
  std::int64_t column, image_columns;                      // the same for the first output's
  std::uint8_t padding;                                    // the code outside the image
  const std::byte* w;                                      // packed filters
  const std::int32_t* start;                               // [channels]: where sums begin
  std::int64_t channels, outputs;                          // outputs of a line
  std::int32_t* sums;                                      // [lines][outputs][channels]; null: codes are wanted
  const float* scale;  // [channels]; these four as in an integer_line, low and high are the ends of u8 or s8
  float low, high;
  std::int32_t zero;
  std::uint8_t* codes;  // [lines][outputs][channels]
};

/// Loops for filters of single channels.
struct depthwise_loops {
  /// Whether they are for such windows; filters are numbers of 9 bits, or s8. Of several, the first that are serve.
  bool (*take)(std::int64_t channels, std::int64_t rows, std::int64_t columns, std::int64_t stride,
               std::int64_t dilation, bool fit_bytes);
  /// Bytes of packed filters, without overflow where there are as many numbers.
  std::size_t (*size)(std::int64_t channels, std::int64_t rows, std::int64_t columns);
  /// Packs number t of channel c, which is numbers(c * rows * columns + t).
  void (*pack)(detail::function_ref<std::int32_t(std::int64_t)> numbers, std::int64_t channels, std::int64_t rows,
               std::int64_t columns, std::byte* to);
  void (*run)(const depthwise_lines&);
  bool pads;  // else windows lie within the image: its padding is written out
};

/// Sums of codes as sums of whole numbers: of bytes a and b, each with `flip` turned, the code is
/// (a * A + b * B + start) >> shift in 32 bits that wrap, held to u8, and turned by `flip` too. Exceptions are the
/// pairs for which that is another code than the definition's.
struct whole_code_sum {
  static constexpr int most_exceptions = 8;
  std::int16_t high[2], low[2];  // A = 256 * high[0] + low[0], B is the same of [1]
  std::int32_t start;
  int shift;
  std::uint8_t flip;
  int exceptions;
  struct {
    std::uint8_t a, b, y;
  } exception[most_exceptions];
};

/// How an instruction set multiplies bytes by weights that fit in s8, and what does not fit; and its own loops for
/// filters of single channels and for sums of codes, where it has any.
struct integer_loops {
  std::string_view panels;  // what contexts name the packed weights: sets that pack alike have the same
  const integer_arithmetic &bytes, &shorts;
  std::span<const depthwise_loops> depthwise = {};
  /// Adds the first elements, and says how many; null where there is nothing faster than floats.
  std::int64_t (*add_codes)(const whole_code_sum&, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y,
                            std::int64_t n) = nullptr;
};

}  // namespace CAMEO_NAMESPACE::eps
