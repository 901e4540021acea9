#pragma once
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// y[i] = max(x[i], 0); NaN stays NaN. y has the shape of x and may be x.
template <class T>
struct relu {
  static result<relu> bind(bind_context& c) {
    c.may_overwrite(0, 0);
    return relu{};
  }
  status run(run_context& c) const {
    const tensor_view<const T> x = c.input<T>(0);
    const result<tensor_view<T>> y = c.output<T>(0, x.shape());
    if (!y) return y.error();
    parallel_elements(c, x.count(), 1 << 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) (*y)[i] = x[i] < T{} ? T{} : x[i];
    });
    return {};
  }
};

}  // namespace cameo::inline CAMEO_ABI::eps
