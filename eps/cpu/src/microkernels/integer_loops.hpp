#pragma once
#include <cameo/core/function_ref.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "machine/instruction_sets.hpp"

namespace CAMEO_NAMESPACE::eps {

// Micro-kernels for exact sums of products of integers, which matrix products and convolutions use. Sums have 32 bits,
// wrap, and are equal on every instruction set.
//
// A dot-product group ("cell" in names) is the 32 bits of a factor whose products one instruction adds to one sum: four
// bytes (u8 in rows, s8 in panels) or two int16. A panel is consecutive columns of the weights, packed group by group.
// A tile is some rows times a panel, whose sums stay in registers; a group of a row is multiplied by the groups of all
// columns of the panel. A run is what is contiguous in a row: all of it in a matrix product, a tap of the window (or a
// row of taps) in a convolution.
//
// Some instruction sets add the products of two bytes with saturation at 16 bits (vpmaddubsw). Their panels have groups
// of several kinds (cell_kind), according to the weights that all columns have there, so that no sum saturates whatever
// the rows contain.

/// The arguments of one call of a micro-kernel: rows times the columns of one panel.
struct integer_line {
  const std::byte* x;         // first row
  std::int64_t row_step;      // bytes from one row to the next
  std::int64_t stretch;       // the number of consecutive rows with that distance (a stretch)
  std::int64_t stretch_step;  // bytes from the first row of a stretch to that of the next
  const std::int64_t* taps;   // bytes from a row's start to each of its runs
  std::int64_t tap_count;     // runs of a row
  std::int64_t cells;         // groups of a run
  const std::byte* w;         // the panel: [tap_count][cells][columns of a panel][4 bytes], or as panel_kinds describes
  const std::int64_t* list;   // made by panel_kinds::list(), if the panel has kinds of groups; else not read
  std::int64_t rows;          // at least 1; all of one stretch, unless the arithmetic takes_stretches
  std::int64_t columns;       // columns of the panel that exist
  std::int64_t ahead;         // bytes from the panel to what is read after it, and is prefetched; 0: nothing
  const std::int32_t* start;  // [columns of a panel]: the initial values of sums
  std::int32_t* sums;         // the output, if sums are wanted; one of `sums`, `codes` and `floats` is not null
  std::int64_t step;          // elements of the output from one row to the next

  // Quantized output: sum * scale, rounded to nearest, ties to even, within [low, high], plus zero. The lowest byte is
  // stored.
  const float* scale;  // [columns of a panel]; finite for quantized output
  float low, high;     // integers
  std::int32_t zero;
  std::uint8_t* codes;

  // Floating-point output: float(sum) * scale + bias, rounded after each of the two operations.
  const float* bias;  // [columns of a panel]
  float* floats;
};

/// How the products of a group are added without saturation. A pair is two products that one instruction adds as int16.
/// Groups are in this order in a panel.
enum class cell_kind : std::uint8_t {
  joined,   // two neighboring groups, whose pairs fit in int16 even if those of both groups are added
  narrow,   // the pair of the first two bytes fits in int16, and so does that of the last two
  turned,   // both pairs fit once the bytes are permuted to the second of cell_orders
  crossed,  // both pairs fit once the bytes are permuted to the third of cell_orders
  wide,   // no pairs fit, so weights are int16: those of the first and third byte, then those of the second and fourth
  second  // the second of two joined groups
};
/// Permutations of the bytes of a group, from the lowest byte up. Each pairs the first byte with another one.
inline constexpr std::array<std::uint32_t, 3> cell_orders{0x03020100, 0x03010200, 0x02010300};

/// The header of a panel with several kinds of groups: a cell_kind for each [run][group], and zeros up to bytes(). The
/// groups follow, sorted by kind. Joined groups are stored in pairs, and wide groups have twice the bytes; the panel
/// has enough memory for wide groups alone.
struct panel_kinds {
  static constexpr std::size_t count = std::size_t(cell_kind::second);  // the number of kinds that have a list
  static constexpr std::size_t values = 8;                              // a kind is read modulo 8, as it may be corrupt
  std::int64_t runs, cells;                                             // runs; groups of a run

