#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The common part of ArgMax and ArgMin.
struct arg_extreme_state {
  using elements = number_elements;
  /// Goes on with n columns, at most `columns`: elements [first, last) of each, of which the next lies `step` further.
  /// `best` holds the n elements so far, `out` where they are along the axis; first 0 starts.
  using column_function = void (*)(const void* x, std::int64_t step, std::int64_t first, std::int64_t last,
                                   std::int64_t n, void* best, std::int64_t* out);
  static constexpr std::int64_t columns = 128;
  column_function find = nullptr;
  std::int64_t axis = 0;
  bool keep = true;  // keepdims

  status run(run_context&) const;
};

/// ArgMax, ArgMin: the index along `axis` of the largest or smallest element, the first of equal ones or, with
/// select_last_index, the last. NaN is never found unless it is first. An axis of no elements is INVALID_ARGUMENT.
template <class Op>
struct arg_extreme : arg_extreme_state {
  static constexpr bool instantiated = is_one_of<Op, op::ArgMax, op::ArgMin>;
  static result<arg_extreme> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
