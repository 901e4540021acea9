"""How AVX2 multiplies the constant weights of quantised models: the share of each kind of cells.

Usage: cell_kinds.py MODEL.onnx...

Kinds are those of eps/cpu/src/microkernels/integer_cells.hpp, for panels of 16 columns; `16 bits` are weights of sums that are
too short to be sorted (integer_factor.cpp), `single` those of filters of single channels. Models have QDQ convolutions
and products, or MatMulInteger.
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
    """Of [cells, 4, columns]: which panels' cells, [cells, panels], have no pair that leaves 16 bits."""
    fits = True
    for sign in (1, -1):
        pairs = np.maximum(sign * cells, 0).reshape(len(cells), 2, 2, -1).sum(2)
        fits = fits & (pairs <= MOST).all(1)
    return fits.reshape(len(cells), -1, COLUMNS).all(2)


def kinds_of(w):
    """Of weights [depth, columns]: how many are of each kind."""
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
    """Each constant factor: [depth, columns], or None and the number of weights for filters of single channels."""
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
            pixels = w.transpose(*range(2, w.ndim), 1, 0)  # channels side by side, as images have them
            yield (None, w.size) if single else (pixels.reshape(-1, len(w)), w.size)
        elif abs(w).max() <= 128:
            yield (w.T if attributes.get("transB") else w), w.size


print("| model |", " | ".join(KINDS), "|\n| --- |" + " ---: |" * len(KINDS))
for file in sys.argv[1:]:
    total = collections.Counter()
    for w, size in weights(onnx.load(file)):
        total.update({"single": size} if w is None else kinds_of(w))
    print(f"| {file} |", " | ".join(f"{100 * total[kind] / total.total():.1f} %" for kind in KINDS), "|")
