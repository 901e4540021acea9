#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that ArgMax and ArgMin share.
struct arg_extreme_state {
  using elements = number_elements;
  /// Continues the search in n adjacent columns (at most `columns`) with their elements [first, last); the next element
  /// of a column is `step` elements further. `best` holds the n extremes so far, `out` their indices along the axis. A
  /// call with first = 0 starts a new search.
  using column_function = void (*)(const void* x, std::int64_t step, std::int64_t first, std::int64_t last,
                                   std::int64_t n, void* best, std::int64_t* out);
  static constexpr std::int64_t columns = 128;
  column_function find = nullptr;
  std::int64_t axis = 0;
  bool keep = true;  // keepdims

  status run(run_context&) const;
};

/// ArgMax, ArgMin: the index along `axis` of the largest or smallest element; of equal elements the first one, or with
/// select_last_index the last one. The index of a NaN is returned only if the NaN is the first element of the axis. An
/// axis of size 0 is INVALID_ARGUMENT.
template <class Op>
struct arg_extreme : arg_extreme_state {
  static constexpr bool instantiated = is_one_of<Op, op::ArgMax, op::ArgMin>;
  static result<arg_extreme> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
