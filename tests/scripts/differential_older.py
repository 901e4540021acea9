#!/usr/bin/env python3
"""Experimental operators that ONNX removed in opset 10, against onnxruntime, and arithmetic before opset 7, with an
axis in place of numpy's broadcasting, against numpy.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("program", "scripts")]
import differential as d  # noqa: E402
from differential_standard import INTEGERS, axes_of, near, perhaps, pick, shape_of, some  # noqa: E402


def number(rng, low=0.2, high=2.0):
    return float(np.float32(rng.uniform(low, high)))


def elementwise(rng):
    op = pick(rng, "Affine", "ParametricSoftplus", "Scale", "ScaledTanh", "ThresholdedRelu")
    names = {"Scale": ["scale"], "ThresholdedRelu": ["alpha"]}.get(op, ["alpha", "beta"])
    given = {name: number(rng) for name in names}
    if op in ("Affine", "Scale", "ThresholdedRelu"):  # attributes of the others have no default in onnxruntime
        given = {name: perhaps(rng, value) for name, value in given.items()}
    return d.one_node(op, [some(rng, shape_of(rng), "f4")], opset=pick(rng, 1, 6, 9), shapes=rng.random() < 0.5, rtol=1e-4,
                      atol=1e-5, **given)


def crop(rng):
    n, c, h, w = (int(v) for v in rng.integers(1, 9, 4))
    left, top = int(rng.integers(0, w)), int(rng.integers(0, h))
    right, bottom = int(rng.integers(0, w - left)), int(rng.integers(0, h - top))
    scale = perhaps(rng, [int(rng.integers(1, h - top + 1)), int(rng.integers(1, w - left + 1))])
    return d.one_node("Crop", [some(rng, (n, c, h, w), "f4")], opset=pick(rng, 1, 6, 9), border=[left, top, right, bottom],
                      scale=scale)


def image_scaler(rng):
    n, c, h, w = (int(v) for v in rng.integers(1, 6, 4))
    return d.one_node("ImageScaler", [some(rng, (n, c, h, w), "f4")], opset=pick(rng, 1, 6, 9),
                      scale=perhaps(rng, number(rng)), bias=[number(rng, -2) for _ in range(c)], rtol=1e-5, atol=1e-5)


def dynamic_slice(rng):
    shape = shape_of(rng, 1)
    axes = sorted({a % len(shape) for a in axes_of(rng, len(shape), 1)})
    if rng.random() < 0.4:
        axes = list(range(len(axes)))
    starts, ends = (rng.integers(-6, 7, len(axes)) for _ in range(2))
    kind = pick(rng, "i4", "i8")
    inputs = [starts.astype(kind), ends.astype(kind)]
    if axes != list(range(len(axes))) or rng.random() < 0.5:
        inputs.append(np.array(axes, kind))
    return d.one_node("DynamicSlice", [some(rng, shape, pick(rng, "f4", "f8", "i8", "i4", "O", "?", *INTEGERS)), *inputs],
                      opset=pick(rng, 1, 6, 9))


BY_NUMPY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power,
            "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor, "Equal": np.equal, "Greater": np.greater,
            "Less": np.less}


def arithmetic_with_axis(rng):
    """The axes of B correspond to those of A from `axis` on, or to the last ones."""
    op = pick(rng, *BY_NUMPY)
    kind = pick(rng, "f4", "f8") if op in ("Pow", "Greater", "Less") else pick(rng, "i4", "i8") if op == "Equal" else \
        "?" if op in ("And", "Or", "Xor") else pick(rng, "f4", "f8", "f4", "i4", "i8")
    opset = 6 if op in ("Add", "Sub", "Mul", "Div") else 1
    shape = shape_of(rng, 0, 5, (1, 4))
    first = int(rng.integers(0, len(shape) + 1))
    last = int(rng.integers(first, len(shape) + 1))
    part, said = shape[first:last], first
    if last == len(shape) and rng.random() < 0.5:
        said = None
    a, b = some(rng, shape, kind), some(rng, part, kind)
    if op == "Div":
        b = np.where(b == 0, np.ones((), b.dtype), b).astype(b.dtype)
    if op == "Pow":
        a, b = np.abs(a) + np.ones((), kind), np.asarray(rng.integers(-2, 4, tuple(part))).astype(kind)

    def oracle():
        wide = b.reshape(list(part) + [1] * (len(shape) - last))
        y = np.trunc(a / wide.astype("f8")) if op == "Div" and kind[0] == "i" else BY_NUMPY[op](a, wide)
        return {"out_0": np.asarray(y).astype("?" if op in ("And", "Or", "Xor", "Equal", "Greater", "Less") else kind)}

    return d.one_node(op, [a, b], opset=opset, broadcast=1, axis=said, oracle=oracle, **near(kind))


FAMILIES = {
    "TakenBack": (elementwise, 300), "Crop": (crop, 100), "ImageScaler": (image_scaler, 100),
    "DynamicSlice": (dynamic_slice, 200), "ByAxis": (arithmetic_with_axis, 300),
}

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES))
