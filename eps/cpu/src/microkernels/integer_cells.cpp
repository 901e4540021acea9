// Which loops for integer products a processor can run.
#include "integer_cells.hpp"

#include <cameo/eps/cpu/detail/gemm_block.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "integer_target.hpp"
#include "os/processor_features.hpp"

#if CAMEO_CELLS_X86
#include <cpuid.h>
#endif

CAMEO_BEGIN_NAMESPACE
namespace eps {
namespace {

#if CAMEO_CELLS_X86
// What not all compilers have a name for: bits of a register that CPUID answers leaf 7 with.
enum class cpuid_register { a, b, c, d };
bool has_bits(unsigned part, cpuid_register which, std::initializer_list<int> bits) {
  unsigned r[4] = {};
  if (!__get_cpuid_count(7, part, &r[0], &r[1], &r[2], &r[3])) return false;
  return std::all_of(bits.begin(), bits.end(), [&](int bit) { return (r[std::size_t(which)] >> bit & 1) != 0; });
}
bool has_avx_vnni() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_bits(1, cpuid_register::a, {4});
}
#endif

// __builtin_cpu_supports also asks whether the system keeps the registers.
constexpr cells_row<integer_cells> cells_rows[] = {
#if CAMEO_CELLS_AMX
    {amx_cells, "AVX3",
     [] { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && has_amx("int8"); }},
#endif
#if CAMEO_CELLS_X86
    {avx512_vnni_cells, "AVX3",
     [] { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"); }},
    {avx512_cells, "AVX3", [] { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"); }},
    {avx_vnni_cells, "AVX2", has_avx_vnni},
    {avx2_cells, "AVX2", [] { return bool(__builtin_cpu_supports("avx2")) && __builtin_cpu_supports("fma"); }},
    {sse2_cells, "SSE2", [] { return true; }},
#endif
#if CAMEO_CELLS_NEON_DOT
    {neon_i8mm_cells, "NEON", os::has_arm_matrix_products},
    {neon_dot_cells, "NEON", os::has_arm_dot_products},
#endif
#if CAMEO_CELLS_NEON
    {neon_cells, "NEON", [] { return true; }},
#endif
    {portable_cells, "", [] { return true; }},
};

}  // namespace

#if CAMEO_CELLS_AMX
bool has_amx(std::string_view type) {
  return has_bits(0, cpuid_register::d, {24, type == "bf16" ? 22 : 25}) && os::request_amx_tiles();
}
#endif

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

std::span<const integer_cells* const> runnable_integer_cells() { return tables_that_run<cells_rows>(); }
const integer_cells& best_integer_cells() { return best_of<cells_rows>(); }

}  // namespace eps
CAMEO_END_NAMESPACE
