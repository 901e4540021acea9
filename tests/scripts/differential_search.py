#!/usr/bin/env python3
"""The token searches of com.microsoft (GreedySearch, Sampling, BeamSearch, WhisperBeamSearch) against onnxruntime, with
small models of random weights: decoders like GPT-2's, and encoders with decoders like T5's and Whisper's.

For the options of the long campaign see tests/program/differential.py.
"""
import argparse
import pathlib
import sys
import tempfile
import zlib

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402
import ort_judge  # noqa: E402
from search_models import HEADS, MELS, WORDS, decoder, form, pair  # noqa: E402

MS = "com.microsoft"


def perhaps(rng, made, chance=0.5):
    return made if rng.random() < chance else None


def scalar(value, kind="i4"):
    return np.array([value], kind)


def trimmed(inputs):
    while inputs[-1] is None:
        inputs.pop()
    return inputs


def changes(rng, ids, length, batch, words, end, least=1):
    """The inputs that all searches have: their longest length, for sequences that begin with `length` tokens, and the
    inputs that change scores. `ids` are the tokens that the attention mask covers, or None."""
    most = length + int(rng.integers(least, least + 8))
    mask, first = ((rng.random(shape) < 0.7).astype("i4") for shape in (words, (batch, words)))
    mask[[end, 5]], first[:, 5] = 1, 1
    return most, [perhaps(rng, scalar(int(rng.integers(0, most))), 0.4),
                  perhaps(rng, scalar(float(rng.choice([0.7, 1.3, 2.0])), "f4"), 0.4),
                  perhaps(rng, mask, 0.3), perhaps(rng, first, 0.3),
                  perhaps(rng, (ids != 0).astype("i4"), 0.3) if ids is not None else None]


def prompt(rng):
    """Tokens, with padding before them in some rows."""
    batch, length = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    ids = rng.integers(2, WORDS, (batch, length)).astype("i4")
    for row in ids:
        row[:int(rng.integers(0, length))] = 0
    return ids


def ngrams(rng):
    return {"no_repeat_ngram_size": int(rng.integers(2, 4))} if rng.random() < 0.3 else {}


def common(rng):
    """A prompt with padding before it, the inputs that all searches have, and their attributes."""
    ids = prompt(rng)
    most, changed = changes(rng, ids, ids.shape[1], len(ids), WORDS, 1)
    if changed[-1] is not None and rng.random() < 0.5:  # a mask that hides more than the padding
        changed[-1] = (rng.random(ids.shape) < 0.6).astype("i4")
        changed[-1][:, -1] = 1
    return ids, most, changed, {"eos_token_id": 1, "pad_token_id": 0, "model_type": 0,
                                "decoder": decoder(rng, int(rng.integers(1, 3)))} | ngrams(rng)


def encoded(rng):
    """A prompt, inputs and attributes as in `common`, for a model with an encoder, and its form."""
    ids, starts = prompt(rng), rng.random() < 0.6
    if ids.shape[1] > 3:
        ids[0, -1] = 0  # a pad behind tokens counts as a token
    f = form(starts=starts, hidden=starts and rng.random() < 0.5, source=rng.random() < 0.3, whole=rng.random() < 0.3,
             layers=int(rng.integers(1, 3)))
    # If the encoder makes the only step, onnxruntime runs the decoder nevertheless, on tokens of uninitialized memory.
    most, changed = changes(rng, ids, 1, len(ids), WORDS, 1, 2 if starts else 1)
    return ids, most, changed, {"eos_token_id": 1, "pad_token_id": 0, "model_type": 1,
                                "decoder_start_token_id": int(rng.integers(2, WORDS))} | pair(rng, f) | ngrams(rng)


