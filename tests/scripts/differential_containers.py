#!/usr/bin/env python3
"""Sequences, optionals, and operators with bodies (If, Loop, Scan, SequenceMap), against onnxruntime.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("program", "scripts")]
import differential as d  # noqa: E402
from differential_standard import MOVED, axis_of, perhaps, pick, shape_of, some  # noqa: E402


# Sequences

def graph_case(nodes, feeds, outputs, opset):
    infos = [helper.make_value_info(n, d.type_of(v)) for n, v in feeds.items()]
    graph = helper.make_graph(nodes, "several", infos, [onnx.ValueInfoProto(name=o) for o in outputs])
    return d.case(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), feeds)


def body(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name, inputs, outputs)


def sequence(rng):
    shape, kind, n = shape_of(rng, 1, 3), pick(rng, "f4", "i8", "f8"), int(rng.integers(1, 4))
    feeds = {f"x{i}": some(rng, shape, kind) for i in range(n)}
    nodes = [helper.make_node("SequenceConstruct", list(feeds), ["s"])]
    at = np.array(int(rng.integers(-n, n)), "i8")
    act = pick(rng, "SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength", "ConcatFromSequence")
    outputs = ["y"]
    if act in ("SequenceAt", "SequenceErase"):
        feeds["at"] = at
        nodes.append(helper.make_node(act, ["s", "at"], ["y"]))
        if act == "SequenceErase":
            if n == 1:
                feeds["x9"] = some(rng, shape, kind)
                nodes[0].input.append("x9")
    elif act == "SequenceInsert":
        feeds["more"], feeds["at"] = some(rng, shape, kind), at
        nodes.append(helper.make_node(act, ["s", "more", "at"], ["y"]))
    elif act == "SequenceLength":
        nodes.append(helper.make_node(act, ["s"], ["y"]))
    else:
        new = int(rng.integers(2))
        nodes.append(helper.make_node(act, ["s"], ["y"], axis=axis_of(rng, len(shape) + new), new_axis=new))
    return graph_case(nodes, feeds, outputs, pick(rng, 11, 13, 17))


def split_to_sequence(rng):
    shape = shape_of(rng, 1, 4, (1, 5))
    axis = axis_of(rng, len(shape))
    cut = int(rng.integers(1, shape[axis] + 1))
    whole = [None, np.array(cut, "i8"), np.array([cut, shape[axis] - cut], "i8")][int(rng.integers(3))]
    return d.one_node("SplitToSequence", [some(rng, shape, pick(rng, "f4", "i8", "i4", "f8"))] + ([whole] if whole is not None else []),
                      opset=pick(rng, 11, 24), axis=axis, keepdims=perhaps(rng, int(rng.integers(2))))


def sequence_empty(rng):
    """An empty sequence whose length is taken, or into which one or two tensors are inserted."""
    kind, shape = pick(rng, *MOVED), shape_of(rng, 1, 4)
    left_out = kind == "f4" and rng.random() < 0.5  # float is the default
    given = {} if left_out else {"dtype": d.element_type(some(rng, shape, kind))}
    nodes, feeds = [helper.make_node("SequenceEmpty", [], ["s0"], **given)], {}
    for i in range(int(rng.integers(0, 3))):
        feeds[f"x{i}"] = some(rng, shape, kind)
        nodes.append(helper.make_node("SequenceInsert", [f"s{i}", f"x{i}"], [f"s{i + 1}"]))
    nodes.append(helper.make_node("SequenceLength", [f"s{len(feeds)}"], ["n"]))
    outputs = ["n"]
    if feeds:
        new = int(rng.integers(2))
        nodes.append(helper.make_node("ConcatFromSequence", [f"s{len(feeds)}"], ["y"], axis=axis_of(rng, len(shape) + new),
                                      new_axis=new))
        outputs.append("y")
    return graph_case(nodes, feeds, outputs, pick(rng, 11, 13, 17))


def sequence_map(rng):
    """SequenceMap over a sequence, with a tensor or a second sequence as another input; one or two outputs."""
    info, number = helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    count, rank = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    shapes = [[int(n) for n in rng.integers(1, 4, rank)] for _ in range(count)]
    feeds = {"s": [some(rng, shape, "f4") for shape in shapes]}
    nodes, inputs, outputs = [helper.make_node("Neg", ["e"], ["a"])], [info("e", number, [None] * rank)], ["a"]
    beside = pick(rng, None, "tensor", "sequence")
    if beside:
        feeds["t"] = some(rng, (), "f4") if beside == "tensor" else [some(rng, shape, "f4") for shape in shapes]
        inputs.append(info("f", number, [] if beside == "tensor" else [None] * rank))
        nodes.append(helper.make_node(pick(rng, "Add", "Mul", "Sub"), ["a", "f"], ["b"]))
        outputs = pick(rng, ["b"], ["a", "b"])
    inner = body("each", nodes, inputs, [info(o, number, [None] * rank) for o in outputs])
    names = [f"y_{o}" for o in outputs]
    return graph_case([helper.make_node("SequenceMap", list(feeds), names, body=inner)], feeds, names, pick(rng, 17, 21))


# Optionals

def optional(rng):
    """An optional with a tensor, a sequence or nothing: whether it has an element, and which."""
    kind, opset = pick(rng, *MOVED), pick(rng, 15, 18, 21)
    x = some(rng, shape_of(rng, 1, 4), kind)
    if rng.random() < 0.25:
        of = helper.make_tensor_type_proto(d.element_type(x), None)
        of = helper.make_sequence_type_proto(of) if rng.random() < 0.5 else of
        return graph_case([helper.make_node("Optional", [], ["o"], type=of),
                           helper.make_node("OptionalHasElement", ["o"], ["has"])], {}, ["has"], opset)
    feeds, held = {"x": x}, "x"
    nodes = []
    if rng.random() < 0.4:
        nodes.append(helper.make_node("SequenceConstruct", ["x", "x"], ["s"]))
        held = "s"
    nodes += [helper.make_node("Optional", [held], ["o"]), helper.make_node("OptionalHasElement", ["o"], ["has"]),
              helper.make_node("OptionalGetElement", ["o"], ["y"])]
    return graph_case(nodes, feeds, ["has", "y"], opset)


def optional_of_nothing(rng):
    """From opset 18 on, OptionalHasElement and OptionalGetElement also take tensors and sequences, or no input."""
    x = some(rng, shape_of(rng, 0, 4), pick(rng, *MOVED))
    form = pick(rng, "tensor", "sequence", "nothing")
    if form == "nothing":
        return graph_case([helper.make_node("OptionalHasElement", pick(rng, [], [""]), ["has"])], {}, ["has"], pick(rng, 18, 21))
    feeds = {"x": x if form == "tensor" else [x, x]}
    return graph_case([helper.make_node("OptionalHasElement", ["x"], ["has"]),
                       helper.make_node("OptionalGetElement", ["x"], ["y"])], feeds, ["has", "y"], pick(rng, 18, 21))


# Bodies

def control(rng):
    info, F = helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    shape = shape_of(rng, 1, 3)
    x, op = some(rng, shape, "f4", -2, 2), pick(rng, "If", "Loop", "Scan")
    if op == "If":
        parts = [body(b, [helper.make_node(o, ["x"], [b + "_y"])], [], [info(b + "_y", F, None)])
                 for b, o in (("yes", "Neg"), ("no", "Exp"))]
        return graph_case([helper.make_node("If", ["c"], ["y"], then_branch=parts[0], else_branch=parts[1])],
                          {"x": x, "c": np.array(rng.random() < 0.5)}, ["y"], pick(rng, 11, 13, 16, 19))
    if op == "Loop":
        inner = body("loop", [helper.make_node("Add", ["a_in", "x"], ["a_out"]), helper.make_node("Identity", ["c_in"], ["c_out"]),
                              helper.make_node("Mul", ["a_in", "a_in"], ["scan"])],
                     [info("i", 7, []), info("c_in", 9, []), info("a_in", F, None)],
                     [info("c_out", 9, []), info("a_out", F, None), info("scan", F, None)])
        return graph_case([helper.make_node("Loop", ["n", "c", "a"], ["y", "all"], body=inner)],
                          {"n": np.array(int(rng.integers(1, 4)), "i8"), "c": np.array(True), "a": some(rng, shape, "f4", -2, 2),
                           "x": x}, ["y", "all"], pick(rng, 11, 13, 16, 19))
    inner = body("scan", [helper.make_node("Add", ["s_in", "e"], ["s_out"]), helper.make_node("Neg", ["s_out"], ["o"])],
                 [info("s_in", F, shape[1:]), info("e", F, shape[1:])], [info("s_out", F, shape[1:]), info("o", F, shape[1:])])
    return graph_case([helper.make_node("Scan", ["s", "x"], ["y", "all"], body=inner, num_scan_inputs=1,
                                        scan_input_directions=[int(rng.integers(2))],
                                        scan_output_directions=[int(rng.integers(2))])],
                      {"s": some(rng, shape[1:], "f4"), "x": x}, ["y", "all"], pick(rng, 9, 11, 16, 19))


FAMILIES = {
    "Sequence": (sequence, 300), "SplitToSequence": (split_to_sequence, 150), "SequenceEmpty": (sequence_empty, 150),
    "SequenceMap": (sequence_map, 200), "Optional": (optional, 150), "OptionalOfNothing": (optional_of_nothing, 100),
    "Control": (control, 300),
}

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES))
