#include <cameo/eps/cpu/token_search.hpp>

#include <algorithm>
#include <limits>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Checks the inputs and outputs of a graph of the node.
class graph_form {
 public:
  graph_form(const bind_context& c, int graph, std::string_view name) : c_{c}, graph_{std::size_t(graph)}, name_{name} {
    while (input(inputs_)) ++inputs_;
    while (output(outputs_)) ++outputs_;
  }
  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }
  const operand* input(std::size_t i) const { return c_.subgraph_input(graph_, i); }
  const operand* output(std::size_t i) const { return c_.subgraph_output(graph_, i); }

  status input_is(std::size_t i, dtype type, std::size_t rank, std::string_view what) const {
    return check(*input(i), "input", i, type, rank, what);
  }
  status outputs_are(std::size_t first, std::size_t count, std::size_t rank, std::string_view what) const {
    for (std::size_t i = first; i < first + count; ++i)
      if (status fits = check(*output(i), "output", i, dtype::f32, rank, what); !fits) return fits;
    return {};
  }
  status has_outputs(std::size_t count, std::string_view what) const {
    if (outputs_ == count) return {};
    return bad_attribute("the graph ", name_, " has ", outputs_, " outputs, must have ", count, ": ", what);
  }

 private:
  /// Checks type and rank as far as they are known; the run checks the rest.
  status check(const operand& o, std::string_view side, std::size_t i, dtype type, std::size_t rank,
               std::string_view what) const {
    if (o.kind == type_kind::tensor && type == dtype::f32 && (o.type == dtype::f16 || o.type == dtype::bf16))
      return refuse(status_code::not_implemented, side, " ", i, " of the graph ", name_, ", ", what, ", is ", o.type,
                    "; searches are made with float");
    const bool of_kind = o.kind == type_kind::tensor || o.kind == type_kind::unknown;
    if (of_kind && (o.type == type || o.type == dtype::undefined) && (!o.has_rank || o.shape.rank() == rank)) return {};
    if (!o.has_rank)
      return bad_attribute(side, " ", i, " of the graph ", name_, ", ", what, ", is ", o.type, ", must be ", type);
    return bad_attribute(side, " ", i, " of the graph ", name_, ", ", what, ", is ", o.type, " ", o.shape, ", must be ",
                         type, " with ", rank, " axes");
  }

  const bind_context& c_;
  std::size_t graph_, inputs_ = 0, outputs_ = 0;
  std::string_view name_;
};

constexpr std::size_t whisper_tokens = 10;  // the input decoder_input_ids
constexpr std::int64_t most_token = std::numeric_limits<std::int32_t>::max();

}  // namespace

result<token_search> token_search::read(bind_context& c) {
  token_search made;
  const std::int64_t type = c.int_or("model_type", c.op_type == "WhisperBeamSearch" ? 2 : 0);
  made.kind = model(type), made.decoder = c.subgraph("decoder");
  if (made.decoder < 0) return bad_attribute("needs the graph `decoder`");
  const dtype wanted = made.kind == model::whisper ? dtype::f32 : dtype::i32;
  if (c.inputs[0].type != wanted)
    return refuse(status_code::not_implemented, "input_ids are ", c.inputs[0].type, "; with model_type ", type,
                  " they must be ", wanted);
  made.start = c.int_or("decoder_start_token_id", -1);
  made.end = c.int_or("eos_token_id", -1), made.pad = c.int_or("pad_token_id", -1);
  if (made.start > most_token) return bad_attribute("decoder_start_token_id is ", made.start, ", which is no int32");
  made.ngram = c.int_or("no_repeat_ngram_size", 0), made.words = std::max<std::int64_t>(0, c.int_or("vocab_size", 0));
  if (status taken = made.kind == model::gpt2 ? made.take_alone(c) : made.take_decoder(c); !taken) return taken;
  if (made.kind != model::gpt2)
    if (status taken = made.take_encoder(c); !taken) return taken;
  return made;
}

status token_search::take_alone(bind_context& c) {
  first = c.subgraph("init_decoder");
  if (first < 0) first = decoder;
  for (const int graph : {decoder, first}) {
    const graph_form form{c, graph, graph == decoder ? "decoder" : "init_decoder"};
    for (std::size_t i = 0; i < form.inputs(); ++i) {
      const operand& o = *form.input(i);
      const bool is_past = o.kind == type_kind::tensor && o.type == dtype::f32 && o.has_rank && o.shape.rank() == 5 &&
                           o.shape[0] == 2 && o.shape[2] > 0 && o.shape[4] > 0;
      if (i < 3 ? o.type != dtype::i32 : !is_past)
        return refuse(status_code::not_implemented, "input ", i, " of the decoder is ", o.type, " ", o.shape,
                      i < 3 ? ", must be int32"
                            : ", must be a past, float [2, rows, heads, length, size] with known heads "
                              "and size (there are no past_sequence_length, beam_width and "
                              "cache_indirection)");
      if (i >= 3 && heads != 0 && (heads != o.shape[2] || size != o.shape[4]))
        return bad_attribute("the decoder's pasts must have as many heads, and be of one size");
      if (i >= 3) heads = o.shape[2], size = o.shape[4];
    }
    if (form.inputs() < 4) return bad_attribute("a decoder has ", form.inputs(), " inputs, must have 4 or more");
    if (renewed != 0 && renewed != form.inputs() - 3)
      return bad_attribute("init_decoder must have as many inputs as decoder");
    renewed = form.inputs() - 3;
    if (status has = form.has_outputs(1 + renewed, "logits, and what is present of each past"); !has) return has;
    if (status are = form.outputs_are(0, 1, 3, "logits"); !are) return are;
    if (status are = form.outputs_are(1, renewed, 5, "a present"); !are) return are;
  }
  return {};
}

