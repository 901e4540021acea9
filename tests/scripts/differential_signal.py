#!/usr/bin/env python3
"""Spectra and windows, conversions between all types, all kinds of constants, and NonZero, against onnxruntime; the
text of floating-point numbers against numpy, whose format it has.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]


def perhaps(rng, made, chance=0.5):
    return made if rng.random() < chance else None


def dft(rng):
    opset, kind = int(rng.choice([17, 20])), str(rng.choice(["f4", "f8"]))
    rank = int(rng.integers(2, 5))
    shape = [int(n) for n in rng.integers(1, 9, rank)]
    inverse, onesided = int(rng.integers(2)), int(rng.integers(2))
    axis = int(rng.integers(0, rank - 1))
    shape[axis] = int(rng.integers(1, 18))
    shape[-1] = 1 if onesided and not inverse else 2 if onesided and inverse else int(rng.integers(1, 3))
    length = perhaps(rng, np.array(int(rng.integers(1, 20)), "i8"), 0.4)
    if inverse and onesided:  # for other lengths onnxruntime and the reference evaluator differ
        shape[axis] += 1
        length = perhaps(rng, np.array(2 * shape[axis] - int(rng.integers(1, 3)), "i8"))
    if rng.random() < 0.4:
        axis -= rank
    x = rng.uniform(-1, 1, shape).astype(kind)
    given = {"inverse": perhaps(rng, inverse, 0.8) if not inverse else 1,
             "onesided": perhaps(rng, onesided, 0.8) if not onesided else 1, "rtol": 1e-3, "atol": 1e-4}
    if opset == 17:
        return d.one_node("DFT", [x] + ([length] if length is not None else []), opset=17, axis=axis,
                          constant=((), (1,))[rng.integers(2)] if length is not None else (), **given)
    with_axis = np.array(axis, "i8")
    return d.one_node("DFT", [x, length, with_axis], opset=20, constant=((), (1, 2), (2,))[rng.integers(3)], **given)


def stft(rng):
    kind, length = str(rng.choice(["f4", "f8"])), int(rng.integers(4, 40))
    frame, step = int(rng.integers(1, length + 1)), int(rng.integers(1, 8))
    shape = [int(rng.integers(1, 4)), length] + ([1] if rng.random() < 0.7 else [2])
    window = perhaps(rng, rng.uniform(0, 1, frame).astype(kind), 0.6)
    said = np.array(frame, "i8") if window is None or rng.random() < 0.5 else None
    return d.one_node("STFT", [rng.uniform(-1, 1, shape).astype(kind), np.array(step, "i8"), window]
                      + ([said] if said is not None else []), opset=17,
                      onesided=perhaps(rng, int(rng.integers(2))), rtol=1e-3, atol=1e-4)


def mel_weight_matrix(rng):
    low = float(rng.uniform(0, 900))
    rate = int(rng.choice([8000, 16000, 22050]))
    high = float(rng.uniform(low + 100, rate / 2))
    return d.one_node("MelWeightMatrix", [np.array(int(rng.integers(1, 12)), "i8"),
                                          np.array(int(2 ** rng.integers(3, 10)), "i8"), np.array(rate, "i8"),
                                          np.array(low, "f4"), np.array(high, "f4")], opset=17, rtol=1e-4, atol=1e-5,
                      output_datatype=int(rng.choice([1, 11])))


def window(op):
    def make(rng):
        return d.one_node(op, [np.array(int(rng.integers(1, 40)), str(rng.choice(["i4", "i8"])))], opset=17,
                          periodic=perhaps(rng, int(rng.integers(2)), 0.8),
                          output_datatype=int(rng.choice([1, 11])) if rng.random() < 0.6 else None, rtol=1e-4, atol=1e-6)
    return make


def some_shape(rng, most=3):
    return [int(n) for n in rng.integers(1, 5, int(rng.integers(0, most + 1)))]


def non_zero(rng):
    kind, shape = str(rng.choice(["f4", "i4", "i8", "u1", "?"])), some_shape(rng, 4)
    x = (rng.integers(-2, 3, shape) * (rng.random(shape) < 0.6)).astype(kind)
    return d.one_node("NonZero", [np.asarray(x)], opset=int(rng.choice([9, 13])))


def odd_numbers(rng, kind, count=24):
    """Numbers of all magnitudes, integral ones, and ones in the middle between two that the type has."""
    x = rng.uniform(-1, 1, count) * 10.0 ** rng.integers(-6, 7, count)
    x[::3] = np.round(x[::3])
    x[1::5] = np.round(x[1::5]) + 0.5
    return x.astype(kind)


def cast(rng):
    kinds = INTEGERS + FLOATS + ["?", "bf", "e4", "e5", "e4u", "e5u"]
    numpy_types = {"bf": ml_dtypes.bfloat16, "e4": ml_dtypes.float8_e4m3fn, "e5": ml_dtypes.float8_e5m2,
                   "e4u": ml_dtypes.float8_e4m3fnuz, "e5u": ml_dtypes.float8_e5m2fnuz}
    from_kind, to_kind = (str(k) for k in rng.choice(kinds, 2))
    to = np.dtype(numpy_types.get(to_kind, to_kind))
    with np.errstate(all="ignore"):
        if from_kind in INTEGERS:
            bits = np.iinfo(from_kind)
            x = rng.integers(bits.min, bits.max, 24, dtype=from_kind, endpoint=True)
            x[::2] = rng.integers(0, 100, 12)
        else:
            x = odd_numbers(rng, "f8")
            if to_kind in INTEGERS:  # ONNX does not define conversions of numbers out of range
                bits = np.iinfo(to_kind)
                x = np.clip(x, max(bits.min, -2.0**30), min(bits.max, 2.0**30)) * (0.9 if bits.bits > 8 else 0.5)
            elif rng.random() < 0.5:
                x[:3] = [np.inf, -np.inf, np.nan]
            x = x.astype(numpy_types.get(from_kind, from_kind))
            if to_kind in INTEGERS + ["?"]:  # overflow; -0.0, true in onnxruntime's float8
                x[~np.isfinite(x) | (x == 0)] = 1
    # The comparison is exact: any other rounding is an error.
    return d.one_node("Cast", [x.reshape(4, 6)], opset=21, to=helper.np_dtype_to_tensor_dtype(to), rtol=0, atol=0,
                      saturate=perhaps(rng, int(rng.integers(2))) if to_kind.startswith("e") else None)


def cast_from_text(rng):
    kind = str(rng.choice(INTEGERS[1:4] + FLOATS))
    x = rng.integers(-99, 99, 6) if kind.startswith("i") else odd_numbers(rng, "f8", 6) % 1000
    forms = ["{}", "{:+}", " {}", "{} "] if kind.startswith("i") else ["{}", "{:.3e}", "{:+.4f}", " {}", "{:E}"]
    texts = [str(rng.choice(forms)).format(v.item()) for v in x]
    if kind.startswith("f"):
        texts[0] = str(rng.choice(["INF", "-inf", "NaN", "+INF", "0", "-0.0"]))
    return d.one_node("Cast", [np.array(texts, object)], opset=21,
                      to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)), rtol=1e-7, atol=0)


def cast_integers_to_text(rng):
    kind = str(rng.choice(INTEGERS))
    bits = np.iinfo(kind)
    return d.one_node("Cast", [rng.integers(bits.min, bits.max, (2, 3), dtype=kind, endpoint=True)], opset=21, to=8)


SAME_WIDTH = [["i1", "u1", ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2], ["i2", "u2", "f2", ml_dtypes.bfloat16],
              ["i4", "u4", "f4"], ["i8", "u8", "f8"]]


def bit_cast(rng):
    pool = SAME_WIDTH[int(rng.integers(len(SAME_WIDTH)))]
    old, new = (np.dtype(pool[int(rng.integers(len(pool)))]) for _ in range(2))
    shape = [int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 6, int(rng.integers(0, 6)))]
    x = np.frombuffer(rng.bytes(int(np.prod(shape)) * old.itemsize), old).reshape(shape)
    return d.one_node("BitCast", [x], opset=26, to=helper.np_dtype_to_tensor_dtype(new), rtol=0, atol=0,
                      oracle=lambda: {"out_0": np.frombuffer(x.tobytes(), new).reshape(shape)})


def sparse_tensor(rng, kind):
    """A sparse tensor in row-major order; its indices are flat or per axis, its elements raw bytes or a list."""
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4)))]
    count = int(np.prod(shape))
    places = np.sort(rng.permutation(count)[:int(rng.integers(0, count + 1))])
    values = rng.integers(1, 100, len(places)).astype(kind)
    flat = rng.random() < 0.5
    indices = places if flat else np.stack(np.unravel_index(places, shape), 1).reshape(len(places), len(shape))

    def tensor(name, array):
        if rng.random() < 0.5:
            return numpy_helper.from_array(array, name)
        return helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape,
                                  array.ravel().tolist())

    return helper.make_sparse_tensor(tensor("v", values), tensor("i", indices.astype(str(rng.choice(["i8", "i8", "i4", "i1"])))), shape)


def constant(rng):
    forms = ["value", "sparse_value", "sparse_value", "value_float", "value_floats", "value_int", "value_ints",
             "value_string", "value_strings"]
    form = str(rng.choice(forms))
    kind = str(rng.choice(["f4", "f8", "i4", "i8", "u1", "i2", "?", "f2"]))
    given = {"value": lambda: numpy_helper.from_array(np.asarray(rng.integers(0, 9, some_shape(rng))).astype(kind)),
             "sparse_value": lambda: sparse_tensor(rng, kind), "value_float": lambda: 1.5,
             "value_floats": lambda: [1.5, -2.0], "value_int": lambda: 7, "value_ints": lambda: [1, 2, 3],
             "value_string": lambda: "text", "value_strings": lambda: ["a", "", "é"]}[form]()
    each = d.one_node("Constant", [], ["constant"], opset=int(rng.choice([13, 19, 21])), **{form: given})
    # An Identity makes the output dense: a sparse output of the graph stays sparse in onnxruntime.
    each.model.graph.node.append(helper.make_node("Identity", ["constant"], ["out_0"]))
    each.model.graph.output[0].name = "out_0"
    if rng.random() < 0.5:  # with inferred types, which are sparse for the constant
        each.model.CopyFrom(onnx.shape_inference.infer_shapes(each.model))
    return each


FAMILIES = {
    "DFT": (dft, 1500), "STFT": (stft, 500), "MelWeightMatrix": (mel_weight_matrix, 150),
    **{op: (window(op), 100) for op in ("HannWindow", "HammingWindow", "BlackmanWindow")},
    "NonZero": (non_zero, 200), "Cast": (cast, 1500), "CastFromText": (cast_from_text, 200),
    "CastIntegersToText": (cast_integers_to_text, 50), "Constant": (constant, 300),
    "BitCast": (bit_cast, 200),
}

ALWAYS = [d.one_node("NonZero", [np.array(v, "f4")], opset=13, name=f"scalar {v}") for v in (0, 3)]

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES, ALWAYS))
