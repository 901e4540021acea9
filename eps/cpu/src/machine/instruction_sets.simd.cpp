// The instruction sets of processors, and which of them are used. No other source of the kernels queries the processor.
#include "simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "instruction_sets.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::machine {
std::int64_t this_target() { return HWY_TARGET; }
}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::machine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "os/processor_features.hpp"
#include "target.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace CAMEO_NAMESPACE::eps {

// The loops. Each is defined in a source of microkernels/ that is compiled for its instruction set.
extern const integer_loops amx_integers, avx512_vnni_integers, avx512_integers, avx_vnni_integers, avx2_integers;
extern const integer_loops sse2_integers, neon_i8mm_integers, neon_dot_integers, neon_integers, portable_integers;
extern const nbits_loops avx512_vnni_nbits, avx512_nbits, avx_vnni_nbits, avx2_nbits, sse2_nbits;
extern const nbits_loops neon_i8mm_nbits, neon_dot_nbits, neon_nbits, portable_nbits;
extern const bf16_loops amx_bf16_loops, avx512_bf16_loops;

namespace {

#ifdef __x86_64__
// Feature bits that not all compilers have a name for, in the registers that CPUID leaf 7 returns.
enum class cpuid_register { a, b, c, d };
bool has_bits(unsigned part, cpuid_register which, std::initializer_list<int> bits) {
  unsigned r[4] = {};
  if (!__get_cpuid_count(7, part, &r[0], &r[1], &r[2], &r[3])) return false;
  return std::all_of(bits.begin(), bits.end(), [&](int bit) { return (r[std::size_t(which)] >> bit & 1) != 0; });
}
// __builtin_cpu_supports also checks that the operating system saves the registers.
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx_vnni() { return has_avx2() && has_bits(1, cpuid_register::a, {4}); }
bool has_avx512() { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"); }
bool has_avx512_vnni() { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni"); }
bool has_avx512_bf16() { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512bf16"); }
#endif
#if CAMEO_HAS_AMX
/// True if the processor has AMX with products of a type, whose feature bit is `type`, and the operating system permits
/// this process to use the tiles. The permission is requested once for all threads.
bool has_amx(int type) { return has_bits(0, cpuid_register::d, {24, type}) && os::request_amx_tiles(); }
bool has_amx_int8() { return has_avx512_vnni() && has_amx(25); }
bool has_amx_bf16() { return has_avx512_bf16() && has_amx(22); }
#endif
bool always() { return true; }

constexpr std::int64_t any_target = std::numeric_limits<std::int64_t>::max();

/// The table of instruction sets. The best comes first; the last row runs on every processor.
constexpr instruction_set instruction_sets[] = {
#if CAMEO_HAS_AMX
    {"amx_bf16", HWY_AVX3, has_amx_bf16, nullptr, nullptr, &amx_bf16_loops},
    {"amx_int8", HWY_AVX3, has_amx_int8, &amx_integers},
#endif
#ifdef __x86_64__
    {"avx512_bf16", HWY_AVX3, has_avx512_bf16, nullptr, nullptr, &avx512_bf16_loops},
    {"avx512_vnni", HWY_AVX3, has_avx512_vnni, &avx512_vnni_integers, &avx512_vnni_nbits},
    {"avx512bw", HWY_AVX3, has_avx512, &avx512_integers, &avx512_nbits},
    {"avx_vnni", HWY_AVX2, has_avx_vnni, &avx_vnni_integers, &avx_vnni_nbits},
    {"avx2", HWY_AVX2, has_avx2, &avx2_integers, &avx2_nbits},
    {"sse2", HWY_SSE2, always, &sse2_integers, &sse2_nbits},
#endif
#if CAMEO_HAS_NEON_DOT
    {"neon_i8mm", CAMEO_SIMD_NEON, os::has_arm_matrix_products, &neon_i8mm_integers, &neon_i8mm_nbits},
    {"neon_dot", CAMEO_SIMD_NEON, os::has_arm_dot_products, &neon_dot_integers, &neon_dot_nbits},
#endif
#ifdef __aarch64__
    {"neon", CAMEO_SIMD_NEON, always, &neon_integers, &neon_nbits},
#endif
    {"portable", any_target, always, &portable_integers, &portable_nbits},
};

/// The table reduced to one kind of loops and to the rows that have such loops, so that a program links no others.
template <auto Member>
struct column {
  using loops = std::remove_cvref_t<decltype(std::declval<const instruction_set&>().*Member)>;
  struct row {
    std::int64_t target;
    bool (*runs_here)();
    loops found;
  };
  static constexpr bool has_loops(const instruction_set& each) { return each.*Member != nullptr; }
  static constexpr auto size =
      std::size_t(std::count_if(std::begin(instruction_sets), std::end(instruction_sets), has_loops));
  static constexpr std::array<row, size> rows = [] {
    std::array<row, size> made{};
    std::size_t count = 0;
    for (const instruction_set& each : instruction_sets)
      if (has_loops(each)) made[count++] = {each.target, each.runs_here, each.*Member};
    return made;
  }();

  /// Returns the loops of the best row. The processor is queried once, as a query is slow under a hypervisor.
  static loops best() {
    static const auto here = [] {
      std::array<bool, size> made{};
      std::transform(rows.begin(), rows.end(), made.begin(), [](const row& each) { return each.runs_here(); });
      return made;
    }();
    const std::int64_t in_use = CAMEO_SIMD_BEST(machine::this_target)();  // larger targets have smaller numbers
    for (std::size_t i = 0; i < size; ++i)
      if (here[i] && in_use <= rows[i].target) return rows[i].found;
    return nullptr;
  }
};

}  // namespace

std::span<const instruction_set* const> runnable_instruction_sets() {
  static const auto here = [] {
    std::pair<std::array<const instruction_set*, std::size(instruction_sets)>, std::size_t> made{};
    for (const instruction_set& each : instruction_sets)
      if (each.runs_here()) made.first[made.second++] = &each;
    return made;
  }();
  return std::span{here.first}.first(here.second);
}

const integer_loops& best_integer_loops() { return *column<&instruction_set::integers>::best(); }
const nbits_loops& best_nbits_loops() { return *column<&instruction_set::few_bits>::best(); }
const bf16_loops* best_bf16_loops() {
  if constexpr (column<&instruction_set::bf16>::size == 0) return nullptr;
  else return column<&instruction_set::bf16>::best();
}

std::string_view instruction_set_in_use() { return hwy::TargetName(CAMEO_SIMD_BEST(machine::this_target)()); }
std::int64_t built_targets() { return HWY_TARGETS; }

}  // namespace CAMEO_NAMESPACE::eps
#endif
