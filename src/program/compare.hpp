#pragma once
#include <cameo/core/value.hpp>

#include <string>

namespace cameo::program {

/// |got - expected| <= atol + rtol * |expected|; ONNX's defaults.
struct tolerance {
  double rtol = 1e-3, atol = 1e-7;
  bool of_integers = false;  // else they are compared exactly
};

struct comparison {
  std::string difference;    // what differs, with the position of the worst; empty: equal
  double largest_error = 0;  // |got - expected| of the worst element, in the elements that are numbers

  explicit operator bool() const { return difference.empty(); }
};

/// Values in host memory, by what they are: floats (narrow ones after conversion; bfloat16 with an rtol of at least
/// 2^-6, two units in the last place) and complex numbers within the tolerance, NaN equal to NaN and infinities to
/// themselves; integers exactly, unless the tolerance is theirs, too; booleans and strings exactly; shapes and types
/// always exactly. Maps by key.
comparison compare(const value& got, const value& expected, const tolerance&);

/// The same for tensors of numbers that were drawn at random: shapes and types exactly, and the elements as two
/// samples, which must not differ more than samples of one distribution do in all but one of a million cases (the
/// two-sample test of Kolmogorov and Smirnov; fewer than 15 elements say nothing). `largest_error` is the largest
/// distance of the two distribution functions.
comparison compare_samples(const value& got, const value& expected);

/// Of a value's kinds, shapes and elements, going on from `hash`: FNV-1a; every NaN counts as the same. Equal on all
/// processors for equal bits.
constexpr std::uint64_t first_hash = 14695981039346656037u;
std::uint64_t hash_of(const value&, std::uint64_t hash = first_hash);

}  // namespace cameo::program
