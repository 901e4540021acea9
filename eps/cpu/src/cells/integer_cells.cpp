// Which loops for integer products a processor can run.
#include "integer_cells.hpp"

#include <cameo/eps/cpu/detail/gemm.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "integer_target.hpp"

#if CAMEO_CELLS_NEON_DOT
#include <sys/auxv.h>
#elif CAMEO_CELLS_X86 && defined(CAMEO_UNTRIED_INSTRUCTION_SETS)
#include <cpuid.h>
#endif

namespace cameo::inline CAMEO_ABI::eps {
namespace {

#if CAMEO_CELLS_NEON_DOT
// By their numbers, as old headers of the C library have no names for them.
bool has_dot() { return (getauxval(AT_HWCAP) >> 20 & 1) != 0; }    // HWCAP_ASIMDDP
bool has_i8mm() { return (getauxval(AT_HWCAP2) >> 13 & 1) != 0; }  // HWCAP2_I8MM
#elif CAMEO_CELLS_X86 && defined(CAMEO_UNTRIED_INSTRUCTION_SETS)
// Not all compilers have a name for it. The question is slow where a hypervisor answers it.
bool has_avx_vnni() {
  static const bool found = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
           (a >> 4 & 1) != 0;
  }();
  return found;
}
#endif

// __builtin_cpu_supports also asks whether the system keeps the registers.
constexpr cells_row<integer_cells> cells_rows[] = {
#if CAMEO_CELLS_X86
    {avx512_vnni_cells, "AVX3",
     [] { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"); }},
    {avx512_cells, "AVX3", [] { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"); }},
#ifdef CAMEO_UNTRIED_INSTRUCTION_SETS
    {avx_vnni_cells, "AVX2", has_avx_vnni},
#endif
    {avx2_cells, "AVX2", [] { return bool(__builtin_cpu_supports("avx2")) && __builtin_cpu_supports("fma"); }},
    {sse2_cells, "SSE2", [] { return true; }},
#endif
#if CAMEO_CELLS_NEON_DOT
    {neon_i8mm_cells, "NEON", has_i8mm},
    {neon_dot_cells, "NEON", has_dot},
#endif
#if CAMEO_CELLS_NEON
    {neon_cells, "NEON", [] { return true; }},
#endif
    {portable_cells, "", [] { return true; }},
};

}  // namespace

bool instruction_set_reaches(std::string_view wanted) {
  constexpr std::string_view order[] = {"AVX3", "AVX2", "SSE4", "SSSE3", "SSE2", "NEON"};
  const std::string_view used = instruction_set();
  const auto place = [&](std::string_view name) { return std::find(std::begin(order), std::end(order), name); };
  return wanted.empty() || used.starts_with(wanted) || place(used) < place(wanted);
}

// Without branches: nothing tells which kind follows which. One word counts the cells of all kinds in a part of a run.
void panel_kinds::list(const std::byte* panel, const std::int64_t* taps, std::int64_t* to) const {
  constexpr std::int64_t part = 128;
  std::int64_t* next[values];
  for (std::size_t i = 0; i < values; ++i) next[i] = to + std::int64_t(i) * (1 + all()) + 1;
  for (std::int64_t t = 0; t < runs; ++t)
    for (std::int64_t first = 0; first < cells; first += part) {
      const std::byte* const kinds = panel + t * cells + first;
      const std::int64_t n = std::min(part, cells - first), tap = taps[t] + 4 * first;
      std::uint64_t counts = 0;
      const auto put = [&](std::size_t kind, std::int64_t place) {
        next[kind][counts >> 8 * kind & 255] = place;
        counts += std::uint64_t{1} << 8 * kind;
      };
      for (std::int64_t c = 0; c + 1 < n; ++c) put(std::size_t(kinds[c]) % values, tap + 4 * c);
      const std::size_t last = std::size_t(kinds[n - 1]) % values;
      const bool is_alone = last == std::size_t(cell_kind::joined) && first + n == cells;
      put(is_alone ? std::size_t(cell_kind::narrow) : last, tap + 4 * (n - 1));
      for (std::size_t i = 0; i < values; ++i) next[i] += counts >> 8 * i & 255;
    }
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t* const begin = to + std::int64_t(i) * (1 + all());
    *begin = next[i] - begin - 1;
  }
}

std::span<const integer_cells* const> runnable_integer_cells() {
  static const auto found = [] {
    std::pair<std::array<const integer_cells*, std::size(cells_rows)>, std::size_t> made{};
    for (const auto& row : cells_rows)
      if (row.runs_here()) made.first[made.second++] = &row.table;
    return made;
  }();
  return std::span{found.first}.first(found.second);
}

const integer_cells& best_integer_cells() {
  for (const auto& row : cells_rows)
    if (row.runs_here() && instruction_set_reaches(row.beside)) return row.table;
  return portable_cells;
}

}  // namespace cameo::inline CAMEO_ABI::eps
