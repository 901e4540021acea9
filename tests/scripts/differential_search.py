#!/usr/bin/env python3
"""com.microsoft's searches for tokens (GreedySearch, Sampling, BeamSearch) against onnxruntime, with small decoders
like GPT-2's of random weights.

Options of the long campaign: see tests/program/differential.py.
"""
# not with a sanitizer: onnxruntime is not built with one
import pathlib
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402
import ort_judge  # noqa: E402

MS = "com.microsoft"
WORDS, PLACES, HEADS, SIZE = 11, 32, 2, 4


def decoder(rng, layers, name="decoder"):
    """Tokens and their places become vectors, each layer adds attention over past and new ones that the mask shows, and
    the vectors' products with those of all words are the logits."""
    width = HEADS * SIZE
    fixed = {"words": rng.standard_normal((WORDS, width)), "places": rng.standard_normal((PLACES, width)),
             "pads": np.where(np.arange(WORDS) == 0, -90.0, 0.0), "spread": np.array(1.5)}
    nodes, outputs = [], []

    def add(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, list(inputs), [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def constant(key, values):
        fixed[key] = np.asarray(values)
        return key

    x = add("Add", add("Gather", "words", "input_ids"), add("Gather", "places", "position_ids"))
    seen = add("Cast", add("Unsqueeze", "attention_mask", constant("axes", np.array([1, 2]))), to=TensorProto.FLOAT)
    hidden = add("Mul", add("Sub", seen, constant("one", np.array(1.0))), constant("far", np.array(1e4)))
    split = constant("split", np.array([0, 0, HEADS, SIZE]))
    for i in range(layers):
        q, k, v = (add("Transpose", add("Reshape", add("MatMul", x, constant(f"weights_{n}{i}", rng.standard_normal((width, width))
                                                                             / np.sqrt(width))), split), perm=[0, 2, 1, 3])
                   for n in "qkv")
        old = [add("Squeeze", add("Slice", f"past_{i}", constant(f"b{n}", np.array([n])), constant(f"e{n}", np.array([n + 1])),
                                  constant("first", np.array([0]))), "first") for n in range(2)]
        k, v = add("Concat", old[0], k, axis=2), add("Concat", old[1], v, axis=2)
        nodes.append(helper.make_node("Concat", [add("Unsqueeze", k, "first"), add("Unsqueeze", v, "first")],
                                      [f"present_{i}"], axis=0))
        scores = add("Add", add("MatMul", q, add("Transpose", k, perm=[0, 1, 3, 2])), hidden)
        told = add("Transpose", add("MatMul", add("Softmax", scores), v), perm=[0, 2, 1, 3])
        x = add("Add", x, add("Reshape", told, constant("joined", np.array([0, 0, width]))))
        outputs.append(helper.make_tensor_value_info(f"present_{i}", TensorProto.FLOAT, [2, "batch", HEADS, "total", SIZE]))
    scores = add("Mul", add("MatMul", x, add("Transpose", "words")), "spread")
    nodes.append(helper.make_node("Add", [scores, "pads"], ["logits"]))  # no decoder gives a pad by itself
    ids = [helper.make_tensor_value_info(n, TensorProto.INT32, ["batch", s]) for n, s in
           (("input_ids", "length"), ("position_ids", "length"), ("attention_mask", "total"))]
    pasts = [helper.make_tensor_value_info(f"past_{i}", TensorProto.FLOAT, [2, "batch", HEADS, "past", SIZE])
             for i in range(layers)]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "length", WORDS])
    kept = [numpy_helper.from_array(v.astype("i8" if v.dtype.kind == "i" else "f4"), n) for n, v in fixed.items()]
    return helper.make_graph(nodes, name, ids + pasts, [logits] + outputs, kept)


def perhaps(rng, made, chance=0.5):
    return made if rng.random() < chance else None


def scalar(value, kind="i4"):
    return np.array([value], kind)


def trimmed(inputs):
    while inputs[-1] is None:
        inputs.pop()
    return inputs


