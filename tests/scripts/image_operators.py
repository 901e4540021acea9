#!/usr/bin/env python3
"""Random nodes of the operators for images and quantized values against onnxruntime: sampling, resizing, convolutions,
pools, activations, and the QLinear operators. For the options see tests/program/differential.py.
"""
import os
import pathlib
import sys

import ml_dtypes
import numpy as np

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
from differential import main, one_node  # noqa: E402

F4, F8, F2, BF2 = np.float32, np.float64, np.float16, ml_dtypes.bfloat16
MICROSOFT = {"domain": "com.microsoft", "opset": 1}


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def maybe(rng, value, chance=0.5):
    """The value, or None, which leaves the attribute or input out."""
    return value if rng.random() < chance else None


def sizes(rng, rank, least=1, most=7):
    return [int(n) for n in rng.integers(least, most + 1, rank)]


def numbers(rng, shape, dtype=F4, scale=1.0):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = max(info.min, -1000), min(info.max, 1000)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    return np.asarray(rng.standard_normal(shape) * scale).astype(dtype)


def trimmed(inputs):
    while inputs[-1] is None:
        inputs = inputs[:-1]
    return inputs


def at_random(rng, *positions):
    """A random selection of these inputs as initializers."""
    return tuple(p for p in positions if rng.random() < 0.5)


# Sampling

def grid_sample(rng):
    axes = pick(rng, 2, 2, 3)
    opset = pick(rng, 16, 20, 22) if axes == 2 else pick(rng, 20, 22)
    mode = pick(rng, "nearest", "linear", "cubic") if axes == 2 else pick(rng, "nearest", "linear")
    corners = int(rng.integers(2))
    x = numbers(rng, sizes(rng, 2, 1, 3) + sizes(rng, axes, 2 if corners else 1, 6))
    grid = rng.uniform(-1, 1, [x.shape[0]] + sizes(rng, axes, 1, 6) + [axes]) * pick(rng, 1, 1.3, 4, 40)
    if rng.random() < 0.4:  # borders, and positions in the middle of two elements
        grid = np.round(grid * 4) / 4
    if rng.random() < 0.2:
        grid = np.where(rng.random(grid.shape) < 0.1, pick(rng, 1e4, -1e5, 3e6), grid)
    names = {"linear": "bilinear", "cubic": "bicubic"} if opset == 16 else {}
    dtype = F4 if opset == 16 else pick(rng, F4, F8)
    return one_node("GridSample", [x.astype(dtype), grid.astype(dtype)], opset=opset, mode=names.get(mode, mode),
                    padding_mode=pick(rng, "zeros", "border", "reflection"), align_corners=corners,
                    shapes=rng.random() < 0.5, rtol=1e-3, atol=1e-4)


def affine_grid(rng):
    axes = pick(rng, 2, 3)
    batch = int(rng.integers(1, 4))
    dtype = pick(rng, F4, F4, F8)
    size = np.array([batch, int(rng.integers(1, 4))] + sizes(rng, axes, 1, 6), np.int64)
    return one_node("AffineGrid", [numbers(rng, [batch, axes, axes + 1], dtype), size], opset=20,
                    align_corners=maybe(rng, int(rng.integers(2))), shapes=rng.random() < 0.5,
                    constant=at_random(rng, 1), rtol=1e-4, atol=1e-5)


# Resizing

def scale_of(rng):
    return float(pick(rng, F4(rng.uniform(0.2, 3.5)), F4(int(rng.integers(1, 40)) / 10), 2.0, 0.5, 3.0, 1.0))


def layout_of(rng, mode, antialias=False):
    """Rank and resized axes, in a combination that onnxruntime supports."""
    if mode == "nearest":
        rank = int(rng.integers(1, 6))
        return rank, [i for i in range(rank) if rng.random() < 0.7]
    forms = [(2, [0, 1]), (4, [2, 3]), (4, [2, 3])]
    if mode == "linear":
        forms += [(4, [1, 2]), (3, [0, 1, 2]), (5, [2, 3, 4])]
    elif antialias:
        forms += [(4, [1, 2])]
    return pick(rng, *forms)


