#!/usr/bin/env python3
"""Makes the files that examples/image_classifier, examples/text_embedding and examples/three_inputs read: small
variants of the benchmark models, and the results of ONNX Runtime. The weights are random, so the results are only
useful for comparison.

Usage: make_models.py OUT_DIR      (needs numpy, onnx and onnxruntime)

  image_classifier/model.onnx       resnet8 of bench/models: [1, 32, 32, 3] -> probabilities of 10 classes
  image_classifier/picture.ppm      a picture of 60 by 48 pixels
  image_classifier/expected.npy     the probabilities, float32 [1, 10]
  text_embedding/model.onnx         minilm_l6 of bench/models with a quarter of its width, for the words of vocab.txt
  text_embedding/expected_ids.npy   the tokens of sentences.txt, int64 [sentences, longest]
  text_embedding/expected.npy       the cosines between all pairs of sentences, float32
  text_embedding/expected_hidden.npy  last_hidden_state for the tokens of examples/three_inputs, float32 [2, 6, 96]

Scaling of pictures and tokenization are implemented here independently of the examples, so that each tests the other.
"""
import pathlib
import re
import sys

import numpy as np
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # no __pycache__ in the source tree
sys.path.insert(0, str(HERE.parent / "bench" / "models"))
import make_models as bench  # noqa: E402


def answer(path, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def picture():
    """Returns a picture of a sun over the sea: uint8 [48, 60, 3]."""
    y, x = np.mgrid[0:48, 0:60].astype(np.float64)
    sky = np.stack([90 + 2 * y, 140 + y, np.full_like(x, 220)], axis=-1)
    sea = np.stack([10 + 8 * np.sin(x / 3), 60 + y, 110 + 10 * np.sin(x / 5 + y)], axis=-1)
    image = np.where((y > 30)[..., None], sea, sky)
    image[(x - 40) ** 2 + (y - 14) ** 2 < 60] = (255, 220, 80)
    return np.clip(np.round(image), 0, 255).astype(np.uint8)


def weights_along(size, side):
    """Returns the weights [side, size] of linear interpolation from `size` to `side` pixels, between pixel centers."""
    taken = np.zeros((side, size))
    middles = np.clip((np.arange(side) + 0.5) * size / side - 0.5, 0, size - 1)
    for new, middle in enumerate(middles):
        before = min(int(middle), size - 2)
        taken[new, before], taken[new, before + 1] = before + 1 - middle, middle - before
    return taken


def make_image_classifier(out):
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(bench.tiny_resnet8()[0], out / "model.onnx")
    image = picture()
    height, width, _ = image.shape
    (out / "picture.ppm").write_bytes(b"P6\n# made by examples/make_models.py\n%d %d\n255\n" % (width, height)
                                      + image.tobytes())
    square = image[:, (width - height) // 2:][:, :height].astype(np.float64)
    taken = weights_along(height, 32)
    small = np.einsum("yi,xj,ijc->yxc", taken, taken, square) / 255
    normal = (small - [0.4914, 0.4822, 0.4465]) / [0.2470, 0.2435, 0.2616]
    np.save(out / "expected.npy", answer(out / "model.onnx", {"input": normal[None].astype(np.float32)}))


def pieces(word, vocabulary):
    """Returns the tokens of a word: repeatedly the longest prefix in the vocabulary; one [UNK] if there is none."""
    found, rest = [], word
    while rest:
        known = [rest[:n] for n in range(len(rest), 0, -1) if ("##" if found else "") + rest[:n] in vocabulary]
        if not known:
            return [vocabulary["[UNK]"]]
        found.append(vocabulary[("##" if found else "") + known[0]])
        rest = rest[len(known[0]):]
    return found


def make_text_embedding(out):
    out.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: i for i, word in enumerate((HERE / "text_embedding/vocab.txt").read_text().split())}
    onnx.save(bench.bert(layers=6, d=96, heads=12, ffn=384, vocab=len(vocabulary))[0], out / "model.onnx")
    sentences = (HERE / "text_embedding/sentences.txt").read_text().splitlines()
    tokens = [[vocabulary["[CLS]"], *(p for word in re.findall(r"[a-z0-9]+|[^a-z0-9\s]", line.lower())
                                      for p in pieces(word, vocabulary)), vocabulary["[SEP]"]] for line in sentences]
    longest = max(map(len, tokens))
    ids = np.array([row + [vocabulary["[PAD]"]] * (longest - len(row)) for row in tokens], np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in tokens], np.int64)
    hidden = answer(out / "model.onnx",
                    {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})
    means = np.stack([hidden[i, :len(row)].mean(axis=0) for i, row in enumerate(tokens)])
    units = means / np.linalg.norm(means, axis=1, keepdims=True)
    np.save(out / "expected_ids.npy", ids)
    np.save(out / "expected.npy", (units @ units.T).astype(np.float32))
    ids = np.array([[2, 5, 9, 14, 7, 3], [2, 8, 11, 3, 0, 0]], np.int64)  # as in examples/three_inputs
    mask = (np.arange(6) < np.array([[6], [4]])).astype(np.int64)
    np.save(out / "expected_hidden.npy",
            answer(out / "model.onnx", {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    make_image_classifier(out / "image_classifier")
    make_text_embedding(out / "text_embedding")


if __name__ == "__main__":
    main()
