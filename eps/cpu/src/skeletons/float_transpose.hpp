#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

/// to[j * to_stride + i] = from[i * from_stride + j] for i < rows, j < columns. Bits are copied unchanged, so that any
/// type of 32 bits can be transposed.
void transpose_floats(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, float* to,
                      std::int64_t to_stride);

}  // namespace CAMEO_NAMESPACE::eps
