#!/usr/bin/env python3
"""Measures how much the outputs of quantized models differ from those in float32, in cameo and in ONNX Runtime.

Usage: bench/models/distances.py FOLDER [--models NAME,...] [--inputs 8] [--targets AVX2,SSE4] [--program CAMEO]

FOLDER is the output folder of make_models.py: it has a folder with model.onnx and input.npz for each model. The
reference is the same network with its weights dequantized to float32 and no rounding of other values. (It still limits
values to the range of each QuantizeLinear, because quantizers remove a Relu or Clip whose bounds are the ends of that
range.) Three results are compared with the reference:

  definition    the result that ONNX's definitions give: ONNX Runtime without optimizations, where each operator between
                DequantizeLinear and QuantizeLinear is computed in float32. Products of integers are computed in
                float64, which is exact, because some processors' integer instructions saturate.
  ONNX Runtime  with default options, that is with all optimizations.
  cameo         with default options; and once more for each instruction set of --targets.

A distance is the root mean square of the differences divided by that of the reference's outputs, over all outputs and
--inputs inputs, which are made from the model's input with a seed. The definition of MatMulNBits does not quantize the
other factor, so such models are compared with ONNX Runtime instead of the definition. Prints a Markdown table. The exit
status is 1 if a distance of cameo is more than 1.2 times that of the definition. Needs onnx, onnxruntime and numpy.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

root = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 1.2


def per_axis(values, axis, dims):
    """Reshapes a scale or a zero point so that it broadcasts to a tensor of these dims."""
    values = np.asarray(values)
    if values.size == 1:
        return values.reshape([1] * len(dims))
    return values.reshape([-1 if i == axis % len(dims) else 1 for i in range(len(dims))])


class Network:
    """A copy of a model whose nodes are replaced one by one."""

    def __init__(self, model):
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.graph = self.model.graph
        self.constants = {i.name: numpy_helper.to_array(i) for i in self.graph.initializer}
        self.nodes, self.instead = [], {}

    def constant(self, name, values):
        self.constants[name] = values
        self.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(values), name))

    def finished(self):
        """Returns the model with the new nodes, in which each value of `instead` is replaced by its substitute."""
        for node in self.nodes:
            for i, name in enumerate(node.input):
                while name in self.instead:
                    name = self.instead[name]
                node.input[i] = name
        shown = {o.name for o in self.graph.output}
        self.nodes += [helper.make_node("Identity", [self.instead[name]], [name]) for name in shown if name in self.instead]
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)
        used = {i for node in self.nodes for i in node.input}
        kept = [i for i in self.graph.initializer if i.name in used]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)
        del self.graph.value_info[:]  # the types of replaced values are no longer valid
        return self.model


def attribute(node, name, default):
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def input_of(node, constants, i, default):
    return constants[node.input[i]] if len(node.input) > i and node.input[i] else default


def weights_of_blocks(node, constants):
    """Returns the second matrix of a MatMulNBits in float32. Its blocks run along K; quantized values are packed from
    the lowest bits of a byte on."""
    k, n, bits, block = (attribute(node, a, None) for a in ("K", "N", "bits", "block_size"))
    packed = constants[node.input[1]].reshape(n, -1)
    codes = np.stack([packed >> (bits * i) & (2**bits - 1) for i in range(8 // bits)], -1).reshape(n, -1, block)
    if len(node.input) > 3 and node.input[3]:
        sys.exit(f"{node.name}: distances.py does not support MatMulNBits with zero points")
    scales = constants[node.input[2]].reshape(n, -1, 1).astype(np.float32)
    return ((codes.astype(np.float32) - 2 ** (bits - 1)) * scales).reshape(n, -1)[:, :k].T


def cut_off(of, node):
    """Adds a Clip of a QuantizeLinear's input to the range that the quantized type can represent; returns its
    output."""
    scale, zero = of.constants[node.input[1]], of.constants[node.input[2]]
    ends = np.iinfo(zero.dtype)
    for end, value in (("least", ends.min), ("most", ends.max)):
        of.constant(f"{node.output[0]}.{end}", np.float32(value - int(zero)) * np.float32(scale))
    at = node.output[0]
    of.nodes.append(helper.make_node("Clip", [node.input[0], at + ".least", at + ".most"], [at + ".cut"]))
    return at + ".cut"


def in_float(model):
    """Returns the network with its weights dequantized and without any other rounding."""
    of = Network(model)
    codes = {}  # output of QuantizeLinear or DynamicQuantizeLinear: the float value that it quantizes
    for node in of.graph.node:
        kind = node.op_type
        if kind == "QuantizeLinear":
            codes[node.output[0]] = cut_off(of, node)
        elif kind == "DequantizeLinear" and node.input[0] in of.constants:
            x, axis = of.constants[node.input[0]], attribute(node, "axis", 1)
            zero = per_axis(input_of(node, of.constants, 2, 0), axis, x.shape)
            scale = per_axis(of.constants[node.input[1]], axis, x.shape)
            of.constant(node.output[0], (x.astype(np.int64) - zero).astype(np.float32) * scale)
        elif kind == "DequantizeLinear":
            of.instead[node.output[0]] = codes[node.input[0]]
        elif kind == "DynamicQuantizeLinear":
            codes[node.output[0]] = node.input[0]
            of.constant(node.output[1], np.float32(1))
        elif kind == "MatMulInteger":
            b, zero = of.constants[node.input[1]], input_of(node, of.constants, 3, 0)
            of.constant(node.output[0] + ".b", (b.astype(np.int64) - zero).astype(np.float32))
            of.nodes.append(helper.make_node("MatMul", [codes[node.input[0]], node.output[0] + ".b"], node.output))
        elif kind == "MatMulNBits":
            of.constant(node.output[0] + ".b", weights_of_blocks(node, of.constants))
            of.nodes.append(helper.make_node("MatMul", [node.input[0], node.output[0] + ".b"], node.output))
        else:
            of.nodes.append(node)
    return of.finished()


def as_defined(model):
    """Returns the network with products of integers computed in float64; None if it has MatMulNBits."""
    of = Network(model)
    for node in of.graph.node:
        if node.op_type == "MatMulNBits":
            return None
        if node.op_type != "MatMulInteger":
            of.nodes.append(node)
            continue
        at, (a, b, *zeros) = node.output[0], node.input
        zeros += [""] * (2 - len(zeros))
        of.constant(at + ".b", (of.constants[b].astype(np.int64) - input_of(node, of.constants, 3, 0)).astype(np.float64))
        of.nodes.append(helper.make_node("Cast", [a], [at + ".a"], to=TensorProto.DOUBLE))
        if zeros[0]:
            of.nodes += [helper.make_node("Cast", [zeros[0]], [at + ".z"], to=TensorProto.DOUBLE),
                         helper.make_node("Sub", [at + ".a", at + ".z"], [at + ".s"])]
        of.nodes += [helper.make_node("MatMul", [at + (".s" if zeros[0] else ".a"), at + ".b"], [at + ".p"]),
                     helper.make_node("Cast", [at + ".p"], [at], to=TensorProto.INT32)]
    return of.finished()


def inputs_like(feeds, count):
    """Yields variations of the model's input: floats are scaled and get noise, integers are permuted along the last
    axis."""
    random = np.random.default_rng(7)
    for _ in range(count):
        yield {name: (v * v.dtype.type(random.uniform(.7, 1.2)) +
                      v.dtype.type(.1) * random.standard_normal(v.shape).astype(v.dtype)) if v.dtype.kind == "f"
               else random.permuted(v, axis=-1) if v.ndim else v for name, v in feeds.items()}


def by_onnxruntime(model, all_feeds, optimized, folder):
    path = folder / "model.onnx"
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return [session.run(None, feeds) for feeds in all_feeds]


def by_cameo(program, path, all_feeds, names, target, folder):
    held = {"CAMEO_BEST_TARGET": target, "LD_PRELOAD": str(root / "build/release/tests/libbest_target.so")} if target else {}
    found = []
    for feeds in all_feeds:
        arguments = []
        for i, (name, values) in enumerate(feeds.items()):
            np.save(folder / f"{i}.npy", values)
            arguments += ["--input", f"{name}={folder}/{i}.npy"]
        done = subprocess.run([program, "run", path, *arguments, "--output-dir", folder / "out", "--quiet"],
                              capture_output=True, text=True, check=False, env={**os.environ, **held})
        if done.returncode:
            sys.exit(f"{path}: {done.stderr}")
        found.append([np.load(folder / "out" / f"{name}.npy") for name in names])
    return found


def distance(got, want):
    pairs = [(g.astype(np.float64), w.astype(np.float64)) for gs, ws in zip(got, want) for g, w in zip(gs, ws)]
    return (sum(((g - w) ** 2).sum() for g, w in pairs) / sum((w ** 2).sum() for _, w in pairs)) ** .5


def row(folder, o, targets):
    model = onnx.load(folder / "model.onnx")
    feeds = list(inputs_like(dict(np.load(folder / "input.npz")), o.inputs))
    names = [each.name for each in model.graph.output]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        want = by_onnxruntime(in_float(model), feeds, True, scratch)
        defined = as_defined(model)
        exact = distance(by_onnxruntime(defined, feeds, False, scratch), want) if defined else None
        peer = distance(by_onnxruntime(model, feeds, True, scratch), want)
        own = [distance(by_cameo(o.program, folder / "model.onnx", feeds, names, target, scratch), want)
               for target in (None, *targets)]
    return exact, peer, own


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="output folder of make_models.py")
    parser.add_argument("--models", help="names, separated by commas (default: all quantized models)")
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--targets", default="", help="instruction sets, as 'cameo devices' names them")
    parser.add_argument("--program", default=root / "build/release/cameo")
    o = parser.parse_args()
    targets = [each for each in o.targets.split(",") if each]
    models = o.models.split(",") if o.models else sorted(p.parent.name for p in o.folder.glob("*/model.onnx")
                                                         if p.parent.name.endswith(("_qdq", "_int8", "_dynamic", "_int4")))
    print(f"| model | definition | ONNX Runtime {onnxruntime.__version__} | cameo |", *(f"cameo, {t} |" for t in targets),
          "cameo's largest over the definition's |")
    print("|---" * (5 + len(targets)) + "|")
    failed = False
    for name in models:
        exact, peer, own = row(o.folder / name, o, targets)
        ratio = max(own) / (exact or peer)
        failed |= not ratio <= LIMIT
        print(f"| {name} | {'-' if exact is None else f'{exact:.5f}'} | {peer:.5f} |", *(f"{each:.5f} |" for each in own),
              f"{ratio:.3f}{'' if exact else ' (over ONNX Runtime)'} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