  std::int64_t all() const { return runs * cells; }
  std::int64_t bytes() const { return (all() + 63) / 64 * 64; }
  /// The number of elements that list() writes.
  std::size_t listed() const { return values * std::size_t(1 + all()); }
  /// Writes the lists that micro-kernels read instead of the header, for each kind [1 + all()]: the number of its
  /// groups, and the bytes from a row's start to each. Whatever the header contains (panels may come from a file), all
  /// offsets are within the runs.
  void list(const std::byte* panel, const std::int64_t* taps, std::int64_t* to) const;
};

/// The micro-kernel of one instruction set for bytes or for int16.
struct integer_arithmetic {
  std::int64_t per_cell;   // elements of a group: 4 (u8 in rows and s8 in panels) or 2 (int16 in both)
  std::int64_t columns;    // columns of a panel
  std::int64_t tile_rows;  // rows of a tile
  bool takes_stretches;    // the rows of a call may be in several stretches
  void (*line)(const integer_line&);
  /// Sorts the groups of a panel by kind, given unsorted ones at its end. Null: panels are not sorted.
  void (*sort)(const panel_kinds&, std::byte* panel);
  /// The number that `line` subtracts from each element of a row before it multiplies; start_sums() compensates for it.
  std::int32_t middle;
  std::int64_t at_once = 1 << 22;    // multiplications that take a few hundred microseconds at most
  std::int64_t row_cache = 1 << 18;  // bytes of rows that stay in the L2 cache beside a panel

  std::int64_t cells_of(std::int64_t numbers) const { return (numbers + per_cell - 1) / per_cell; }
  std::int64_t panels_of(std::int64_t n) const { return (n + columns - 1) / columns; }
  /// The bytes of a panel. The caller has checked that they don't overflow (integer_panels::size()).
  std::int64_t panel_size(std::int64_t runs, std::int64_t cells) const {
    const std::int64_t plain = runs * cells * columns * 4;
    return sort ? panel_kinds{runs, cells}.bytes() + 2 * plain : plain;
  }
};

/// The arguments for consecutive lines of outputs of a quantized depthwise convolution (one filter per channel). x is
/// u8, with the channels of a pixel contiguous. If the loops pad, windows may exceed the image.
struct depthwise_lines {
  const std::uint8_t* x;         // the first pixel of the first output's window
  std::int64_t lines, x_step;    // lines, and bytes of x from one to the next
  std::int64_t row_step, pixel;  // bytes from one row of the window to the next, and from one pixel to the next
  std::int64_t rows, columns, stride, dilation;
  std::int64_t row, row_stride, row_dilation, image_rows;  // `row`: the image row at which the first window begins
  std::int64_t column, image_columns;  // `column`: the image column at which the first window begins
  std::uint8_t padding;                // the value of x outside of the image
  const std::byte* w;                  // packed filters
  const std::int32_t* start;           // [channels]: the initial values of sums
  std::int64_t channels, outputs;      // outputs of a line
  std::int32_t* sums;                  // [lines][outputs][channels]; null: the output is quantized
  const float* scale;  // [channels]. These four are as in integer_line, with the limits of u8 or s8 as low and high
  float low, high;
  std::int32_t zero;
  std::uint8_t* codes;  // [lines][outputs][channels]
};

/// The loops of a depthwise convolution for some sizes of windows.
struct depthwise_loops {
  /// True if the loops support such windows. Filters have 9 bits, or `fit_bytes` (int8). The first supporting entry of
  /// integer_loops::depthwise is used.
  bool (*take)(std::int64_t channels, std::int64_t rows, std::int64_t columns, std::int64_t stride,
               std::int64_t dilation, bool fit_bytes);
  /// The bytes of packed filters; they don't overflow, as the unpacked filters are in memory.
  std::size_t (*size)(std::int64_t channels, std::int64_t rows, std::int64_t columns);
  /// Packs filters; tap t of channel c is numbers(c * rows * columns + t).
  void (*pack)(detail::function_ref<std::int32_t(std::int64_t)> numbers, std::int64_t channels, std::int64_t rows,
               std::int64_t columns, std::byte* to);
  void (*run)(const depthwise_lines&);
  bool pads;  // windows may exceed the image; otherwise the caller writes its padding out
};

/// QLinearAdd in fixed point: for bytes a and b, each XORed with `flip`, the result is (a * A + b * B + start) >> shift
/// in 32 bits that wrap, clamped to u8 and XORed with `flip`. The exceptions are the pairs for which that result
/// differs from the definition in floating point; they get the result y of the definition.
struct whole_code_sum {
  static constexpr int most_exceptions = 8;
  std::int16_t high[2], low[2];  // A = 256 * high[0] + low[0], B = 256 * high[1] + low[1]
  std::int32_t start;
  int shift;
  std::uint8_t flip;
  int exceptions;
  struct {
    std::uint8_t a, b, y;
  } exception[most_exceptions];
};

/// The micro-kernels of an instruction set: for bytes times weights that fit in int8, for int16, and, if it has any,
/// special ones for depthwise convolutions and for sums of quantized values.
struct integer_loops {
  std::string_view panels;  // the name of the layout of packed weights in contexts, which several sets may share
  const integer_arithmetic &bytes, &shorts;
  std::span<const depthwise_loops> depthwise = {};
  /// Adds the first elements of a and b and returns their number; null if the set has nothing faster than floats.
  std::int64_t (*add_codes)(const whole_code_sum&, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y,
                            std::int64_t n) = nullptr;
};

}  // namespace CAMEO_NAMESPACE::eps
