#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's WordConvEmbedding. A word is a row of Sequence [words, characters] that ends with zeros; the rows of
/// C [characters, size] are the embeddings of its characters. The output has for each filter of W [filters, 1, window,
/// size] and its number of B [filters]: tanh(m + B), where m is the largest product of the filter and a window of
/// embeddings. A word has as many characters as numbers that are not 0, but at least a window; a word that begins with
/// 0 gives zeros.
struct word_conv_embedding {
  using elements = detail::element_set<float>;
  static result<word_conv_embedding> bind(bind_context&) { return word_conv_embedding{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