# The vocabulary of Whisper's models here: text, the end of text, tokens of tasks, and timestamps.
TIMED, TEXT_END, FIRST_TIME = 80, 8, 15
SPECIAL = {"decoder_start_token_id": 9, "translate_token_id": 10, "transcribe_token_id": 11, "start_of_lm_token_id": 12,
           "no_speech_token_id": 13, "no_timestamps_token_id": 14, "beginning_timestamp_token_id": FIRST_TIME}


def features(rng, batch):
    return rng.standard_normal((batch, MELS, int(rng.integers(1, 7)))).astype("f4")


def with_pads(made, length):
    """Replaces what follows the step at which all rows have ended: onnxruntime leaves uninitialized memory there."""
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


def beam_search(rng, op, ids, most, changed, given, more=()):
    """A beam search with the inputs that all beam searches have. onnxruntime requires min_length and length_penalty."""
    least, penalty, mask, first, attention = changed
    words, beams = TIMED if op == "WhisperBeamSearch" else WORDS, int(rng.integers(1, 5))
    scores = ["scores"] if rng.random() < 0.4 else []
    if scores:  # onnxruntime leaves scores uninitialized after an early end, so no search may end early
        mask = np.ones(words, "i4") if mask is None else mask
        mask[given["eos_token_id"]] = 0
    least = scalar(0) if least is None else least
    # Without early_stopping, onnxruntime reads the scores of a wrong batch to decide whether a beam can still improve.
    early = int(rng.integers(2)) if len(ids) == 1 else 1
    return d.one_node(op, trimmed(
        [ids, scalar(most), least, scalar(beams), scalar(int(rng.integers(1, beams + 1))),
         scalar(float(rng.choice([0.5, 1.0, 2.0])), "f4"), penalty, mask, first, attention, *more]),
        ["sequences", "sequences_scores"] + scores, opset=1, domain=MS,
        early_stopping=early, rtol=1e-3, atol=1e-3, **given)


def beam(rng):
    return beam_search(rng, "BeamSearch", *common(rng))


def encoded_beam(rng):
    return beam_search(rng, "BeamSearch", *encoded(rng))


def whisper(rng):
    """BeamSearch also runs Whisper's models, without timestamps and temperature."""
    op, batch = "WhisperBeamSearch" if rng.random() < 0.8 else "BeamSearch", int(rng.integers(1, 4))
    words, end = (TIMED, TEXT_END) if op == "WhisperBeamSearch" else (WORDS, 1)
    ids = perhaps(rng, rng.integers(2, words, (batch, int(rng.integers(1, 5)))).astype("i4"), 0.7)
    timed = op == "WhisperBeamSearch" and rng.random() < 0.6
    if ids is not None and rng.random() < 0.5:
        ids[:] = ids % TEXT_END  # tokens of text only
    f = form(whisper=True, hidden=rng.random() < 0.5, layers=int(rng.integers(1, 3)), words=words)
    # If the encoder makes the only step, onnxruntime fails.
    most, changed = changes(rng, None, ids.shape[1] if ids is not None else 1, batch, words, end, 2)
    more = [ids, scalar(int(timed))] if timed or ids is not None else []
    if op == "WhisperBeamSearch":
        more = [ids, scalar(int(timed)), None, None, perhaps(rng, scalar(float(rng.choice([0.5, 0.8, 2.0, 0.0])), "f4"))]
    given = {"eos_token_id": end, "pad_token_id": 0, "model_type": 2} | ngrams(rng) | pair(rng, f)
    given |= SPECIAL if op == "WhisperBeamSearch" else {"decoder_start_token_id": 9}
    return beam_search(rng, op, features(rng, batch), most, changed, given, more)


def sampling(rng):
    """Sampling with a top_p that leaves one word, as random numbers differ. onnxruntime does not write
    filtered_logits."""
    ids, most, (least, penalty, mask, first, attention), given = common(rng)
    made = d.one_node("Sampling", trimmed([ids, scalar(most), least, penalty, mask, first, attention, None,
                                           scalar(int(rng.integers(100)))]), opset=1, domain=MS,
                      temperature=perhaps(rng, 0.7), top_p=1e-6, filter_value=-1e20, min_tokens_to_keep=1,
                      custom=int(rng.integers(2)), **given)
    return with_pads(made, ids.shape[1])


