#!/usr/bin/env python3
"""Compares the kernels of the cpu provider for each element type with those for float32, and prints a table.

Usage: bench/element_types.py [--program build/release/cameo] [--elements 4096 | --bytes 67108864] [--only NAME,...] [--out FILE]

The table has a row for each operator and a column for each type. Each cell is the minimum time of a model of one node
on one thread over all rounds; the types of an operator alternate within a round. With --elements (tensors that fit in
the cache), a cell is the time in microseconds and, in brackets, the elements per second divided by those of float32.
With --bytes (tensors of that size, larger than all caches), it is the gigabytes read and written per second and, in
brackets, that figure divided by float32's. A dash means that the operator does not support the type.

Needs a python3 with onnx, which tests/run and bench/peers/run install.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from onnx import TensorProto, helper, save

TYPES = {"float": (TensorProto.FLOAT, 4), "double": (TensorProto.DOUBLE, 8), "float16": (TensorProto.FLOAT16, 2),
         "bfloat16": (TensorProto.BFLOAT16, 2), "int8": (TensorProto.INT8, 1), "uint8": (TensorProto.UINT8, 1),
         "int16": (TensorProto.INT16, 2), "int32": (TensorProto.INT32, 4), "int64": (TensorProto.INT64, 8)}
COLUMNS = 256  # the size of the last axis of a tensor with two axes


def rows_of(count):
    return [max(1, count // COLUMNS), COLUMNS]


# Each row: the skeleton and the name of the operator, the number of inputs, a function that returns the shape for a
# number of elements (None: one axis), the attributes, and how the output differs from the inputs in type or shape
# (None: not at all).
OPERATORS = [
    ("zip", "Add", 2, None, {}, None), ("zip", "Mul", 2, None, {}, None), ("zip", "Max", 2, None, {}, None),
    ("zip", "Div", 2, None, {}, None), ("zip", "Less", 2, None, {}, "bool"), ("zip", "Equal", 2, None, {}, "bool"),
    ("map", "Abs", 1, None, {}, None), ("map", "Relu", 1, None, {}, None), ("map", "Exp", 1, None, {}, None),
    ("map", "Log", 1, None, {}, None), ("map", "Sin", 1, None, {}, None), ("map", "Tanh", 1, None, {}, None),
    ("map", "Sigmoid", 1, None, {}, None), ("map", "Erf", 1, None, {}, None), ("map", "Softplus", 1, None, {}, None),
    ("map", "Gelu", 1, None, {}, None), ("map", "Atan", 1, None, {}, None),
    ("reduce", "ReduceMax", 1, rows_of, {"keepdims": 0}, "scalar"),
    ("reduce", "ReduceMean", 1, rows_of, {"keepdims": 0}, "scalar"),
    ("normalize", "Softmax", 1, rows_of, {}, None), ("normalize", "LpNormalization", 1, rows_of, {}, None),
    ("move", "Transpose", 1, rows_of, {"perm": [1, 0]}, "transposed"),
    ("move", "Concat", 2, rows_of, {"axis": 1}, "wide"),
    ("convert", "Cast", 1, None, {"to": TensorProto.FLOAT}, "float"),
]


def model_of(op, count, name):
    _, kind, inputs, shape_of, attributes, result = op
    code = TYPES[name][0]
    shape = shape_of(count) if shape_of else [count]
    into = {"bool": TensorProto.BOOL, "float": TensorProto.FLOAT}.get(result, code)
    if kind == "Cast" and name == "float":
        attributes, into = {"to": TensorProto.FLOAT16}, TensorProto.FLOAT16
    names = [f"x{i}" for i in range(inputs)]
    node = helper.make_node(kind, names, ["y"], **attributes)
    out = {"scalar": [], "transposed": shape[::-1], "wide": [shape[0], shape[-1] * inputs]}.get(result, shape)
    graph = helper.make_graph([node], kind, [helper.make_tensor_value_info(n, code, shape) for n in names],
                              [helper.make_tensor_value_info("y", into, out)])
    elements = inputs * count * TYPES[name][1]
    written = {"bool": count, "scalar": 0, "float": count * 4, "wide": elements}.get(result, count * TYPES[name][1])
    if kind == "Cast" and name == "float":
        written = count * 2
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), elements + written


def least_time(program, path, seconds):
    done = subprocess.run([program, "bench", path, "--random-inputs", "--threads", "1", "--seconds", str(seconds), "--json"],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["min_us"] if done.returncode == 0 else None


def measure(op, o, folder):
    """Returns for each type the minimum time in microseconds (None: not supported), the bytes read and written, and the
    number of elements."""
    made = {}
    for name, (_, size) in TYPES.items():
        count = o.elements if o.elements else o.bytes // size
        model, moved = model_of(op, count, name)
        path = folder / f"{op[1]}_{name}.onnx"
        save(model, path)
        made[name] = [None, moved, count, path]
    for _ in range(o.rounds):
        for name, cell in made.items():
            taken = least_time(o.program, cell[3], o.seconds)
            if taken is not None:
                cell[0] = taken if cell[0] is None else min(cell[0], taken)
    return {name: {"us": us, "bytes": moved, "elements": count} for name, (us, moved, count, _) in made.items()}


def shown(cell, base, in_cache):
    if cell["us"] is None:
        return "-"
    if in_cache:
        ratio = base["us"] / base["elements"] / (cell["us"] / cell["elements"])
        return f"{cell['us']:.2f} ({ratio:.2f})"
    rate, wanted = (c["bytes"] / c["us"] / 1000 for c in (cell, base))
    return f"{rate:.1f} ({rate / wanted:.2f})"


def main():
    say = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    say.add_argument("--program", default="build/release/cameo")
    say.add_argument("--elements", type=int, default=0, help="elements of each tensor (4096 unless --bytes is given)")
    say.add_argument("--bytes", type=int, default=0, help="size of each input in bytes")
    say.add_argument("--only", default="", help="names of operators, separated by commas")
    say.add_argument("--rounds", type=int, default=3)
    say.add_argument("--seconds", type=float, default=0.05, help="duration of one round of one cell")
    say.add_argument("--out", help="file to which all numbers are written as JSON")
    o = say.parse_args()
    if o.elements and o.bytes:
        say.error("--elements and --bytes exclude each other")
    o.elements = o.elements or (0 if o.bytes else 4096)
    wanted = [op for op in OPERATORS if not o.only or op[1] in o.only.split(",")]
    if not wanted:
        say.error(f"--only takes {', '.join(op[1] for op in OPERATORS)}")
    every = {}
    print("| skeleton | operator |" + "".join(f" {name} |" for name in TYPES) + "\n|" + "---|" * (len(TYPES) + 2))
    with tempfile.TemporaryDirectory(prefix="cameo-types-") as folder:
        for i, op in enumerate(wanted):
            print(f"{i + 1} of {len(wanted)}: {op[1]}", file=sys.stderr)
            cells = every[op[1]] = measure(op, o, pathlib.Path(folder))
            line = "".join(f" {shown(cells[name], cells['float'], bool(o.elements))} |" for name in TYPES)
            print(f"| {op[0]} | {op[1]} |{line}", flush=True)
    if o.out:
        pathlib.Path(o.out).write_text(json.dumps(every, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
