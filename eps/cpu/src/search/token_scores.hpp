#pragma once
#include "common/operand_values.hpp"
#include "score_changes.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// The one number of an input that may be left out.
template <class T>
status read_scalar(const run_context& c, std::size_t i, std::string_view what, T& out) {
  const value& v = c.input(i);
  if (!v) return {};
  if (v.shape.count() != 1) return bad_input(what, " must be one number, not ", v.shape);
  out = v.as_unchecked<T>()[0];
  return {};
}

/// Inputs that all searches have, by their numbers.
struct search_inputs {
  std::size_t least_length, penalty, mask, first_mask, attention;
};

/// Sizes and changes of a run, checked but for what depends on the number of words.
struct search_plan {
  std::int64_t batches = 0, length = 0, most = 0;
  std::int32_t least = 0;
  float penalty = 1;
};

inline status read_plan(const run_context& c, const search_inputs& at, search_plan& out) {
  const value &ids = c.input(0), &attention = c.input(at.attention);
  if (ids.shape.rank() != 2 || ids.shape[0] < 1 || ids.shape[1] < 1)
    return bad_input("input_ids ", ids.shape, " must be [batch, length], with one token at least");
  out.batches = ids.shape[0], out.length = ids.shape[1];
  std::int32_t most = 0;
  if (status s = read_scalar(c, 1, "max_length", most); !s) return s;
  if (status s = read_scalar(c, at.least_length, "min_length", out.least); !s) return s;
  if (status s = read_scalar(c, at.penalty, "repetition_penalty", out.penalty); !s) return s;
  out.most = most;
  if (out.most <= out.length)
    return bad_input("max_length ", out.most, " must be above the ", out.length, " tokens of input_ids");
  if (out.least < 0 || out.least >= out.most)
    return bad_input("min_length ", out.least, " must be from 0 to below max_length ", out.most);
  if (!(out.penalty > 0)) return bad_input("repetition_penalty must be above 0");
  if (attention && attention.shape != ids.shape)
    return bad_input("attention_mask ", attention.shape, " must be ", ids.shape);
  return {};
}

/// The changes of a run for a decoder of so many words.
inline status read_changes(const run_context& c, const search_inputs& at, const search_plan& plan, std::int64_t words,
                           std::int64_t end, std::int64_t ngram, score_changes& out) {
  const value &mask = c.input(at.mask), &first_mask = c.input(at.first_mask);
  out.penalty = plan.penalty, out.ngram = ngram, out.least_length = plan.least, out.end = end;
  out.batches = plan.batches, out.words = words;
  if (mask && mask.shape != extents{words}) return bad_input("vocab_mask ", mask.shape, " must be ", extents{words});
  if (first_mask && first_mask.shape != extents{plan.batches, words})
    return bad_input("prefix_vocab_mask ", first_mask.shape, " must be ", extents{plan.batches, words});
  if (mask) out.mask = mask.as_unchecked<std::int32_t>().data();
  if (first_mask) out.first_mask = first_mask.as_unchecked<std::int32_t>().data();
  if (plan.least > 0 && end >= words) return bad_input("eos_token_id is ", end, ", the decoder has ", words, " words");
  if (plan.penalty != 1 || ngram > 0)
    for (const std::int32_t token : c.input<std::int32_t>(0))
      if (token < 0 || token >= words) return bad_input("input_ids has ", token, ", the decoder has ", words, " words");
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
