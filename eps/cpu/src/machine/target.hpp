#pragma once
// Macros for loops that are compiled for one instruction set. A region of attributes selects the set, not an option for
// the source, so that no inline function of a library is compiled for it.
#include <cameo/core/abi.hpp>

#ifdef __x86_64__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// The operating system must permit a program to use AMX (os/processor_features.hpp).
#ifdef __x86_64__
#define CAMEO_HAS_AMX 1
#include "amx_tiles.hpp"
#else
#define CAMEO_HAS_AMX 0
#endif

// clang before 16 declares the ARM intrinsics only if the whole source is compiled for them.
#if defined(__aarch64__) && (!defined(__clang__) || __clang_major__ >= 16)
#define CAMEO_HAS_NEON_DOT 1
#else
#define CAMEO_HAS_NEON_DOT 0
#endif

/// Functions between CAMEO_TARGET("avx2,fma") and CAMEO_TARGET_END are compiled for these sets.
#define CAMEO_TARGET_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define CAMEO_TARGET(sets) CAMEO_TARGET_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define CAMEO_TARGET_END _Pragma("clang attribute pop")
#elif !defined(__GNUC__)  // these compilers allow the instructions of all sets in every function
#define CAMEO_TARGET(sets)
#define CAMEO_TARGET_END
#else
// g++ 12 reports the undefined operands of its intrinsics as uninitialized.
#define CAMEO_TARGET(sets)                                                                        \
  _Pragma("GCC push_options") CAMEO_TARGET_PRAGMA(GCC target sets) _Pragma("GCC diagnostic push") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")                                 \
          _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#define CAMEO_TARGET_END _Pragma("GCC diagnostic pop") _Pragma("GCC pop_options")
#endif

#define CAMEO_NOINLINE __attribute__((noinline))
/// Precedes loops over the rows and vectors of a tile, which are registers only if the loops are unrolled.
#ifdef CAMEO_LOOPS_AS_CALLS  // with a sanitizer, which checks each access, inlined copies would take minutes to compile
#define CAMEO_INLINE inline
#define CAMEO_UNROLL
#else
#define CAMEO_INLINE inline __attribute__((always_inline))
#define CAMEO_UNROLL _Pragma("GCC unroll 16")
#endif
