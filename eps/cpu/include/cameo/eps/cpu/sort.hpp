#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The k largest (or smallest) elements along `axis`, in order, and their indices. Of equal ones the first comes
/// first; NaN is above all numbers.
struct top_k {
  using elements = number_elements;
  std::int64_t axis, k;  // k: version 1; later ones have an input
  bool largest;
  static result<top_k> bind(bind_context& c) {
    return top_k{c.int_or("axis", -1), c.since < 10 ? c.int_or("k", -1) : -1, c.int_or("largest", 1) != 0};
  }
  status run(run_context& c) const;
};

/// com.microsoft's Unique, of a list: the distinct elements as they first occur, for each input which of them it is,
/// and how often each occurs.
struct unique_of_list {
  using elements = ordered_elements;
  static result<unique_of_list> bind(bind_context&) { return unique_of_list{}; }
  status run(run_context& c) const;
};

/// The distinct elements (or, with `axis`, the distinct slices), in order or as they first occur; with the index of the
/// first of each, for each input which of them it is, and how often each occurs. NaNs are equal, and above all numbers;
/// complex numbers are in the order of their real parts, then of their imaginary ones.
struct unique {
  using elements = basic_elements;
  std::int64_t axis;
  bool flat, sorted;
  static result<unique> bind(bind_context& c) {
    return unique{c.int_or("axis", 0), !c.find("axis"), c.int_or("sorted", 1) != 0};
  }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
