#pragma once
// Every source on Highway includes this file before Highway. It defines the instruction sets that kernels are compiled
// for, and the properties of a set that tiles depend on. Apart from folder machine, only microkernels name sets.
//
// Sets that are not in this list are not compiled for: each costs compile time, and newer versions of Highway add sets
// (AVX3_ZEN4, AVX3_SPR, AVX10_2, NEON_BF16) that gain nothing for these kernels and that no test has run on. A
// processor that has one of them also has a set of the list. Vectors whose size is unknown to the compiler (SVE, RVV)
// cannot be elements of the arrays of accumulators that the kernels consist of; such processors run the NEON or the
// portable code.
#define CAMEO_SIMD_TARGETS (HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_SSE2 | CAMEO_SIMD_NEON | HWY_EMU128 | HWY_SCALAR)
// Highway after 1.0.3 has a NEON target without the AES instructions; kernels need no more than that.
#define CAMEO_SIMD_NEON (HWY_NEON_WITHOUT_AES != 0 ? HWY_NEON_WITHOUT_AES : HWY_NEON)
#define HWY_DISABLED_TARGETS (~CAMEO_SIMD_TARGETS)
/// The source that <hwy/foreach_target.h> includes once per instruction set, which is the source that is compiled. Its
/// path is relative to the compiler's working directory, so the compiler has the option -I. for it.
#define HWY_TARGET_INCLUDE __BASE_FILE__
#if defined(CAMEO_SINGLE_TARGET) && !defined(HWY_COMPILE_ONLY_STATIC)  // sanitizer builds
#define HWY_COMPILE_ONLY_STATIC
#endif
#include <hwy/detect_targets.h>
#ifndef HWY_SSE2  // Highway 1.0.3 lacks these; until here, #if has taken the names for 0
#define HWY_SSE2 0LL
#endif
#ifndef HWY_NEON_WITHOUT_AES
#define HWY_NEON_WITHOUT_AES 0LL
#endif

/// The number of vector registers of an instruction set: a tile has as many accumulators as fit beside its factors.
/// Evaluate it within HWY_NAMESPACE, after hwy/highway.h.
#define CAMEO_SIMD_REGISTERS (HWY_MAX_BYTES >= 64 || HWY_ARCH_ARM_A64 ? 32 : 16)
/// True if an instruction converts vectors of float to float16 and back. Evaluate it within HWY_NAMESPACE, after
/// hwy/highway.h.
#define CAMEO_SIMD_FLOAT16 ((HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64)
/// CAMEO_SIMD_VECTORS is true if a vector has more than one lane, CAMEO_SIMD_EMULATED if vector instructions are
/// emulated by plain code.
#define CAMEO_SIMD_VECTORS (HWY_TARGET != HWY_SCALAR)
#define CAMEO_SIMD_EMULATED (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128)

/// The pointer to a function, or to an instance of a function template, for the best instruction set of this processor.
/// For sources that are compiled for several sets; used after the namespaces of all sets, within #if HWY_ONCE.
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

/// Precedes a loop whose iterations are independent: compilers need not check at run time that pointers do not overlap.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // builds without optimization do not vectorize, which is fine
#define CAMEO_SIMD_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define CAMEO_SIMD_INDEPENDENT _Pragma("GCC ivdep")
#endif
