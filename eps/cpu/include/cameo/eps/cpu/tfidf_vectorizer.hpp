#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// How often each n-gram of a pool occurs in X [C] or [N, C], of integers or texts, as ONNX's TfIdfVectorizer counts:
/// elements of an n-gram may have up to max_skip_count others between each and the next; single ones are counted once.
/// An n-gram's count is added to the output's element that ngram_indexes says (TF), or it gives its weight where it
/// occurs (IDF), or both (TFIDF).
struct tfidf_vectorizer {
  using elements = detail::element_set<std::int32_t, std::int64_t, std::string_view>;
  /// `length` elements of the pool from `first` on, counted in element `output`.
  struct gram {
    std::int64_t first, length, output;
  };
  struct weight {
    std::int64_t output;
    float factor;
  };
  std::span<const gram> grams;  // shorter ones first, then in the order of their elements
  std::span<const std::int64_t> numbers;
  std::span<const std::string_view> texts;
  std::span<const weight> weights;  // one of each output that has one
  std::int64_t least = 1, most = 1, skips = 0, size = 0;
  bool counts = true, weighs = false;

  static result<tfidf_vectorizer> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
