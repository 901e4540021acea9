#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

namespace CAMEO_NAMESPACE {

/// The floats that are packed in ONNX's files, but not in memory.
constexpr bool is_six_bits(dtype type) { return type == dtype::f6e2m3 || type == dtype::f6e3m2; }

/// Memory for elements of a tensor that is read. OUT_OF_MEMORY if `memory` would exceed `budget` bytes.
result<void*> allocate_tensor(arena& memory, std::size_t budget, std::size_t bytes);

/// Sets the elements of a tensor. The `bytes` stay in place if they may, are more than `small`, and are aligned or at
/// least `large` (kernels that read unaligned data in runs copy it; packing does not need alignment); otherwise they
/// are copied. Bools become 0 or 1.
result<value> place_tensor(arena& memory, std::size_t budget, value made, std::span<const std::byte> bytes,
                           bool may_stay, std::size_t small, std::size_t large);

}  // namespace CAMEO_NAMESPACE
