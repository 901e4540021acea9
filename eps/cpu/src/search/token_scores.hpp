#pragma once
#include <cameo/eps/cpu/token_search.hpp>

#include <algorithm>

#include "operands/operand_values.hpp"
#include "score_changes.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Reads an optional input of one number; without it, `out` is unchanged.
template <class T>
void read_scalar(const run_context& c, std::size_t i, T& out) {
  if (const value& v = c.input(i)) out = v.as_unchecked<T>()[0];
}

/// The indices of the inputs that searches share; 0: the operator does not have it.
struct search_inputs {
  std::size_t least_length, penalty, mask, first_mask, attention, decoder_ids;
};

/// The parameters of a run, which have been checked, except against the size of the vocabulary.
struct search_plan {
  std::int64_t batches = 0, length = 0, most = 0;  // `length` and `most`: tokens of a sequence at first, and at most
  std::int32_t least = 0;
  float penalty = 1;
  const std::int32_t* prompt = nullptr;  // [batches, length]; null: sequences begin with `start`
  std::int32_t start = 0;

  /// Writes the first tokens of the sequences of a batch.
  void begin(std::int64_t batch, std::int32_t* to) const {
    if (prompt) std::copy_n(prompt + batch * length, length, to);
    else *to = start;
  }
};

/// Reads the first tokens of sequences: input_ids of a decoder without an encoder, decoder_input_ids of Whisper's
/// decoder, or the attribute decoder_start_token_id.
inline status read_prompt(const run_context& c, const token_search& how, const search_inputs& at, search_plan& out) {
  const bool whispers = how.kind == token_search::model::whisper;
  const value &ids = c.input(0), &attention = c.input(at.attention);
  const std::int64_t rank = whispers ? 3 : 2, mask_rank = attention ? std::int64_t(attention.shape.rank()) : rank;
  const status checked = check_all({check_count("the shape of input_ids", std::int64_t(ids.shape.rank()), rank),
                                    check_at_least("the size of input_ids", ids.shape.count(), 1),
                                    check_count("the shape of attention_mask", mask_rank, rank),
                                    whispers ? status{} : check_input("attention_mask", attention, ids.shape)});
  if (!checked) return checked;
  out.batches = ids.shape[0], out.length = 1, out.start = std::int32_t(how.start);
  const value* const given = how.kind == token_search::model::gpt2 ? &ids
                             : whispers && c.input(at.decoder_ids) ? &c.input(at.decoder_ids)
                                                                   : nullptr;
  if (!given) return {};
  const std::int64_t length = given->shape.rank() == 2 ? std::max<std::int64_t>(1, given->shape[1]) : 1;
  if (status s = check_shape("decoder_input_ids", given->shape, {out.batches, length}); !s) return s;
  out.prompt = given->as_unchecked<std::int32_t>().data(), out.length = given->shape[1];
  return {};
}

/// Reads and checks the inputs that searches share.
inline status read_plan(const run_context& c, const token_search& how, const search_inputs& at, search_plan& out) {
  constexpr std::int32_t longest = 4096;  // as in ONNX Runtime; memory is taken for max_length tokens
  if (status s = read_prompt(c, how, at, out); !s) return s;
  std::int32_t most = 0;
  read_scalar(c, 1, most);
  read_scalar(c, at.least_length, out.least);
  read_scalar(c, at.penalty, out.penalty);
  out.most = most;
  const status checked = check_all({check_number("max_length", most, out.length + 1, longest),
                                    check_number("min_length", out.least, 0, out.most - 1)});
  if (!checked) return checked;
  if (!(out.penalty > 0)) return bad_input("repetition_penalty must be above 0");
  return {};
}

/// Reads the changes of scores of a run, for a decoder with `words` words.
inline status read_changes(const run_context& c, const token_search& how, const search_inputs& at,
                           const search_plan& plan, std::int64_t words, score_changes& out) {
  const value &mask = c.input(at.mask), &first_mask = c.input(at.first_mask);
  out.penalty = plan.penalty, out.ngram = how.ngram, out.least_length = plan.least, out.end = how.end;
  out.batches = plan.batches, out.words = words;
  const status checked = check_all({check_input("vocab_mask", mask, {words}),
                                    check_input("prefix_vocab_mask", first_mask, {plan.batches, words}),
                                    plan.least > 0 ? check_number("eos_token_id", how.end, 0, words - 1) : status{}});
  if (!checked) return checked;
  if (mask) out.mask = mask.as_unchecked<std::int32_t>().data();
  if (first_mask) out.first_mask = first_mask.as_unchecked<std::int32_t>().data();
  if (plan.penalty != 1 || how.ngram > 0)
    for (std::int64_t i = 0; i < (plan.prompt ? plan.batches * plan.length : 1); ++i)
      if (status s = check_element("the prompt", plan.prompt ? plan.prompt[i] : plan.start, 0, words - 1); !s) return s;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
