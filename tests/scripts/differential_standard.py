#!/usr/bin/env python3
"""Operators of ONNX that compute elementwise, reduce, move, multiply and look up, and similar ones of com.microsoft,
against onnxruntime, or against onnx's reference evaluator where onnxruntime has no kernel. The cases vary ranks from 0
to 6, sizes of 0, broadcasting, optional attributes and inputs, opsets and element types.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402

MS = "com.microsoft"
FLOATS = ["f4", "f4", "f8", "f2"]
INTEGERS = ["i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]
MOVED = ["f4", "f8", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "O"]


def pick(rng, *of):
    return of[int(rng.integers(len(of)))]


def perhaps(rng, made, chance=0.5):
    return made if rng.random() < chance else None


def shape_of(rng, least=0, most=6, sizes=(0, 4)):
    """A random shape; one in six may have sizes of 0, in the others all sizes are at least 1."""
    low = max(sizes[0], 1) if rng.random() < 0.83 else sizes[0]
    return [int(n) for n in rng.integers(low, sizes[1] + 1, int(rng.integers(least, most + 1)))]


def some(rng, shape, kind, low=-9, high=10):
    shape = tuple(shape)
    if kind == "O":
        words = np.array(["", "a", "ab", "Zürich", "zz", "b c"], object)
        return np.asarray(words[rng.integers(0, len(words), shape)], object).reshape(shape)
    if kind == "?":
        return np.asarray(rng.random(shape) < 0.5)
    if kind[0] in "iu":
        return np.asarray(rng.integers(0 if kind[0] == "u" else low, high, shape)).astype(kind)
    return np.asarray(rng.uniform(low, high, shape)).astype(kind)


def near(kind):
    return {"f2": {"rtol": 5e-3, "atol": 5e-3}, "f4": {"rtol": 1e-4, "atol": 1e-5}}.get(kind, {})


def one_of_shapes(rng, shape):
    """A shape that broadcasts to `shape`: leading axes may be left out, and some sizes are 1."""
    first = int(rng.integers(0, len(shape) + 1)) if rng.random() < 0.4 else 0
    return [1 if rng.random() < 0.3 else n for n in shape[first:]]


def two_that_broadcast(rng, most=6):
    shape = shape_of(rng, 0, most)
    return (shape, one_of_shapes(rng, shape)) if rng.random() < 0.5 else (one_of_shapes(rng, shape), shape)


def axis_of(rng, rank):
    return int(rng.integers(-rank, rank))


def axes_of(rng, rank, least=0):
    chosen = rng.permutation(rank)[:int(rng.integers(min(least, rank), rank + 1))]
    return [int(a) - (rank if rng.random() < 0.4 else 0) for a in chosen]


def constants(rng, *positions):
    return positions if rng.random() < 0.5 else ()


# Elementwise

UNARY = {  # opsets, element types, range of the input
    "Abs": ([6, 13], ["f4", "f8", "f2"] + INTEGERS, -9, 9), "Neg": ([6, 13], FLOATS + ["i8", "i4", "i2", "i1"], -9, 9),
    "Ceil": ([6, 13], FLOATS, -9, 9), "Floor": ([6, 13], FLOATS, -9, 9), "Round": ([11, 22], FLOATS, -9, 9),
    "Sign": ([9, 13], ["f4", "f8", "f2"] + INTEGERS, -2, 3), "Exp": ([6, 13], FLOATS, -5, 5),
    "Log": ([6, 13], FLOATS, 0.1, 9), "Sqrt": ([6, 13], FLOATS, 0, 9), "Reciprocal": ([6, 13], FLOATS, 0.5, 9),
    "Erf": ([9, 13], FLOATS, -3, 3), "Sin": ([7, 22], FLOATS, -9, 9), "Cos": ([7, 22], FLOATS, -9, 9),
    "Tan": ([7, 22], FLOATS, -1, 1), "Asin": ([7, 22], FLOATS, -1, 1), "Acos": ([7, 22], FLOATS, -1, 1),
    "Atan": ([7, 22], FLOATS, -9, 9), "Sinh": ([9, 22], FLOATS, -4, 4), "Cosh": ([9, 22], FLOATS, -4, 4),
    "Asinh": ([9, 22], FLOATS, -9, 9), "Acosh": ([9, 22], FLOATS, 1, 9), "Atanh": ([9, 22], FLOATS, -0.9, 0.9),
    "Sigmoid": ([6, 13], FLOATS, -9, 9), "Tanh": ([6, 13], FLOATS, -9, 9), "Relu": ([6, 13, 14], FLOATS, -9, 9),
    "Softplus": ([1, 22], FLOATS, -9, 9), "Softsign": ([1, 22], FLOATS, -9, 9), "HardSwish": ([14, 22], FLOATS, -5, 5),
    "Mish": ([18, 22], FLOATS, -5, 5), "Not": ([1], ["?"], 0, 1), "IsNaN": ([9, 13, 20], FLOATS, -9, 9),
    "IsInf": ([10, 20], ["f4", "f8"], -9, 9), "BitwiseNot": ([18], INTEGERS, -99, 99),
    "Identity": ([1, 13, 16], MOVED, -9, 9), "Elu": ([6, 22], FLOATS, -5, 5), "Selu": ([6, 22], FLOATS, -5, 5),
    "Celu": ([12], ["f4"], -5, 5), "LeakyRelu": ([6, 16], FLOATS, -5, 5), "ThresholdedRelu": ([10, 22], FLOATS, -5, 5),
    "HardSigmoid": ([6, 22], FLOATS, -5, 5), "Shrink": ([9], FLOATS, -5, 5), "Gelu": ([20], FLOATS, -5, 5),
    "Swish": ([24], FLOATS, -5, 5),
}
PARAMETERS = {"Elu": ["alpha"], "Selu": ["alpha", "gamma"], "Celu": ["alpha"], "LeakyRelu": ["alpha"],
              "ThresholdedRelu": ["alpha"], "HardSigmoid": ["alpha", "beta"], "Shrink": ["lambd", "bias"],
              "Swish": ["alpha"]}


def unary(rng):
    op = pick(rng, *UNARY)
    opsets, kinds, low, high = UNARY[op]
    kind = pick(rng, *kinds)
    given = {name: perhaps(rng, float(np.float32(rng.uniform(0.1, 2)))) for name in PARAMETERS.get(op, [])}
    if op == "Gelu":
        given["approximate"] = perhaps(rng, pick(rng, "none", "tanh"))
    return d.one_node(op, [some(rng, shape_of(rng), kind, low, high)], opset=pick(rng, *opsets),
                      shapes=rng.random() < 0.5, **near(kind), **given)


BINARY = {  # opsets, element types of the inputs
    "Add": ([7, 13, 14], FLOATS + ["i8", "i4"]), "Sub": ([7, 13, 14], FLOATS + ["i8", "i4"]),
    "Mul": ([7, 13, 14], FLOATS + ["i8", "i4"]), "Div": ([7, 13, 14], FLOATS + ["i8", "i4"]),
    "Equal": ([7, 11, 13, 19], ["i8", "i4", "?"]), "Greater": ([9, 13], FLOATS + ["i8", "i4"]),
    "Less": ([9, 13], FLOATS + ["i8", "i4"]), "GreaterOrEqual": ([12, 16], FLOATS + ["i8", "i4"]),
    "LessOrEqual": ([12, 16], FLOATS + ["i8", "i4"]), "And": ([7], ["?"]), "Or": ([7], ["?"]), "Xor": ([7], ["?"]),
    "BitwiseAnd": ([18], INTEGERS), "BitwiseOr": ([18], INTEGERS), "BitwiseXor": ([18], INTEGERS),
    "Mod": ([10, 13], ["i8", "i4", "u8", "u4", "i1", "u1"]), "PRelu": ([9, 16], ["f4", "f8"]),
    "Pow": ([7, 12, 13, 15], ["f4", "f8"]), "BitShift": ([11], ["u1", "u4", "u8"]),
}


def binary(rng):
    op = pick(rng, *BINARY)
    opsets, kinds = BINARY[op]
    opset, kind = pick(rng, *opsets), pick(rng, *kinds)
    if op == "Equal" and opset >= 11 and rng.random() < 0.4:
        kind = pick(rng, "f4", "f8") if opset < 19 or rng.random() < 0.5 else "O"
    first, second = two_that_broadcast(rng)
    given = {}
    if op == "PRelu":
        first = shape_of(rng)
        second = one_of_shapes(rng, first)
    a, b = some(rng, first, kind), some(rng, second, kind)
    if op in ("Div", "Mod"):
        b = np.where(b == 0, np.ones((), b.dtype), b).astype(b.dtype)
    if op == "Mod" and kind in ("i8", "i4") and rng.random() < 0.4:
        given["fmod"] = 1
    if op == "Pow":
        a = np.abs(a)
        b = np.asarray(rng.integers(-2, 4, tuple(second))).astype(pick(rng, kind, "f4", "i8", "i4") if opset >= 12 else kind)
    if op == "BitShift":
        b, given["direction"] = b % 8, pick(rng, "LEFT", "RIGHT")
    return d.one_node(op, [a, b], opset=opset, shapes=rng.random() < 0.5, constant=constants(rng, 1), **near(kind), **given)


def swiglu(rng):
    kind, shape, alpha = pick(rng, *FLOATS), shape_of(rng), perhaps(rng, float(np.float32(rng.uniform(0.1, 2))))
    a, b = some(rng, shape, kind), some(rng, shape, kind)

    def oracle():
        gate = a.astype("f8")
        return {"out_0": np.asarray(gate / (1 + np.exp(-gate * (1.0 if alpha is None else alpha))) * b).astype(kind)}

    return d.one_node("SwiGLU", [a, b], opset=28, alpha=alpha, shapes=rng.random() < 0.5, oracle=oracle,
                      **(near(kind) if kind != "f2" else {"rtol": 1e-2, "atol": 2e-2}))


def variadic(rng):
    op = pick(rng, "Max", "Min", "Sum", "Mean")
    opset = pick(rng, *([8, 12, 13] if op[0] == "M" and op != "Mean" else [8, 13]))
    kind = pick(rng, *(FLOATS + (["i8", "i4", "u8", "u4"] if op in ("Max", "Min") and opset >= 12 else [])))
    shape = shape_of(rng)
    return d.one_node(op, [some(rng, one_of_shapes(rng, shape), kind) for _ in range(int(rng.integers(1, 5)))],
                      opset=opset, **near(kind))


def where(rng):
    shape, kind = shape_of(rng), pick(rng, "f4", "f8", "i8", "i4", "u1", "O")
    parts = [one_of_shapes(rng, shape) for _ in range(3)]
    return d.one_node("Where", [some(rng, parts[0], "?")] + [some(rng, each, kind) for each in parts[1:]],
                      opset=pick(rng, 9, 16), constant=constants(rng, pick(rng, 0, 1, 2)))


def clip(rng):
    kind = pick(rng, *FLOATS, "i8", "i4", "u8", "i1", "u1")
    low, high = sorted(some(rng, (2,), kind))
    return d.one_node("Clip", [some(rng, shape_of(rng), kind), perhaps(rng, np.array(low, kind)),
                               perhaps(rng, np.array(high, kind))], opset=pick(rng, 12, 13))


def cast_like(rng):
    kinds = ["f4", "f8", "f2", "i8", "i4", "u1", "?"]
    return d.one_node("CastLike", [some(rng, shape_of(rng), pick(rng, *kinds), 0, 9), some(rng, shape_of(rng), pick(rng, *kinds))],
                      opset=pick(rng, 15, 19, 21))


# Along axes

def reduction(rng):
    op = pick(rng, "L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    late = op == "Sum"
    opset = pick(rng, *([1, 11, 13] if late else [1, 11, 13, 18]))
    kind = pick(rng, *(["f4", "f4", "f8", "i4"] if op not in ("LogSum", "LogSumExp", "L1", "L2", "Mean") else ["f4", "f8"]))
    if op in ("Max", "Min") and opset >= 13:
        kind = pick(rng, kind, "i8", "i1", "u1")
    shape = shape_of(rng, 0, 6, (0 if op in ("Sum", "SumSquare", "L1", "L2") else 1, 4))
    axes = axes_of(rng, len(shape))
    if op == "Prod" and kind[0] in "iu":  # the oracles overflow in different ways
        kind = "f4"
    x = some(rng, shape, kind, 1, 2) if op in ("LogSum", "Prod") else some(rng, shape, kind)
    by_input = opset >= 18 or (late and opset >= 13)
    given = {"keepdims": perhaps(rng, int(rng.integers(2)))}
    inputs = [x]
    if by_input:
        given["noop_with_empty_axes"] = perhaps(rng, int(rng.integers(2)))
        if rng.random() < 0.8:
            inputs.append(np.array(axes, "i8"))
    elif axes and (opset >= 11 or all(a >= 0 for a in axes)):
        given["axes"] = axes
    return d.one_node("Reduce" + op, inputs, opset=opset, constant=constants(rng, 1), rtol=1e-3, atol=1e-4, **given)


def arg_extreme(rng):
    shape, kind, opset = shape_of(rng, 1, 6, (1, 4)), pick(rng, "f4", "f8", "i4", "i1", "u1"), pick(rng, 11, 12, 13)
    return d.one_node(pick(rng, "ArgMax", "ArgMin"), [some(rng, shape, kind, -2, 3)], opset=opset,
                      axis=perhaps(rng, axis_of(rng, len(shape))), keepdims=perhaps(rng, int(rng.integers(2))),
                      select_last_index=perhaps(rng, int(rng.integers(2))) if opset >= 12 else None)


def softmax(rng):
    op, shape = pick(rng, "Softmax", "LogSoftmax", "Hardmax"), shape_of(rng, 1)
    kind = pick(rng, "f4", "f4", "f8") if op != "Hardmax" else "f4"
    return d.one_node(op, [some(rng, shape, kind)], opset=pick(rng, 11, 13),
                      axis=perhaps(rng, axis_of(rng, len(shape)), 0.7), rtol=1e-4, atol=1e-5)


def cumulative(rng):
    shape, kind = shape_of(rng, 1), pick(rng, "f4", "f8", "i8", "i4")
    op = pick(rng, "CumSum", "CumSum", "CumProd")
    return d.one_node(op, [some(rng, shape, kind, -2, 3), np.array(axis_of(rng, len(shape)), pick(rng, "i4", "i8"))],
                      opset=26 if op == "CumProd" else pick(rng, 11, 14), exclusive=perhaps(rng, int(rng.integers(2))),
                      reverse=perhaps(rng, int(rng.integers(2))), constant=constants(rng, 1), **near(kind))


def top_k(rng):
    shape, kind = shape_of(rng, 1, 5, (1, 6)), pick(rng, "f4", "f8", "i8", "i4")
    axis = axis_of(rng, len(shape))
    x = np.asarray(rng.permutation(int(np.prod(shape)))).reshape(shape).astype(kind)
    return d.one_node("TopK", [x, np.array([int(rng.integers(0, shape[axis] + 1))], "i8")], 2, opset=pick(rng, 11, 24),
                      axis=axis, largest=perhaps(rng, int(rng.integers(2))), constant=constants(rng, 1))


def layer_norm(rng):
    shape, kind = shape_of(rng, 1, 5, (1, 5)), pick(rng, "f4", "f8")
    op = pick(rng, "LayerNormalization", "LpNormalization", "RMSNormalization")
    axis = axis_of(rng, len(shape))
    if op == "LpNormalization":
        return d.one_node(op, [some(rng, shape, kind)], opset=pick(rng, 1, 22), axis=axis, p=pick(rng, 1, 2),
                          rtol=1e-3, atol=1e-4)
    rest = shape[axis % len(shape):]
    inputs = [some(rng, shape, kind), some(rng, rest, kind)] + ([some(rng, rest, kind)] if op[0] == "L" else [])
    return d.one_node(op, inputs, opset=17 if op[0] == "L" else 23, axis=axis, epsilon=1e-2, rtol=1e-3, atol=1e-3)


# Elements that move

def transpose(rng):
    shape = shape_of(rng)
    return d.one_node("Transpose", [some(rng, shape, pick(rng, *MOVED))], opset=pick(rng, 1, 13, 21),
                      perm=perhaps(rng, [int(i) for i in rng.permutation(len(shape))], 0.8) or None, shapes=rng.random() < 0.5)


def reshape(rng):
    shape, opset = shape_of(rng), pick(rng, 5, 13, 14, 19)
    count = int(np.prod(shape))
    to, left = [], count
    for _ in range(int(rng.integers(0, 5))):
        fits = [n for n in (1, 2, 3, 4) if left and left % n == 0] or [1]
        to.append(pick(rng, *fits))
        left = left // to[-1] if left else 0
    to.append(left)
    given = {"allowzero": 1} if opset >= 14 and 0 in to else {}
    if rng.random() < 0.5 and count:
        to[int(rng.integers(len(to)))] = -1
    if opset < 14 and 0 in to:
        to = list(shape)
    return d.one_node("Reshape", [some(rng, shape, pick(rng, *MOVED)), np.array(to, "i8")], opset=opset,
                      constant=constants(rng, 1), **given)


def flatten(rng):
    shape = shape_of(rng)
    return d.one_node("Flatten", [some(rng, shape, pick(rng, *MOVED))], opset=pick(rng, 11, 13, 21),
                      axis=perhaps(rng, int(rng.integers(-len(shape), len(shape) + 1))))


def squeeze(rng):
    shape, opset = shape_of(rng, 0, 5), pick(rng, 11, 13, 21)
    if rng.random() < 0.5:
        axes = sorted({int(a) for a in rng.integers(0, len(shape) + 2, 2)})
        op, x = "Unsqueeze", some(rng, shape, pick(rng, *MOVED))
        rank = len(shape) + len(axes)
    else:
        shape = [pick(rng, 1, n) for n in shape]
        axes, rank = [i for i, n in enumerate(shape) if n == 1 and rng.random() < 0.7], len(shape)
        op, x = "Squeeze", some(rng, shape, pick(rng, *MOVED))
    axes = [a for a in axes if a < rank]
    axes = [a - rank if rng.random() < 0.4 else a for a in axes]
    if opset < 13:
        return d.one_node(op, [x], opset=opset, axes=axes or None)
    return d.one_node(op, [x] + ([np.array(axes, "i8")] if axes or op[0] == "U" else []), opset=opset,
                      constant=constants(rng, 1))


def expand(rng):
    shape = shape_of(rng)
    return d.one_node("Expand", [some(rng, one_of_shapes(rng, shape), pick(rng, *MOVED)),
                                 np.array(one_of_shapes(rng, shape), "i8")], opset=pick(rng, 8, 13),
                      constant=constants(rng, 1))


def tile(rng):
    shape = shape_of(rng, 0, 4)
    return d.one_node("Tile", [some(rng, shape, pick(rng, *MOVED)), rng.integers(0, 4, len(shape))], opset=pick(rng, 6, 13),
                      constant=constants(rng, 1))


def concat(rng):
    shape, kind = shape_of(rng, 1), pick(rng, *MOVED)
    axis = axis_of(rng, len(shape))
    parts = []
    for _ in range(int(rng.integers(1, 6))):
        shape[axis] = int(rng.integers(0, 4))
        parts.append(some(rng, shape, kind))
    return d.one_node("Concat", parts, opset=pick(rng, 4, 11, 13), axis=axis % len(shape))


def split(rng):
    shape, opset = shape_of(rng, 1), pick(rng, 2, 11, 13, 18)
    axis, parts = axis_of(rng, len(shape)), [int(n) for n in rng.integers(0, 4, int(rng.integers(1, 4)))]
    shape[axis] = sum(parts)
    x = some(rng, shape, pick(rng, "f4", "f8", "i8", "i4", "u1", "O"))
    axis = axis if opset >= 11 else axis % len(shape)
    if opset < 13:
        return d.one_node("Split", [x], len(parts), opset=opset, axis=axis, split=parts)
    if opset >= 18 and rng.random() < 0.4 and shape[axis] >= len(parts):
        return d.one_node("Split", [x], len(parts), opset=opset, axis=axis, num_outputs=len(parts))
    return d.one_node("Split", [x, np.array(parts, "i8")], len(parts), opset=opset, axis=axis, constant=constants(rng, 1))


def slice_of(rng):
    shape, opset = shape_of(rng, 1), pick(rng, 1, 10, 11, 13)
    axes = sorted({a % len(shape) for a in axes_of(rng, len(shape), 1)})
    starts, ends = ([int(n) for n in rng.integers(-6, 7, len(axes))] for _ in range(2))
    x = some(rng, shape, pick(rng, *MOVED))
    open_ended = [pick(rng, n, n, 2**31 - 1) for n in ends]
    if opset == 1:
        ends = open_ended
        return d.one_node("Slice", [x], opset=1, axes=axes, starts=starts, ends=ends)
    steps = perhaps(rng, np.array([pick(rng, 1, 2, -1, -2, 3) for _ in axes], "i8"))
    if steps is None or (steps > 0).all() or (len(axes) == 1 and -shape[axes[0]] <= starts[0]):
        ends = open_ended  # with others, each oracle violates the definition in another way
    inputs = [x, np.array(starts, "i8"), np.array(ends, "i8"), np.array(axes, "i8"), steps]
    return d.one_node("Slice", inputs if steps is not None else inputs[:4], opset=opset,
                      constant=constants(rng, 1, 2, 3, 4)[:len(inputs)], shapes=rng.random() < 0.6)


def gather(rng):
    shape, opset = shape_of(rng, 1, 4, (1, 4)), pick(rng, 11, 13)
    axis = axis_of(rng, len(shape))
    indices = rng.integers(-shape[axis], shape[axis], tuple(shape_of(rng, 0, 3))).astype(pick(rng, "i4", "i8"))
    return d.one_node("Gather", [some(rng, shape, pick(rng, *MOVED)), np.asarray(indices)], opset=opset, axis=axis,
                      constant=constants(rng, 1))


def gather_elements(rng):
    shape, opset = shape_of(rng, 1, 4, (1, 4)), pick(rng, 11, 13)
    axis = axis_of(rng, len(shape))
    of = [int(rng.integers(0, n + 1)) for n in shape]
    indices = np.asarray(rng.integers(-shape[axis], shape[axis], tuple(of))).astype(pick(rng, "i4", "i8"))
    if rng.random() < 0.5:
        return d.one_node("GatherElements", [some(rng, shape, pick(rng, *MOVED)), indices], opset=opset, axis=axis)
    # Without a reduction, every element is written at most once.
    op = pick(rng, "ScatterElements", "Scatter")
    kind, reduction_of = pick(rng, "f4", "f8", "i8", "i4"), None
    order = np.argsort(rng.random(tuple(shape)), axis=axis)
    indices = np.asarray(order[tuple(slice(n) for n in of)]).astype("i8")
    if op == "ScatterElements":
        opset = pick(rng, 11, 13, 16, 18)
        if opset >= 16:
            reduction_of = perhaps(rng, pick(rng, "none", "add", "mul", *(["max", "min"] if opset >= 18 else [])))
    return d.one_node(op, [some(rng, shape, kind), indices, some(rng, of, kind)], opset=9 if op == "Scatter" else opset,
                      axis=axis % len(shape) if op == "Scatter" else axis, reduction=reduction_of)


def gather_nd(rng):
    shape = shape_of(rng, 1, 4, (1, 4))
    batch = int(rng.integers(0, len(shape)))
    depth = int(rng.integers(1, len(shape) - batch + 1))
    outer = shape[:batch] + shape_of(rng, 0, 2)
    indices = np.stack([rng.integers(-n, n, tuple(outer)) for n in shape[batch:batch + depth]], -1)
    return d.one_node("GatherND", [some(rng, shape, pick(rng, *MOVED)), indices], opset=pick(rng, 12, 13),
                      batch_dims=batch)


def scatter_nd(rng):
    shape, opset = shape_of(rng, 1, 4, (1, 4)), pick(rng, 11, 13, 16, 18)
    depth = int(rng.integers(1, len(shape) + 1))
    places = int(np.prod(shape[:depth]))
    count = int(rng.integers(0, places + 1))
    flat = rng.permutation(places)[:count]
    indices = np.stack(np.unravel_index(flat, shape[:depth]), -1).reshape(count, depth).astype("i8")
    kind = pick(rng, "f4", "f8", "i8", "i4")
    of = perhaps(rng, pick(rng, "none", "add", "mul", *(["max", "min"] if opset >= 18 else []))) if opset >= 16 else None
    return d.one_node("ScatterND", [some(rng, shape, kind), indices, some(rng, [count] + shape[depth:], kind)],
                      opset=opset, reduction=of)


def pad(rng):
    shape, opset = shape_of(rng, 1, 5, (2, 4)), pick(rng, 11, 13, 18, 19)
    mode = pick(rng, "constant", "edge", "reflect", *(["wrap"] if opset >= 19 else []))
    least = min(min(shape) - 1, 1) if mode in ("reflect", "wrap") else 2
    pads = np.array([int(rng.integers(-1 if mode == "constant" else 0, least + 1)) for _ in range(2 * len(shape))], "i8")
    kind = pick(rng, "f4", "f8", "i8", "i4", "u1", "i1")
    fill = perhaps(rng, some(rng, (), kind)) if mode == "constant" else None
    return d.one_node("Pad", [some(rng, shape, kind), pads] + ([fill] if fill is not None else []), opset=opset, mode=mode,
                      constant=constants(rng, 1))


def blocks(rng):
    n, block = int(rng.integers(0, 3)), int(rng.integers(1, 4))
    c, h, w = (int(v) for v in rng.integers(1, 4, 3))
    if rng.random() < 0.5:
        return d.one_node("DepthToSpace", [some(rng, (n, c * block * block, h, w), pick(rng, "f4", "f8"))],
                          opset=pick(rng, 11, 13), blocksize=block, mode=perhaps(rng, pick(rng, "DCR", "CRD")))
    return d.one_node("SpaceToDepth", [some(rng, (n, c, h * block, w * block), pick(rng, "f4", "f8"))],
                      opset=pick(rng, 1, 13), blocksize=block)


def reverse_sequence(rng):
    shape = shape_of(rng, 2, 5, (1, 4))
    time = int(rng.integers(2))
    return d.one_node("ReverseSequence", [some(rng, shape, pick(rng, "f4", "f8", "i8", "O")),
                                          rng.integers(1, shape[time] + 1, shape[1 - time])], opset=10, time_axis=time,
                      batch_axis=1 - time)


def compress(rng):
    shape = shape_of(rng, 1, 4, (1, 4))
    axis = perhaps(rng, axis_of(rng, len(shape)), 0.7)
    most = int(np.prod(shape)) if axis is None else shape[axis]
    return d.one_node("Compress", [some(rng, shape, pick(rng, *MOVED)), some(rng, (int(rng.integers(0, most + 1)),), "?")],
                      opset=pick(rng, 9, 11), axis=axis if axis is None or axis >= 0 else axis % len(shape))


def one_hot(rng):
    shape, depth, kind = shape_of(rng, 0, 3), int(rng.integers(1, 6)), pick(rng, "f4", "i8", "i4")
    indices = some(rng, shape, pick(rng, "i8", "i4", "f4"), -depth, depth)
    return d.one_node("OneHot", [np.floor(indices) if indices.dtype.kind == "f" else indices, np.array(depth, "i8"),
                                 some(rng, (2,), kind)], opset=pick(rng, 9, 11),
                      axis=perhaps(rng, int(rng.integers(-len(shape) - 1, len(shape) + 1))))


def made_of_shapes(rng):
    op = pick(rng, "Shape", "Size", "EyeLike", "ConstantOfShape", "Range", "Trilu", "NonZero")
    shape = shape_of(rng)
    if op == "Shape":
        return d.one_node(op, [some(rng, shape, pick(rng, *MOVED))], opset=pick(rng, 15, 19, 21),
                          start=perhaps(rng, int(rng.integers(-7, 8))), end=perhaps(rng, int(rng.integers(-7, 8))))
    if op == "Size":
        return d.one_node(op, [some(rng, shape, pick(rng, *MOVED))], opset=pick(rng, 1, 13))
    if op == "EyeLike":
        return d.one_node(op, [some(rng, shape_of(rng, 2, 2), pick(rng, "f4", "f8", "i8"))], opset=9,
                          k=perhaps(rng, int(rng.integers(-3, 4))), dtype=perhaps(rng, pick(rng, 1, 7, 11)))
    if op == "ConstantOfShape":
        fill = onnx.numpy_helper.from_array(some(rng, (1,), pick(rng, "f4", "f8", "i8", "i4", "u1", "?")))
        return d.one_node(op, [np.array(shape, "i8")], opset=9, value=perhaps(rng, fill), constant=constants(rng, 0))
    if op == "Range":
        kind = pick(rng, "f4", "f8", "i8", "i4", "i2")
        start, limit = some(rng, (), kind), some(rng, (), kind)
        return d.one_node(op, [start, limit, np.array(pick(rng, 1, 2, 3, -1, -2), kind)], opset=11)
    if op == "Trilu":
        return d.one_node(op, [some(rng, shape_of(rng, 2), pick(rng, "f4", "f8", "i8"))]
                          + ([np.array(int(rng.integers(-4, 5)), "i8")] if rng.random() < 0.6 else []), opset=14,
                          upper=perhaps(rng, int(rng.integers(2))))
    return d.one_node(op, [some(rng, shape, pick(rng, "f4", "i8", "i4", "?", "u1"), -1, 2)], opset=pick(rng, 9, 13))


def center_crop_pad(rng):
    shape = shape_of(rng, 1, 4, (1, 5))
    axes = sorted({a % len(shape) for a in axes_of(rng, len(shape), 1)})
    whole = rng.random() < 0.3
    return d.one_node("CenterCropPad", [some(rng, shape, pick(rng, "f4", "f8", "i8")),
                                        rng.integers(0, 7, len(shape) if whole else len(axes))], opset=18,
                      axes=None if whole else axes)


def col2im(rng):
    n, c = (int(v) for v in rng.integers(1, 3, 2))
    block, stride, dilation = ([int(v) for v in rng.integers(1, 3, 2)] for _ in range(3))
    image = [int(rng.integers((b - 1) * e + 1, 7)) for b, e in zip(block, dilation)]
    columns = [(i - (b - 1) * e - 1) // s + 1 for i, b, e, s in zip(image, block, dilation, stride)]
    return d.one_node("Col2Im", [some(rng, (n, c * block[0] * block[1], columns[0] * columns[1]), "f4"),
                                 np.array(image, "i8"), np.array(block, "i8")], opset=18, strides=stride,
                      dilations=dilation, rtol=1e-4, atol=1e-4)


# Products

def matmul(rng):
    kind = pick(rng, "f4", "f4", "f8", "i8", "i4", "u4")
    batch = shape_of(rng, 0, 4)
    m, k, n = (int(v) for v in rng.integers(0 if rng.random() < 0.1 else 1, 6, 3))
    if rng.random() < 0.2:
        return d.one_node("MatMul", [some(rng, (k,), kind), some(rng, one_of_shapes(rng, batch) + [k, n], kind)],
                          opset=pick(rng, 9, 13), rtol=1e-4, atol=1e-4)
    a, b = one_of_shapes(rng, batch) + [m, k], one_of_shapes(rng, batch) + [k, n]
    b = [k] if rng.random() < 0.1 else b
    op = {"opset": pick(rng, 9, 13)}
    # onnxruntime does not broadcast the batches of FusedMatMul if a tensor is empty.
    if kind in ("f4", "f8") and len(a) > 1 and len(b) > 1 and 0 not in a + b and rng.random() < 0.3:
        op = {"opset": 1, "domain": MS, "alpha": perhaps(rng, 0.5), "transA": perhaps(rng, 0), "transB": perhaps(rng, 0)}
    return d.one_node("FusedMatMul" if "domain" in op else "MatMul", [some(rng, a, kind), some(rng, b, kind)],
                      constant=constants(rng, 1), rtol=1e-4, atol=1e-3, **op)


def gemm(rng):
    kind, (m, k, n) = pick(rng, "f4", "f4", "f8"), (int(v) for v in rng.integers(1, 7, 3))
    ta, tb = int(rng.integers(2)), int(rng.integers(2))
    c = pick(rng, (), (1,), (n,), (1, n), (m, 1), (m, n))
    inputs = [some(rng, (k, m) if ta else (m, k), kind), some(rng, (n, k) if tb else (k, n), kind),
              perhaps(rng, some(rng, c, kind), 0.7)]
    given = {"alpha": perhaps(rng, 0.5), "beta": perhaps(rng, 0.25), "transA": ta, "transB": tb, "rtol": 1e-4, "atol": 1e-3}
    inputs = inputs[:2] if inputs[2] is None else inputs
    if kind == "f4" and rng.random() < 0.2:
        return d.one_node("FusedGemm", inputs, opset=1, domain=MS, activation=pick(rng, "Relu", "Tanh", "Sigmoid"), **given)
    return d.one_node("Gemm", inputs, opset=pick(rng, 11, 13), constant=constants(rng, 1), **given)


def einsum(rng):
    sizes = {c: int(rng.integers(1, 4)) for c in "ijklm"}
    equation = pick(rng, "ij->ji", "ii->i", "ij->", "ij,jk->ik", "ij,ij->ij", "i,j->ij", "bij,bjk->bik", "ijk,kl->ijl",
                    "...ij,...jk->...ik", "ij,jk", "ij,jk,kl->il", "ijkl->jl", "...i->...", "ij,kj->ki", "i,i->", "iji->j")
    sizes["b"] = 2
    shapes = []
    for part in equation.split("->")[0].split(","):
        shapes.append([n for c in part.replace("...", "x") for n in ([2, 3] if c == "x" else [sizes[c]])])
    kind = pick(rng, "f4", "f8", "i8", "i4")
    return d.one_node("Einsum", [some(rng, s, kind) for s in shapes], opset=12, equation=equation, rtol=1e-4, atol=1e-3)


def det(rng):
    n = int(rng.integers(1, 5))
    return d.one_node("Det", [some(rng, shape_of(rng, 0, 2) + [n, n], "f4", -2, 2)], opset=pick(rng, 11, 22), rtol=1e-3,
                      atol=1e-3)


# Windows, losses, boxes

def pool(rng):
    axes = int(rng.integers(1, 4))
    op = pick(rng, "MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
    shape = [int(v) for v in rng.integers(1, 4, 2)] + [int(v) for v in rng.integers(4, 9, axes)]
    kind = "f4" if op != "MaxPool" else pick(rng, "f4", "f8", "u1", "i1")
    if op.startswith("Global"):
        return d.one_node(op, [some(rng, shape, kind)], opset=pick(rng, 2, 22) if "Lp" in op else pick(rng, 1, 22),
                          rtol=1e-4, atol=1e-4, p=pick(rng, 1, 2) if "Lp" in op else None)
    kernel = [int(v) for v in rng.integers(1, 4, axes)]
    given = {"kernel_shape": kernel, "strides": perhaps(rng, [int(v) for v in rng.integers(1, 4, axes)])}
    if rng.random() < 0.6:
        given["pads"] = [int(rng.integers(0, k)) for k in kernel + kernel]
    elif op != "LpPool":
        given["auto_pad"] = pick(rng, "SAME_UPPER", "SAME_LOWER", "VALID")
    opset = {"MaxPool": pick(rng, 12, 22), "AveragePool": pick(rng, 11, 19), "LpPool": pick(rng, 11, 18)}[op]
    if op == "MaxPool" and "auto_pad" not in given:  # with both, the oracles' output sizes differ
        given["dilations"] = perhaps(rng, [int(v) for v in rng.integers(1, 3, axes)], 0.3)
    if op == "AveragePool":
        given["count_include_pad"] = perhaps(rng, int(rng.integers(2)))
    if op != "LpPool" and "auto_pad" not in given:
        given["ceil_mode"] = perhaps(rng, int(rng.integers(2)), 0.3)
    return d.one_node(op, [some(rng, shape, kind)], 2 if op == "MaxPool" and rng.random() < 0.4 and kind == "f4" else 1,
                      opset=opset, rtol=1e-4, atol=1e-4, **given)


def loss(rng):
    n, classes, rest = int(rng.integers(1, 4)), int(rng.integers(1, 5)), shape_of(rng, 0, 2, (1, 3))
    kind, ignored = pick(rng, "f4", "f8"), perhaps(rng, int(rng.integers(0, classes)), 0.3)
    x, labels = some(rng, [n, classes] + rest, kind), rng.integers(0, classes, tuple([n] + rest)).astype(pick(rng, "i8", "i4"))
    weights = perhaps(rng, some(rng, (classes,), kind, 0.1, 2))
    inputs = [x, labels] + ([weights] if weights is not None else [])
    given = {"reduction": perhaps(rng, pick(rng, "none", "mean", "sum")), "ignore_index": ignored, "rtol": 1e-3, "atol": 1e-4}
    if ignored is not None and (labels == ignored).all():
        labels[...] = (ignored + 1) % classes
    if rng.random() < 0.5:
        return d.one_node("NegativeLogLikelihoodLoss", inputs, opset=pick(rng, 12, 13), **given)
    return d.one_node("SoftmaxCrossEntropyLoss", inputs, int(rng.integers(1, 3)), opset=pick(rng, 12, 13), **given)


def boxes(rng):
    batches, classes, count = int(rng.integers(1, 3)), int(rng.integers(1, 3)), int(rng.integers(1, 9))
    corners = rng.uniform(0, 1, (batches, count, 4)).astype("f4")
    scores = rng.permutation(batches * classes * count).reshape(batches, classes, count).astype("f4") / 100
    inputs = [corners, scores, np.array([int(rng.integers(0, count + 1))], "i8"), np.array([rng.uniform(0, 1)], "f4"),
              np.array([rng.uniform(0, 0.2)], "f4")]
    return d.one_node("NonMaxSuppression", inputs[:int(rng.integers(3, 6))], opset=pick(rng, 10, 11),
                      center_point_box=perhaps(rng, int(rng.integers(2))))


def roi_align(rng):
    n, c, h, w = (int(v) for v in rng.integers(1, 6, 4))
    count, opset = int(rng.integers(0, 4)), pick(rng, 10, 16, 22)
    low = rng.uniform(0, 4, (count, 2))
    regions = np.concatenate([low, low + rng.uniform(0.5, 4, (count, 2))], 1).astype("f4")
    return d.one_node("RoiAlign", [some(rng, (n, c, h, w), "f4"), regions, rng.integers(0, n, count)], opset=opset,
                      output_height=int(rng.integers(1, 4)), output_width=int(rng.integers(1, 4)),
                      sampling_ratio=int(rng.integers(0, 3)), spatial_scale=perhaps(rng, 0.5),
                      mode=perhaps(rng, pick(rng, "avg", "max")), rtol=1e-3, atol=1e-4,
                      coordinate_transformation_mode=perhaps(rng, pick(rng, "half_pixel", "output_half_pixel"))
                      if opset >= 16 else None)


def deform_conv(rng):
    n, group, offset_group = (int(v) for v in rng.integers(1, 3, 3))
    inner, outer = group * offset_group * int(rng.integers(1, 3)), group * int(rng.integers(1, 3))
    kernel = [int(v) for v in rng.integers(1, 3, 2)]
    size = [int(v) for v in rng.integers(3, 6, 2)]
    out = [s - k + 1 for s, k in zip(size, kernel)]
    taps = kernel[0] * kernel[1]
    return d.one_node("DeformConv", [some(rng, [n, inner] + size, "f4"), some(rng, [outer, inner // group] + kernel, "f4", -1, 1),
                                     some(rng, [n, offset_group * taps * 2] + out, "f4", -1, 1),
                                     perhaps(rng, some(rng, (outer,), "f4")),
                                     some(rng, [n, offset_group * taps] + out, "f4", 0, 1)], opset=pick(rng, 19, 22),
                      kernel_shape=kernel, group=group, offset_group=offset_group, pads=[0, 0, 0, 0], rtol=1e-3, atol=1e-3)


# Texts

def text(rng):
    op, shape = pick(rng, "StringConcat", "StringSplit", "RegexFullMatch", "StringNormalizer"), shape_of(rng, 0, 3)
    if op == "StringConcat":
        a, b = two_that_broadcast(rng, 4)
        return d.one_node(op, [some(rng, a, "O"), some(rng, b, "O")], opset=20)
    if op == "StringSplit":
        shape = shape or [2]  # the reference evaluator, which may have to decide, rejects scalars
        words = np.array(["a b", "", "a,b,,c", " x  y ", "one"], object)
        return d.one_node(op, [np.asarray(words[rng.integers(0, 5, tuple(shape))], object).reshape(tuple(shape))], 2, opset=20,
                          delimiter=perhaps(rng, pick(rng, ",", " ", "b")), maxsplit=perhaps(rng, int(rng.integers(0, 3))))
    if op == "RegexFullMatch":
        return d.one_node(op, [some(rng, shape, "O")], opset=20, pattern=pick(rng, "a.*", "[a-z]+", "", "(ab|zz)", ".*ü.*"))
    words = np.array(["Monday", "monday", "tuesday", "Ä", ""], object)
    return d.one_node(op, [np.asarray(words[rng.integers(0, 5, int(rng.integers(1, 6)))], object)], opset=10,
                      case_change_action=perhaps(rng, pick(rng, "LOWER", "UPPER", "NONE")),
                      is_case_sensitive=perhaps(rng, int(rng.integers(2))),
                      stopwords=perhaps(rng, ["monday", "Ä"]))


FAMILIES = {
    "Unary": (unary, 3000), "Binary": (binary, 3000), "Variadic": (variadic, 500), "Where": (where, 300), "Clip": (clip, 200),
    "CastLike": (cast_like, 200), "SwiGLU": (swiglu, 100), "Reduce": (reduction, 2000), "ArgExtreme": (arg_extreme, 400), "Softmax": (softmax, 500),
    "Cumulative": (cumulative, 300), "TopK": (top_k, 300), "LayerNorm": (layer_norm, 300), "Transpose": (transpose, 400),
    "Reshape": (reshape, 300), "Flatten": (flatten, 150), "Squeeze": (squeeze, 300), "Expand": (expand, 200),
    "Tile": (tile, 200), "Concat": (concat, 300), "Split": (split, 300), "Slice": (slice_of, 600), "Gather": (gather, 400),
    "Elements": (gather_elements, 500), "GatherND": (gather_nd, 300), "ScatterND": (scatter_nd, 300), "Pad": (pad, 400),
    "Blocks": (blocks, 150), "ReverseSequence": (reverse_sequence, 100), "Compress": (compress, 200), "OneHot": (one_hot, 200),
    "OfShapes": (made_of_shapes, 500), "CenterCropPad": (center_crop_pad, 100), "Col2Im": (col2im, 100),
    "MatMul": (matmul, 600), "Gemm": (gemm, 400), "Einsum": (einsum, 300), "Det": (det, 80), "Pool": (pool, 500),
    "Loss": (loss, 300), "Boxes": (boxes, 150), "RoiAlign": (roi_align, 200), "DeformConv": (deform_conv, 100),
    "Text": (text, 300),
}

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES))
