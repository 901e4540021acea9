#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace CAMEO_NAMESPACE::eps {

struct integer_loops;  // products of bytes and of 16-bit integers
struct nbits_loops;    // products with weights of 2, 4 and 8 bits
struct bf16_loops;     // products of bfloat16

/// An instruction set for which kernels have separate loops, in addition to those that Highway compiles for its
/// targets: a row of the table in instruction_sets.simd.cpp.
struct instruction_set {
  std::string_view name;
  /// The target of Highway that the set extends. If tests limit the kernels to a smaller target, this set is not used.
  std::int64_t target;
  bool (*runs_here)();  // true if the processor has the set and the system allows it
  // The loops of the set; null: the loops of a later row of the table are used.
  const integer_loops* integers = nullptr;
  const nbits_loops* few_bits = nullptr;
  const bf16_loops* bf16 = nullptr;
};

/// Returns the rows of the table that run here, the best first. The result never changes; those of the following
/// functions do not change either, while Highway's target in use stays the same.
std::span<const instruction_set* const> runnable_instruction_sets();

// Each returns the loops of the best row that runs here, is allowed by the target in use, and has such loops.
const integer_loops& best_integer_loops();
const nbits_loops& best_nbits_loops();
const bf16_loops* best_bf16_loops();  // null: no row has such loops; float is then as fast, and exact

/// Returns the name of Highway's target in use, which decides the width of panels of floats.
std::string_view instruction_set_in_use();
/// Returns the targets of Highway that the kernels are compiled for, as bits, for tests that try each target.
std::int64_t built_targets();

}  // namespace CAMEO_NAMESPACE::eps
