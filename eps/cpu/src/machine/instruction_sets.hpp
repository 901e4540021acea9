#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace CAMEO_NAMESPACE::eps {

struct integer_loops;  // products of bytes and of 16-bit integers
struct nbits_loops;    // products with weights of 2, 4 and 8 bits
struct bf16_loops;     // products of bfloat16

/// An instruction set that kernels have loops of their own for, beside those that Highway compiles for its targets: a
/// row of the table in instruction_sets.simd.cpp.
struct instruction_set {
  std::string_view name;
  /// The target of Highway that the set extends. Kernels that are held to a smaller target leave the set out.
  std::int64_t target;
  bool (*runs_here)();  // whether the processor has the set, and the system allows it
  // The loops of the set; null where those of a set further down are used.
  const integer_loops* integers = nullptr;
  const nbits_loops* few_bits = nullptr;
  const bf16_loops* bf16 = nullptr;
};

/// The rows of the table that run here, the best first. Fixed for the whole life of the program, as all that follows is
/// while Highway's target in use stays the same.
std::span<const instruction_set* const> runnable_instruction_sets();

// The loops of the best row that runs here, that the target in use allows, and that has some.
const integer_loops& best_integer_loops();
const nbits_loops& best_nbits_loops();
const bf16_loops* best_bf16_loops();  // null: no row has some; float is then as fast, and exact

/// The name of Highway's target in use, which decides the width of panels of floats.
std::string_view instruction_set_in_use();
/// The targets of Highway that the kernels are built for, as bits: for tests that try each.
std::int64_t built_targets();

}  // namespace CAMEO_NAMESPACE::eps
