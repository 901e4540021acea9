#pragma once
// What every source on Highway includes before hwy: the instruction sets that kernels are compiled for, and what their
// tiles ask of one. Nothing else in cpu names an instruction set.
//
// A set that is not in this list is not compiled for: each costs compile time, and newer versions of Highway bring sets
// (AVX3_ZEN4, AVX3_SPR, AVX10_2, NEON_BF16) that have nothing for our kernels beside those here, and that no test has
// seen. A processor that has one of them has one of these as well. Vectors whose size the compiler does not know (SVE,
// RVV) can't be kept in the arrays of accumulators that the kernels are made of; processors with those run the NEON or
// the portable code.
#define CAMEO_SIMD_TARGETS (HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_SSE2 | CAMEO_SIMD_NEON | HWY_EMU128 | HWY_SCALAR)
// Highway after 1.0.3 has NEON without the instructions for AES, too, and that is all we need of it.
#define CAMEO_SIMD_NEON (HWY_NEON_WITHOUT_AES != 0 ? HWY_NEON_WITHOUT_AES : HWY_NEON)
#define HWY_DISABLED_TARGETS (~CAMEO_SIMD_TARGETS)
/// What <hwy/foreach_target.h> includes once per instruction set: the source that is compiled. Its path counts from the
/// compiler's folder, so the compiler has the option -I. for it.
#define HWY_TARGET_INCLUDE __BASE_FILE__
#if defined(CAMEO_SINGLE_TARGET) && !defined(HWY_COMPILE_ONLY_STATIC)  // sanitizer builds
#define HWY_COMPILE_ONLY_STATIC
#endif
#include <hwy/detect_targets.h>
#ifndef HWY_SSE2  // nor had Highway 1.0.3 these; an #if took them for 0 already
#define HWY_SSE2 0LL
#endif
#ifndef HWY_NEON_WITHOUT_AES
#define HWY_NEON_WITHOUT_AES 0LL
#endif

/// How many vectors an instruction set has registers for: a tile has as many accumulators as fit beside its factors.
/// Asked for within HWY_NAMESPACE, after hwy/highway.h.
#define CAMEO_SIMD_REGISTERS (HWY_MAX_BYTES >= 64 || HWY_ARCH_ARM_A64 ? 32 : 16)
/// Whether an instruction converts vectors of float to float16 and back. Asked for like CAMEO_SIMD_REGISTERS.
#define CAMEO_SIMD_HALVES ((HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64)
/// Whether a vector has more than one lane, and whether the compiler's plain code stands in for instructions.
#define CAMEO_SIMD_VECTORS (HWY_TARGET != HWY_SCALAR)
#define CAMEO_SIMD_EMULATED (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128)

/// The pointer to a function, or to an instance of a template, for the best instruction set that this processor has.
/// For sources that are compiled for several; used once, after the namespaces of all.
#if defined(HWY_COMPILE_ONLY_STATIC)
#define CAMEO_SIMD_BEST(FUNCTION) (&HWY_STATIC_DISPATCH(FUNCTION))
#else
#define CAMEO_SIMD_BEST(FUNCTION)                                                                                 \
  ([]() -> decltype(&HWY_STATIC_DISPATCH(FUNCTION)) {                                                             \
    static constexpr decltype(&HWY_STATIC_DISPATCH(FUNCTION)) all[] = {nullptr, HWY_CHOOSE_TARGET_LIST(FUNCTION), \
                                                                       HWY_CHOOSE_FALLBACK(FUNCTION)};            \
    hwy::ChosenTarget& target = hwy::GetChosenTarget();                                                           \
    if (!target.IsInitialized()) target.Update(hwy::SupportedTargets());                                          \
    return all[target.GetIndex()];                                                                                \
  }())
#endif

/// Before a loop whose rounds do not read what others write: compilers then need not ask that while running.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // that a build without optimisation makes no vectors is fine
#define CAMEO_SIMD_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define CAMEO_SIMD_INDEPENDENT _Pragma("GCC ivdep")
#endif
