#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// What the searches for tokens of com.microsoft share: the graphs that say how likely each word is to come next, by
/// the attribute model_type. All integers are int32, all floats are of 32 bits, and where the decoder runs there is a
/// row for each sequence that is searched; the encoder has one for each batch.
///
/// - `gpt2` (0): the decoder reads the last tokens, their positions and the attention mask [rows, length], and for each
///   layer the past [2, rows, heads, past, size]; it gives the logits [rows, length, words] and each layer's present.
///   The first call may have a graph of its own, init_decoder. Positions count the tokens that are no pads, also where
///   attention_mask is given.
/// - `t5` (1): the encoder reads input_ids and attention_mask [batch, length], and gives for each layer the keys and
///   the values of cross attention [batch, heads, length, size]. One that also reads decoder_input_ids [batch, 1] makes
///   the decoder's first step: before those it gives logits, the hidden states [batch, length, width], and the keys
///   and values of self attention by layer. The decoder reads the last tokens [rows, 1], or whole sequences where its
///   input_ids are not declared to be of one token, then encoder_input_ids (may be left out), encoder_attention_mask,
///   encoder_hidden_states (may be left out), and pasts, those of self attention first; it gives logits and what is
///   present of self attention. Sequences begin with decoder_start_token_id.
/// - `whisper` (2): as `t5`, but the encoder reads features [batch, ...] of floats in place of ids and mask, and makes
///   the first step, of all of decoder_input_ids; the decoder has neither ids nor mask of the encoder's. Where
///   decoder_output_cross_qk is set, it also gives each layer's scores of cross attention [rows, heads, tokens,
///   length].
///
/// BeamSearch has all three, GreedySearch and Sampling the first two, WhisperBeamSearch the last. Not there, and
/// NOT_IMPLEMENTED: pasts that share a buffer with what is present, and floats of 16 bits.
struct token_search {
  using elements = detail::element_set<float>;  // of logits and pasts
  enum class model : std::uint8_t { gpt2, t5, whisper };

  model kind = model::gpt2;
  int first = -1, decoder = -1;  // graphs; the first is the encoder, init_decoder, or the decoder
  // The decoder's inputs are `leading` ones, pasts that each step renews, and pasts that stay; its outputs logits,
  // `renewed` ones, and `shown` scores of cross attention.
  std::size_t leading = 3, renewed = 0, kept = 0, shown = 0;
  bool encoder_starts = false, takes_source = false, takes_hidden = false, takes_whole = false;
  std::int64_t heads = 0, size = 0;  // of a past of gpt2
  std::int64_t start = -1, end = 0, pad = 0, ngram = 0, words = 0;

 protected:
  static result<token_search> of(bind_context&);

 private:
  status take_alone(bind_context&);
  status take_decoder(bind_context&);
  status take_encoder(bind_context&);
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

/// BeamSearch and WhisperBeamSearch: num_beams sequences of each batch go on with the likeliest tokens of all of them,
/// by the sum of logarithms of likelihoods; those that end are kept with their sum divided by length to the power
/// length_penalty. Logits are changed as greedy_search does, after the logarithm. Of Whisper they are divided by the
/// temperature then, keep to the rules of timestamps where logits_processor is 1, and extra_decoding_ids are forced in
/// the first steps: they are the end of decoder_input_ids, of which cross_qk is wanted.
struct beam_search : token_search {
  /// Words of Whisper's that the rules of timestamps and no_speech_token_id name; -1: none.
  struct special_words {
    std::int64_t translate = -1, transcribe = -1, start_of_lm = -1, no_speech = -1, no_timestamps = -1, first_time = -1;
  };
  bool stops_early = false;
  special_words special{};

  static result<beam_search> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
