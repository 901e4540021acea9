#pragma once
// What every source with integer products for one instruction set includes: the compiler is told of the set by a region
// of attributes and not by an option of the file, so that no inline function of a library is compiled for it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include "bf16_cells.hpp"
#include "integer_cells.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define CAMEO_CELLS_X86 1
#include <immintrin.h>
#else
#define CAMEO_CELLS_X86 0
#endif

// The system permits a program to use AMX, or does not.
#if CAMEO_CELLS_X86
#define CAMEO_CELLS_AMX 1
#include "machine/amx_tiles.hpp"
#else
#define CAMEO_CELLS_AMX 0
#endif

#ifdef __aarch64__
#define CAMEO_CELLS_NEON 1
#include <arm_neon.h>
#else
#define CAMEO_CELLS_NEON 0
#endif
// clang before 16 has intrinsics of ARM only in files that are compiled for them as a whole.
#if CAMEO_CELLS_NEON && (!defined(__clang__) || __clang_major__ >= 16)
#define CAMEO_CELLS_NEON_DOT 1
#else
#define CAMEO_CELLS_NEON_DOT 0
#endif

#define CAMEO_CELLS_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define CAMEO_CELLS_TARGET(sets) \
  CAMEO_CELLS_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define CAMEO_CELLS_TARGET_END _Pragma("clang attribute pop")
#elif !defined(__GNUC__)  // has the instructions of all sets in every function
#define CAMEO_CELLS_TARGET(sets)
#define CAMEO_CELLS_TARGET_END
#else
// g++ 12 takes the undefined operands of its own intrinsics for forgotten ones.
#define CAMEO_CELLS_TARGET(sets)                                                                 \
  _Pragma("GCC push_options") CAMEO_CELLS_PRAGMA(GCC target sets) _Pragma("GCC diagnostic push") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")                                \
          _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#define CAMEO_CELLS_TARGET_END _Pragma("GCC diagnostic pop") _Pragma("GCC pop_options")
#endif

#define CAMEO_CELL_FUNCTION __attribute__((noinline))
#ifdef CAMEO_CELLS_AS_CALLS  // where a sanitizer looks at each access, a copy per place took minutes to compile
#define CAMEO_CELL_INLINE inline
#define CAMEO_CELL_LOOP
#else
#define CAMEO_CELL_INLINE inline __attribute__((always_inline))
// Rows and vectors of a tile are unrolled: they are registers.
#define CAMEO_CELL_LOOP _Pragma("GCC unroll 16")
#endif

CAMEO_BEGIN_NAMESPACE
namespace eps {

// One table each, in a file of its own.
extern const integer_cells amx_cells, avx512_vnni_cells, avx512_cells, avx_vnni_cells, avx2_cells, sse2_cells;
extern const integer_cells neon_i8mm_cells, neon_dot_cells, neon_cells, portable_cells;
extern const bf16_cells amx_bf16_cells, avx512_bf16_cells, no_bf16_cells;

/// A table of one instruction set, that of the float kernels which it goes with, and whether the processor has it.
template <class Table>
struct cells_row {
  const Table& table;
  std::string_view beside;
  bool (*runs_here)();
};

#if CAMEO_CELLS_AMX
/// Whether AMX is there and multiplies numbers of this type. The system is asked for its tiles, which a process may use
/// only then; that is done once for all threads.
bool has_amx(std::string_view type);  // "int8", "bf16"
#endif

/// Whether the instruction set of the float kernels in use is at least that with this name: kernels that are held back
/// to a smaller one take no table of a larger one. "" stands for any.
bool instruction_set_reaches(std::string_view wanted);

/// Which rows of a list run here. The processor is asked once, as that is slow where a hypervisor answers.
template <const auto& Rows>
const auto& rows_that_run() {
  static const auto found = [] {
    std::array<bool, std::size(Rows)> made{};
    std::transform(std::begin(Rows), std::end(Rows), made.begin(), [](const auto& row) { return row.runs_here(); });
    return made;
  }();
  return found;
}
/// The tables of a list that run here, in its order. Fixed for the whole life of the program.
template <const auto& Rows>
auto tables_that_run() {
  using table = std::remove_reference_t<decltype(Rows[0].table)>;
  static const auto found = [] {
    std::pair<std::array<table*, std::size(Rows)>, std::size_t> made{};
    for (std::size_t i = 0; i < std::size(Rows); ++i)
      if (rows_that_run<Rows>()[i]) made.first[made.second++] = &Rows[i].table;
    return made;
  }();
  return std::span{found.first}.first(found.second);
}
/// The first table of a list that runs here and that the float kernels allow. The last one needs nothing.
template <const auto& Rows>
const auto& best_of() {
  const auto& here = rows_that_run<Rows>();
  std::size_t i = 0;
  while (i + 1 < std::size(Rows) && !(here[i] && instruction_set_reaches(Rows[i].beside))) ++i;
  return Rows[i].table;
}

}  // namespace eps
CAMEO_END_NAMESPACE
