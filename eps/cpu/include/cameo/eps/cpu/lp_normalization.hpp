#pragma once
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// y = x / norm of x along an axis: p = 1, sum of magnitudes, or 2, root of sum of squares. Where the norm is 0, so is
/// y. y may be x.
struct lp_normalization {
  std::int64_t axis = -1;
  bool squares = true;  // p = 2

  static result<lp_normalization> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