def resize(rng):
    mode = pick(rng, "nearest", "linear", "cubic", "linear")
    opset = pick(rng, 10, 11, 13, 18, 19, 19)
    if opset == 10 and mode == "cubic":
        opset = 11
    antialias = opset >= 18 and mode != "nearest" and rng.random() < 0.4
    rank, axes = layout_of(rng, mode, antialias)
    dtype = pick(rng, F4, F4, np.int32, np.int8, np.uint8, np.uint8)
    if mode == "cubic" and not antialias:
        dtype = F4
    x = numbers(rng, sizes(rng, rank, 1, 9 if rank < 5 else 5), dtype, scale=10)
    scales = np.ones(rank, F4)
    scales[axes] = [scale_of(rng) for _ in axes]
    keys = {"mode": mode}
    if opset == 10:
        return one_node("Resize", [x, scales], opset=10, constant=at_random(rng, 1), shapes=rng.random() < 0.5,
                        rtol=None if dtype != F4 else 1e-3, atol=None if dtype != F4 else 1e-4, **keys)
    spaces = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
    if opset == 11:
        spaces.append("tf_half_pixel_for_nn")
    if opset >= 19 and mode != "nearest":  # which is decided by the last bit of a coordinate
        spaces.append("half_pixel_symmetric")
    if antialias and axes == [1, 2]:  # onnxruntime fills positions outside as if channels were the first axis
        spaces.remove("tf_crop_and_resize")
    space = pick(rng, *spaces)
    keys.update(coordinate_transformation_mode=space, antialias=int(antialias) if opset >= 18 else None)
    if mode == "nearest":
        keys["nearest_mode"] = pick(rng, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        keys["cubic_coeff_a"] = maybe(rng, float(rng.uniform(-1, -0.3)))
    if mode == "cubic" or antialias:
        keys["exclude_outside"] = maybe(rng, 1)
    roi = None
    if space == "tf_crop_and_resize":
        keys["extrapolation_value"] = maybe(rng, float(rng.integers(0, 100)))
        roi = np.concatenate([rng.uniform(-0.2, 0.5, rank), rng.uniform(0.5, 1.2, rank)]).astype(F4)
        still = [i for i in range(rank) if scales[i] == 1]
        roi[still], roi[[rank + i for i in still]] = 0, 1
    named = list(range(rank))
    if opset >= 18 and axes and rng.random() < 0.5:
        named = [int(a) for a in rng.permutation(axes)]
        keys["axes"] = named
    amounts = [scales[named], None]
    # With align_corners and a length that is not integral, onnxruntime differs from ONNX's cases.
    if space == "align_corners" or rng.random() < 0.5:
        amounts = [None, np.array([max(1, int(x.shape[i] * scales[i])) for i in named], np.int64)]
        if opset >= 18:
            keys["keep_aspect_ratio_policy"] = maybe(rng, pick(rng, "stretch", "not_larger", "not_smaller"))
    if roi is not None:
        roi = np.concatenate([roi[named], roi[[rank + i for i in named]]])
    if opset == 11:  # in which no input is optional
        roi = np.zeros(0, F4) if roi is None else roi
        amounts[0] = np.zeros(0, F4) if amounts[0] is None else amounts[0]
    return one_node("Resize", trimmed([x, roi, *amounts]), opset=opset, constant=at_random(rng, 1, 2) + (3,),
                    shapes=rng.random() < 0.5, rtol=1e-3 if dtype == F4 else None,
                    atol=1e-3 if dtype == F4 else None, **keys)


def upsample(rng):
    mode = pick(rng, "nearest", "linear")
    rank, axes = layout_of(rng, mode)
    scales = np.ones(rank, F4)
    scales[axes] = [max(1.0, scale_of(rng)) for _ in axes]
    x = numbers(rng, sizes(rng, rank, 1, 6), pick(rng, F4, np.int32, np.int8, np.uint8), 10)
    if rng.random() < 0.5:
        return one_node("Upsample", [x], opset=7, mode=mode, scales=[float(s) for s in scales])
    return one_node("Upsample", [x, scales], opset=9, mode=mode, constant=at_random(rng, 1),
                    shapes=rng.random() < 0.5)


# Windows

def window_keys(rng, axes, kernel):
    keys = {"strides": maybe(rng, sizes(rng, axes, 1, 3)), "dilations": maybe(rng, sizes(rng, axes, 1, 3), 0.3)}
    how = pick(rng, "given", "given", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    if how == "given":
        keys["pads"] = maybe(rng, [int(rng.integers(0, k)) for k in kernel * 2])
    else:
        keys["auto_pad"] = how
    if how.startswith("SAME"):  # not dilated in onnxruntime, whose kernels disagree on larger strides
        keys["dilations"] = None
        keys["strides"] = keys["strides"] and [min(s, k + 1) for s, k in zip(keys["strides"], kernel)]
    return keys


def windows(shape, kernel, keys):
    """The sizes of a pool's output, and for each output position in order the slices of the input, by ONNX's
    equations."""
    axes = []
    for i, (n, k) in enumerate(zip(shape, kernel)):
        stride, dilation = (keys[name][i] if keys.get(name) else 1 for name in ("strides", "dilations"))
        span = (k - 1) * dilation + 1
        before, after = (keys["pads"][i], keys["pads"][i + len(kernel)]) if keys.get("pads") else (0, 0)
        auto = keys.get("auto_pad") or ""
        if auto.startswith("SAME"):
            total = max(((n - 1) // stride) * stride + span - n, 0)
            before, after = (total // 2, total - total // 2)[::1 if auto == "SAME_UPPER" else -1]
        room = n + before + after - span
        count = -(-room // stride) + 1 if keys.get("ceil_mode") else room // stride + 1
        count -= (count - 1) * stride >= n + before
        starts = [o * stride - before for o in range(count)]
        axes.append([slice(start + -(-max(-start, 0) // dilation) * dilation, max(min(start + span, n), 0), dilation)
                     for start in starts])
    to = [len(each) for each in axes]
    return to, [tuple(a[j] for a, j in zip(axes, at)) for at in np.ndindex(*to)]


def pooled(x, kernel, keys, f):
    """f(elements of the window, as [n, channels, elements]) at each output position."""
    to, places = windows(x.shape[2:], kernel, keys)
    made = [f(x[(slice(None), slice(None), *where)].reshape(*x.shape[:2], -1)) for where in places]
    return np.stack(made, -1).reshape(*x.shape[:2], *to)


def conv(rng):
    axes = pick(rng, 1, 2, 2, 3)
    groups = pick(rng, 1, 1, 2, 3)
    channels, filters = groups * int(rng.integers(1, 4)), groups * int(rng.integers(1, 4))
    kernel = sizes(rng, axes, 1, 3)
    x = numbers(rng, [int(rng.integers(1, 3)), channels] + sizes(rng, axes, 6, 10))
    w = numbers(rng, [filters, channels // groups] + kernel)
    return one_node("Conv", [x, w, maybe(rng, numbers(rng, [filters]))], opset=pick(rng, 1, 11, 22),
                    group=groups, kernel_shape=maybe(rng, kernel), shapes=rng.random() < 0.5,
                    constant=at_random(rng, 1, 2), rtol=1e-3, atol=1e-4, **window_keys(rng, axes, kernel))


def conv_transpose(rng):
    axes = pick(rng, 1, 2, 2, 3)
    groups = pick(rng, 1, 1, 2, 3)
    channels, rows = groups * int(rng.integers(1, 4)), int(rng.integers(1, 4))
    kernel = sizes(rng, axes, 1, 4)
    x = numbers(rng, [int(rng.integers(1, 3)), channels] + sizes(rng, axes, 1, 6))
    w = numbers(rng, [channels, rows] + kernel)
    keys = window_keys(rng, axes, kernel)
    strides = keys["strides"] or [1] * axes
    dilations = keys["dilations"] or [1] * axes
    keys["output_padding"] = maybe(rng, [int(rng.integers(0, s)) for s in strides])
    if rng.random() < 0.3:
        keys["output_shape"] = [int((n - 1) * s + (k - 1) * d + 1 + rng.integers(-min(3, k - 1), 1))
                                for n, s, k, d in zip(x.shape[2:], strides, kernel, dilations)]
    return one_node("ConvTranspose", [x, w, maybe(rng, numbers(rng, [groups * rows]))], opset=pick(rng, 1, 11, 22),
                    group=groups, kernel_shape=maybe(rng, kernel), shapes=rng.random() < 0.5,
                    constant=at_random(rng, 1, 2), rtol=1e-3, atol=1e-4, **keys)


def pool(rng):
    op = pick(rng, "MaxPool", "AveragePool", "LpPool")
    axes = pick(rng, 1, 2, 2, 3)
    kernel = sizes(rng, axes, 1, 4)
    opset = {"MaxPool": pick(rng, 8, 10, 11, 12, 22), "AveragePool": pick(rng, 7, 10, 11, 19, 22),
             "LpPool": pick(rng, 2, 11, 18, 22)}[op]
    keys = window_keys(rng, axes, kernel)
    ceils = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[op]
    dilates = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op]
    if opset < dilates:
        keys["dilations"] = None
    if opset >= ceils:
        keys["ceil_mode"] = maybe(rng, 1)
    dtype, outputs = F4, 1
    if op == "MaxPool":
        dtype = pick(rng, F4, F4, F8, *([np.int8, np.uint8] if opset >= 12 else []))
        outputs = int(rng.integers(1, 3))
        keys["storage_order"] = maybe(rng, int(rng.integers(2))) if outputs == 2 else None
    elif op == "AveragePool":
        keys["count_include_pad"] = maybe(rng, 1)
    else:
        keys["p"] = maybe(rng, int(rng.integers(1, 5)))
    x = numbers(rng, sizes(rng, 2, 1, 3) + sizes(rng, axes, 10, 13 - axes // 3), dtype)
    if dtype == F4 and rng.random() < 0.1:  # onnxruntime's MaxPool is inconsistent on NaN
        special = pick(rng, np.nan if op != "MaxPool" else np.inf, np.inf, -np.inf)
        x = np.where(rng.random(x.shape) < 0.1, F4(special), x).astype(F4)
    oracle = None
    if op == "MaxPool" and outputs == 1:
        lowest = -np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min

        def oracle():
            return {"out_0": pooled(x, kernel, keys, lambda w: w.max(-1, initial=lowest)).astype(dtype)}
    loose = {"rtol": 1e-3, "atol": 1e-5} if outputs == 1 and np.dtype(dtype).kind == "f" else {}
    return one_node(op, [x], outputs, opset=opset, kernel_shape=kernel, shapes=rng.random() < 0.5, oracle=oracle,
                    **loose, **keys)


def global_pool(rng):
    op = pick(rng, "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
    x = numbers(rng, sizes(rng, 2, 1, 3) + sizes(rng, pick(rng, 1, 2, 3), 1, 9))
    return one_node(op, [x], opset=pick(rng, 2, 22) if op == "GlobalLpPool" else pick(rng, 1, 22),
                    p=maybe(rng, int(rng.integers(1, 5))) if op == "GlobalLpPool" else None, shapes=rng.random() < 0.5,
                    rtol=1e-3, atol=1e-5)


def max_unpool(rng):
    axes = pick(rng, 1, 2, 2, 3)
    kernel = sizes(rng, axes, 1, 3)
    strides, pads = maybe(rng, sizes(rng, axes, 1, 3)), maybe(rng, [0] * axes + [int(rng.integers(0, k)) for k in kernel])
    x = numbers(rng, sizes(rng, 2, 1, 3) + sizes(rng, axes, 2, 5))
    to = [(n - 1) * s - (pads or [0] * 2 * axes)[axes + i] + k
          for i, (n, s, k) in enumerate(zip(x.shape[2:], strides or [1] * axes, kernel))]
    planes, places, taken = x.shape[0] * x.shape[1], int(np.prod(to)), int(np.prod(x.shape[2:]))
    # If two elements have the same target, it is undefined which of them remains.
    if taken > places:
        return max_unpool(rng)
    indices = np.stack([rng.permutation(places)[:taken] + plane * places for plane in range(planes)])
    shape = maybe(rng, np.array([*x.shape[:2], *to]))
    return one_node("MaxUnpool", trimmed([x, indices.reshape(x.shape).astype("i8"), shape]), opset=pick(rng, 9, 11, 22),
                    kernel_shape=kernel, strides=strides, pads=pads, shapes=rng.random() < 0.5, constant=at_random(rng, 2))


# Activations

EDGES = [0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 3, -3, 6, -6, 0.5, -0.5, 1e-8, -1e-8, 20, -20, 88, -88, 89, -89,
         100, -100, 1e4, -1e4, 6e4, 1e-40, 2.9, 3.1]


def activation(rng):
    parameters = {"Elu": ["alpha"], "Celu": ["alpha"], "Selu": ["alpha", "gamma"], "LeakyRelu": ["alpha"],
                  "ThresholdedRelu": ["alpha"], "HardSigmoid": ["alpha", "beta"], "Shrink": ["lambd", "bias"]}
    versions = {"Elu": [6, 22], "Celu": [12], "Selu": [6, 22], "LeakyRelu": [6, 16], "ThresholdedRelu": [10, 22],
                "HardSigmoid": [6, 22], "Shrink": [9], "HardSwish": [14, 22], "Mish": [18, 22], "Softplus": [1, 22],
                "Softsign": [1, 22], "Sigmoid": [6, 13], "Tanh": [6, 13], "Relu": [6, 13, 14], "Gelu": [20],
                "Abs": [13], "Ceil": [13], "Floor": [13], "Round": [22], "Sign": [13], "Exp": [13], "Log": [13],
                "Sqrt": [13], "Reciprocal": [13], "Erf": [13], "Neg": [13], "Sin": [22], "Cos": [22], "Tan": [22],
                "Asin": [22], "Acos": [22], "Atan": [22], "Sinh": [22], "Cosh": [22], "Asinh": [22], "Acosh": [22],
                "Atanh": [22], "IsNaN": [13, 20], "IsInf": [10, 20], "PRelu": [16], "Softmax": [13], "LogSoftmax": [13],
                "Hardmax": [13], "Swish": [24]}
    op = pick(rng, *versions)
    keys = {name: maybe(rng, float(F4(rng.uniform(-2, 2)))) for name in parameters.get(op, [])}
    if op == "Celu" and keys["alpha"] is not None:
        keys["alpha"] = abs(keys["alpha"])
    if op == "Gelu":
        keys["approximate"] = maybe(rng, pick(rng, "none", "tanh"))
    if op == "IsInf":
        keys.update(detect_negative=maybe(rng, int(rng.integers(2))), detect_positive=maybe(rng, int(rng.integers(2))))
    x = np.array(EDGES, F4)
    if op in ("Sin", "Cos", "Tan"):
        x = x[np.abs(x) < 200]
    if op in ("Softmax", "LogSoftmax", "Hardmax"):
        x = np.stack([rng.permutation(x)[:5] for _ in range(6)])
    if op == "PRelu":
        return one_node(op, [x, F4([rng.uniform(-2, 2)])], opset=16)
    x = np.concatenate([x, numbers(rng, [9])]) if x.ndim == 1 else x
    with np.errstate(over="ignore"):  # onnxruntime has Hardmax only for float
        x = x.astype(F4 if op == "Hardmax" else pick(rng, F4, F4, F8, F2))
    if op == "Hardmax":  # the maximum of a NaN and a number is undefined
        x = np.where(np.isnan(x), F4(1), x)
    if op == "Sign" and x.dtype == F2:  # onnxruntime returns 0 for NaN, only for this type
        x = x[~np.isnan(x)]
    if op == "LogSoftmax" and x.dtype == F8:  # onnxruntime returns NaN for a row with infinity, but not for double
        x = np.where(np.isposinf(x), 1, x)
    return one_node(op, [x], opset=pick(rng, *versions[op]), rtol=2e-3, atol=1e-6,
                    oracle=(lambda: {"out_0": log_softmax(x)}) if op == "LogSoftmax" else None, **keys)


def log_softmax(x):
    """LogSoftmax along the last axis; the reference evaluator computes log(Softmax), which is -inf after an
    underflow."""
    wide = x.astype(F8) - x.max(-1, keepdims=True).astype(F8)
    return (wide - np.log(np.exp(wide).sum(-1, keepdims=True))).astype(x.dtype)


def contrib_activation(rng):
    op = pick(rng, "Gelu", "QuickGelu", "FastGelu", "BiasGelu")
    x = np.concatenate([np.array(EDGES, F4), numbers(rng, [9])])
    inputs = [x]
    if op == "BiasGelu" or (op == "FastGelu" and rng.random() < 0.5):
        inputs.append(numbers(rng, x.shape))
    return one_node(op, inputs, alpha=maybe(rng, float(rng.uniform(0.5, 2))) if op == "QuickGelu" else None,
                    rtol=2e-3, atol=1e-5, **MICROSOFT)


def clip(rng):
    dtype = pick(rng, F4, F4, F8, F2, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64)
    floats = np.dtype(dtype).kind == "f"
    with np.errstate(over="ignore"):
        x = np.array(EDGES, F4).astype(dtype) if floats else numbers(rng, [20], dtype)

    def bound():
        if floats and rng.random() < 0.3:
            return np.array(pick(rng, np.nan, np.inf, -np.inf, 0.0, -0.0), dtype)
        return numbers(rng, [], dtype, 3).reshape(())
    if floats and dtype is F4 and rng.random() < 0.3:
        return one_node("Clip", [x], opset=6, min=maybe(rng, float(bound())), max=maybe(rng, float(bound())))
    inputs = [x, maybe(rng, bound()), maybe(rng, bound())]
    return one_node("Clip", trimmed(inputs), opset=pick(rng, 12, 13), constant=at_random(rng, *range(1, len(inputs))))


# Quantized values

def codes(rng, shape, dtype=None):
    return numbers(rng, shape, dtype or pick(rng, np.uint8, np.int8))


# Without VNNI, onnxruntime adds products of a byte and an int8 in pairs, in saturating int16 (its documentation
# recommends weights of 7 bits there): weights that never saturate are chosen, so that both results are exact.
HAS_VNNI = "vnni" in pathlib.Path("/proc/cpuinfo").read_text()


def weights(rng, shape, x):
    w = codes(rng, shape, np.int8 if x.dtype == np.int8 else None)
    return w if HAS_VNNI or w.dtype != np.int8 else w >> 1


def zero_point(rng, dtype, shape=()):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True).reshape(shape)


def scale(rng, shape=(), low=0.002, high=0.1):
    return rng.uniform(low, high, shape).astype(F4).reshape(shape)


def convolved(rng):
    axes = pick(rng, 1, 2, 2, 3)
    groups = pick(rng, 1, 1, 2, 3, 4)
    channels, filters = groups * int(rng.integers(1, 5)), groups * int(rng.integers(1, 5))
    if rng.random() < 0.2:  # depthwise
        channels = filters = groups = int(rng.integers(1, 20))
    kernel = sizes(rng, axes, 1, 3)
    x = codes(rng, [int(rng.integers(1, 3)), channels] + sizes(rng, axes, 7, 10))
    w = weights(rng, [filters, channels // groups] + kernel, x)
    return x, w, filters, dict(group=groups, kernel_shape=maybe(rng, kernel), **window_keys(rng, axes, kernel))


def qlinear_conv(rng):
    x, w, filters, keys = convolved(rng)
    per_filter = [filters] if rng.random() < 0.4 else []
    w_zero = zero_point(rng, w.dtype, [filters] if rng.random() < 0.4 else [])
    bias = maybe(rng, rng.integers(-5000, 5000, [filters], dtype=np.int32))
    y_zero = zero_point(rng, x.dtype)
    inputs = [x, scale(rng), zero_point(rng, x.dtype), w, scale(rng, per_filter), w_zero,
              scale(rng, (), 0.01, 2), y_zero]
    return one_node("QLinearConv", inputs + ([bias] if bias is not None else []), opset=10,
                    constant=at_random(rng, 3, 8) if bias is not None else at_random(rng, 3),
                    shapes=rng.random() < 0.5, **keys)


def qlinear_conv_microsoft(rng):
    x, w, filters, keys = convolved(rng)
    if x.ndim != 4:
        return qlinear_conv_microsoft(rng)
    last = int(rng.integers(2))
    keys["channels_last"] = last
    if last:
        x = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    inputs = [x, scale(rng), zero_point(rng, x.dtype), w, scale(rng), zero_point(rng, w.dtype), scale(rng, (), 0.01, 2),
              zero_point(rng, x.dtype)]
    if rng.random() < 0.5:
        inputs.append(rng.integers(-5000, 5000, [filters], dtype=np.int32))
    return one_node("QLinearConv", inputs, constant=at_random(rng, 3), **MICROSOFT, **keys)


def conv_integer(rng):
    x, w, filters, keys = convolved(rng)
    x, w = x.view(np.uint8), w
    inputs = [x, w, maybe(rng, zero_point(rng, x.dtype)), maybe(rng, zero_point(rng, w.dtype))]
    return one_node("ConvInteger", trimmed(inputs), opset=10, constant=at_random(rng, 1), shapes=rng.random() < 0.5,
                    **keys)


def matrices(rng):
    m, k, n = sizes(rng, 3, 1, 20)
    stack = sizes(rng, int(rng.integers(0, 3)), 1, 3)
    a_stack = [pick(rng, s, s, 1) for s in stack]
    b_stack = [pick(rng, s, s, 1) for s in stack] if rng.random() < 0.5 else []
    a = codes(rng, a_stack + [m, k])
    return a, weights(rng, b_stack + [k, n], a)


def matmul_integer(rng):
    a, b = matrices(rng)
    b_zero = zero_point(rng, b.dtype, pick(rng, [], [], b.shape[-1:]))
    inputs = [a, b, maybe(rng, zero_point(rng, a.dtype)), maybe(rng, b_zero)]
    return one_node("MatMulInteger", trimmed(inputs), opset=10, constant=at_random(rng, 1), shapes=rng.random() < 0.5)


def qlinear_matmul(rng):
    a, b = matrices(rng)
    per_column = b.shape[-1:] if rng.random() < 0.4 else []
    inputs = [a, scale(rng), zero_point(rng, a.dtype), b, scale(rng, per_column), zero_point(rng, b.dtype, per_column),
              scale(rng, (), 0.01, 2), zero_point(rng, a.dtype)]
    return one_node("QLinearMatMul", inputs, opset=pick(rng, 10, 21), constant=at_random(rng, 3),
                    shapes=rng.random() < 0.5)


def qgemm(rng):
    a, b = codes(rng, sizes(rng, 2, 1, 12)), None
    b = weights(rng, [a.shape[1], int(rng.integers(1, 12))], a)
    n = b.shape[1]
    trans_a, trans_b = int(rng.integers(2)), int(rng.integers(2))
    per_column = [n] if rng.random() < 0.4 else []
    shape = pick(rng, [n], [1], [1, n], [a.shape[0], 1], [a.shape[0], n], [])
    c = maybe(rng, rng.integers(-5000, 5000, shape, dtype=np.int32))
    inputs = [np.ascontiguousarray(a.T) if trans_a else a, scale(rng), zero_point(rng, a.dtype),
              np.ascontiguousarray(b.T) if trans_b else b, scale(rng, per_column), zero_point(rng, b.dtype, per_column),
              c]
    if rng.random() < 0.7:
        inputs += [scale(rng, (), 0.01, 2), zero_point(rng, a.dtype)]
    loose = {} if len(inputs) > 7 else {"rtol": 1e-3, "atol": 1e-4}
    return one_node("QGemm", trimmed(inputs), transA=trans_a, transB=trans_b, constant=at_random(rng, 3),
                    alpha=maybe(rng, float(rng.uniform(0.5, 2))), **loose, **MICROSOFT)


def qlinear_binary(rng):
    dtype = pick(rng, np.uint8, np.int8)
    shape = sizes(rng, int(rng.integers(1, 4)), 1, 6)
    other = [pick(rng, s, s, 1) for s in shape][int(rng.integers(0, len(shape))):]
    a, b = codes(rng, shape, dtype), codes(rng, other, dtype)
    if rng.random() < 0.5:
        a, b = b, a
    inputs = [a, scale(rng), zero_point(rng, dtype), b, scale(rng), zero_point(rng, dtype), scale(rng, (), 0.001, 0.2),
              zero_point(rng, dtype)]
    op = pick(rng, "QLinearAdd", "QLinearMul")

    def oracle():
        x, y = ((inputs[i].astype(F8) - F8(inputs[i + 2])) * F8(inputs[i + 1]) for i in (0, 3))
        z = np.round((x + y if op == "QLinearAdd" else x * y) / F8(inputs[6]) + F8(inputs[7]))
        return {"out_0": np.clip(z, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)}

    return one_node(op, inputs, constant=at_random(rng, 1, 4, 6), oracle=oracle, **MICROSOFT)


def qlinear_unary(rng):
    op = pick(rng, "QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax")
    dtype = pick(rng, np.uint8, np.int8)
    x = codes(rng, sizes(rng, int(rng.integers(1, 4)), 1, 7), dtype)
    inputs = [x, scale(rng), maybe(rng, zero_point(rng, dtype), 0.8), scale(rng, (), 0.002, 0.02),
              zero_point(rng, dtype)]
    keys = {}
    if op == "QLinearLeakyRelu":
        keys["alpha"] = maybe(rng, float(rng.uniform(-0.5, 0.5)))
    elif op == "QLinearSoftmax":
        x = inputs[0] = codes(rng, sizes(rng, x.ndim, 2, 7), dtype)  # onnxruntime returns 0 for a single element
        inputs[4] = np.array(-128 if dtype == np.int8 else 0, dtype)
        inputs[3] = np.array(1 / 256, F4)
        keys.update(axis=int(rng.integers(-x.ndim, x.ndim)), opset=pick(rng, 11, 13))
        keys["opset_"] = keys.pop("opset")
    opset = keys.pop("opset_", None)
    if opset:
        keys_of_node = {"axis": keys["axis"]}
        return softmax_node(x, inputs, opset, keys_of_node)
    return one_node(op, inputs, constant=at_random(rng, 1, 2, 3, 4), **MICROSOFT, **keys)


def softmax_node(x, inputs, opset, keys):
    made = one_node("QLinearSoftmax", inputs, **MICROSOFT, **keys)
    attribute = made.model.graph.node[0].attribute.add()
    attribute.name, attribute.i, attribute.type = "opset", opset, 2
    return made


def qlinear_pool(rng):
    dtype = pick(rng, np.uint8, np.int8)
    last = int(rng.integers(2))
    if rng.random() < 0.4:
        x = codes(rng, sizes(rng, 2, 1, 4) + sizes(rng, 2, 1, 8), dtype)
        inputs = [x, scale(rng), zero_point(rng, dtype), scale(rng), zero_point(rng, dtype)]
        return one_node("QLinearGlobalAveragePool", inputs, channels_last=last, **MICROSOFT)
    axes = pick(rng, 1, 2, 2, 3)
    kernel = sizes(rng, axes, 1, 3)
    keys = window_keys(rng, axes, kernel)
    keys["dilations"] = None
    shape = sizes(rng, 2, 1, 4) + sizes(rng, axes, 5, 9)
    x = codes(rng, shape, dtype)
    if last:
        x = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    inputs = [x, scale(rng), zero_point(rng, dtype), scale(rng), zero_point(rng, dtype)]
    keys.update(ceil_mode=maybe(rng, 1), count_include_pad=maybe(rng, 1))

    def oracle():
        """Exact sums and one division."""
        first, from_scale, from_zero, to_scale, to_zero = inputs
        wide = np.moveaxis(first, -1, 1).astype("i8") if last else first.astype("i8")
        made = pooled(wide - int(from_zero), kernel, keys,
                      lambda w: w.sum(-1) / (np.prod(kernel) if keys["count_include_pad"] else w.shape[-1]))
        made = np.round(made * F8(from_scale) / F8(to_scale)) + int(to_zero)
        made = np.clip(made, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
        return {"out_0": np.moveaxis(made, 1, -1) if last else made}

    return one_node("QLinearAveragePool", inputs, kernel_shape=kernel, channels_last=last, oracle=oracle, **MICROSOFT,
                    **keys)


def nhwc_max_pool(rng):
    axes = pick(rng, 1, 2, 2, 3)
    kernel = sizes(rng, axes, 1, 3)
    x = codes(rng, [int(rng.integers(1, 3))] + sizes(rng, axes, 7, 10) + [int(rng.integers(1, 5))])
    return one_node("NhwcMaxPool", [x], kernel_shape=kernel, ceil_mode=maybe(rng, 1), **MICROSOFT,
                    **window_keys(rng, axes, kernel))


def qlinear_concat(rng):
    dtype = pick(rng, np.uint8, np.int8)
    shape = sizes(rng, int(rng.integers(1, 4)), 1, 5)
    axis = int(rng.integers(len(shape)))
    inputs = [scale(rng), zero_point(rng, dtype)]
    for _ in range(int(rng.integers(1, 4))):
        own = list(shape)
        own[axis] = int(rng.integers(1, 5))
        inputs += [codes(rng, own, dtype), scale(rng), zero_point(rng, dtype)]
    return one_node("QLinearConcat", inputs, axis=axis - pick(rng, 0, len(shape)),
                    constant=tuple(i for i in range(len(inputs)) if i < 2 or i % 3 != 2) if rng.random() < 0.5 else (),
                    **MICROSOFT)


def qlinear_where(rng):
    dtype = pick(rng, np.uint8, np.int8)
    shape = sizes(rng, 2, 1, 6)
    def part():
        return codes(rng, [pick(rng, s, s, 1) for s in shape], dtype)
    inputs = [rng.random(shape) < 0.5]
    for values in (part(), part(), None):
        inputs += [values] * (values is not None) + [scale(rng), zero_point(rng, dtype)]
    return one_node("QLinearWhere", inputs, constant=tuple(range(2, 9)) if rng.random() < 0.5 else (), **MICROSOFT)


def quantize(rng):
    dtype = pick(rng, np.uint8, np.int8, np.uint8, np.int8, np.uint16, np.int16)
    x = numbers(rng, sizes(rng, int(rng.integers(1, 4)), 1, 6), F4, 30)
    if rng.random() < 0.3:
        x = np.where(rng.random(x.shape) < 0.2, F4(pick(rng, np.inf, -np.inf, 1e30, 0.5, 2.5)), x).astype(F4)
    axis = int(rng.integers(x.ndim))
    shape = pick(rng, [], [x.shape[axis]])
    opset = 21 if np.dtype(dtype).itemsize == 2 or not shape else pick(rng, 13, 19, 21)
    inputs = [x, pick(rng, scale(rng, shape, 0.05, 1), np.full(shape, 0.5, F4)),
              zero_point(rng, dtype, shape)]
    if rng.random() < 0.2 and dtype is np.uint8:
        inputs.pop()
    return one_node("QuantizeLinear", inputs, opset=opset, axis=axis if shape else None, constant=at_random(rng, 1, 2))


def dequantize(rng):
    dtype = pick(rng, np.uint8, np.int8, np.int32, np.uint16, np.int16)
    x = numbers(rng, sizes(rng, int(rng.integers(1, 4)), 1, 6), dtype)
    axis = int(rng.integers(x.ndim))
    shape = pick(rng, [], [x.shape[axis]])
    inputs = [x, scale(rng, shape)] + ([] if dtype is np.int32 else [zero_point(rng, dtype, shape)])
    return one_node("DequantizeLinear", inputs, opset=21 if np.dtype(dtype).itemsize == 2 else pick(rng, 13, 19, 21),
                    axis=axis if shape else None, constant=at_random(rng, 1, 2), rtol=1e-5, atol=1e-7)


def dynamic_quantize(rng):
    x = numbers(rng, sizes(rng, int(rng.integers(1, 4)), 1, 8), F4, pick(rng, 0.01, 1, 100))
    x = pick(rng, x, np.abs(x), -np.abs(x), np.zeros_like(x))
    return one_node("DynamicQuantizeLinear", [x], 3, opset=11)


def always():
    """Cases that failed once, reduced."""
    x = np.arange(6, dtype=F4).reshape(1, 1, 2, 3) + 1
    for place in ([1.4, 0.1], [-1.3, -0.7]):
        yield one_node("GridSample", [x, np.array([[[place]]], F4)], opset=20, mode="cubic", padding_mode="border")
    for place in (np.nan, np.inf, 1e20):
        for corners in (0, 1):
            yield one_node("GridSample", [x, np.array([[[[place, 0.1]]]], F4)], opset=20, align_corners=corners)
    for corners in (0, 1):
        for size in ([1, 1, 2, 2], [1, 1, 2, 1]):
            yield one_node("AffineGrid", [np.array([[[2, 1, .5], [1, 3, .25]]], F4), np.array(size)], opset=20,
                           align_corners=corners)
    for length, scales in ((5, 2.6), (10, 1.3), (10, 0.7)):
        yield one_node("Resize", [np.arange(length, dtype=F4), None, np.array([scales], F4)], opset=19)
    roi = np.array([.2, .2, .7, .7], F4)
    for scales in ([1, 1], [1, 1.7], [2, 1]):
        yield one_node("Resize", [x[0, 0], roi, np.array(scales, F4)], opset=19, mode="linear",
                       coordinate_transformation_mode="tf_crop_and_resize")
    for dtype in (np.int8, np.uint8, np.int32):
        image = np.array([[-120, -128, 0, 127], [3, 90, -77, 8]]).astype(dtype)
        for antialias in (0, 1):
            yield one_node("Resize", [image, None, np.array([1.5, 0.6], F4)], opset=19, mode="linear",
                           antialias=antialias)
        yield one_node("Resize", [image, None, np.array([1.5, 1.6], F4)], opset=19, mode="cubic", antialias=1)
        yield one_node("Resize", [image.reshape(1, 2, 4, 1), None, np.array([1, 1.7, 1.7, 1], F4)], opset=19,
                       mode="linear")
    for mode in ("SAME_UPPER", "SAME_LOWER"):
        for axes in (1, 2, 3):
            for taps in (1, 4):
                yield one_node("ConvTranspose", [numbers(np.random.default_rng(0), [1, 1] + [2] * axes),
                                                 numbers(np.random.default_rng(1), [1, 1] + [taps] * axes)],
                               opset=11, auto_pad=mode, strides=[3] * axes, output_padding=[1] * axes)
    edges = np.array(EDGES, F4)
    for op, opset, keys in (("ThresholdedRelu", 10, {}), ("Shrink", 9, {"bias": .5}), ("Clip", 13, {}),
                            ("Clip", 6, {"max": 1.0}), ("Gelu", 20, {}), ("Gelu", 20, {"approximate": "tanh"})):
        yield one_node(op, [edges], opset=opset, **keys)
    for row in ([np.nan, 1, 2], [1, np.nan, 2], [3, np.nan, 2]):
        yield one_node("Hardmax", [np.array([row], F4)], opset=13)
    yield one_node("MaxPool", [np.array([[[1, 9, 5]]], F4)], opset=12, kernel_shape=[4], strides=[3])
    row = np.array([[[10, 20, 30, 40]]], np.uint8)
    yield one_node("QLinearAveragePool", [row, F4(1), np.uint8(0), F4(1), np.uint8(0)], kernel_shape=[3],
                   strides=[2], ceil_mode=1, count_include_pad=1, **MICROSOFT)
    yield one_node("DynamicQuantizeLinear", [np.zeros(3, F4)], 3, opset=11)
    codes_of_x, weights = np.arange(6, dtype=np.uint8).reshape(1, 2, 3) * 40, np.arange(8).reshape(4, 1, 2) * 30
    for dtype in (np.uint8, np.int8):  # groups, a zero point for each filter
        yield one_node("QLinearConv", [codes_of_x, F4(.02), np.uint8(7), weights.astype(dtype), np.full(4, .03, F4),
                                       np.array([1, 9, 100, 20], dtype), F4(.5), np.uint8(120)], opset=10, group=2)
    for scales, x, w in (((.0574, .0585, .18), 167, 13), ((.05, .047, .0915), 15, 61)):  # results near .5
        from_scale, w_scale, to_scale = (F4(s) for s in scales)
        for op, shape, keys in (("QLinearConv", (1, 1, 1), {"opset": 10}), ("QLinearMatMul", (1, 1), {"opset": 10}),
                                ("QGemm", (1, 1), MICROSOFT)):
            none = [None] * (op == "QGemm")
            yield one_node(op, [np.full(shape, x, np.uint8), from_scale, np.uint8(0), np.full(shape, w, np.uint8),
                                w_scale, np.uint8(0), *none, to_scale, np.uint8(0)], **keys)
    row = np.array([147, 133, 196, 231, 8, 164], np.uint8)
    yield softmax_node(row, [row, F4(0.013811525888741016), np.uint8(0), F4(1 / 256), np.uint8(0)], 13, {"axis": 0})


FAMILIES = {
    "GridSample": (grid_sample, 1500), "AffineGrid": (affine_grid, 300), "Resize": (resize, 4000),
    "Upsample": (upsample, 500), "Conv": (conv, 500), "ConvTranspose": (conv_transpose, 1200), "Pool": (pool, 1500),
    "GlobalPool": (global_pool, 200), "MaxUnpool": (max_unpool, 200), "Activation": (activation, 1000), "ContribActivation": (contrib_activation, 100),
    "Clip": (clip, 400), "QLinearConv": (qlinear_conv, 1000), "QLinearConvMicrosoft": (qlinear_conv_microsoft, 500),
    "ConvInteger": (conv_integer, 400), "MatMulInteger": (matmul_integer, 300), "QLinearMatMul": (qlinear_matmul, 500),
    "QGemm": (qgemm, 400), "QLinearBinary": (qlinear_binary, 500), "QLinearUnary": (qlinear_unary, 500),
    "QLinearPool": (qlinear_pool, 500), "NhwcMaxPool": (nhwc_max_pool, 200), "QLinearConcat": (qlinear_concat, 200),
    "QLinearWhere": (qlinear_where, 200), "Quantize": (quantize, 400), "Dequantize": (dequantize, 300),
    "DynamicQuantize": (dynamic_quantize, 200),
}

if __name__ == "__main__":
    sys.exit(main(FAMILIES, list(always())))
