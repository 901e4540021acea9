#pragma once
#include <limits>

#include "microkernels/attention_kernels.hpp"
#include "skeletons/map.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Caps n scores, if the cap is above 0.
template <class C>
void cap_scores(C* scores, std::int64_t n, C cap) {
  if (!(cap > 0)) return;
  for (std::int64_t j = 0; j < n; ++j) scores[j] /= cap;
  map_loop<op::Tanh, C>()({}, scores, scores, n);
  for (std::int64_t j = 0; j < n; ++j) scores[j] *= cap;
}
/// Adds a bias to n scores; a bias of -infinity always gives -infinity.
template <class C>
void bias_scores(C* scores, std::int64_t n, const C* bias) {
  constexpr C never = -std::numeric_limits<C>::infinity();
  for (std::int64_t j = 0; j < n; ++j) scores[j] = bias[j] == never ? never : scores[j] + bias[j];
}

/// The scores that an output contains, for inspection of what a model attends to.
struct shown_scores {
  std::size_t output;
  std::int64_t keys;     // the size of its last axis; a query attends to no later keys
  bool weights = false;  // the weights after the softmax; else the scores before it, with cap and bias
  float hidden = 0;      // the score of keys that a query does not attend to; their weight is 0
};
/// Computes the scores [batch, heads, queries, keys] again, because the attention loops do not store them. The scales
/// of `work` apply. Takes about as long as attention of one query at a time.
status write_scores(run_context&, const attention_work& work, const shown_scores&);

}  // namespace CAMEO_NAMESPACE::eps