FAMILIES = {"GreedySearch": (greedy, 150), "BeamSearch": (beam, 200), "Sampling": (sampling, 100),
            "EncodedBeamSearch": (encoded_beam, 200), "WhisperBeamSearch": (whisper, 250)}


def onnxruntime_outputs(model, feeds):
    session = ort_judge.ort.InferenceSession(model.SerializeToString(), ort_judge.ort_options(),
                                             providers=["CPUExecutionProvider"])
    outputs = [o.name for o in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, feeds)))


def cameo_outputs(each):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "model.onnx").write_bytes(each.model.SerializeToString())
        given = []
        for name, value in each.feeds.items():
            np.save(scratch / f"{name}.npy", value)
            given += ["--input", f"{name}={scratch / name}.npy"]
        ort_judge.cameo("run", scratch / "model.onnx", "--quiet", "--output-dir", scratch / "out", *given)
        return {o.name: np.load(scratch / "out" / f"{o.name}.npy") for o in each.model.graph.output}


def wrong_samples(rng):
    """Compares the tokens of Sampling here: `cameo conformance` does not compare random outputs, although nothing is
    random if only one word is left."""
    each = sampling(rng)
    told = each.settle(onnxruntime_outputs(each.model, each.feeds))
    return told["out_0"], cameo_outputs(each)["out_0"]


def wrong_greedy(rng):
    """onnxruntime has GreedySearch only without an encoder; a beam search with one beam that ends early has its
    tokens."""
    ids, most, (least, _, mask, first, attention), given = encoded(rng)
    given.pop("no_repeat_ngram_size", None)
    least = scalar(0) if least is None else least
    beams = d.one_node("BeamSearch", trimmed([ids, scalar(most), least, scalar(1), scalar(1), scalar(1.0, "f4"), None, mask, first,
                                              attention]), opset=1, domain=MS, early_stopping=1, **given)
    each = d.one_node("GreedySearch", trimmed([ids, scalar(most), least, None, mask, first, attention]), opset=1, domain=MS,
                      **given)
    return onnxruntime_outputs(beams.model, beams.feeds)["out_0"][:, 0], cameo_outputs(each)["out_0"]


def whisper_search(f, graphs, x, ids, most, beams, wanted, outputs, more=(), **given):
    """A Whisper search without the inputs that change scores."""
    mask = np.ones(f.words, "i4")
    if "scores" in outputs:
        mask[TEXT_END] = 0
    return d.one_node("WhisperBeamSearch", trimmed([x, scalar(most), scalar(0), scalar(beams), scalar(wanted), scalar(1.0, "f4"),
                                                    None, mask, None, None, ids, None, *more]), outputs, opset=1, domain=MS,
                      eos_token_id=TEXT_END, pad_token_id=0, early_stopping=1, **SPECIAL, **graphs, **given)


def wrong_extra(rng):
    """onnxruntime's processor ignores extra_decoding_ids and does not write non_speech_probs. The extra ids are
    appended to the prompt; non_speech_probs are probabilities at its first step."""
    batch, f = int(rng.integers(1, 3)), form(whisper=True, words=TIMED)
    x, graphs = features(rng, batch), pair(rng, f)
    ids, extra = (rng.integers(1, TEXT_END, (batch, int(rng.integers(1, 4)))).astype("i4") for _ in range(2))
    most, beams = ids.shape[1] + extra.shape[1] + int(rng.integers(2, 6)), int(rng.integers(1, 4))
    names, token = ["sequences", "sequences_scores"], SPECIAL["no_speech_token_id"]
    whole = whisper_search(f, graphs, x, np.concatenate([ids, extra], 1), most, beams, beams, names)
    scored = whisper_search(f, graphs, x, ids, most, beams, beams, names + ["scores"])
    each = whisper_search(f, graphs, x, ids, most, beams, beams, names + ["", "", "non_speech_probs"], [None, extra])
    told, got = onnxruntime_outputs(whole.model, whole.feeds), cameo_outputs(each)
    likely = np.exp(onnxruntime_outputs(scored.model, scored.feeds)["scores"][0, :, 0, token])
    return [told["sequences"], told["sequences_scores"], likely], [got["sequences"], got["sequences_scores"],
                                                                   got["non_speech_probs"]]


