#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// How an update is combined with the element that it replaces.
using scatter_reduction = op::scatter_elements_reduction_choice;

/// ScatterElements: the data with single elements replaced, or combined with updates. Update i has the position of
/// indices[i] in `indices`, with indices[i] itself along `axis`. Updates are made in order. The output may be the
/// buffer of the data.
struct scatter_elements {
  std::int64_t axis;
  scatter_reduction reduction;
  static result<scatter_elements> bind(bind_context& c);
  static bool accepts(const bind_context& c);
  status run(run_context& c) const;
};

/// ScatterND: replaces blocks of the data, or combines them with updates; the last axis of `indices` contains the
/// position of each block of `updates`. The output may be the buffer of the data.
struct scatter_nd {
  scatter_reduction reduction;
  static result<scatter_nd> bind(bind_context& c);
  static bool accepts(const bind_context& c) { return scatter_elements::accepts(c); }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
