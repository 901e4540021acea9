"""Small language models with random weights, as the subgraphs of search operators such as BeamSearch: decoders like
GPT-2, and encoders with decoders like T5 and Whisper."""
import dataclasses
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

WORDS, PLACES, HEADS, SIZE, MELS = 11, 32, 2, 4, 3


class subgraph:
    """A graph under construction: nodes, and random weights as constants. It has the layers that all models share."""

    def __init__(self, seed, words, width=HEADS * SIZE):
        self.seed, self.width, self.nodes = seed, width, []
        self.fixed = {"words": self.random("words", words, width), "places": self.random("places", PLACES, width),
                      "pads": np.where(np.arange(words) == 0, -90.0, 0.0), "spread": np.array(1.5)}

    def random(self, key, *shape):
        """Random numbers that depend only on the seed and the key."""
        return np.random.default_rng([self.seed, zlib.crc32(key.encode())]).standard_normal(shape)

    def add(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def constant(self, key, values):
        self.fixed[key] = np.asarray(values)
        return key

    def heads(self, x, name):
        """The products of x with weights, split into heads: [rows, heads, length, size]."""
        if name not in self.fixed:
            self.constant(name, self.random(name, self.width, self.width) / np.sqrt(self.width))
        return self.add("Transpose", self.add("Reshape", self.add("MatMul", x, name),
                                              self.constant("split", [0, 0, HEADS, SIZE])), perm=[0, 2, 1, 3])

    def attend(self, x, q, k, v, hidden=None):
        """(x plus the attention of q over k and v, the scores). `hidden` is added to the scores."""
        scores = self.add("MatMul", q, self.add("Transpose", k, perm=[0, 1, 3, 2]))
        shown = self.add("Add", scores, hidden) if hidden else scores
        found = self.add("Transpose", self.add("MatMul", self.add("Softmax", shown), v), perm=[0, 2, 1, 3])
        return self.add("Add", x, self.add("Reshape", found, self.constant("joined", [0, 0, self.width]))), shown

    def hides(self, mask):
        """A bias for scores: -10,000 where the mask is 0, else 0."""
        seen = self.add("Cast", self.add("Unsqueeze", mask, self.constant("axes", [1, 2])), to=TensorProto.FLOAT)
        return self.add("Mul", self.add("Sub", seen, self.constant("one", 1.0)), self.constant("far", 1e4))

    def gives(self, name, value, shape):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    def gives_logits(self, x):
        scores = self.add("Mul", self.add("MatMul", x, self.add("Transpose", "words")), "spread")
        logits = self.add("Add", scores, "pads")  # the pad token is never likely
        return self.gives("logits", logits, ["batch", "length", len(self.fixed["words"])])

    def made(self, name, inputs, outputs):
        kept = [numpy_helper.from_array(v.astype("i8" if v.dtype.kind == "i" else "f4"), n) for n, v in self.fixed.items()]
        return helper.make_graph(self.nodes, name, inputs, outputs, kept)


def int_inputs(*names):
    return [helper.make_tensor_value_info(n, TensorProto.INT32, ["batch", s]) for n, s in names]


def decoder(rng, layers, name="decoder"):
    """A decoder like GPT-2: embeddings of tokens and positions, layers of attention over past and new tokens that the
    mask shows, and logits as products with the embeddings of all words."""
    g, outputs = subgraph(int(rng.integers(1 << 30)), WORDS), []
    x = g.add("Add", g.add("Gather", "words", "input_ids"), g.add("Gather", "places", "position_ids"))
    hidden = g.hides("attention_mask")
    for i in range(layers):
        q, k, v = (g.heads(x, f"weights_{n}{i}") for n in "qkv")
        old = [g.add("Squeeze", g.add("Slice", f"past_{i}", g.constant(f"b{n}", [n]), g.constant(f"e{n}", [n + 1]),
                                      g.constant("first", [0])), "first") for n in range(2)]
        k, v = g.add("Concat", old[0], k, axis=2), g.add("Concat", old[1], v, axis=2)
        merged = g.add("Concat", g.add("Unsqueeze", k, "first"), g.add("Unsqueeze", v, "first"), axis=0)
        outputs.append(g.gives(f"present_{i}", merged, [2, "batch", HEADS, "total", SIZE]))
        x, _ = g.attend(x, q, k, v, hidden)
    pasts = [helper.make_tensor_value_info(f"past_{i}", TensorProto.FLOAT, [2, "batch", HEADS, "past", SIZE])
             for i in range(layers)]
    ids = int_inputs(("input_ids", "length"), ("position_ids", "length"), ("attention_mask", "total"))
    return g.made(name, ids + pasts, [g.gives_logits(x)] + outputs)


# The variants of models with an encoder.
@dataclasses.dataclass
class form:
    whisper: bool = False  # the encoder reads features, not tokens
    source: bool = False  # the decoder has the input encoder_input_ids
    hidden: bool = True  # the decoder has the input encoder_hidden_states
    whole: bool = False  # the decoder reads the whole sequence, not only the last token
    starts: bool = True  # the encoder also computes the decoder's first step
    layers: int = 1
    words: int = WORDS
    shows_scores: bool = False  # decoder_output_cross_qk


def decode(g, f, ids, past, cross, hides):
    """(vectors of the decoder's tokens, keys and values of self-attention by layer, scores of cross-attention by
    layer)"""
    length = g.add("Slice", g.add("Shape", ids), g.constant("b1", [1]), g.constant("e1", [2]), g.constant("first", [0]))
    before = g.add("Slice", g.add("Shape", past[0]), g.constant("b2", [2]), g.constant("e2", [3]), "first") if past else \
        g.constant("none", [0])
    total = g.add("Add", before, length)
    scalar_ = [g.add("Squeeze", v, "first") for v in (before, total)]
    x = g.add("Add", g.add("Gather", "words", ids),
              g.add("Gather", "places", g.add("Range", *scalar_, g.constant("step", 1))))
    later = None  # the causal mask, if several tokens are read at once
    if not past:
        later = g.add("Slice", g.constant("later", np.triu(np.full((PLACES, PLACES), -1e4), 1)), g.constant("corner", [0, 0]),
                      g.add("Concat", total, total, axis=0))
    presents, scores = [], []
    for i in range(f.layers):
        q, k, v = (g.heads(x, f"weights_{n}{i}") for n in "qkv")
        if past:
            k, v = (g.add("Concat", past[2 * i + n], new, axis=2) for n, new in enumerate((k, v)))
        presents += [k, v]
        x, _ = g.attend(x, q, k, v, later)
        x, shown = g.attend(x, g.heads(x, f"weights_cross{i}"), cross[2 * i], cross[2 * i + 1], hides)
        scores.append(shown)
    return x, presents, scores


def key_values(kind, layers):
    return [f"{{}}_{n}_{kind}_{i}".format for i in range(layers) for n in ("key", "value")]


def pair(rng, f):
    """An encoder and a decoder of this form with shared weights."""
    seed = int(rng.integers(1 << 30))
    own, cross = key_values("self", f.layers), key_values("cross", f.layers)
    self_shape, cross_shape = (["batch", HEADS, n, SIZE] for n in ("total", "source_length"))

    g = subgraph(seed, f.words)
    if f.whisper:
        x = g.add("MatMul", g.add("Transpose", "encoder_input_ids", perm=[0, 2, 1]),
                  g.constant("features", g.random("features", MELS, g.width)))
        hides, inputs = None, [helper.make_tensor_value_info("encoder_input_ids", TensorProto.FLOAT,
                                                            ["batch", MELS, "source_length"])]
    else:
        mask = g.add("Cast", g.add("Unsqueeze", "encoder_attention_mask", g.constant("last", [2])), to=TensorProto.FLOAT)
        x = g.add("Mul", g.add("Gather", "words", "encoder_input_ids"), mask)
        hides, inputs = g.hides("encoder_attention_mask"), int_inputs(("encoder_input_ids", "source_length"),
                                                                       ("encoder_attention_mask", "source_length"))
    crossed = [g.heads(x, f"weights_{n}_cross{i}") for i in range(f.layers) for n in "kv"]
    outputs = []
    if f.starts:
        decoded, presents, _ = decode(g, f, "decoder_input_ids", None, crossed, hides)
        inputs += int_inputs(("decoder_input_ids", "length"))
        outputs = [g.gives_logits(decoded), g.gives("encoder_hidden_states", x, ["batch", "source_length", g.width])]
        outputs += [g.gives(n("present"), v, self_shape) for n, v in zip(own, presents)]
    outputs += [g.gives(n("present"), v, cross_shape) for n, v in zip(cross, crossed)]
    encoder = g.made("encoder", inputs, outputs)

    g = subgraph(seed, f.words)
    inputs = int_inputs(("input_ids", "length" if f.whole else 1))
    if f.source:
        inputs += int_inputs(("encoder_input_ids", "source_length"))
    if not f.whisper:
        inputs += int_inputs(("encoder_attention_mask", "source_length"))
    if f.hidden:
        inputs += [helper.make_tensor_value_info("encoder_hidden_states", TensorProto.FLOAT, ["batch", "source_length", g.width])]
    inputs += [helper.make_tensor_value_info(n("past"), TensorProto.FLOAT, ["batch", HEADS, "past", SIZE]) for n in own]
    inputs += [helper.make_tensor_value_info(n("past"), TensorProto.FLOAT, cross_shape) for n in cross]
    hides = None if f.whisper else g.hides("encoder_attention_mask")
    past = None if f.whole else [n("past") for n in own]
    x, presents, scores = decode(g, f, "input_ids", past, [n("past") for n in cross], hides)
    if f.source:  # the outputs depend on these inputs, too, so that a test detects wrong ones
        x = g.add("Add", x, g.add("ReduceMean", g.add("Gather", "words", "encoder_input_ids"), g.constant("b1", [1])))
    if f.hidden and not f.whisper:  # onnxruntime passes only the shape to Whisper's decoder
        x = g.add("Add", x, g.add("ReduceMean", "encoder_hidden_states", g.constant("b1", [1])))
    outputs = [g.gives_logits(x)] + [g.gives(n("present"), v, self_shape) for n, v in zip(own, presents)]
    if f.shows_scores:
        outputs += [g.gives(f"cross_qk_{i}", v, ["batch", HEADS, "length", "source_length"]) for i, v in enumerate(scores)]
    return {"encoder": encoder, "decoder": g.made("decoder", inputs, outputs)}
