#pragma once

namespace cameo::test {

/// Whether this build is optimized and has no sanitizers. Only such builds check bounds of time and sweep whole ranges.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
inline constexpr bool full_speed = false;
#elif defined(__has_feature)
inline constexpr bool full_speed = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool full_speed = true;
#endif

}  // namespace cameo::test