status token_search::take_decoder(bind_context& c) {
  const bool whispers = kind == model::whisper;
  const graph_form form{c, decoder, "decoder"};
  std::size_t whole_numbers = 0;
  while (whole_numbers < form.inputs() && form.input(whole_numbers)->type == dtype::i32) ++whole_numbers;
  if (form.inputs() > whole_numbers && form.input(form.inputs() - 1)->type == dtype::i32)
    return refuse(status_code::not_implemented, "input ", form.inputs() - 1,
                  " of the graph decoder is int32 behind the pasts: there are no past_sequence_length, beam_width and "
                  "cache_indirection");
  if (whole_numbers < (whispers ? 1u : 2u) || whole_numbers > (whispers ? 1u : 3u))
    return bad_attribute("the graph decoder has ", whole_numbers, " inputs of int32, must have input_ids",
                         whispers ? " alone" : ", encoder_input_ids (may be left out) and encoder_attention_mask");
  const std::size_t others = form.inputs() - whole_numbers, layers = others / 4;
  takes_source = whole_numbers == 3, takes_hidden = others % 4 == 1;
  if (layers == 0 || others % 4 > 1)
    return bad_attribute(
        "the graph decoder has ", others,
        " inputs of floats, must have encoder_hidden_states (may be left out), and for each layer keys "
        "and values of self attention, then of cross attention");
  leading = whole_numbers + takes_hidden, renewed = kept = 2 * layers;
  for (std::size_t i = 0; i < form.inputs(); ++i)
    if (status is = i < whole_numbers                  ? form.input_is(i, dtype::i32, 2, "tokens or a mask")
                    : takes_hidden && i + 1 == leading ? form.input_is(i, dtype::f32, 3, "encoder_hidden_states")
                                                       : form.input_is(i, dtype::f32, 4, "a past");
        !is)
      return is;
  const operand& ids = *form.input(0);
  takes_whole = !ids.has_rank || ids.shape[1] != 1;
  if (whispers && c.int_or("decoder_output_cross_qk", 0) != 0) shown = layers;
  if (status has = form.has_outputs(1 + renewed + shown,
                                    "logits, present keys and values of each layer's self attention, scores with "
                                    "decoder_output_cross_qk");
      !has)
    return has;
  if (status are = form.outputs_are(0, 1, 3, "logits"); !are) return are;
  return form.outputs_are(1, renewed + shown, 4, "a present or scores");
}

status token_search::take_encoder(bind_context& c) {
  first = c.subgraph("encoder");
  if (first < 0) return bad_attribute("needs the graph `encoder`, or model_type 0");
  const bool whispers = kind == model::whisper;
  const graph_form form{c, first, "encoder"};
  if (form.inputs() != 2 && (whispers || form.inputs() != 3))
    return bad_attribute("the graph encoder has ", form.inputs(), " inputs, must have ",
                         whispers ? "2: features and decoder_input_ids"
                                  : "2 or 3: input ids, their mask, and decoder_input_ids if it makes the first step");
  encoder_starts = whispers || form.inputs() == 3;
  for (std::size_t i = 0; i < form.inputs(); ++i)
    if (status is = whispers && i == 0 ? form.input_is(0, dtype::f32, 3, "features")
                                       : form.input_is(i, dtype::i32, 2, "tokens or a mask");
        !is)
      return is;
  const std::size_t before = encoder_starts ? 2 : 0, pasts = encoder_starts ? renewed + kept : kept;
  if (status has = form.has_outputs(
          before + pasts, encoder_starts ? "logits, hidden states, and for each of the decoder's layers keys and "
                                           "values of self attention, then of cross attention"
                                         : "keys and values of cross attention of each of the decoder's layers");
      !has)
    return has;
  if (status are = form.outputs_are(0, before, 3, "logits or hidden states"); !are) return are;
  if (status are = form.outputs_are(before, pasts, 4, "a present"); !are) return are;
  if (takes_hidden && !encoder_starts)
    return bad_attribute(
        "the graph decoder reads encoder_hidden_states, which an encoder without decoder_input_ids does not give");
  if (start < 0 && !(whispers && c.has_input(whisper_tokens)))
    return bad_attribute("needs decoder_start_token_id", whispers ? ", or the input decoder_input_ids" : "");
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
