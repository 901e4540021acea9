#pragma once
// What loops for one instruction set are written with. The compiler is given the set by a region of attributes and not
// by an option of the file, so that no inline function of a library is compiled for it.
#include <cameo/core/abi.hpp>

#ifdef __x86_64__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// The system permits a program to use AMX, or does not (os/processor_features.hpp).
#ifdef __x86_64__
#define CAMEO_HAS_AMX 1
#include "amx_tiles.hpp"
#else
#define CAMEO_HAS_AMX 0
#endif

// clang before 16 has intrinsics of ARM only in files that are compiled for them as a whole.
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
#elif !defined(__GNUC__)  // such compilers have the instructions of all sets in every function
#define CAMEO_TARGET(sets)
#define CAMEO_TARGET_END
#else
// g++ 12 takes the undefined operands of its own intrinsics for forgotten ones.
#define CAMEO_TARGET(sets)                                                                        \
  _Pragma("GCC push_options") CAMEO_TARGET_PRAGMA(GCC target sets) _Pragma("GCC diagnostic push") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")                                 \
          _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#define CAMEO_TARGET_END _Pragma("GCC diagnostic pop") _Pragma("GCC pop_options")
#endif

#define CAMEO_NOINLINE __attribute__((noinline))
/// Before loops over the rows and vectors of a tile, which are registers only once the loops are unrolled.
#ifdef CAMEO_LOOPS_AS_CALLS  // where a sanitizer checks each access, a copy per use took minutes to compile
#define CAMEO_INLINE inline
#define CAMEO_UNROLL
#else
#define CAMEO_INLINE inline __attribute__((always_inline))
#define CAMEO_UNROLL _Pragma("GCC unroll 16")
#endif
