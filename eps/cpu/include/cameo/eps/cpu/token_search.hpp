#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that the token searches of com.microsoft share: the subgraphs that compute how likely each word is to
/// come next, for each value of the attribute model_type. All integers are int32, all floats are float32. The decoder
/// runs with a row for each sequence that is searched, the encoder with a row for each batch.
///
/// - `gpt2` (0): the decoder reads the last tokens, their positions and the attention mask [rows, length], and for each
///   layer the past [2, rows, heads, past, size]; it returns the logits [rows, length, words] and each layer's present.
///   The first call may have a separate graph, init_decoder. Positions count the tokens that are not padding, even if
///   attention_mask is given.
/// - `t5` (1): the encoder reads input_ids and attention_mask [batch, length], and returns for each layer the keys and
///   the values of cross attention [batch, heads, length, size]. An encoder that also reads decoder_input_ids [batch,
///   1] makes the decoder's first step: its first outputs are the logits, the hidden states [batch, length, width], and
///   the keys and values of self attention for each layer. The decoder reads the last tokens [rows, 1], or whole
///   sequences if its input_ids are not declared to be one token; then encoder_input_ids (optional),
///   encoder_attention_mask, encoder_hidden_states (optional), and the pasts, those of self attention first. It returns
///   the logits and the presents of self attention. Sequences begin with decoder_start_token_id.
/// - `whisper` (2): like `t5`, but the encoder reads features [batch, ...] of floats instead of ids and mask, and makes
///   the first step with all of decoder_input_ids; the decoder reads neither the ids nor the mask of the encoder. If
///   decoder_output_cross_qk is set, it also returns each layer's scores of cross attention [rows, heads, tokens,
///   length].
///
/// BeamSearch supports all three, GreedySearch and Sampling the first two, WhisperBeamSearch the last. Pasts that share
/// a buffer with the present, and 16-bit floats, are NOT_IMPLEMENTED.
struct token_search {
  using elements = detail::element_set<float>;  // of logits and pasts
  enum class model : std::uint8_t { gpt2, t5, whisper };

  model kind = model::gpt2;
  int first = -1, decoder = -1;  // subgraphs; the first is the encoder, init_decoder, or the decoder
  // The decoder's inputs are `leading` inputs, `renewed` pasts that each step replaces, and `kept` pasts that stay; its
  // outputs are the logits, `renewed` presents, and `shown` scores of cross attention.
  std::size_t leading = 3, renewed = 0, kept = 0, shown = 0;
  bool encoder_starts = false, takes_source = false, takes_hidden = false, takes_whole = false;
  std::int64_t heads = 0, size = 0;  // the shape of a past of gpt2
  std::int64_t start = -1, end = 0, pad = 0, ngram = 0, words = 0;

 protected:
  /// `shows`: the attribute decoder_output_cross_qk.
  static result<token_search> read(bind_context&, bool shows = false);

 private:
  status take_alone(bind_context&);
  status take_decoder(bind_context&, bool shows);
  status take_encoder(bind_context&);
};

/// GreedySearch, and Sampling (`samples`): each step takes the likeliest token, or draws one. Logits are changed first:
/// repetition_penalty divides the positive logits of tokens that have occurred, and multiplies the negative ones. These
/// tokens get the lowest float: those that would repeat an n-gram of no_repeat_ngram_size, those that vocab_mask or in
/// the first step prefix_vocab_mask excludes, and below min_length the end token. Sampling divides by the temperature,
/// subtracts presence_penalty from the tokens in presence_mask, and sets tokens outside of the top_p most likely to
/// filter_value. A row that has reached eos_token_id continues with pad_token_id; the search ends when all rows have,
/// or at max_length. The random numbers of Sampling depend on the seed and the step alone; they are not ONNX Runtime's.
struct greedy_search : token_search {
  bool samples = false, descends = false;  // descends: the attribute `custom`
  float temperature = 1, top_p = 0, filter_value = 0, presence_penalty = 0;
  std::int64_t least_kept = 0;

  static result<greedy_search> bind(bind_context&);
  status run(run_context&) const;
};

/// BeamSearch and WhisperBeamSearch: num_beams sequences of each batch continue with the likeliest tokens of all of
/// them, by the sum of the logarithms of probabilities; a sequence that ends is kept with its sum divided by its length
/// to the power of length_penalty. Logits are changed as in greedy_search, after the logarithm. WhisperBeamSearch then
/// divides them by the temperature and, if logits_processor is 1, applies the rules of timestamps; extra_decoding_ids
/// are forced in the first steps. They are the end of decoder_input_ids, for which cross_qk is requested.
struct beam_search : token_search {
  /// The words that the rules of timestamps and no_speech_token_id refer to; -1: there is no such word.
  struct special_words {
    std::int64_t translate = -1, transcribe = -1, start_of_lm = -1, no_speech = -1, no_timestamps = -1, first_time = -1;
  };
  bool stops_early = false;
  special_words special{};

  static result<beam_search> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
