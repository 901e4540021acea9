#pragma once
#include <limits>

#include "microkernels/attention_kernels.hpp"
#include "skeletons/map.hpp"

namespace CAMEO_NAMESPACE::eps {

/// n scores with a cap, if it is above 0.
template <class C>
void cap_scores(C* scores, std::int64_t n, C cap) {
  if (!(cap > 0)) return;
  for (std::int64_t j = 0; j < n; ++j) scores[j] /= cap;
  map_loop<op::Tanh, C>()({}, scores, scores, n);
  for (std::int64_t j = 0; j < n; ++j) scores[j] *= cap;
}
/// n scores with a bias, of which -infinity wins over all.
template <class C>
void bias_scores(C* scores, std::int64_t n, const C* bias) {
  constexpr C never = -std::numeric_limits<C>::infinity();
  for (std::int64_t j = 0; j < n; ++j) scores[j] = bias[j] == never ? never : scores[j] + bias[j];
}

/// Which scores an output has, for those who look at what a model attends to.
struct shown_scores {
  std::size_t output;
  std::int64_t keys;     // of its last axis, at least as many as a query may see
  bool weights = false;  // after the softmax, else with the cap and the bias before it
  float hidden = 0;      // stands at keys that a query does not see; weights are 0 there
};
/// Computes them once more, [batch, heads, queries, keys], in the order in which they lie: what attends keeps none. The
/// scales of `work` apply. Takes about as long as attending with one query at a time.
status write_scores(run_context&, const attention_work& work, const shown_scores&);

}  // namespace CAMEO_NAMESPACE::eps
