#include <cameo/eps/cpu/token_search.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <algorithm>

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
  /// Checks that the graph has `count` outputs with three axes, and then `others` outputs with `rank` axes.
  status outputs_are(std::size_t count, std::string_view what, std::size_t others, std::size_t rank,
                     std::string_view what_others) const {
    if (outputs_ != count + others)
      return bad_attribute("the graph ", name_, " has ", outputs_, " outputs, must have ", count + others, ": ", what,
                           " (", count, ") and ", what_others);
    for (std::size_t i = 0; i < outputs_; ++i) {
      const bool is_other = i >= count;
      if (status fits = check(*output(i), "output", i, dtype::f32, is_other ? rank : 3, is_other ? what_others : what);
          !fits)
        return fits;
    }
    return {};
  }

 private:
  /// Checks type and rank as far as they are known; the run checks the rest.
  status check(const operand& o, std::string_view side, std::size_t i, dtype type, std::size_t rank,
               std::string_view what) const {
    const bool of_kind = o.kind == type_kind::tensor || o.kind == type_kind::unknown;
    if (of_kind && (o.type == type || o.type == dtype::undefined) && (!o.has_rank || o.shape.rank() == rank)) return {};
    const bool is_narrow =
        o.kind == type_kind::tensor && type == dtype::f32 && (o.type == dtype::f16 || o.type == dtype::bf16);
    return refuse(is_narrow ? status_code::not_implemented : status_code::invalid_graph, side, " ", i, " of the graph ",
                  name_, ", ", what, ", is ", o.type, " ",
                  o.has_rank ? message_part{o.shape} : message_part{"of unknown rank"}, ", must be ", type, " with ",
                  rank, " axes");
  }

  const bind_context& c_;
  std::size_t graph_, inputs_ = 0, outputs_ = 0;
  std::string_view name_;
};

/// True for the past of a layer of GPT-2, [2, rows, heads, length, size], whose heads and size are known.
bool is_past(const operand& o) {
  return o.kind == type_kind::tensor && o.type == dtype::f32 && o.has_rank && o.shape.rank() == 5 && o.shape[0] == 2 &&
         o.shape[2] > 0 && o.shape[4] > 0;
}

constexpr std::size_t whisper_tokens = 10;  // the input decoder_input_ids

}  // namespace

result<token_search> token_search::read(bind_context& c, bool shows) {
  const attributes_of<op::microsoft::GreedySearch> a{c.attributes};  // the other operators have all of these
  token_search made;
  made.kind = c.op_type == "WhisperBeamSearch" ? model::whisper : model(a.model_type);
  made.decoder = int(a.decoder);
  const dtype wanted = made.kind == model::whisper ? dtype::f32 : dtype::i32;
  if (c.inputs[0].type != wanted)
    return refuse(status_code::not_implemented, "input_ids are ", c.inputs[0].type, "; with model_type ",
                  int(made.kind), " they must be ", wanted);
  made.start = a.decoder_start_token_id, made.end = a.eos_token_id, made.pad = a.pad_token_id;
  made.ngram = a.no_repeat_ngram_size, made.words = std::max<std::int64_t>(0, a.vocab_size);
  if (made.kind == model::gpt2) {
    made.first = int(a.init_decoder == subgraph_index::none ? a.decoder : a.init_decoder);
    if (status taken = made.take_alone(c); !taken) return taken;
    return made;
  }
  made.first = int(a.encoder);
  if (status taken = made.take_decoder(c, shows && made.kind == model::whisper); !taken) return taken;
  if (status taken = made.take_encoder(c); !taken) return taken;
  return made;
}

status token_search::take_alone(bind_context& c) {
  for (const int graph : {decoder, first}) {
    const graph_form form{c, graph, graph == decoder ? "decoder" : "init_decoder"};
    for (std::size_t i = 0; i < form.inputs(); ++i) {
      const operand& o = *form.input(i);
      if (i < 3 ? o.type != dtype::i32 : !is_past(o))
        return refuse(status_code::not_implemented, "input ", i, " of the decoder is ", o.type, " ", o.shape,
                      i < 3 ? ", must be int32"
                            : ", must be a past, float [2, rows, heads, length, size] with known heads "
                              "and size (there are no past_sequence_length, beam_width and "
                              "cache_indirection)");
      if (i >= 3 && heads != 0 && (heads != o.shape[2] || size != o.shape[4]))
        return bad_attribute("the decoder's pasts must have equally many heads of one size");
      if (i >= 3) heads = o.shape[2], size = o.shape[4];
    }
    const auto inputs = std::int64_t(form.inputs()), before = renewed ? std::int64_t(renewed + 3) : inputs;
    const status checked =
        of_model(check_all({check_at_least("the number of the decoder's inputs", inputs, 4),
                            check_number("the number of init_decoder's inputs", inputs, before, before)}));
    if (!checked) return checked;
    renewed = form.inputs() - 3;
    if (status are = form.outputs_are(1, "logits", renewed, 5, "presents of each past"); !are) return are;
  }
  return {};
}

status token_search::take_decoder(bind_context& c, bool shows) {
  const bool whispers = kind == model::whisper;
  const graph_form form{c, decoder, "decoder"};
  std::size_t whole_numbers = 0;
  while (whole_numbers < form.inputs() && form.input(whole_numbers)->type == dtype::i32) ++whole_numbers;
  if (form.inputs() > whole_numbers && form.input(form.inputs() - 1)->type == dtype::i32)
    return refuse(status_code::not_implemented, "input ", form.inputs() - 1,
                  " of the graph decoder is int32 behind the pasts: there are no past_sequence_length, beam_width and "
                  "cache_indirection");
  if (status has = of_model(check_number("the number of the decoder's inputs of int32", std::int64_t(whole_numbers),
                                         whispers ? 1 : 2, whispers ? 1 : 3));
      !has)
    return has;
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
  if (shows) shown = layers;
  return form.outputs_are(1, "logits", renewed + shown, 4,
                          "keys and values of self attention, with decoder_output_cross_qk also scores, of each layer");
}

status token_search::take_encoder(bind_context& c) {
  if (status has = of_model(check_needs("model_type 1 or 2", true, "the graph `encoder`", first >= 0)); !has)
    return has;
  const bool whispers = kind == model::whisper;
  const graph_form form{c, first, "encoder"};
  if (status has = of_model(
          check_number("the number of the encoder's inputs", std::int64_t(form.inputs()), 2, whispers ? 2 : 3));
      !has)
    return has;
  encoder_starts = whispers || form.inputs() == 3;
  for (std::size_t i = 0; i < form.inputs(); ++i)
    if (status is = whispers && i == 0 ? form.input_is(0, dtype::f32, 3, "features")
                                       : form.input_is(i, dtype::i32, 2, "tokens or a mask");
        !is)
      return is;
  const std::size_t before = encoder_starts ? 2 : 0, pasts = encoder_starts ? renewed + kept : kept;
  if (status are = form.outputs_are(before, "logits and hidden states", pasts, 4,
                                    encoder_starts ? "keys and values of self attention, then of cross attention"
                                                   : "keys and values of cross attention");
      !are)
    return are;
  const bool has_tokens = start >= 0 || (whispers && c.has_input(whisper_tokens));
  return of_model(check_all(
      {check_needs("encoder_hidden_states of the decoder", takes_hidden, "decoder_input_ids of the encoder",
                   encoder_starts),
       check_needs("the first step", true,
                   whispers ? "decoder_start_token_id, or the input decoder_input_ids" : "decoder_start_token_id",
                   has_tokens)}));
}

}  // namespace CAMEO_NAMESPACE::eps
