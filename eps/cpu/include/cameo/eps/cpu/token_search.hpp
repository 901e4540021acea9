#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// What the searches for tokens of com.microsoft share: a decoder like GPT-2's as a graph, whose inputs are the last
/// tokens, their positions and the attention mask [rows, length], all int32, and for each layer the past [2, rows,
/// heads, past, size]; its outputs are the logits [rows, length, words] and each layer's present. The first call may
/// have a graph of its own. Not there, and NOT_IMPLEMENTED: models with an encoder (model_type 1 and more), pasts that
/// share a buffer with what is present, and floats of 16 bits.
struct token_search {
  using elements = detail::element_set<float>;  // of logits and pasts

  int first = -1, decoder = -1;  // graphs
  std::size_t layers = 0;
  std::int64_t heads = 0, size = 0;  // of a past
  std::int64_t end = 0, pad = 0, ngram = 0, words = 0;

 protected:
  static result<token_search> of(bind_context&);
};

/// GreedySearch, and Sampling where `samples`: each step takes the likeliest token, or one by chance. Logits are
/// changed first: repetition_penalty divides those above 0 of tokens that were there (and multiplies others), tokens
/// that would repeat no_repeat_ngram_size ones fall to the least float, as do those that vocab_mask, in the first step
/// prefix_vocab_mask, and below min_length the end's token exclude. Sampling divides by the temperature, takes
/// presence_penalty off those of presence_mask, and sets tokens to filter_value whose likelihoods are outside of top_p.
/// A row that met eos_token_id goes on with pad_token_id; the search ends when all have, or at max_length. Sampling's
/// numbers depend on the seed and the step alone; they are not ONNX Runtime's.
struct greedy_search : token_search {
  bool samples = false, descends = false;  // descends: attribute custom
  float temperature = 1, top_p = 0, filter_value = 0, presence_penalty = 0;
  std::int64_t least_kept = 0;

  static result<greedy_search> bind(bind_context&);
  status run(run_context&) const;
};

/// BeamSearch: num_beams sequences of each batch go on with the likeliest tokens of all of them, by the sum of
/// logarithms of likelihoods; those that end are kept with their sum divided by length to the power length_penalty.
/// Logits are changed as greedy_search does, after the logarithm.
struct beam_search : token_search {
  bool stops_early = false;

  static result<beam_search> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
