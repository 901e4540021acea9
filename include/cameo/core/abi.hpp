#pragma once

/// The inline namespace around everything: a build with words in its errors and one with codes only have different
/// layouts, so they have different symbols and cannot be linked together by accident.
#ifdef CAMEO_CODE_ONLY
#define CAMEO_ABI v1_code_only
#else
#define CAMEO_ABI v1
#endif

/// In front of every function and object that a public header declares and the library defines: those are what the
/// shared library shows. Everything else of cameo is compiled hidden, and so is what it is built from.
#define CAMEO_API __attribute__((visibility("default")))
