"""Small models of Hugging Face's transformers with random weights, exported by both of PyTorch's exporters."""
import torch
import transformers as hf

from zoo_tools import Entry, both_exporters


class Outputs(torch.nn.Module):
    """A model that returns a tuple of tensors, as the exporters require."""

    def __init__(self, model, names, **arguments):
        super().__init__()
        self.model, self.names, self.arguments = model, names, arguments


class Encoder(Outputs):
    def forward(self, input_ids, attention_mask, token_type_ids):
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return out.last_hidden_state, out.pooler_output


class Vision(Outputs):
    def forward(self, pixel_values):
        return self.model(pixel_values=pixel_values).logits


class Speech(Outputs):
    def forward(self, input_values):
        return self.model(input_values).logits


class WhisperEncoder(Outputs):
    def forward(self, input_features):
        return self.model.get_encoder()(input_features).last_hidden_state


class WhisperDecoder(Outputs):
    def forward(self, decoder_input_ids, encoder_hidden_states):
        out = self.model.model.decoder(input_ids=decoder_input_ids, encoder_hidden_states=encoder_hidden_states,
                                       use_cache=False)
        return self.model.proj_out(out.last_hidden_state)


class Decoder(Outputs):
    """One step of a decoder: reads tokens and the cache, and returns logits and the extended cache."""

    def __init__(self, model, layers):
        super().__init__(model, [])
        self.layers = layers

    def forward(self, input_ids, attention_mask, *past):
        cache = hf.DynamicCache()
        for layer in range(self.layers):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        length = past[0].shape[2]
        position = torch.arange(length, length + input_ids.shape[1]).unsqueeze(0)
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, position_ids=position,
                         past_key_values=cache, use_cache=True)
        present = []
        for layer in out.past_key_values.layers:
            present += [layer.keys, layer.values]
        return (out.logits, *present)


def ids(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape, generator=torch.Generator().manual_seed(7))


def values(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(8))


def decoder(model, layers, kv_heads, head, vocabulary, past=12, new=1):
    """A decoder with its inputs. For PyTorch's attention (sdpa), the number of new tokens is fixed, because its export
    needs a constant."""
    names = ["input_ids", "attention_mask"]
    feeds = [ids(vocabulary, 1, new), torch.ones(1, past + new, dtype=torch.int64)]
    sdpa = model.config._attn_implementation == "sdpa"
    axes = {"input_ids": {0: "batch"} if sdpa else {0: "batch", 1: "tokens"},
            "attention_mask": {0: "batch", 1: "total"}}
    outputs = ["logits"]
    for layer in range(layers):
        for kind in ("key", "value"):
            name = f"past.{layer}.{kind}"
            names.append(name)
            feeds.append(values(1, kv_heads, past, head))
            axes[name] = {0: "batch", 2: "past"}
            outputs.append(f"present.{layer}.{kind}")
    return Decoder(model, layers).eval(), feeds, names, outputs, axes


def bert(attention="eager"):
    config = hf.BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                           intermediate_size=128, max_position_embeddings=64, attn_implementation=attention)
    mask = torch.ones(2, 16, dtype=torch.int64)
    mask[1, 11:] = 0
    names = ["input_ids", "attention_mask", "token_type_ids"]
    return (Encoder(hf.BertModel(config), []).eval(), [ids(500, 2, 16), mask, ids(2, 2, 16)], names,
            ["last_hidden_state", "pooler_output"], {n: {0: "batch", 1: "sequence"} for n in names})


def gpt2(attention="eager"):
    config = hf.GPT2Config(vocab_size=500, n_embd=64, n_layer=2, n_head=4, n_positions=64,
                           attn_implementation=attention)
    return decoder(hf.GPT2LMHeadModel(config), 2, 4, 16, 500)


def llama(attention="eager"):
    config = hf.LlamaConfig(vocab_size=500, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
                            attn_implementation=attention)
    return decoder(hf.LlamaForCausalLM(config), 2, 2, 16, 500)


def vit(attention="eager"):
    config = hf.ViTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                          image_size=32, patch_size=8, num_labels=10, attn_implementation=attention)
    return (Vision(hf.ViTForImageClassification(config), []).eval(), [values(1, 3, 32, 32)], ["pixel_values"],
            ["logits"], {"pixel_values": {0: "batch"}})


def wav2vec2(attention="eager"):
    config = hf.Wav2Vec2Config(vocab_size=32, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                               intermediate_size=128, conv_dim=(32, 32, 32), conv_kernel=(10, 3, 2),
                               conv_stride=(5, 2, 2), num_feat_extract_layers=3, num_conv_pos_embeddings=16,
                               num_conv_pos_embedding_groups=4, attn_implementation=attention)
    return (Speech(hf.Wav2Vec2ForCTC(config), []).eval(), [values(1, 2000)], ["input_values"], ["logits"], {})


def whisper(part, attention="eager"):
    config = hf.WhisperConfig(vocab_size=200, d_model=64, encoder_layers=2, decoder_layers=2,
                              encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
                              decoder_ffn_dim=128, num_mel_bins=16, max_source_positions=40,
                              max_target_positions=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                              decoder_start_token_id=1, attn_implementation=attention)
    model = hf.WhisperForConditionalGeneration(config)
    if part == "encoder":
        return WhisperEncoder(model, []).eval(), [values(1, 16, 80)], ["input_features"], ["hidden"], {}
    return (WhisperDecoder(model, []).eval(), [ids(200, 1, 6), values(1, 40, 64)],
            ["decoder_input_ids", "encoder_hidden_states"], ["logits"], {})


def entries():
    """All models, with both implementations of attention: separate operators (eager), and PyTorch's operator (sdpa)."""
    made = []
    for name, make in (("bert", bert), ("gpt2", gpt2), ("llama", llama), ("vit", vit)):
        for attention in ("eager", "sdpa"):
            made += both_exporters(f"{name}_{attention}", "transformers", lambda m=make, a=attention: m(a))
        # Opsets before 17 and 20 express LayerNormalization and Gelu by other operators; opsets 20 and 23 have Gelu,
        # Attention and RMSNormalization.
        made += both_exporters(f"{name}_eager", "transformers", lambda m=make: m("eager"), 14, 20)
        made += both_exporters(f"{name}_sdpa", "transformers", lambda m=make: m("sdpa"), 16, 23)
    made += both_exporters("wav2vec2", "speech", wav2vec2)
    made += both_exporters("whisper_encoder", "speech", lambda: whisper("encoder"))
    # The older exporter does not support aten::diff.
    made += both_exporters("whisper_decoder", "speech", lambda: whisper("decoder"))[1:]
    return made