def common(rng):
    """A prompt with some pads before it, what is common to all searches, and their attributes."""
    batch, length, pad, end = int(rng.integers(1, 4)), int(rng.integers(1, 6)), 0, 1
    ids = rng.integers(2, WORDS, (batch, length)).astype("i4")
    for row in ids:
        row[:int(rng.integers(0, length))] = pad
    most = length + int(rng.integers(1, 9))
    mask = (rng.random(WORDS) < 0.7).astype("i4")
    first = (rng.random((batch, WORDS)) < 0.7).astype("i4")
    mask[[end, 5]], first[:, 5] = 1, 1
    given = {"eos_token_id": end, "pad_token_id": pad, "model_type": 0,
             "decoder": decoder(rng, int(rng.integers(1, 3)))}
    if rng.random() < 0.3:
        given["no_repeat_ngram_size"] = int(rng.integers(2, 4))
    return ids, most, [perhaps(rng, scalar(int(rng.integers(0, most))), 0.4),
                       perhaps(rng, scalar(float(rng.choice([0.7, 1.3, 2.0])), "f4"), 0.4),
                       perhaps(rng, mask, 0.3), perhaps(rng, first, 0.3),
                       perhaps(rng, (ids != pad).astype("i4"), 0.3)], given


def with_pads(made, length):
    """Behind the step at which all rows have ended, onnxruntime's output has what was in memory."""
    def settle(outputs):
        rows = outputs["out_0"]
        over = [i for i in range(length, rows.shape[1]) if (rows[:, i] == 0).all()]
        if over:
            rows[:, over[0]:] = 0
        return outputs

    made.settle = settle
    return made


def greedy(rng):
    ids, most, (least, penalty, mask, first, attention), given = common(rng)
    return with_pads(d.one_node("GreedySearch", trimmed([ids, scalar(most), least, penalty, mask, first, attention]),
                                opset=1, domain=MS, **given), ids.shape[1])


def beam(rng):
    ids, most, (least, penalty, mask, first, attention), given = common(rng)
    beams = int(rng.integers(1, 5))
    scores = ["scores"] if rng.random() < 0.4 else []
    if scores:  # of searches that end before max_length, onnxruntime leaves the rest as its memory was: none does
        mask = np.ones(WORDS, "i4") if mask is None else mask
        mask[given["eos_token_id"]] = 0
    least = scalar(0) if least is None else least  # onnxruntime refuses a search without it, and one without length_penalty
    # Without early_stopping, onnxruntime asks another batch's scores whether one can still become better.
    early = int(rng.integers(2)) if len(ids) == 1 else 1
    return d.one_node("BeamSearch", trimmed(
        [ids, scalar(most), least, scalar(beams), scalar(int(rng.integers(1, beams + 1))),
         scalar(float(rng.choice([0.5, 1.0, 2.0])), "f4"), penalty, mask, first, attention]),
        ["sequences", "sequences_scores"] + scores, opset=1, domain=MS,
        early_stopping=early, rtol=1e-3, atol=1e-3, **given)


def sampling(rng):
    """With a top_p that leaves one word: numbers of chance are not onnxruntime's. (It leaves filtered_logits out.)"""
    ids, most, (least, penalty, mask, first, attention), given = common(rng)
    made = d.one_node("Sampling", trimmed([ids, scalar(most), least, penalty, mask, first, attention, None,
                                           scalar(int(rng.integers(100)))]), opset=1, domain=MS,
                      temperature=perhaps(rng, 0.7), top_p=1e-6, filter_value=-1e20, min_tokens_to_keep=1,
                      custom=int(rng.integers(2)), **given)
    return with_pads(made, ids.shape[1])


FAMILIES = {"GreedySearch": (greedy, 150), "BeamSearch": (beam, 200), "Sampling": (sampling, 100)}

def wrong_samples(count):
    """Cases of Sampling whose tokens are not onnxruntime's: `cameo conformance` does not compare what chance makes, and
    where one word is left there is none."""
    cases = [d.made_case("Sampling", 2, sampling, i) for i in range(count)]
    found = []
    for each, (who, told) in zip(cases, d.judge(cases)):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            (scratch / "model.onnx").write_bytes(each.model.SerializeToString())
            given = []
            for name, value in each.feeds.items():
                np.save(scratch / f"{name}.npy", value)
                given += ["--input", f"{name}={scratch / name}.npy"]
            ort_judge.cameo("run", scratch / "model.onnx", "--quiet", "--output-dir", scratch / "out", *given)
            got = np.load(scratch / "out" / "out_0.npy")
        if who != "onnxruntime" or not np.array_equal(got, each.settle(told)["out_0"]):
            found.append(f"{each.name}: {d.in_words(each)[:200]}: got {got.tolist()}, {who} {told}"[:600])
    return found


if __name__ == "__main__":
    failed, wrong = d.main(FAMILIES), wrong_samples(100 if "--long" in sys.argv else 12)
    print("\n".join([*wrong, f"Sampling by its tokens: {len(wrong)} differ"]))
    sys.exit(1 if failed or wrong else 0)
