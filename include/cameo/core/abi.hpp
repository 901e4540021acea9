#pragma once

/// The inline namespace around everything: a build with words in its errors and one with codes only have different
/// layouts, so they have different symbols and cannot be linked together by accident.
#ifdef CAMEO_CODE_ONLY
#define CAMEO_ABI v1_code_only
#else
#define CAMEO_ABI v1
#endif
