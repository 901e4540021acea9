#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Operators of com.microsoft on lists of tokens.

/// NGramRepeatBlock: scores [batch, words], with -infinity for each word that would complete an n-gram that input_ids
/// [batch, length] already contains.
struct ngram_repeat_block {
  using elements = detail::element_set<float>;
  std::int64_t size = 0;
  static result<ngram_repeat_block> bind(bind_context&);
  status run(run_context&) const;
};

/// BifurcationDetector, for speculative decoding. Output: cur_tokens, followed by the tokens of pred_tokens that agree
/// with src_tokens from prev_suffix_match_idx on, and the first that does not. Second output: the index in src_tokens
/// that follows a match of the last of these tokens, or -1; the match is the shortest suffix of min_ngram_size to
/// max_ngram_size tokens that occurs in src_tokens exactly once.
struct bifurcation_detector {
  using elements = detail::element_set<std::int64_t>;
  std::int64_t least = 1, most = 3;
  static result<bifurcation_detector> bind(bind_context&);
  status run(run_context&) const;
};

/// MurmurHash3: MurmurHash3_x86_32 of each element's bytes, which are a number in memory or the characters of a string.
struct murmur_hash {
  using elements =
      detail::element_set<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, std::string_view>;
  std::uint32_t seed = 0;
  static result<murmur_hash> bind(bind_context&);
  status run(run_context&) const;
};

/// NGramHash: indices into tables of n-grams, for n from 2 to max_ngram_size. An index is computed from the n tokens
/// that end at a position: each is multiplied by its multiplier, the products are combined by exclusive or, taken
/// modulo the size of each table of this n, and the table's offset is added. The tokens before the sequence are
/// past_ids, or pad_id; tokens before an end of text, or before their segment, count as eos_token_id if that is given,
/// else as pad_id. present_ids are the last tokens, for the next call.
struct ngram_hash {
  using elements = detail::element_set<std::int32_t, std::int64_t>;
  std::int64_t orders = 0, heads = 0, pad = 0;  // orders: the attribute max_ngram_size
  bool resets = false;
  static result<ngram_hash> bind(bind_context&);
  /// Reads the attributes of either operator.
  template <class Attributes>
  static ngram_hash read(const Attributes& a) {
    return {a.max_ngram_size, a.n_head_per_ngram, a.pad_id, a.reset_on_eos != 0};
  }
  status run(run_context&) const;

 private:
  template <class T>
  status run_as(run_context&) const;
};

/// VarlenNGramHash: NGramHash of requests of different lengths, one after another in input_ids [tokens]. Request b has
/// the tokens [cumulative_sequence_length[b], cumulative_sequence_length[b + 1]), at least one. past_segment_ids are
/// the segments of past_ids; without them the past belongs to the segment of the first token. state_update contains,
/// for the first capture_count tokens of each request, the present_ids that would result if the request ended there;
/// the rest is pad_id.
struct varlen_ngram_hash : ngram_hash {
  std::int64_t capacity = 0;
  static result<varlen_ngram_hash> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class T>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
