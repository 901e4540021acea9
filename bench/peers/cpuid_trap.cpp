// A library for LD_PRELOAD that hides instruction sets from libraries which bench/peers/fewer_instructions.py has
// changed. The environment variable PEERS_INSTRUCTIONS names the best remaining set: avx2, avx_vnni (AVX2 and AVX-VNNI)
// or avx512_vnni (everything but AMX). The changed libraries have breakpoints in place of their CPUID instructions; the
// signal handler below executes CPUID and clears the bits of the hidden sets. For x86-64 and Linux.
//
// Source of the bits: Intel's Software Developer's Manual, volume 2A, CPUID, leaf 7.
#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace {

constexpr std::uint32_t bits(std::initializer_list<int> places) {
  std::uint32_t all = 0;
  for (const int each : places) all |= std::uint32_t{1} << each;
  return all;
}

/// Bits of the registers that CPUID returns for subleaf 0 or 1 of leaf 7.
struct flags {
  std::uint32_t eax, ebx, ecx, edx;
};
// Subleaf 0 has AVX512* and AMX; subleaf 1 has AVX512_BF16, AMX-FP16, AVX-IFMA, AVX-VNNI-INT8, AVX10, and AVX-VNNI as
// bit 4 of eax.
constexpr flags newer{0, bits({16, 17, 21, 26, 27, 28, 30, 31}), bits({1, 6, 11, 12, 14}),
                      bits({2, 3, 8, 22, 23, 24, 25})};
constexpr std::uint32_t newer_eax = bits({5, 21, 23}), newer_edx = bits({4, 5, 8, 10, 19});

/// The bits to clear for each value of PEERS_INSTRUCTIONS.
struct {
  std::string_view best;
  flags withheld[2];
} constexpr levels[] = {
    {"avx2", {newer, {newer_eax | bits({4}), 0, 0, newer_edx}}},
    {"avx_vnni", {newer, {newer_eax, 0, 0, newer_edx}}},
    {"avx512_vnni", {{0, 0, 0, bits({22, 24, 25})}, {bits({21}), 0, 0, bits({8})}}},  // AMX
};
const flags* withheld = nullptr;

void answer(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto leaf = std::uint32_t(registers[REG_RAX]), part = std::uint32_t(registers[REG_RCX]);
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  __cpuid_count(leaf, part, eax, ebx, ecx, edx);
  if (leaf == 7 && part < 2) {
    const flags& less = withheld[part];
    eax &= ~less.eax, ebx &= ~less.ebx, ecx &= ~less.ecx, edx &= ~less.edx;
  }
  registers[REG_RAX] = eax, registers[REG_RBX] = ebx, registers[REG_RCX] = ecx, registers[REG_RDX] = edx;
}

/// Installs the signal handler. Runs before the C library is initialized (-z initfirst), when getenv finds nothing yet.
[[gnu::constructor]] void install(int, char**, char** environment) {
  constexpr std::string_view name = "PEERS_INSTRUCTIONS=";
  for (; *environment; ++environment)
    for (const auto& each : levels)
      if (const std::string_view set = *environment; set.starts_with(name) && set.substr(name.size()) == each.best)
        withheld = each.withheld;
  if (!withheld) __builtin_trap();  // the variable has none of the names
  struct sigaction action{};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
}

}  // namespace
