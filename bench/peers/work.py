"""Prints the work of a run of FOLDER's model with its input.npz as {"flops": ..., "bytes": ...}.

Usage: work.py FOLDER

flops counts the operations of Conv, ConvTranspose, Gemm, MatMul, GRU and LSTM nodes, where a multiply-add is two. Their
shapes are those of this input: ONNX Runtime runs the model once with the nodes' inputs and outputs as graph outputs.
bytes counts the model's inputs, its outputs and the weights that a run reads, each once. Weights that only Gather nodes
read do not count.
"""
import json
import os
import pathlib
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy as np
import onnx
import onnxruntime as ort


def element_count(dims):
    return int(np.prod(dims, dtype=np.int64))


def node_flops(node, shapes):
    x, w, y = (shapes[n] for n in (node.input[0], node.input[1], node.output[0]))
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Conv":
        return 2 * element_count(y) * element_count(w[1:])
    if node.op_type == "ConvTranspose":
        return 2 * element_count(x) * element_count(w[1:])
    if node.op_type in ("GRU", "LSTM"):
        return 2 * element_count(x[:2]) * (element_count(w) + element_count(shapes[node.input[2]]))
    if node.op_type == "Gemm":
        return 2 * element_count(y) * x[0 if attributes.get("transA") else 1]
    return 2 * element_count(y) * x[-1]


def all_shapes(model, nodes, feeds):
    """Returns the shapes of all values that the nodes read or write, and the sizes of the model's outputs in bytes."""
    constant = {t.name: list(t.dims) for t in model.graph.initializer}
    shapes = {**constant, **{k: list(v.shape) for k, v in feeds.items()}}
    outputs = [o.name for o in model.graph.output]
    wanted = {n for node in nodes for n in (*node.input[:3], node.output[0]) if n not in shapes} | set(outputs)
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in sorted(wanted))
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = dict(zip(sorted(wanted), session.run(sorted(wanted), feeds)))
    return {**shapes, **{k: list(v.shape) for k, v in results.items()}}, [results[o].nbytes for o in outputs]


def main():
    folder = pathlib.Path(sys.argv[1])
    model, feeds = onnx.load(folder / "model.onnx"), dict(np.load(folder / "input.npz"))
    nodes = [n for n in model.graph.node if n.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul", "GRU", "LSTM") and not n.domain]
    weights = {t.name: onnx.numpy_helper.to_array(t).nbytes for t in model.graph.initializer}
    readers = {}
    for node in model.graph.node:
        for i, name in enumerate(node.input):
            readers.setdefault(name, set()).add((node.op_type, i))
    shapes, outputs = all_shapes(model, nodes, feeds)
    read = sum(size for name, size in weights.items() if readers.get(name, set()) - {("Gather", 0)})
    print(json.dumps({"flops": sum(node_flops(n, shapes) for n in nodes),
                      "bytes": read + sum(v.nbytes for v in feeds.values()) + sum(outputs)}))


if __name__ == "__main__":
    main()
