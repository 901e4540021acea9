#!/usr/bin/env python3
"""Makes graphs of many small nodes, which take long to load and not to run.

    make_graphs.py OUTDIR [--only NAME,...] [--list]

NAME is chainN or dagN, where N is the number of nodes; the default is chain10000, chain100000, dag10000 and dag100000.
A chain is Relu, Neg, Relu, Neg ... on 16 numbers. A dag has random operators with one or two operands. The first
operand is one of 64 values that have no reader yet, the second is any earlier value; the values without readers are the
graph's outputs. All values stay finite. Writes OUTDIR/NAME/{model.onnx,input.npz,meta.json}, with the same bytes every
time.
"""
import argparse
import json
import pathlib
import random
import re

import numpy as np
import onnx
from onnx import TensorProto, helper

NAMES = ("chain10000", "chain100000", "dag10000", "dag100000")
WIDTH = 64


def tensor(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16])


def chain(count):
    kinds = ("Relu", "Neg")
    nodes = [helper.make_node(kinds[i % 2], [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
    return nodes, ["v0"], [f"v{count}"]


def dag(count, seed=1):
    r = random.Random(seed)
    inputs = [f"x{i}" for i in range(WIDTH)]
    unread, values, nodes = list(inputs), list(inputs), []
    for i in range(count):
        kind = r.choice(("Relu", "Neg", "Tanh", "Max", "Min", "Mean"))
        at = r.randrange(len(unread))
        operands = [unread[at]]
        if kind in ("Max", "Min", "Mean"):
            operands.append(r.choice(values))
        nodes.append(helper.make_node(kind, operands, [f"v{i}"]))
        unread[at] = f"v{i}"
        values.append(f"v{i}")
    read = {n for node in nodes for n in node.input}
    return nodes, inputs, [v for v in unread if v not in read and v not in inputs]


def write(folder, name):
    kind, count = re.fullmatch(r"(chain|dag)(\d+)", name).groups()
    nodes, inputs, outputs = {"chain": chain, "dag": dag}[kind](int(count))
    graph = helper.make_graph(nodes, name, [tensor(n) for n in inputs], [tensor(n) for n in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="bench_graphs")
    model.ir_version = 8
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    values = np.random.default_rng(1).standard_normal((len(inputs), 1, 16), dtype=np.float32)
    np.savez(folder / "input.npz", **dict(zip(inputs, values)))
    (folder / "meta.json").write_text(json.dumps({"name": name, "kind": "graph", "nodes": len(nodes),
                                                  "onnx": onnx.__version__}, indent=1))
    print(f"{name:16} {len(nodes)} nodes, {len(outputs)} outputs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir", nargs="?")
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--list", action="store_true")
    a = parser.parse_args()
    names = a.only.split(",")
    if wrong := [n for n in names if not re.fullmatch(r"(chain|dag)[1-9]\d*", n)]:
        parser.error(f"unknown graph: {' '.join(wrong)}")
    if a.list or not a.outdir:
        print("\n".join(names))
        return
    for name in names:
        write(pathlib.Path(a.outdir), name)


if __name__ == "__main__":
    main()
