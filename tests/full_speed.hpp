#pragma once

namespace cameo::test {

/// True if this build is optimized and has no sanitizers. Only then tests check limits of time and try whole ranges of
/// values.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
inline constexpr bool full_speed = false;
#elif defined(__has_feature)
inline constexpr bool full_speed = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool full_speed = true;
#endif

}  // namespace cameo::test
