#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Range: start, start + delta, ... up to but without limit. com.microsoft's Range may omit delta, which is then 1.
struct range_of {
  using elements = number_elements;
  static result<range_of> bind(bind_context&) { return range_of{}; }
  status run(run_context& c) const;
};

/// NonZero: the indices of the elements that are not zero (of strings: not empty), in order, as int64 [rank, count]. A
/// scalar is a list of one element.
struct non_zero {
  using elements = basic_elements;
  static result<non_zero> bind(bind_context&) { return non_zero{}; }
  status run(run_context& c) const;
};

/// OneHot: a new axis of size `depth` with values[1] at the index and values[0] elsewhere. Negative indices count from
/// the end; an index out of range sets no element.
struct one_hot {
  std::int64_t axis;
  static result<one_hot> bind(bind_context& c) { return one_hot{attributes_of<op::OneHot>{c.attributes}.axis}; }
  status run(run_context& c) const;
};

/// EyeLike: a matrix of the input's shape with ones on diagonal k and zeros elsewhere.
struct eye_like {
  using elements = number_and_truth_elements;
  std::int64_t k;
  static result<eye_like> bind(bind_context& c) { return eye_like{attributes_of<op::EyeLike>{c.attributes}.k}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
