// Peak rates of multiply-adds of types smaller than float32. Each loop repeats one instruction, or the sequence that
// replaces it on older processors, in twelve independent chains, which hide the latency of any processor. The loops are
// in assembly, because Highway and compilers do not cover all of the instructions, and a compiler could not then use
// them elsewhere.
#include "units.hpp"

#include "machine/best_rate.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#if defined(__x86_64__) && defined(__linux__)
#include "machine/amx_tiles.hpp"
#include "os/processor_features.hpp"
#endif

namespace peers {
namespace {

constexpr const char* interesting[] = {"sse4_1",   "avx",      "f16c",        "fma",      "avx2",        "avx512f",
                                       "avx512bw", "avx512vl", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_tile",
                                       "amx_bf16", "amx_int8", "avx512_fp16", "asimddp",  "i8mm",        "bf16"};

/// The loop that measures a unit.
struct loop {
  unit measured;
  double multiply_adds;  // per iteration
  void (*run)(std::size_t iterations);
};

#if defined(__x86_64__)

#define PEERS_TWELVE(each)                                                                                       \
  each("0") each("1") each("2") each("3") each("4") each("5") each("6") each("7") each("8") each("9") each("10") \
      each("11")
/// A function that repeats `each` for registers 0 to 11; registers 12 and 13 are the factors, 14 and 15 are free.
#define PEERS_LOOP(name, each)                                                                                    \
  void name(std::size_t turns) {                                                                                  \
    asm volatile("vzeroall\n1:\n" PEERS_TWELVE(each) "dec %0\n jnz 1b\n vzeroupper\n"                             \
                 : "+r"(turns)                                                                                    \
                 :                                                                                                \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                                  \
  }

// Products of bytes without VNNI: sums of pairs, which may saturate, then sums of two of those.
#define PEERS_PAIRS(r, width)                                                                                          \
  "vpmaddubsw %%" width "mm12, %%" width "mm13, %%" width "mm14\n vpmaddwd %%" width "mm15, %%" width "mm14, %%" width \
  "mm14\n vpaddd %%" width "mm14, %%" width "mm" r ", %%" width "mm" r "\n"
#define PEERS_PAIRS_Y(r) PEERS_PAIRS(r, "y")
#define PEERS_PAIRS_Z(r) PEERS_PAIRS(r, "z")
#define PEERS_WORDS(r, width)                                                                                         \
  "vpmaddwd %%" width "mm12, %%" width "mm13, %%" width "mm14\n vpaddd %%" width "mm14, %%" width "mm" r ", %%" width \
  "mm" r "\n"
#define PEERS_WORDS_Y(r) PEERS_WORDS(r, "y")
#define PEERS_WORDS_Z(r) PEERS_WORDS(r, "z")
#define PEERS_VNNI_Y(r) "%{vex%} vpdpbusd %%ymm12, %%ymm13, %%ymm" r "\n"
#define PEERS_VNNI_Z(r) "vpdpbusd %%zmm12, %%zmm13, %%zmm" r "\n"
#define PEERS_BF16_Z(r) "vdpbf16ps %%zmm12, %%zmm13, %%zmm" r "\n"

PEERS_LOOP(bytes_avx2, PEERS_PAIRS_Y)
PEERS_LOOP(bytes_avx512, PEERS_PAIRS_Z)
PEERS_LOOP(words_avx2, PEERS_WORDS_Y)
PEERS_LOOP(words_avx512, PEERS_WORDS_Z)
PEERS_LOOP(bytes_avx_vnni, PEERS_VNNI_Y)
PEERS_LOOP(bytes_avx512_vnni, PEERS_VNNI_Z)
PEERS_LOOP(bf16_avx512, PEERS_BF16_Z)

#ifdef __linux__
/// A function that repeats `product` of tiles 6 and 7, added to each of the tiles 0 to 5.
#define PEERS_TILES(name, product)                                                                                  \
  void name(std::size_t turns) {                                                                                    \
    cameo::eps::tile_sizes sizes;                                                                                   \
    for (int i = 0; i < 8; ++i) sizes.set(i, 16, 16);                                                               \
    asm volatile("ldtilecfg %1\n1:\n" product "0\n" product "1\n" product "2\n" product "3\n" product "4\n" product \
                 "5\n dec %0\n jnz 1b\n tilerelease\n"                                                              \
                 : "+r"(turns)                                                                                      \
                 : "m"(sizes)                                                                                       \
                 : "cc");                                                                                           \
  }
PEERS_TILES(bytes_amx, "tdpbusd %%tmm6, %%tmm7, %%tmm")
PEERS_TILES(bf16_amx, "tdpbf16ps %%tmm6, %%tmm7, %%tmm")
#endif

constexpr loop loops[] = {
    {{"int8", "avx2", "vpmaddubsw + vpmaddwd + vpaddd"}, 12 * 32, bytes_avx2},
    {{"int8", "avx512bw", "vpmaddubsw + vpmaddwd + vpaddd"}, 12 * 64, bytes_avx512},
    {{"int8", "avx_vnni", "vpdpbusd"}, 12 * 32, bytes_avx_vnni},
    {{"int8", "avx512_vnni", "vpdpbusd"}, 12 * 64, bytes_avx512_vnni},
    {{"int16", "avx2", "vpmaddwd + vpaddd"}, 12 * 16, words_avx2},
    {{"int16", "avx512bw", "vpmaddwd + vpaddd"}, 12 * 32, words_avx512},
    {{"bf16", "avx512_bf16", "vdpbf16ps"}, 12 * 32, bf16_avx512},
#ifdef __linux__
    {{"int8", "amx_int8", "tdpbusd"}, 6 * 16 * 16 * 64, bytes_amx},
    {{"bf16", "amx_bf16", "tdpbf16ps"}, 6 * 16 * 16 * 32, bf16_amx},
#endif
};

#else

constexpr std::array<loop, 0> loops{};

#endif

/// True if the operating system permits the instructions of this flag. Linux permits AMX only on request.
bool may_use(std::string_view flag) {
#if defined(__x86_64__) && defined(__linux__)
  if (flag.starts_with("amx")) return cameo::os::request_amx_tiles();
#endif
  return !flag.empty();
}

}  // namespace

std::vector<std::string> processor_flags() {
  std::vector<std::string> has;
  std::ifstream lines{"/proc/cpuinfo"};
  for (std::string line; has.empty() && std::getline(lines, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words{line};
    const std::vector<std::string> all{std::istream_iterator<std::string>{words}, {}};
    for (const char* each : interesting)
      if (std::find(all.begin(), all.end(), each) != all.end()) has.emplace_back(each);
  }
  return has;
}

std::vector<unit> measure_units(std::size_t threads, double seconds) {
  const std::vector<std::string> flags = processor_flags();
  std::vector<unit> measured;
  for (const loop& each : loops) {
    if (std::find(flags.begin(), flags.end(), each.measured.flag) == flags.end()) continue;
    if (!may_use(each.measured.flag)) continue;
    constexpr std::size_t iterations = 1 << 17;
    unit& made = measured.emplace_back(each.measured);
    made.operations = cameo::eps::best_rate(threads, seconds, 2 * each.multiply_adds * double(iterations * threads),
                                            [&](std::size_t) { each.run(iterations); });
  }
  return measured;
}

}  // namespace peers
