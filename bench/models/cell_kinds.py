"""Prints which share of the constant weights of quantized models the AVX2 kernels multiply by which instructions.

Usage: cell_kinds.py MODEL.onnx...

A cell is four consecutive rows of one column, the operands of one dot product of bytes. The kinds of cells are those of
`cell_kind` in eps/cpu/src/microkernels/integer_loops.hpp, determined for panels of 16 columns. `16 bits` counts weights
of sums that are too short for the rows to be sorted by kind, which are stored as 16-bit integers; `single` counts
weights of depthwise and grouped convolutions. Models may have convolutions and products with QuantizeLinear and
DequantizeLinear, and MatMulInteger.
"""
import collections
import sys

import numpy as np
import onnx
from onnx import numpy_helper

COLUMNS, ENOUGH, MOST = 16, 384, 128
ORDERS = ([0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2])
KINDS = ("joined", "narrow", "turned", "wide", "16 bits", "single")


def pairs_fit(cells):
    """Returns [cells, panels] for weights [cells, 4, columns]: True if no sum of two products can exceed 16 bits."""
    fits = True
    for sign in (1, -1):
        pairs = np.maximum(sign * cells, 0).reshape(len(cells), 2, 2, -1).sum(2)
        fits = fits & (pairs <= MOST).all(1)
    return fits.reshape(len(cells), -1, COLUMNS).all(2)


def kinds_of(w):
    """Returns the number of weights of each kind, for weights [depth, columns]."""
    if w.shape[0] < ENOUGH:
        return {"16 bits": w.size}
    cells = np.pad(w, ((0, -w.shape[0] % 4), (0, -w.shape[1] % COLUMNS))).reshape(-1, 4, -(-w.shape[1] // COLUMNS) * COLUMNS)
    narrow, *turned = (pairs_fit(cells[:, order]) for order in ORDERS)
    even = len(cells) // 2 * 2
    first, second = cells[0:even:2], cells[1:even:2]
    both = True
    for sign in (1, -1):
        sums = np.maximum(sign * first, 0) + np.maximum(sign * second, 0)
        both = both & (sums.reshape(len(first), 2, 2, -1).sum(2) <= MOST).all(1)
    joined = np.zeros_like(narrow)
    joined[0:even:2] = joined[1:even:2] = both.reshape(len(first), -1, COLUMNS).all(2)
    other = turned[0] | turned[1]
    shares = {"joined": joined, "narrow": narrow & ~joined, "turned": ~narrow & other, "wide": ~narrow & ~other}
    return {kind: share.mean() * w.size for kind, share in shares.items()}


def weights(model):
    """Yields the constant factors of a model as [depth, columns] (None for grouped convolutions), and their sizes."""
    constants = {i.name: i for i in model.graph.initializer}
    made_by = {o: n for n in model.graph.node for o in n.output}
    for node in model.graph.node:
        name = node.input[1] if len(node.input) > 1 else ""
        source = made_by.get(name)
        if source is not None and source.op_type == "DequantizeLinear":
            name = source.input[0]
        if node.op_type not in ("Conv", "MatMul", "Gemm", "MatMulInteger") or name not in constants:
            continue
        w = numpy_helper.to_array(constants[name]).astype(int)
        if node.op_type == "MatMulInteger" and len(node.input) > 3:
            w = w - numpy_helper.to_array(constants[node.input[3]]).astype(int)
        attributes = {a.name: a.i for a in node.attribute}
        if node.op_type == "Conv":
            single = attributes.get("group", 1) > 1
            pixels = w.transpose(*range(2, w.ndim), 1, 0)  # channels are consecutive, as in the kernels' images
            yield (None, w.size) if single else (pixels.reshape(-1, len(w)), w.size)
        elif abs(w).max() <= 128:
            yield (w.T if attributes.get("transB") else w), w.size


print("| model |", " | ".join(KINDS), "|\n| --- |" + " ---: |" * len(KINDS))
for file in sys.argv[1:]:
    total = collections.Counter()
    for w, size in weights(onnx.load(file)):
        total.update({"single": size} if w is None else kinds_of(w))
    print(f"| {file} |", " | ".join(f"{100 * total[kind] / total.total():.1f} %" for kind in KINDS), "|")
