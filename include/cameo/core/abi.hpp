#pragma once
#if __cplusplus < 202002L
#error "cameo needs C++20: compile with -std=c++20"
// A file that is not there ends the compilation: otherwise hundreds of errors of later lines would follow.
#define CAMEO_NEEDS_CXX20 "cameo needs C++20: compile with -std=c++20"
#include CAMEO_NEEDS_CXX20
#endif

/// The inline namespace of everything: builds with error messages and builds with codes only have different layouts, so
/// they get different symbols and cannot be linked together by accident.
#ifdef CAMEO_CODE_ONLY
#define CAMEO_ABI v1_code_only
#else
#define CAMEO_ABI v1
#endif

/// Marks every function and object that a public header declares and the library defines: the shared library exports
/// those. Everything else in cameo, and the libraries that it is built from, is compiled with hidden visibility.
#define CAMEO_API __attribute__((visibility("default")))
