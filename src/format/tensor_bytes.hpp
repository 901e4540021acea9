#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

CAMEO_BEGIN_NAMESPACE

/// The floats that ONNX's files pack, and memory does not.
constexpr bool is_six_bits(dtype type) { return type == dtype::f6e2m3 || type == dtype::f6e3m2; }

/// Memory for elements of a tensor that is read; `budget`: bytes that `memory` may come to. OUT_OF_MEMORY past it.
result<void*> allocate_tensor(arena& memory, std::size_t budget, std::size_t bytes);

/// Gives a tensor its elements: `bytes` in place if they may stay, are more than `small` and are aligned or as
/// many as `large` (code that reads those in runs copies them; for packing that is not needed); otherwise a copy. Bools
/// become 0 or 1.
result<value> place_tensor(arena& memory, std::size_t budget, value made, std::span<const std::byte> bytes,
                           bool may_stay, std::size_t small, std::size_t large);

CAMEO_END_NAMESPACE
