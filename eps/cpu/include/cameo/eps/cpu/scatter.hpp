#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// How an update is combined with the element that is already there.
enum class scatter_reduction : std::uint8_t { none, add, mul, min, max };

/// The data with single elements replaced (or combined with): update i has its own index in `indices`, with indices[i]
/// for `axis`. Updates happen in order. The output may be the data.
struct scatter_elements {
  std::int64_t axis;
  scatter_reduction reduction;
  static result<scatter_elements> bind(bind_context& c);
  static bool accepts(const bind_context& c);
  status run(run_context& c) const;
};

/// The same with blocks: the last axis of `indices` holds the places that whole blocks of `updates` go to.
struct scatter_nd {
  scatter_reduction reduction;
  static result<scatter_nd> bind(bind_context& c);
  static bool accepts(const bind_context& c) { return scatter_elements::accepts(c); }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
