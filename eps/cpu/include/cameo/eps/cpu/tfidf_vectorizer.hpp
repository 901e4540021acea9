#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's TfIdfVectorizer: counts how often each n-gram of a pool occurs in X [C] or [N, C] of integers or strings. Up
/// to max_skip_count other elements may lie between two elements of an n-gram; 1-grams are counted once. ngram_indexes
/// contains the output element of each n-gram. That element is the count (TF), the n-gram's weight if the n-gram occurs
/// (IDF), or the product of both (TFIDF).
struct tfidf_vectorizer {
  using elements = detail::element_set<std::int32_t, std::int64_t, std::string_view>;
  /// The n-gram of `length` elements of the pool from `first` on, which is counted in element `output`.
  struct gram {
    std::int64_t first, length, output;
  };
  struct weight {
    std::int64_t output;
    float factor;
  };
  std::span<const gram> grams;  // sorted by length, then by their elements
  std::span<const std::int64_t> numbers;
  std::span<const std::string_view> texts;
  std::span<const weight> weights;  // one for each output element that has a weight
  std::int64_t least = 1, most = 1, skips = 0, size = 0;
  bool counts = true, weighs = false;

  static result<tfidf_vectorizer> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
