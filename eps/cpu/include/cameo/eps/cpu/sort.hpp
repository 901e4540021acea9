#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::eps {

/// TopK: the k largest (or smallest) elements along `axis`, in order, and their indices. Equal elements keep their
/// order; NaN is above all numbers.
struct top_k {
  using elements = number_elements;
  std::int64_t axis, k;  // k: in version 1; later versions have an input
  bool largest;
  static result<top_k> bind(bind_context& c) {
    const attributes_of<op::TopK> a{c.attributes};
    return top_k{a.axis, a.k, a.largest != 0};
  }
  status run(run_context& c) const;
};

/// com.microsoft's Unique, of a list: the distinct elements in the order of their first occurrence; for each input
/// element the index of its distinct element; and how often each distinct element occurs.
struct unique_of_list {
  using elements = ordered_elements;
  static result<unique_of_list> bind(bind_context&) { return unique_of_list{}; }
  status run(run_context& c) const;
};

/// ONNX's Unique: the distinct elements (or, with `axis`, the distinct slices), sorted or in the order of their first
/// occurrence; the index of the first occurrence of each; for each input element the index of its distinct element; and
/// how often each occurs. NaNs are equal to each other, and above all numbers; complex numbers are ordered by their
/// real, then by their imaginary parts.
struct unique {
  using elements = basic_elements;
  std::optional<std::int64_t> axis;
  bool sorted;
  static result<unique> bind(bind_context& c) {
    const attributes_of<op::Unique> a{c.attributes};
    return unique{a.axis, a.sorted != 0};
  }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
