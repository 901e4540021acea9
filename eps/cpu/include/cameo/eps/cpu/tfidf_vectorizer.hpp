#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's TfIdfVectorizer: counts how often each n-gram of a pool occurs in X [C] or [N, C] of integers or strings. Up
/// to max_skip_count other elements may lie between two elements of an n-gram; 1-grams are counted once. ngram_indexes
/// contains the output element of each n-gram, which several may share. That element is the number of occurrences (TF),
/// the weight of the n-gram that occurs last (IDF), or the sum of the weights of all occurrences (TFIDF).
struct tfidf_vectorizer {
  using elements = detail::element_set<std::int32_t, std::int64_t, std::string_view>;
  /// The n-gram of `length` elements of the pool from `first` on, whose occurrences change element `output`.
  struct gram {
    std::int64_t first, length, output;
    float weight;
  };
  std::span<const std::span<const gram>> lengths;  // for each length, its n-grams, sorted by their elements
  std::span<const std::int64_t> numbers;
  std::span<const std::string_view> texts;
  std::int64_t skips = 0, size = 0;
  bool adds = true;  // false: the last weight counts

  static result<tfidf_vectorizer> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
