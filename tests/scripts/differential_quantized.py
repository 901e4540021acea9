#!/usr/bin/env python3
"""The matrix products of com.microsoft with dynamic quantization, and its QuantizeLinear and DequantizeLinear, against
PyPI's onnxruntime. For the options see tests/program/differential.py.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
import numpy as np  # noqa: E402
from differential import main, one_node  # noqa: E402
from image_operators import (F4, MICROSOFT, at_random, codes, matrices, maybe, numbers, pick, scale, sizes,  # noqa: E402
                             trimmed, weights, zero_point)


def per_column(rng, b):
    return pick(rng, [], b.shape[-1:])


def bias(rng, b):
    return maybe(rng, numbers(rng, b.shape[-1:]))


def to_float(rng):
    a, b = matrices(rng)
    b_scale = scale(rng, per_column(rng, b))
    # With scales per column and a stack of matrices, onnxruntime multiplies the bias by the scales, too.
    added = bias(rng, b) if b.ndim == 2 or b_scale.ndim == 0 else None
    inputs = [a, b, scale(rng), b_scale, maybe(rng, zero_point(rng, a.dtype)),
              maybe(rng, zero_point(rng, b.dtype, per_column(rng, b))), added]
    return one_node("MatMulIntegerToFloat", trimmed(inputs), constant=at_random(rng, 1, 3, 5, 6), rtol=1e-5, atol=1e-4,
                    shapes=rng.random() < 0.5, **MICROSOFT)


def dynamic(rng):
    a = codes(rng, sizes(rng, int(rng.integers(2, 4)), 1, 12))
    b = weights(rng, [a.shape[-1], int(rng.integers(1, 40))], a.astype(np.uint8))
    x = numbers(rng, a.shape, F4, pick(rng, 0.01, 1, 100))
    inputs = [pick(rng, x, np.abs(x), np.zeros_like(x)), b, scale(rng, per_column(rng, b)),
              maybe(rng, zero_point(rng, b.dtype, per_column(rng, b))), bias(rng, b)]
    return one_node("DynamicQuantizeMatMul", trimmed(inputs), constant=at_random(rng, 1, 2, 3, 4), rtol=1e-5,
                    atol=1e-3, shapes=rng.random() < 0.5, **MICROSOFT)


def shorts(rng):
    k = int(rng.integers(1, 12))
    a = numbers(rng, sizes(rng, int(rng.integers(1, 3)), 1, 5) + [k], np.int16)
    return one_node("MatMulInteger16", [a, numbers(rng, [k, int(rng.integers(1, 40))], np.int16)], **MICROSOFT)


def quantize(rng):
    x = numbers(rng, sizes(rng, int(rng.integers(1, 4)), 1, 40), F4, pick(rng, 0.1, 1, 10))
    axis = int(rng.integers(x.ndim))
    shape = pick(rng, [], [x.shape[axis]])
    inputs = [x, scale(rng, shape, 0.05, 1), zero_point(rng, pick(rng, np.uint8, np.int8, np.uint16, np.int16), shape)]
    return one_node("QuantizeLinear", inputs, axis=axis if shape else None, constant=at_random(rng, 1, 2), **MICROSOFT)


def dequantize(rng):
    dtype = pick(rng, np.uint8, np.int8, np.int32, np.uint16, np.int16)
    x = numbers(rng, sizes(rng, int(rng.integers(1, 4)), 1, 40), dtype)
    axis = int(rng.integers(x.ndim))
    shape = pick(rng, [], [x.shape[axis]])
    inputs = [x, scale(rng, shape)] + ([] if dtype is np.int32 else [zero_point(rng, dtype, shape)])
    return one_node("DequantizeLinear", inputs, axis=axis if shape else None, constant=at_random(rng, 1, 2), rtol=1e-5,
                    atol=1e-7, **MICROSOFT)


FAMILIES = {"MatMulIntegerToFloat": (to_float, 300), "DynamicQuantizeMatMul": (dynamic, 300),
            "MatMulInteger16": (shorts, 100), "QuantizeMicrosoft": (quantize, 200),
            "DequantizeMicrosoft": (dequantize, 200)}

if __name__ == "__main__":
    sys.exit(main(FAMILIES))
