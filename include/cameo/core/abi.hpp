#pragma once

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
