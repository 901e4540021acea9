#pragma once
#include <cameo/core/value.hpp>

#include <string>

namespace cameo::program {

/// The condition |got - expected| <= atol + rtol * |expected|. The defaults are those of ONNX's own tests.
struct tolerance {
  double rtol = 1e-3, atol = 1e-7;
  bool of_integers = false;  // true: applies to integers, too; false: integers are compared exactly
};

/// The result of a comparison.
struct comparison {
  std::string difference;    // what differs, with the position of the largest error; empty: equal
  double largest_error = 0;  // the largest |got - expected| of elements that are numbers

  explicit operator bool() const { return difference.empty(); }
};

/// Compares two values in host memory. Kinds, types and shapes must be equal. Floats and complex numbers are compared
/// within the tolerance, where NaN equals NaN and infinities equal themselves; float types below 32 bits are converted
/// first, and bfloat16 gets an rtol of at least 2^-6, two units in the last place. Integers are compared exactly,
/// unless the tolerance applies to them; booleans and strings exactly. The entries of maps are matched by key.
comparison compare(const value& got, const value& expected, const tolerance&);

/// Compares two tensors of random numbers. Types and shapes must be equal. The elements are compared as two samples of
/// one distribution by the two-sample test of Kolmogorov and Smirnov, which rejects equal distributions in one of a
/// million cases; with fewer than 15 elements it never rejects. `largest_error` is the largest distance between the two
/// empirical distribution functions.
comparison compare_samples(const value& got, const value& expected);

/// The FNV-1a hash of a value's kind, type, shape and elements, continued from `hash`. All NaNs hash alike. Equal bits
/// give equal hashes on all processors.
constexpr std::uint64_t first_hash = 14695981039346656037u;
std::uint64_t hash_of(const value&, std::uint64_t hash = first_hash);

}  // namespace cameo::program
