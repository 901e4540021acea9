#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Operators of com.microsoft on lists of tokens.

/// Scores [batch, words] with -infinity for each word that would end an n-gram which input_ids [batch, length] has
/// already.
struct ngram_repeat_block {
  using elements = detail::element_set<float>;
  std::int64_t size = 0;
  static result<ngram_repeat_block> bind(bind_context&);
  status run(run_context&) const;
};

/// For decoding that guesses ahead: cur_tokens and what was guessed right of pred_tokens, up to and with the first that
/// is not as in src_tokens from prev_suffix_match_idx on; and where in src_tokens the last tokens of that are followed,
/// as the shortest suffix of min to max_ngram_size tokens that occurs there once tells, or -1.
struct bifurcation_detector {
  using elements = detail::element_set<std::int64_t>;
  std::int64_t least = 1, most = 3;
  static result<bifurcation_detector> bind(bind_context&);
  status run(run_context&) const;
};

/// MurmurHash3_x86_32 of each element's bytes: numbers as they lie, the characters of a text.
struct murmur_hash {
  using elements =
      detail::element_set<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, std::string_view>;
  std::uint32_t seed = 0;
  static result<murmur_hash> bind(bind_context&);
  status run(run_context&) const;
};

/// Numbers in tables of n-grams, for n from 2 to max_ngram_size: the tokens that end at a position, each times its
/// multiplier, joined by exclusive or, modulo the size of each of the order's tables, plus its offset. Tokens before
/// the sequence are past_ids, or pad_id; those before an end of text, or before their segment, count as eos_token_id if
/// that is given, else as pad_id. present_ids are the last tokens, for the next call.
struct ngram_hash {
  using elements = detail::element_set<std::int32_t, std::int64_t>;
  std::int64_t orders = 0, heads = 0, pad = 0;  // orders: max_ngram_size
  bool resets = false;
  static result<ngram_hash> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class T>
  status run_as(run_context&) const;
};

/// ngram_hash of requests of different lengths, one behind another in input_ids [tokens]: request b has tokens
/// [cumulative_sequence_length[b], that of b + 1), one at least. past_segment_ids tell the segments of past_ids;
/// without them the past is of the first token's segment. state_update has, for the first capture_count tokens of each
/// request, what present_ids were if they were the last ones; what is left of it is pad_id.
struct varlen_ngram_hash : ngram_hash {
  std::int64_t capacity = 0;
  static result<varlen_ngram_hash> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class T>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
