#pragma once
// The version of cameo, for the preprocessor. CMake and Conan read this file, so it holds nothing else.

#define CAMEO_VERSION_MAJOR 0
#define CAMEO_VERSION_MINOR 2
#define CAMEO_VERSION_PATCH 0

/// One number to compare: `#if CAMEO_VERSION_NUMBER >= 201` is 0.2.1 or later.
#define CAMEO_VERSION_NUMBER (CAMEO_VERSION_MAJOR * 10000 + CAMEO_VERSION_MINOR * 100 + CAMEO_VERSION_PATCH)

#define CAMEO_VERSION_TEXT(number) #number
#define CAMEO_VERSION_JOINED(major, minor, patch) \
  CAMEO_VERSION_TEXT(major) "." CAMEO_VERSION_TEXT(minor) "." CAMEO_VERSION_TEXT(patch)
/// The version as text: "0.2.0".
#define CAMEO_VERSION CAMEO_VERSION_JOINED(CAMEO_VERSION_MAJOR, CAMEO_VERSION_MINOR, CAMEO_VERSION_PATCH)
