#pragma once
#include <cameo/core/dtype.hpp>

namespace cameo::inline CAMEO_ABI::eps {

// Rows of narrow floats and bytes to floats, and of narrow floats back: narrow types compute in float, a row at a time.

void widen_row(const float16* from, float* to, std::int64_t count);
void widen_row(const bfloat16* from, float* to, std::int64_t count);
void widen_row(const std::int8_t* from, float* to, std::int64_t count);
void widen_row(const std::uint8_t* from, float* to, std::int64_t count);
void widen_row(const float8e4m3fn* from, float* to, std::int64_t count);
void widen_row(const float8e4m3fnuz* from, float* to, std::int64_t count);
void widen_row(const float8e5m2* from, float* to, std::int64_t count);
void widen_row(const float8e5m2fnuz* from, float* to, std::int64_t count);

/// Rounds to nearest, ties to even; out of range is infinity.
void narrow_row(const float* from, float16* to, std::int64_t count);
void narrow_row(const float* from, bfloat16* to, std::int64_t count);

template <class T>
inline constexpr bool is_narrow_v = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// Elements that elementwise kernels widen at a time: their buffers stay on the stack and in the first cache.
inline constexpr std::int64_t narrow_block = 256;

}  // namespace cameo::inline CAMEO_ABI::eps
