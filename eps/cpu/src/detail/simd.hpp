#pragma once
// What every source on Highway includes before hwy. Three instruction sets beside the compiler's own are worth their
// compile time: SSE4, AVX2 with FMA, AVX-512. Vectors whose size the compiler does not know (SVE, RVV) can't be kept in
// the arrays of accumulators that the kernels are made of; processors with those run the NEON or the plain code.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#if defined(CAMEO_SINGLE_TARGET) && !defined(HWY_COMPILE_ONLY_STATIC)  // sanitizer builds
#define HWY_COMPILE_ONLY_STATIC
#endif
