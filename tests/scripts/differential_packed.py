#!/usr/bin/env python3
"""Operators of com.microsoft with weights of a few bits (MatMulNBits, GatherBlockQuantized, DynamicQuantizeLSTM), and
the convolutions that onnxruntime's optimizer writes: FusedConv, and those of com.microsoft.nchwc with the nodes around
them. The reference is onnxruntime, or the definition in numpy where onnxruntime has no kernel.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("program", "scripts")]
import differential as d  # noqa: E402
import image_operators as images  # noqa: E402
import ort_judge  # noqa: E402
from differential_contrib import packed  # noqa: E402
from differential_recurrent import ACTIVATIONS, TAKES_ALPHA, TAKES_BETA  # noqa: E402
from image_operators import MICROSOFT, maybe, numbers, pick, sizes, trimmed, zero_point  # noqa: E402


def near(kind):
    """The tolerances for results of about 1."""
    return {"f4": (1e-3, 1e-4), "f2": (1e-2, 1e-2)}.get(kind, (3e-2, 3e-2))


def matmul_nbits(rng):
    """Zero points are packed like the quantized values, or have A's type; K may end within a block."""
    bits, block = pick(rng, 2, 4, 4, 8), pick(rng, 16, 32, 64, 128)
    k, n = int(rng.integers(1, 3 * block)), int(rng.integers(1, 40))
    if rng.random() < 0.4:
        k = block * int(rng.integers(1, 4))
    blocks, kind = -(-k // block), pick(rng, "f4", "f4", "f4", "f2", ml_dtypes.bfloat16)
    a = (rng.standard_normal([*sizes(rng, int(rng.integers(0, 3)), 1, 4), k]) / np.sqrt(k)).astype(kind)
    codes = rng.integers(0, 2**bits, (n, blocks, block))
    scales = (rng.uniform(0.2, 2, (n, blocks)) / 2**bits).astype(kind)
    zeros = rng.integers(0, 2**bits, (n, blocks))
    how = pick(rng, "none", "packed", "packed", "floats")
    told = {"none": None, "packed": packed(zeros, bits), "floats": zeros.astype(kind)}[how]
    if how == "none":
        zeros[...] = 2**(bits - 1)
    order = rng.permutation(np.arange(k) // block).astype("i4") if rng.random() < 0.2 else None
    bias, level = maybe(rng, numbers(rng, [n], kind)), maybe(rng, int(rng.integers(0, 5)))
    of = np.repeat(np.arange(blocks), block)[:k] if order is None else order
    b = (codes.reshape(n, -1)[:, :k] - zeros[:, of]) * scales.astype("f8")[:, of]

    def oracle():
        y = a.astype("f8") @ b.T + (0 if bias is None else bias.astype("f8"))
        return {"out_0": y.astype(kind)}

    rtol, atol = near(kind)
    if level == 4:  # both may round A to 254 levels per block, each in a different way
        atol += float(np.abs(a.astype("f8")).max() / 127 * np.abs(b).sum(1).max())
    flat = rng.random() < 0.5  # scales and packed zero points have rank 1
    inputs = [a, packed(codes, bits).reshape(n, blocks, -1), scales.ravel() if flat else scales,
              told.ravel() if told is not None and flat else told, order, bias]
    return d.one_node("MatMulNBits", trimmed(inputs), K=k, N=n, bits=bits, block_size=block, accuracy_level=level,
                      constant=(1, 2, 3, 4, 5) if rng.random() < 0.6 else (), oracle=oracle, rtol=rtol, atol=atol,
                      **MICROSOFT)


def gather_block_quantized(rng):
    """Indices into uint8 data of 2, 4 or 8 bits, int4 and uint4, and float8, which has no zero points."""
    form = pick(rng, "u1", "u1", ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
    floats = form in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
    block, bits = pick(rng, 16, 32), pick(rng, 2, 4, 8) if form == "u1" else 8 if floats else 4
    shape = sizes(rng, int(rng.integers(2, 4)), 1, 6)
    quantize_axis = len(shape) - 1 if form == "u1" else int(rng.integers(len(shape)))
    gather_axis = 0 if form == "u1" else pick(rng, *[a for a in range(len(shape)) if a != quantize_axis or floats])
    shape[quantize_axis] = pick(rng, block, 2 * block, 3 * block)
    low, high = (-8, 8) if form == ml_dtypes.int4 else (0, 2**bits)
    kind = pick(rng, "f4", "f4", "f2")
    of = [s // block if i == quantize_axis else s for i, s in enumerate(shape)]
    codes, zeros = rng.integers(low, high, shape), rng.integers(low, high, of)
    if floats:
        codes = rng.standard_normal(shape).astype(form).astype("f8")
    scales = rng.uniform(0.01, 0.1, of).astype(kind)
    indices = rng.integers(-shape[gather_axis], shape[gather_axis], sizes(rng, int(rng.integers(0, 3)), 1, 4))
    with_zeros = not floats and rng.random() < 0.5
    if not with_zeros:
        zeros = np.full(of, 2**(bits - 1) if form == "u1" else 0)
    stored = (lambda v: packed(v, bits)) if form == "u1" else (lambda v: v.astype(form))

    def oracle():
        wide = (codes - zeros.repeat(block, quantize_axis)) * scales.astype("f8").repeat(block, quantize_axis)
        return {"out_0": np.asarray(np.take(wide, indices, gather_axis)).astype(kind)}

    return d.one_node("GatherBlockQuantized", [stored(codes), np.asarray(indices).astype(pick(rng, "i4", "i8")), scales]
                      + ([stored(zeros)] if with_zeros else []), constant=(0, 2, 3), block_size=block,
                      bits=bits if form == "u1" else None, quantize_axis=quantize_axis - pick(rng, 0, len(shape)),
                      gather_axis=gather_axis - pick(rng, 0, len(shape)), oracle=oracle, rtol=1e-3, atol=1e-3, **MICROSOFT)


def dynamic_quantize_lstm(rng):
    direction = pick(rng, "forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    length, batch, inputs, hidden = (int(rng.integers(1, n)) for n in (7, 5, 9, 9))
    kind, by_column = pick(rng, np.uint8, np.int8), rng.random() < 0.4

    def of(*shape):
        return rng.uniform(-1, 1, (directions, *shape)).astype("f4")

    def codes(rows):  # see `weights` in image_operators
        made = rng.integers(*(np.iinfo(kind).min, np.iinfo(kind).max + 1), (directions, rows, 4 * hidden)).astype(kind)
        return made if images.HAS_VNNI or kind == np.uint8 else made >> 1

    shape = (directions, 4 * hidden) if by_column else (directions,)
    names = [pick(rng, *[a for a in ACTIVATIONS if a != "Softplus"]) for _ in range(3 * directions)] \
        if rng.random() < 0.3 else None
    parameters = {key: [float(rng.uniform(0.1, 1.2)) for name in names or [] if name in takes] or None
                  for key, takes in (("activation_alpha", TAKES_ALPHA), ("activation_beta", TAKES_BETA))}
    x = [of(batch, inputs)[:1].repeat(length, 0) * rng.uniform(0.5, 1, (length, 1, 1)).astype("f4"), codes(inputs),
         codes(hidden), maybe(rng, of(8 * hidden)), maybe(rng, rng.integers(1, length + 1, batch).astype("i4")),
         maybe(rng, of(batch, hidden)), maybe(rng, of(batch, hidden)), maybe(rng, of(3 * hidden)),
         rng.uniform(0.001, 0.01, shape).astype("f4"), zero_point(rng, kind, shape),
         rng.uniform(0.001, 0.01, shape).astype("f4"), zero_point(rng, kind, shape)]
    if kind == np.int8 or by_column:  # onnxruntime requires zero points of 0
        x[9], x[11] = np.zeros(shape, kind), np.zeros(shape, kind)
    # A step of the rounded state is 1/255 of its range, and a state near the middle of two steps may round to either.
    return d.one_node("DynamicQuantizeLSTM", x, ["y", "h", "c"], hidden_size=hidden, direction=direction,
                      clip=maybe(rng, float(rng.uniform(0.3, 2)), 0.3), activations=names, **parameters,
                      input_forget=maybe(rng, int(rng.integers(2)), 0.3), constant=(1, 2, 8, 9, 10, 11), rtol=2e-2,
                      atol=2e-2, **MICROSOFT)


def fused_conv(rng):
    """A convolution with an addend (Z) and an activation."""
    each = images.conv(rng)
    node = each.model.graph.node[0]
    name = pick(rng, "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid", None)
    parameters = {"LeakyRelu": [0.1], "Clip": [-0.5, 1.5], "HardSigmoid": [0.3, 0.4]}.get(name)
    node.op_type, node.domain = "FusedConv", "com.microsoft"
    if name:
        node.attribute.append(helper.make_attribute("activation", name))
    if parameters:
        node.attribute.append(helper.make_attribute("activation_params", parameters))
    if rng.random() < 0.4:
        plain = onnx.ModelProto()
        plain.CopyFrom(each.model)
        plain.graph.node[0].op_type, plain.graph.node[0].domain = "Conv", ""
        del plain.graph.node[0].attribute[len(node.attribute) - bool(name) - bool(parameters):]
        who, told = d.answers(d.case(plain, each.feeds))
        if who == "onnxruntime":
            each.feeds["z"] = numbers(rng, told["out_0"].shape)
            each.model.graph.input.append(helper.make_value_info("z", d.type_of(each.feeds["z"])))
            node.input.extend([""] * (3 - len(node.input)) + ["z"])
    each.model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return each


def blocked(rng):
    """Some nodes around convolutions in the layout NCHWc, as onnxruntime's optimizer writes them."""
    width = 16 * int(rng.integers(1, 3))
    x = numbers(rng, [int(rng.integers(1, 3)), pick(rng, 3, width), *sizes(rng, 2, 6, 11)])
    nodes, fixed, channels, last = [], [], x.shape[1], "x"

    def add(op, *more, **attributes):
        nonlocal last
        nodes.append(helper.make_node(op, [last, *more], [f"v{len(nodes)}"], **attributes))
        last = nodes[-1].output[0]

    def weights(*shape):
        made = numbers(rng, shape) / np.float32(np.sqrt(np.prod(shape[1:])))
        fixed.append(numpy_helper.from_array(made, f"w{len(fixed)}"))
        return fixed[-1].name

    for i in range(int(rng.integers(1, 5))):
        act = pick(rng, "Conv", "MaxPool", "AveragePool", "Resize", "Relu") if i else "Conv"
        if act == "Conv":
            taps, depthwise, to = pick(rng, 1, 3), channels % 16 == 0 and rng.random() < 0.3, 16 * int(rng.integers(1, 3))
            to = channels if depthwise else to
            bias = [weights(to)] if rng.random() < 0.6 else []
            add("Conv", weights(to, 1 if depthwise else channels, taps, taps), *bias, group=channels if depthwise else 1,
                pads=[taps // 2] * 4, strides=[pick(rng, 1, 1, 2)] * 2)
            channels = to
        elif act == "Relu":
            add("Relu")
        elif act == "Resize":
            fixed.append(numpy_helper.from_array(np.array([1, 1, 2, 2], "f4"), f"w{len(fixed)}"))
            add("Resize", "", fixed[-1].name, mode=pick(rng, "nearest", "linear"), nearest_mode="floor",
                coordinate_transformation_mode="asymmetric")
        else:
            add(act, kernel_shape=[2, 2], strides=[pick(rng, 1, 2)] * 2, pads=pick(rng, [0] * 4, [1] * 4),
                **({"count_include_pad": int(rng.integers(2))} if act == "AveragePool" else {}))
    if rng.random() < 0.3:
        add(pick(rng, "GlobalAveragePool", "GlobalMaxPool"))
    graph = helper.make_graph(nodes, "blocked", [helper.make_value_info("x", d.type_of(x))],
                              [helper.make_tensor_value_info(last, 1, None)], fixed)
    plain = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with tempfile.TemporaryDirectory() as folder:
        options = ort_judge.ort_options("all")
        options.optimized_model_filepath = f"{folder}/optimized.onnx"
        ort_judge.ort.InferenceSession(plain.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return d.case(onnx.load(options.optimized_model_filepath), {"x": x}, rtol=1e-3, atol=1e-4)


FAMILIES = {
    "MatMulNBits": (matmul_nbits, 600), "GatherBlockQuantized": (gather_block_quantized, 300),
    "DynamicQuantizeLSTM": (dynamic_quantize_lstm, 300), "FusedConv": (fused_conv, 300), "Blocked": (blocked, 300),
}

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES))
