#pragma once
#if __cplusplus < 202002L
#error "cameo needs C++20: compile with -std=c++20"
// A missing include ends the compilation at once, instead of after hundreds of errors in later lines.
#define CAMEO_NEEDS_CXX20 "cameo needs C++20: compile with -std=c++20"
#include CAMEO_NEEDS_CXX20
#endif

/// The namespace of every name of cameo: `namespace cameo`, and there an inline namespace for the layout of its types.
/// Builds with error messages and builds with codes only have different layouts, hence different symbols, and can't be
/// linked together by accident. It is a macro because editors, Universal Ctags and documentation tools parse
/// `namespace CAMEO_NAMESPACE::eps {` and do not parse `namespace cameo::inline v1::eps {`.
#ifdef CAMEO_CODE_ONLY
#define CAMEO_NAMESPACE cameo::inline v1_code_only
#else
#define CAMEO_NAMESPACE cameo::inline v1
#endif

/// Marks every function and object that a public header declares and the library defines: the shared library exports
/// those. Everything else in cameo, and the libraries that it is built from, is compiled with hidden visibility.
/// Windows distinguishes both sides: CAMEO_BUILDS_LIBRARY is defined for the library's own sources, CAMEO_USES_SHARED
/// for programs that use the shared library; CMake and pkg-config define them everywhere. CAMEO_EXPORT marks what
/// plugins export.
#ifdef _WIN32
#define CAMEO_EXPORT __declspec(dllexport)
#if defined(CAMEO_BUILDS_LIBRARY)
#define CAMEO_API CAMEO_EXPORT
#elif defined(CAMEO_USES_SHARED)
#define CAMEO_API __declspec(dllimport)
#else
#define CAMEO_API
#endif
#else
#define CAMEO_EXPORT __attribute__((visibility("default")))
#define CAMEO_API CAMEO_EXPORT
#endif
