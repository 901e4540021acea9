#!/usr/bin/env python3
"""Operators of com.microsoft other than the large ones of transformers, and rarely used ones of ONNX, against
onnxruntime, or against onnx's reference evaluator where onnxruntime has no kernel.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402

MS = "com.microsoft"
NUMBERS = ["f4", "f8", "i8", "i4", "u4", "i2", "u1", "i1"]


def ms(op, inputs, outputs=1, **given):
    return d.one_node(op, inputs, outputs, opset=1, domain=MS, **given)


def perhaps(rng, made, chance=0.5):
    return made if rng.random() < chance else None


def shape_of(rng, least=0, most=4, sizes=(0, 5)):
    return [int(n) for n in rng.integers(sizes[0], sizes[1], int(rng.integers(least, most + 1)))]


def floats(rng, shape, kind="f4"):
    return np.asarray(rng.standard_normal(shape)).astype(kind)


def some(rng, shape, kind):
    return np.asarray(rng.integers(0, 100, shape)).astype(kind)


# Elements that move

def expand_dims(rng):
    x = some(rng, shape_of(rng, 0), str(rng.choice(NUMBERS)))
    return ms("ExpandDims", [x, np.array(int(rng.integers(-x.ndim - 1, x.ndim + 1)), "i4")],
              constant=((), (1,))[rng.integers(2)])


def gather_nd(rng):
    x = some(rng, shape_of(rng, 1, 4, (1, 5)), str(rng.choice(NUMBERS)))
    depth = int(rng.integers(1, x.ndim + 1))
    outer = shape_of(rng, 0, 2, (0, 4))
    indices = np.stack([rng.integers(-n, n, outer) for n in x.shape[:depth]], -1)
    return ms("GatherND", [x, indices.astype(str(rng.choice(["i4", "i8"])))])


def range_of(rng):
    kind = str(rng.choice(["f4", "f8", "i2", "i4", "i8"]))
    shape = [(), (1,)][rng.integers(2)]
    start, limit = (np.full(shape, int(rng.integers(-20, 20)), kind) for _ in range(2))
    delta = np.full(shape, int(rng.choice([-3, -2, -1, 1, 2, 5])), kind)
    return ms("Range", [start, limit] + ([delta] if rng.random() < 0.7 else []), constant=((), (0, 1, 2))[rng.integers(2)])


def pad(rng):
    x = floats(rng, shape_of(rng, 1, 4, (2, 6)))
    mode = str(rng.choice(["constant", "edge", "reflect"]))
    most = [n if mode != "reflect" else n for n in x.shape]
    pads = np.array([int(rng.integers(-(n - 1) // 2, n)) for n in most + most], "i8")
    pads = pads.reshape([1, -1]) if rng.random() < 0.3 else pads
    fill = np.full([(), (1,)][rng.integers(2)], 2.5, "f4")
    return ms("Pad", [x, pads] + ([fill] if rng.random() < 0.5 else []), mode=perhaps(rng, mode, 0.9) if mode == "constant"
              else mode)


def trilu(rng):
    x = some(rng, shape_of(rng, 2, 4, (0, 6)), str(rng.choice(["f4", "f8", "i8"])))
    k = np.array(int(rng.integers(-4, 5)), "i8")
    return ms("Trilu", [x] + ([k] if rng.random() < 0.7 else []), upper=perhaps(rng, int(rng.integers(2))))


def unique(rng):
    return ms("Unique", [rng.integers(0, 6, int(rng.integers(0, 20))).astype("f4")], 3)


def unfold(rng):
    x = some(rng, shape_of(rng, 1, 5, (1, 9)), str(rng.choice(NUMBERS + ["f2", "u2", "u8"])))
    axis, step = int(rng.integers(-x.ndim, x.ndim)), int(rng.integers(1, 5))
    size = int(rng.integers(1, x.shape[axis] + 1))

    def oracle():  # onnxruntime has no kernel for some of the types
        windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
        return {"out_0": np.ascontiguousarray(np.take(windows, range(0, x.shape[axis] - size + 1, step), axis % x.ndim))}

    return ms("UnfoldTensor", [x], dim=perhaps(rng, axis, 0.9) if axis % x.ndim == x.ndim - 1 else axis, size=size,
              step=perhaps(rng, step, 0.9) if step == 1 else step, oracle=oracle, shapes=rng.random() < 0.5)


def sample_op(rng):
    return ms("SampleOp", [floats(rng, shape_of(rng))])


# Images

def grid_sample(rng):
    n, c, h, w, oh, ow = (int(v) for v in rng.integers(1, 5, 6))
    mode = str(rng.choice(["bilinear", "nearest", "bicubic"]))
    return ms("GridSample", [floats(rng, (n, c, h, w)), rng.uniform(-1.3, 1.3, (n, oh, ow, 2)).astype("f4")],
              mode=perhaps(rng, mode) if mode == "bilinear" else mode,
              padding_mode=str(rng.choice(["zeros", "border", "reflection"])), align_corners=int(rng.integers(2)),
              rtol=1e-3, atol=1e-4)


def crop_and_resize(rng):
    n, c, h, w = (int(v) for v in rng.integers(1, 6, 4))
    regions = int(rng.integers(0, 4))
    mode = str(rng.choice(["bilinear", "nearest"]))
    return ms("CropAndResize", [floats(rng, (n, c, h, w)), rng.uniform(-0.2, 1.2, (regions, 4)).astype("f4"),
                                rng.integers(0, n, regions).astype("i4"), rng.integers(1, 6, 2).astype("i4")],
              mode=perhaps(rng, mode) if mode == "bilinear" else mode, extrapolation_value=perhaps(rng, 1.5))


def max_roi_pool(rng):
    n, c, h, w = (int(v) for v in rng.integers(1, 7, 4))
    regions = int(rng.integers(0, 5))
    rois = np.concatenate([rng.integers(0, n, (regions, 1)), rng.uniform(-2, 10, (regions, 4))], 1).astype("f4")
    return d.one_node("MaxRoiPool", [floats(rng, (n, c, h, w)), rois], opset=1,
                      pooled_shape=[int(v) for v in rng.integers(1, 4, 2)], spatial_scale=perhaps(rng, 0.5))


def max_pool_with_mask(rng):
    axes = int(rng.integers(1, 4))
    shape = [int(v) for v in rng.integers(1, 4, 2)] + [int(v) for v in rng.integers(3, 6, axes)]
    mask = [1, 1] + shape[2:] if rng.random() < 0.5 else shape
    kernel = [int(v) for v in rng.integers(1, 4, axes)]
    return ms("MaxpoolWithMask", [floats(rng, shape), (rng.random(mask) < 0.7).astype("i4")], kernel_shape=kernel,
              strides=perhaps(rng, [int(v) for v in rng.integers(1, 3, axes)]),
              pads=perhaps(rng, [int(rng.integers(0, k)) // 2 for k in kernel + kernel]))


def conv_transpose(rng):
    axes, group = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    channels, rows, kernel = group * int(rng.integers(1, 3)), int(rng.integers(1, 3)), [3] * axes
    x = floats(rng, [1, channels] + [int(v) for v in rng.integers(2, 5, axes)])
    inputs = [x, floats(rng, [channels, rows] + kernel), rng.integers(0, 2, 2 * axes).astype("i8"),
              perhaps(rng, floats(rng, rows * group))]
    return ms("ConvTransposeWithDynamicPads", inputs if inputs[3] is not None else inputs[:3], group=group,
              strides=perhaps(rng, [2] * axes), kernel_shape=perhaps(rng, kernel), constant=((), (1,))[rng.integers(2)],
              auto_pad=perhaps(rng, "VALID"), rtol=1e-3, atol=1e-5)


# Rotation of heads

def rotary(rng):
    batch, length, heads = (int(v) for v in rng.integers(1, 4, 3))
    half = int(rng.integers(1, 5))
    part = rng.random() < 0.3
    size = 2 * half + (2 * int(rng.integers(0, 3)) if part else 0)
    table = length + int(rng.integers(0, 3))
    angles = rng.uniform(0, 6, (table, half))
    x = floats(rng, (batch, length, heads * size) if rng.random() < 0.6 else (batch, heads, length, size))
    ids = rng.integers(0, table, (batch, length)).astype("i8") if rng.random() < 0.6 else np.array(
        [int(rng.integers(0, table - length + 1))], "i8")
    return ms("RotaryEmbedding", [x, ids, np.cos(angles).astype("f4"), np.sin(angles).astype("f4")],
              interleaved=int(rng.integers(2)), num_heads=heads if part else None,
              rotary_embedding_dim=2 * half if part else None, scale=perhaps(rng, 2.0, 0.2))


def mrotary(rng):
    batch, length, heads = (int(v) for v in rng.integers(1, 4, 3))
    sections = [int(v) for v in rng.integers(1, 3, 3)]
    half, table = sum(sections), length + 2
    angles = rng.uniform(0, 6, (table, half))
    x = floats(rng, (batch, length, heads * 2 * half) if rng.random() < 0.6 else (batch, heads, length, 2 * half))
    return ms("MRotaryEmbedding", [x, rng.integers(0, table, (3, batch, length)).astype("i8"),
                                   np.cos(angles).astype("f4"), np.sin(angles).astype("f4")], mrope_section=sections,
              num_heads=heads if x.ndim == 3 else None, mrope_layout=int(rng.integers(2)) if sections[1] * 3 <= half + 2 else 0,
              interleaved=int(rng.integers(2)), scale=perhaps(rng, float(rng.uniform(-2, 2)), 0.3))


# Norms and gates

def kind_of(rng):
    return str(rng.choice(["f4", "f4", "f2"]))


def near(kind):
    return {"rtol": 1e-3, "atol": 1e-5} if kind == "f4" else {"rtol": 1e-2, "atol": 2e-3}


def gated_rms_norm(rng):
    kind, n = kind_of(rng), int(rng.integers(1, 9))
    shape = shape_of(rng, 0, 3, (0, 4)) + [n * int(rng.integers(1, 4))]
    return ms("GatedRMSNorm", [floats(rng, shape, kind), floats(rng, n, kind), floats(rng, shape, kind)],
              activation=perhaps(rng, str(rng.choice(["silu", "swish", "sigmoid"]))), epsilon=perhaps(rng, 1e-3),
              **near(kind))


def branchwise_rms_norm(rng):
    kind, branches, size = kind_of(rng), int(rng.integers(1, 4)), int(rng.integers(1, 7))
    flat = rng.random() < 0.5
    shape = shape_of(rng, 1, 2, (1, 4)) + ([branches * size] if flat else [branches, size])
    scale = [None, (size,), (branches, size), (branches * size,)][rng.integers(4)]
    return ms("BranchwiseRMSNorm", [floats(rng, shape, kind)] + ([floats(rng, scale, kind_of(rng))] if scale else []),
              num_branches=branches if flat else None, **near(kind))


def gated_add(rng):
    kind = kind_of(rng)
    shape = shape_of(rng, 1, 4, (1, 5))
    return ms("GatedAdd", [floats(rng, shape, kind), floats(rng, shape, kind), floats(rng, shape[:-1] + [1], kind)],
              **near(kind))


def scaled_silu(rng):
    kind = kind_of(rng)
    scale = floats(rng, [(), (1,)][rng.integers(2)], kind_of(rng))
    return ms("ScaledSiLU", [floats(rng, shape_of(rng), kind)] + ([scale] if rng.random() < 0.5 else []),
              alpha=perhaps(rng, 1.7), **near(kind))


def linear_attention_gate(rng):
    kind, heads = kind_of(rng), int(rng.integers(1, 5))
    shape = [int(rng.integers(1, 3)), int(rng.integers(1, 4)), heads]
    with_b = rng.random() < 0.6
    return ms("LinearAttentionGate", [5 * floats(rng, shape, kind), floats(rng, heads), floats(rng, heads)]
              + ([floats(rng, shape, kind)] if with_b else []), 2 if with_b else 1, **near(kind))


def hyper_connection(rng, op):
    kind, branches, size = kind_of(rng), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    flat, outer, gates = rng.random() < 0.5, shape_of(rng, 1, 2, (1, 4)), kind_of(rng)
    streams = floats(rng, outer + ([branches * size] if flat else [branches, size]), kind)
    mix = floats(rng, outer + [[branches], [branches, 1], [branches, size]][rng.integers(3)], gates)
    given = {"num_branches": branches if flat else None, **near(kind)}
    if op == "HyperConnectionPreMix":
        return ms(op, [streams, mix], reduction_scale=perhaps(rng, 0.25), **given)
    square = floats(rng, outer + [branches, branches], gates)
    return ms(op, [streams, floats(rng, outer + [size], kind), mix] + ([square] if rng.random() < 0.5 else []), **given)


def engram_gate(rng):
    kind = kind_of(rng)
    batch, length, branches, size = (int(v) for v in rng.integers(1, 5, 4))
    of = (batch, length, branches, size)
    inputs = [floats(rng, of, kind), floats(rng, of, kind), floats(rng, (batch, length, size), kind),
              floats(rng, (branches, size), kind), floats(rng, (branches, size), kind)]
    with_norm = rng.random() < 0.5
    return ms("EngramGate", inputs + ([floats(rng, (branches, size), kind)] if with_norm else []),
              2 if with_norm else 1, **near(kind))


# Recurrence

def linear_attention(rng, domain):
    batch, length, groups, of_keys, size, width = (int(v) for v in rng.integers(1, 4, 6))
    if domain == MS and rng.random() < 0.2:
        heads, of_keys = 1, groups  # several heads of keys for one of queries
    else:
        heads = groups * of_keys
    rule = str(rng.choice(["linear", "gated", "delta", "gated_delta"]))
    q, k, v = (floats(rng, (batch, length, n)) for n in (heads * size, of_keys * size, of_keys * width))
    decay = -rng.random((batch, length, of_keys * (size if rng.random() < 0.5 else 1))).astype("f4")
    beta = rng.random((batch, length, of_keys if rng.random() < 0.7 else 1)).astype("f4")
    past = floats(rng, (batch, of_keys, size, width))
    spare = rng.random() < 0.2  # inputs that the rule does not use are not read
    inputs = [q, k, v, perhaps(rng, past), decay if "gated" in rule or spare else None,
              beta if "delta" in rule or spare else None]
    return d.one_node("LinearAttention", inputs, 2, opset=1 if domain else 27, domain=domain, q_num_heads=heads,
                      kv_num_heads=of_keys, update_rule=perhaps(rng, rule) if rule == "gated_delta" else rule,
                      scale=perhaps(rng, 0.7), rtol=1e-3, atol=1e-5)


def attn_lstm(rng):
    kind, both = "f4", rng.random() < 0.4  # onnxruntime registers doubles but refuses them in a run
    length, batch, inputs, hidden, steps, depth, size = (int(v) for v in rng.integers(1, 5, 7))
    directions, answer = 2 if both else 1, int(rng.integers(1, 4)) if rng.random() < 0.5 else 0
    of = lambda *shape: floats(rng, (directions, *shape), kind)  # noqa: E731
    given = [floats(rng, (length, batch, inputs), kind), of(4 * hidden, inputs + (answer or depth)), of(4 * hidden, hidden),
             perhaps(rng, of(8 * hidden)), perhaps(rng, rng.integers(1, length + 1, batch).astype("i4")),
             perhaps(rng, of(batch, hidden)), perhaps(rng, of(batch, hidden)), perhaps(rng, of(3 * hidden)),
             of(hidden, size), of(depth, size), of(size), floats(rng, (batch, steps, depth), kind),
             perhaps(rng, rng.integers(1, steps + 1, batch).astype("i4"))]
    return ms("AttnLSTM", given + ([of(hidden + depth, answer)] if answer else []), 3, hidden_size=hidden,
              direction="bidirectional" if both else str(rng.choice(["forward", "reverse"])),
              activations=perhaps(rng, ["HardSigmoid", "Softsign", "Tanh"] * directions, 0.2),
              input_forget=perhaps(rng, 1, 0.2), clip=perhaps(rng, 0.7, 0.2), rtol=1e-3, atol=1e-4)


def causal_conv(rng, domain):
    batch, channels, taps = (int(v) for v in rng.integers(1, 4, 3))
    length = int(rng.integers(1, 7))
    dilation = int(rng.integers(1, 3)) if domain else 1
    last = domain and rng.random() < 0.4
    shape = (lambda n: (batch, n, channels)) if last else (lambda n: (batch, channels, n))
    return d.one_node("CausalConvWithState",
                      [floats(rng, shape(length)), floats(rng, (channels, 1, taps)), perhaps(rng, floats(rng, channels)),
                       perhaps(rng, floats(rng, shape((taps - 1) * dilation)))], 2, opset=1 if domain else 27,
                      domain=domain, activation=perhaps(rng, str(rng.choice(["silu", "swish", "none"]))),
                      dilation=dilation if domain else None, channels_last=1 if last else None, rtol=1e-3, atol=1e-5)


# Tokens and texts

def ngram_repeat_block(rng):
    batch, words = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    return ms("NGramRepeatBlock", [rng.integers(0, words, (batch, int(rng.integers(1, 12)))).astype("i8"),
                                   floats(rng, (batch, words))], ngram_size=int(rng.integers(1, 4)))


def bifurcation_detector(rng):
    source, current = (rng.integers(0, 4, int(rng.integers(1, 10))).astype("i8") for _ in range(2))
    at = int(rng.integers(0, len(source) + 1))
    guessed = source[at:].copy()
    guessed[int(rng.integers(0, len(guessed) + 1)):] = 1
    guessed = np.append(guessed, rng.integers(0, 4)).astype("i8")
    least = int(rng.integers(1, 4))
    return ms("BifurcationDetector", [source, current, np.array(at, "i8")] + ([guessed] if rng.random() < 0.7 else []), 2,
              min_ngram_size=least, max_ngram_size=least + int(rng.integers(0, 3)))


def murmur_hash(rng):
    kind = str(rng.choice(["i4", "u4", "i8", "u8", "f4", "f8", "text"]))
    shape = shape_of(rng, 0, 3, (1, 4))
    if kind == "text":
        x = np.array(["é" * int(n) + "abcdefg"[:int(n)] for n in rng.integers(0, 8, shape).ravel()]).reshape(shape)
    else:
        x = some(rng, shape, kind)
    return ms("MurmurHash3", [x], seed=perhaps(rng, int(rng.integers(0, 2**31))), positive=perhaps(rng, int(rng.integers(2))))


def ngram_hash(rng):
    kind = str(rng.choice(["i4", "i8"]))
    batch, length, heads, orders = int(rng.integers(1, 3)), int(rng.integers(1, 7)), int(rng.integers(1, 3)), int(
        rng.integers(2, 5))
    ids = rng.integers(0, 5, (batch, length)).astype(kind)
    inputs = [ids, (2 * rng.integers(-50, 50, orders) + 1).astype(kind),
              rng.integers(2, 30, (orders - 1) * heads).astype(kind),
              perhaps(rng, rng.integers(0, 5, (batch, orders - 1)).astype(kind)),
              perhaps(rng, rng.integers(0, 99, (orders - 1) * heads).astype(kind)),
              perhaps(rng, np.array(int(rng.integers(0, 5)), kind)),
              perhaps(rng, np.sort(rng.integers(0, 3, (batch, length))).astype("i4"))]
    while inputs[-1] is None:
        inputs.pop()
    return ms("NGramHashMapping", inputs, 2, max_ngram_size=orders, n_head_per_ngram=heads,
              pad_id=int(rng.integers(0, 5)), reset_on_eos=perhaps(rng, int(rng.integers(2))))


def varlen_ngram_hash(rng):
    kind = str(rng.choice(["i4", "i8"]))
    requests, heads, orders = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.integers(2, 5))
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 6, requests))]).astype("i4")
    tokens, state = int(starts[-1]), (requests, orders - 1)
    segments = perhaps(rng, np.sort(rng.integers(0, 3, tokens)).astype("i4"))
    capacity = int(rng.integers(1, 9)) if rng.random() < 0.5 else 0
    inputs = [rng.integers(0, 5, tokens).astype(kind), (2 * rng.integers(-50, 50, orders) + 1).astype(kind),
              rng.integers(2, 30, (orders - 1) * heads).astype(kind), starts,
              perhaps(rng, rng.integers(0, 5, state).astype(kind)),
              perhaps(rng, rng.integers(0, 99, (orders - 1) * heads).astype(kind)),
              perhaps(rng, np.array(int(rng.integers(0, 5)), kind)), segments,
              None if segments is None else perhaps(rng, rng.integers(0, 2, state).astype("i4")),
              rng.integers(-1, 9, requests).astype("i4") if capacity else None]
    while inputs[-1] is None:
        inputs.pop()
    return ms("VarlenNGramHashMapping", inputs, ["y", "ids", "" if segments is None else "segments"]
              + (["states"] if capacity else []), max_ngram_size=orders, n_head_per_ngram=heads,
              pad_id=int(rng.integers(0, 5)), reset_on_eos=perhaps(rng, int(rng.integers(2))),
              state_update_capacity=capacity or None)


def tfidf(rng):
    texts, most, words = rng.random() < 0.4, int(rng.integers(1, 4)), 3
    pool, starts, count = [], [], 0
    for length in range(1, most + 1):
        starts.append(len(pool))
        found = {tuple(int(w) for w in rng.integers(0, words, length)) for _ in range(int(rng.integers(1, 5)))}
        count += len(found)
        pool += [w for gram in sorted(found) for w in gram]
    x = rng.integers(0, words + 1, shape_of(rng, 1, 2, (1, 8)))
    given = {"pool_strings" if texts else "pool_int64s": [f"w{w}" for w in pool] if texts else pool}
    x = np.array([f"w{w}" for w in x.ravel()]).reshape(x.shape) if texts else x.astype(str(rng.choice(["i4", "i8"])))
    indexes = [int(v) for v in rng.permutation(count)]
    return d.one_node("TfIdfVectorizer", [x], opset=9, ngram_counts=starts, ngram_indexes=indexes,
                      min_gram_length=int(rng.integers(1, most + 1)), max_gram_length=most,
                      max_skip_count=int(rng.integers(0, 4)), mode=str(rng.choice(["TF", "IDF", "TFIDF"])),
                      weights=perhaps(rng, [float(v) for v in rng.integers(1, 9, count)]), **given)


def tfidf_of_shared(mode, skips):
    """N-grams that share outputs, with weights whose products and sums differ in their last bit."""
    return d.one_node("TfIdfVectorizer", [np.array([[1, 2, 3, 1, 3, 1, 1], [2, 1, 1, 1, 1, 1, 3]], "i8")], opset=9,
                      ngram_counts=[0, 2], ngram_indexes=[0, 0, 0, 1, 1], pool_int64s=[1, 2, 1, 2, 2, 3, 1, 3],
                      min_gram_length=1, max_gram_length=2, max_skip_count=skips, mode=mode,
                      weights=[0.1, 0.7, 30.3, 400.7, 5.9])


def tokenizer(rng):
    letters = ["a", "b", " ", ",", "é", "ab", "  "]
    texts = ["".join(rng.choice(letters, int(rng.integers(0, 8)))) for _ in range(int(rng.integers(0, 5)))]
    x = np.array(texts) if texts else np.zeros(0, "U1")
    x = x.reshape(2, -1) if x.size == 4 and rng.random() < 0.5 else x
    given, least = {}, int(rng.integers(1, 3))
    if rng.random() < 0.5:
        given["separators"] = [str(v) for v in [[" "], [" ", ","], ["[ ,]+"], [""], ["b*", " "], ["a|ab"], ["^a", "b"]]
                               [rng.integers(7)]]
    else:
        given["tokenexp"] = str(rng.choice(["[a-z]+", ".", "a|ab", "[^ ]*", "ab?|b..", "^a"]))
    if given.get("separators") == [""] or given.get("tokenexp") == ".":
        least = 1
    return ms("Tokenizer", [x], mark=int(rng.integers(2)), mincharnum=least, pad_value="#", **given)


def word_embedding(rng):
    length, size, filters, chars = (int(v) for v in rng.integers((1, 1, 1, 2), 6))
    window = int(rng.integers(1, length + 1))
    words = rng.integers(0, chars, (int(rng.integers(1, 6)), length)).astype("i4")
    words[:, 0] = chars - 1  # for words that begin with 0, onnxruntime returns uninitialized memory
    return ms("WordConvEmbedding", [words, floats(rng, (filters, 1, window, size)), floats(rng, filters),
                                    floats(rng, (chars, size))], rtol=1e-3, atol=1e-5)


# Matrices

def transpose_matmul(rng):
    a, b = floats(rng, (2, 3, 4)), floats(rng, (2, 4, 5))
    ta, tb = int(rng.integers(2)), int(rng.integers(2))
    return ms("TransposeMatMul", [a.swapaxes(1, 2) if ta else a, b.swapaxes(1, 2) if tb else b], transA=ta, transB=tb,
              alpha=perhaps(rng, 0.5), rtol=1e-3, atol=1e-5)


def sparse_matmul(rng):
    # onnxruntime checks the shapes of A and B as if neither were transposed, so those that are transposed are square.
    # It ignores alpha, as if it were 1, for all element types but float.
    kind = str(rng.choice(["f4", "f8", "i4", "i8", "u4", "u8"]))
    ta, tb, m, k, n = int(rng.integers(2)), int(rng.integers(2)), *(int(v) for v in rng.integers(1, 6, 3))
    m, n = k if ta or tb else m, k if ta or tb else n
    dense = some(rng, (m, k), kind) * (rng.random((m, k)) < 0.5).astype(kind)
    places = np.ascontiguousarray(np.argwhere(dense).astype("i8"))
    dense_b = some(rng, (k, n), kind)
    return ms("SparseToDenseMatMul", [d.sparse(dense[dense != 0], places, [m, k]), dense_b], transA=ta,
              transB=tb, alpha=perhaps(rng, 2.5) if kind == "f4" else None, rtol=1e-4, atol=1e-4)


def inverse(rng):
    n, kind = int(rng.integers(1, 6)), str(rng.choice(["f4", "f8", "f2"]))
    x = floats(rng, shape_of(rng, 0, 2, (0, 4)) + [n, n]) + 4 * np.eye(n)
    return ms("Inverse", [x.astype(kind)], rtol=1e-2 if kind == "f2" else 1e-3, atol=1e-2 if kind == "f2" else 1e-4)


def cdist(rng):
    kind, n = str(rng.choice(["f4", "f8"])), int(rng.integers(1, 9))
    metric = str(rng.choice(["sqeuclidean", "euclidean"]))
    return ms("CDist", [floats(rng, (int(rng.integers(1, 5)), n), kind), floats(rng, (int(rng.integers(1, 5)), n), kind)],
              metric=perhaps(rng, metric) if metric == "sqeuclidean" else metric, rtol=1e-3, atol=1e-4)


def time_warping(rng):
    shape = [int(v) for v in rng.integers(1, 8, 2)]
    return ms("DynamicTimeWarping", [rng.integers(0, 4, ([1] if rng.random() < 0.5 else []) + shape).astype("f4")])


def bnb4(rng):
    k, n, block = int(rng.integers(1, 40)), int(rng.integers(1, 9)), int(rng.choice([16, 32, 64]))
    if block != 16 and rng.random() < 0.5:
        k = block
    return ms("MatMulBnb4", [floats(rng, shape_of(rng, 0, 2, (1, 4)) + [k]),
                             rng.integers(0, 256, (n * k + 1) // 2).astype("u1"),
                             rng.random((n * k + block - 1) // block).astype("f4")], K=k, N=n, block_size=block,
              quant_type=int(rng.integers(2)), constant=((), (1, 2))[rng.integers(2)], rtol=1e-3, atol=1e-4)


def fpq4(rng):
    k, n, kind = int(rng.integers(1, 80)), int(rng.integers(1, 6)), int(rng.integers(2))
    blocks = []
    for _ in range(n * ((k + 31) // 32)):
        blocks.append(np.frombuffer(np.float32(rng.random()).tobytes(), "u1"))
        blocks.append(rng.integers(0, 16, kind).astype("u1"))
        blocks.append(rng.integers(0, 256, 16).astype("u1"))
    return ms("MatMulFpQ4", [floats(rng, shape_of(rng, 1, 2, (1, 4)) + [k]), np.concatenate(blocks),
                             np.array([k, n], "i8")], blk_quant_type=kind, constant=(1, 2), rtol=1e-3, atol=1e-4)


# Training

def optimizer(rng, op):
    # The reference evaluator's Adam returns float for several tensors of any type, and double for one tensor of floats.
    kind, tensors = (str(rng.choice(["f4", "f8"])), int(rng.integers(1, 3))) if op != "Adam" else ("f4", 2)
    kept, shapes = 2 if op == "Adam" else 1, [shape_of(rng, 1, 3, (0, 4)) for _ in range(tensors)]
    parts = [[floats(rng, s, kind) for s in shapes], [floats(rng, s, kind) for s in shapes]]
    parts += [[np.abs(floats(rng, s, kind)) for s in shapes] for _ in range(kept)]
    given = {"norm_coefficient": 0.01, "rtol": 1e-3, "atol": 1e-5}
    if op == "Momentum":
        given.update(alpha=0.9, beta=0.8, mode=str(rng.choice(["standard", "nesterov"])))
    elif op == "Adagrad":
        given.update(decay_factor=perhaps(rng, 0.1), epsilon=perhaps(rng, 1e-3))
    else:
        given.update(alpha=perhaps(rng, 0.8), beta=perhaps(rng, 0.9), norm_coefficient_post=perhaps(rng, 0.05))
    return d.one_node(op, [np.array(0.1, kind), np.array(int(rng.integers(0, 4)), "i8")]
                      + [x for part in parts for x in part], tensors * (1 + kept), opset=1,
                      domain="ai.onnx.preview.training", **given)


# Maps

def cast_map(rng):
    keys = rng.choice(20, int(rng.integers(1, 6)), replace=False)
    sparse = rng.random() < 0.5
    return d.one_node("CastMap", [{int(k): float(np.float32(rng.uniform(-99, 99))) for k in keys}], opset=1,
                      domain="ai.onnx.ml", cast_to=perhaps(rng, str(rng.choice(["TO_FLOAT", "TO_STRING", "TO_INT64"]))),
                      map_form="SPARSE" if sparse else perhaps(rng, "DENSE"), max_map=15 if sparse else None)


# Experts

def packed(codes, bits):
    """Packs quantized values [..., n] of a few bits into bytes, from the lowest bits on; the last byte is filled with
    0."""
    each = 8 // bits
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % each)])
    codes = codes.reshape(*codes.shape[:-1], -1, each).astype("u4")
    return sum(codes[..., i] << (bits * i) for i in range(each)).astype("u1")


def experts_of(rng):
    rows, experts, swiglu = int(rng.integers(1, 6)), int(rng.integers(1, 5)), rng.random() < 0.4
    given = {"k": int(rng.integers(1, experts + 1)), "normalize_routing_weights": int(rng.integers(2)),
             "activation_type": "swiglu" if swiglu else str(rng.choice(["relu", "gelu", "silu", "identity"]))}
    if swiglu:
        given.update(swiglu_fusion=1, activation_alpha=1.7, activation_beta=1.0, swiglu_limit=perhaps(rng, 1.5))
    return rows, experts, 2 if swiglu else 1, given


def moe(rng):
    rows, experts, parts, given = experts_of(rng)
    size, inner = (int(v) for v in rng.integers(1, 9, 2))
    x = floats(rng, (rows, size))
    x = x.reshape(1, rows, size) if rng.random() < 0.4 else x
    inputs = [x, floats(rng, (rows, experts)), floats(rng, (experts, parts * inner, size)),
              perhaps(rng, floats(rng, (experts, parts * inner))), floats(rng, (experts, size, inner)),
              perhaps(rng, floats(rng, (experts, size)))]
    if inputs[1].size and rng.random() < 0.2:
        inputs[1][:] = 0.5  # of equal scores the last is chosen
    return ms("MoE", inputs[:5] if inputs[5] is None else inputs, rtol=1e-3, atol=1e-4, **given)


def qmoe(rng):
    rows, experts, parts, given = experts_of(rng)
    bits, block = int(rng.choice([4, 8])), int(rng.choice([0, 0, 16, 32]))
    size, inner = (int(v) for v in rng.choice([32, 64], 2))
    given["expert_weight_bits"] = bits
    if block:
        given["block_size"] = block
    with_zeros = rng.random() < 0.5

    def weights(n, k):
        blocks = k // block if block else 1
        scales = (rng.random((experts, n, blocks)) * 0.1 / 2**bits).astype("f4")
        zeros = rng.integers(0, 2**bits, (experts, n, blocks))
        squeezed = (lambda v: v) if block else (lambda v: v[..., 0])
        return packed(rng.integers(0, 2**bits, (experts, n, k)), bits), squeezed(scales), packed(squeezed(zeros), bits)

    first, second = weights(parts * inner, size), weights(size, inner)
    inputs = [floats(rng, (rows, size)), floats(rng, (rows, experts)), first[0], first[1],
              perhaps(rng, floats(rng, (experts, parts * inner))), second[0], second[1],
              perhaps(rng, floats(rng, (experts, size))), None, None, None]
    inputs += [first[2], second[2]] if with_zeros else [None, None]
    inputs += [None, rng.random((rows, experts)).astype("f4")] if rng.random() < 0.3 else []
    while inputs[-1] is None:
        inputs.pop()
    # ONNX Runtime also quantizes the rows of x if a block has 32 or more weights.
    return ms("QMoE", inputs, rtol=2e-2 if block == 32 else 1e-3, atol=2e-2 if block == 32 else 1e-3, **given)


def decoder_attention(rng):
    beams, heads, size, value_size = (int(v) for v in rng.integers(1, 4, 4))
    value_size = size
    batch, past = beams * int(rng.integers(1, 3)), int(rng.integers(0, 5))
    room = past + int(rng.integers(1, 4))
    width, cross = heads * size, rng.random() < 0.3
    q, bias = floats(rng, (batch, 1, width)), perhaps(rng, floats(rng, 3 * width))
    if cross:
        length = int(rng.integers(1, 6))
        inputs = [q, floats(rng, (batch, heads, length, size)), floats(rng, (batch, heads, length, value_size)),
                  perhaps(rng, rng.integers(0, 2, (batch, length)).astype("i4")), None, None, None, None, None, None, bias]
    else:
        old = [floats(rng, (batch, heads, room, size)), floats(rng, (batch, heads, room, value_size))]
        inputs = [q, floats(rng, (batch, 1, width)), floats(rng, (batch, 1, width)),
                  perhaps(rng, rng.integers(0, 2, (batch, past + 1)).astype("i4")),
                  perhaps(rng, floats(rng, (1, heads, 1, past + 1))), *old, np.array([past], "i4"), None, None, bias]
        if beams > 1:
            inputs[8:10] = [np.array([beams], "i4"), rng.integers(0, beams, (batch // beams, beams, room)).astype("i4")]
    if inputs[3] is not None:
        inputs[3][:, -1] = 1  # if all keys are hidden, adding -10000 leaves few digits of the scores
    while inputs[-1] is None:
        inputs.pop()
    outputs = ["out_0", "", ""] if cross else ["out_0", "out_1", "out_2"]
    shown = rng.random() < 0.3
    made = ms("DecoderMaskedMultiHeadAttention", inputs, outputs + ["scores"] if shown else [o for o in outputs if o],
              output_qk=1 if shown else None, num_heads=heads, scale=perhaps(rng, 0.4),
              past_present_share_buffer=None if cross else 1, rtol=1e-3, atol=1e-5)
    return d.with_type(made, "scores", q) if shown else made


def sparse_attention(rng):
    """Blocks of 16 keys, with layouts in which each block attends to itself and to others at random."""
    kind, block, rows = str(rng.choice(["f4", "f4", "f2"])), 16, int(rng.integers(1, 5))
    batch, of_keys, group, layouts = (int(v) for v in rng.integers(1, 3, 4))
    heads, size, capacity = group * of_keys * layouts, 16 * int(rng.integers(1, 3)), block * rows
    seen = [np.tril(rng.random((rows, rows)) < 0.5) | np.eye(rows, dtype=bool) for _ in range(layouts)]
    most = max(int(each.sum()) for each in seen)
    starts = np.array([np.concatenate([[0], np.cumsum(each.sum(1))]) for each in seen], "i4")
    columns = np.array([np.pad(np.nonzero(each)[1], (0, most - int(each.sum())), constant_values=-1) for each in seen], "i4")
    of_keys *= layouts
    if rng.random() < 0.5:
        length = int(rng.integers(1, capacity + 1))
        totals = np.full(batch, length, "i4")
    else:
        # If batches have different numbers of keys, onnxruntime adds up uninitialized memory.
        length, totals = 1, np.full(batch, int(rng.integers(2, capacity + 1)), "i4")
    turns, packed_rows = rng.random() < 0.5, rng.random() < 0.5
    past = (batch, of_keys, capacity, size)
    width = (heads + 2 * of_keys) * size if packed_rows else heads * size
    new = [floats(rng, (batch, length, width), kind)]
    new += [None, None] if packed_rows else [floats(rng, (batch, length, of_keys * size), kind) for _ in range(2)]
    angles = rng.uniform(0, 6, (capacity, size // 2))
    inputs = [*new, floats(rng, past, kind), floats(rng, past, kind), starts, columns, np.array([totals.max()], "i4"), totals]
    inputs += [np.cos(angles).astype(kind), np.sin(angles).astype(kind)] if turns else []
    made = ms("SparseAttention", inputs, 3, num_heads=heads, kv_num_heads=of_keys, sparse_block_size=block,
              do_rotary=int(turns), rotary_interleaved=perhaps(rng, int(rng.integers(2))) or 0,
              scale=perhaps(rng, 0.4), **near(kind))
    made.shared = {"out_1": "in_3", "out_2": "in_4"}
    return made


def flex_attention(rng):
    batch, group, of_keys, length, keys, size, width = (int(v) for v in rng.integers(1, 4, 7))
    kind = str(rng.choice(["f4", "f4", "f8", "f2"]))
    element = onnx.TensorProto.DOUBLE if kind == "f8" else onnx.TensorProto.FLOAT

    def changed_by(op):
        shape = [None] * 4
        return helper.make_graph([helper.make_node(op, ["p"], ["q"])], "body",
                                 [helper.make_tensor_value_info("p", element, shape)],
                                 [helper.make_tensor_value_info("q", element, shape)])

    return d.one_node("FlexAttention", [floats(rng, (batch, group * of_keys, length, size), kind),
                                        floats(rng, (batch, of_keys, keys, size), kind),
                                        floats(rng, (batch, of_keys, keys, width), kind)], opset=1,
                      domain="ai.onnx.preview", scale=perhaps(rng, 0.3), score_mod=perhaps(rng, changed_by("Tanh")),
                      prob_mod=perhaps(rng, changed_by("Sqrt")), **near("f2" if kind == "f2" else "f4"))


# Quantized values

def qattention(rng):
    batch, length, heads, size, width = (int(v) for v in rng.integers(1, 5, 5))
    past = int(rng.integers(0, 4)) if rng.random() < 0.4 else 0
    all_of = 3 * heads * size
    inputs = [rng.integers(0, 256, (batch, length, width)).astype("u1"),
              rng.integers(0, 100, (width, all_of)).astype(str(rng.choice(["u1", "i1"]))), floats(rng, all_of),
              np.float32(0.02), (rng.random(1 if rng.random() < 0.5 else all_of) * 0.02).astype("f4"), None,
              np.uint8(rng.integers(0, 256)), None, None]
    inputs[7] = np.full(inputs[4].shape, 3, inputs[1].dtype) if rng.random() < 0.6 else None
    if rng.random() < 0.4:
        inputs[5] = rng.integers(0, length + past + 1, batch).astype("i4")
    if past:
        inputs[8] = floats(rng, (2, batch, heads, past, size))
    while inputs[-1] is None:
        inputs.pop()
    return ms("QAttention", inputs, 2 if past or rng.random() < 0.3 else 1, num_heads=heads,
              unidirectional=int(rng.integers(2)), constant=((), (1, 2, 3, 4, 6, 7))[rng.integers(2)], rtol=1e-3,
              atol=1e-4)


def qembed(rng):
    batch, length, n = (int(v) for v in rng.integers(1, 6, 3))
    kind, segments = str(rng.choice(["u1", "i1"])), rng.random() < 0.6
    codes = lambda *shape: rng.integers(0, 100, shape).astype(kind)  # noqa: E731
    scale, zero = (lambda: np.float32(rng.random() * 0.1)), (lambda: np.asarray(rng.integers(0, 100)).astype(kind))
    ids = lambda rows: rng.integers(0, rows, (batch, length)).astype("i4")  # noqa: E731
    return ms("QEmbedLayerNormalization",
              [ids(7), ids(2) if segments else None, codes(7, n), codes(length + 1, n), codes(2, n) if segments else None,
               codes(n), codes(n), perhaps(rng, ids(2)), scale(), scale(), scale() if segments else None, scale(),
               scale(), zero(), zero(), zero() if segments else None, zero(), zero()], 2, epsilon=perhaps(rng, 1e-3),
              rtol=1e-3, atol=1e-3)


# Element types that few operators have

SMALL = {"uint4": (0, 16), "int4": (-8, 8), "uint2": (0, 4), "int2": (-2, 2)}
FLOAT8 = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]


def cast_around(op, feeds, small, opset, back, **attributes):
    """A node between casts: the inputs that `small` names are cast to that type, the output is cast to `back`."""
    nodes, inputs = [], []
    for name, value in feeds.items():
        inputs.append(name + "_small" if name in small else name)
        if name in small:
            nodes.append(helper.make_node("Cast", [name], [name + "_small"], to=small[name]))
    given = {key: value for key, value in attributes.items() if value is not None}
    nodes += [helper.make_node(op, inputs, ["y_small"], **given), helper.make_node("Cast", ["y_small"], ["y"], to=back)]
    graph = helper.make_graph(nodes, "cast_around",
                              [helper.make_value_info(n, d.type_of(v)) for n, v in feeds.items()],
                              [helper.make_tensor_value_info("y", back, None)])
    return d.case(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), feeds)


def small_move(rng, op):
    kind = str(rng.choice(list(SMALL)))
    number = getattr(onnx.TensorProto, kind.upper())
    some_codes = lambda shape: rng.integers(*SMALL[kind], shape).astype("i1")  # noqa: E731
    shape = shape_of(rng, 1, 4, (0 if op == "Transpose" else 2, 5))
    feeds, small = {"x": some_codes(shape)}, {"x": number}
    given = {}
    if op == "Transpose":
        given["perm"] = perhaps(rng, [int(i) for i in rng.permutation(len(shape))])
    elif op == "Pad":
        feeds["pads"] = rng.integers(-1, 3, 2 * len(shape)).astype("i8")
        given["mode"] = str(rng.choice(["constant", "edge", "reflect", "wrap"]))
        if given["mode"] == "constant" and rng.random() < 0.5:
            feeds["fill"], small["fill"] = some_codes(()), number
        if given["mode"] != "constant":
            feeds["pads"] = np.array([int(rng.integers(0, n)) for n in shape + shape], "i8")
    else:
        shape = [2, int(rng.integers(2, 6)), int(rng.integers(1, 4))]
        feeds["x"], count = some_codes(shape), int(rng.integers(1, shape[1] + 1))
        feeds["update"], small["update"] = some_codes([shape[0], count, shape[2]]), number
        feeds["at"] = rng.integers(0, shape[1] - count + 1, shape[0]).astype("i8")
        number = getattr(onnx.TensorProto, kind[:-1].upper() + "4")
        feeds = {n: np.clip(v, *(e - (e > 0) for e in SMALL[kind])) if v.dtype == np.int8 else v for n, v in feeds.items()}
        small = {n: number for n in small}
    return cast_around(op, feeds, small, 25 if op != "TensorScatter" else 24, onnx.TensorProto.INT8, **given)


def float8_dropout(rng):
    return cast_around("Dropout", {"x": rng.integers(-4, 5, shape_of(rng)).astype("f4")},
                       {"x": getattr(onnx.TensorProto, str(rng.choice(FLOAT8)))}, 22, onnx.TensorProto.FLOAT)


def complex_unique(rng):
    x = rng.integers(0, 3, shape_of(rng, 1, 2, (1, 6))) + 1j * rng.integers(0, 3, 1)
    return d.one_node("Unique", [x.astype(str(rng.choice(["c8", "c16"])))], 4, opset=11, sorted=int(rng.integers(2)))


FAMILIES = {
    "CastMap": (cast_map, 60),
    "FlexAttention": (flex_attention, 80),
    "WordConvEmbedding": (word_embedding, 80), "MaxpoolWithMask": (max_pool_with_mask, 100),
    "ConvTransposeWithDynamicPads": (conv_transpose, 80),
    "SmallTranspose": (lambda rng: small_move(rng, "Transpose"), 100), "SmallPad": (lambda rng: small_move(rng, "Pad"), 150),
    "SmallTensorScatter": (lambda rng: small_move(rng, "TensorScatter"), 60),
    "Float8Dropout": (float8_dropout, 30),
    "ComplexUnique": (complex_unique, 60),
    "Tokenizer": (tokenizer, 250), "DecoderMaskedMultiHeadAttention": (decoder_attention, 150),
    "QAttention": (qattention, 150), "QEmbedLayerNormalization": (qembed, 80),
    "MoE": (moe, 150), "QMoE": (qmoe, 150),
    "ExpandDims": (expand_dims, 80), "GatherND": (gather_nd, 80), "Range": (range_of, 80), "Pad": (pad, 100),
    "Trilu": (trilu, 60), "Unique": (unique, 60), "UnfoldTensor": (unfold, 300), "SampleOp": (sample_op, 20),
    "GridSample": (grid_sample, 100), "CropAndResize": (crop_and_resize, 100), "MaxRoiPool": (max_roi_pool, 100),
    "RotaryEmbedding": (rotary, 150), "MRotaryEmbedding": (mrotary, 100),
    "GatedRMSNorm": (gated_rms_norm, 60), "BranchwiseRMSNorm": (branchwise_rms_norm, 60), "GatedAdd": (gated_add, 60),
    "ScaledSiLU": (scaled_silu, 60), "LinearAttentionGate": (linear_attention_gate, 60),
    "HyperConnectionPreMix": (lambda rng: hyper_connection(rng, "HyperConnectionPreMix"), 80),
    "HyperConnectionPostMix": (lambda rng: hyper_connection(rng, "HyperConnectionPostMix"), 80),
    "EngramGate": (engram_gate, 60),
    "LinearAttention": (lambda rng: linear_attention(rng, MS), 150),
    "OnnxLinearAttention": (lambda rng: linear_attention(rng, ""), 100),
    "CausalConvWithState": (lambda rng: causal_conv(rng, MS), 150),
    "OnnxCausalConvWithState": (lambda rng: causal_conv(rng, ""), 100),
    "NGramRepeatBlock": (ngram_repeat_block, 80), "BifurcationDetector": (bifurcation_detector, 200),
    "MurmurHash3": (murmur_hash, 100), "NGramHashMapping": (ngram_hash, 150),
    "VarlenNGramHashMapping": (varlen_ngram_hash, 200), "SparseToDenseMatMul": (sparse_matmul, 120),
    "AttnLSTM": (attn_lstm, 150), "SparseAttention": (sparse_attention, 150), "TfIdfVectorizer": (tfidf, 200),
    "TransposeMatMul": (transpose_matmul, 40), "Inverse": (inverse, 60), "CDist": (cdist, 60),
    "DynamicTimeWarping": (time_warping, 100), "MatMulBnb4": (bnb4, 100), "MatMulFpQ4": (fpq4, 60),
    "Adagrad": (lambda rng: optimizer(rng, "Adagrad"), 40), "Adam": (lambda rng: optimizer(rng, "Adam"), 40),
    "Momentum": (lambda rng: optimizer(rng, "Momentum"), 40),
}

ALWAYS = [tfidf_of_shared(mode, skips) for mode in ("TF", "IDF", "TFIDF") for skips in (0, 1, 5)]

SEVERAL_NODES = ("SmallTranspose", "SmallPad", "SmallTensorScatter", "Float8Dropout")
OF_ONE_NODE = {name: made for name, made in FAMILIES.items() if name not in SEVERAL_NODES}

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES, ALWAYS))
