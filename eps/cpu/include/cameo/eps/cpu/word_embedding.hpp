#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's WordConvEmbedding: of each word, a row of Sequence [words, characters] that ends with zeros, the
/// largest of each filter W [filters, 1, window, size] over its windows of characters, whose embeddings are rows of C
/// [characters, size], plus B [filters], through tanh. A word has as many characters as numbers that are not 0, but at
/// least a window; one that begins with 0 gives zeros.
struct word_conv_embedding {
  using elements = detail::element_set<float>;
  static result<word_conv_embedding> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