def wrong_cross(rng):
    """onnxruntime's processor has no cross_qk. The reference runs its encoder and decoder on the resulting
    sequences."""
    batch, f = int(rng.integers(1, 3)), form(whisper=True, words=TIMED, layers=2, shows_scores=True)
    x, graphs, ids = features(rng, batch), pair(rng, f), rng.integers(1, TEXT_END, (batch, int(rng.integers(1, 4)))).astype("i4")
    most, beams = ids.shape[1] + int(rng.integers(1, 7)), int(rng.integers(1, 4))
    wanted, pairs = int(rng.integers(1, beams + 1)), perhaps(rng, rng.integers(0, [2, HEADS], (3, 2)).astype("i4"))
    each = whisper_search(f, graphs, x, ids, most, beams, wanted, ["sequences", "", "", "cross_qk"], [pairs],
                          decoder_output_cross_qk=1)
    got = cameo_outputs(each)
    models = {n: helper.make_model(g, opset_imports=[helper.make_opsetid("", 21)], ir_version=10) for n, g in graphs.items()}
    started = onnxruntime_outputs(models["encoder"], {"encoder_input_ids": x, "decoder_input_ids": ids})
    want = np.zeros_like(got["cross_qk"])
    for b in range(batch):
        for i, tokens in enumerate(got["sequences"][b]):
            pasts = {n.replace("present", "past"): v[b:b + 1] for n, v in started.items() if n.startswith("present")}
            length = np.flatnonzero(tokens)[-1] + 1 if tokens.any() else 0  # a decoder never chooses the pad
            for call in range(min(length - ids.shape[1], want.shape[3])):
                at = ids.shape[1] + call
                told = onnxruntime_outputs(models["decoder"], {"input_ids": tokens[None, at:at + 1], **pasts,
                                                          "encoder_hidden_states": started["encoder_hidden_states"][b:b + 1]})
                pasts |= {n.replace("present", "past"): v for n, v in told.items() if n.startswith("present")}
                all_ = np.stack([told[f"cross_qk_{n}"][0, :, -1] for n in range(2)])
                want[b, i, :, call] = all_.reshape(-1, all_.shape[2]) if pairs is None else all_[pairs[:, 0], pairs[:, 1]]
    return want, got["cross_qk"]


# Searches for which onnxruntime has no comparable answer, or whose outputs are random: pairs of the expected output and
# cameo's output.
OTHERS = {"Sampling by its tokens": (wrong_samples, 100), "GreedySearch with an encoder": (wrong_greedy, 60),
          "extra_decoding_ids and non_speech_probs": (wrong_extra, 60), "cross_qk": (wrong_cross, 40)}


def others(seed, whole):
    wrong = 0
    for name, (make, count) in OTHERS.items():
        differ = 0
        for i in range(0, count, 1 if whole else count // 10):
            want, got = make(np.random.default_rng([seed, zlib.crc32(name.encode()), i]))
            if not ort_judge.same(got, want, 1e-3, 1e-3):
                differ += 1
                print(f"{name}.{i}: got {got}, must be {want}"[:900])
        print(f"{name}: {differ} differ (seed {seed})")
        wrong += differ
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", action="store_true")
    o, _ = parser.parse_known_args()
    failed, wrong = d.main(FAMILIES), others(o.seed, o.long)
    sys.exit(1 if failed or wrong else 0)
