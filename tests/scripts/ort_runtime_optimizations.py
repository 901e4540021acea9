#!/usr/bin/env python3
"""Saved runtime optimizations of ORT files in both directions, with PyPI's onnxruntime as the reference.

The models are small and quantized, one per action and some that no action fits. What cameo saves for them is compared
with what onnxruntime saves, record by record. Then onnxruntime replays cameo's records and cameo those of onnxruntime;
both must make the operators that the records name, with the outputs of the unoptimized model, up to one quantization
step.

Usage: ort_runtime_optimizations.py [NAME...]   only the models with one of these in their name
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
SAMPLES = root / "tests" / "data" / "ort"
SAVE = "optimization.minimal_build_optimizations"
REPLAY = "session.enable_saved_runtime_optimizations"
# cameo applies these rewrites at level basic, and onnxruntime does not: without them both save the same records.
ONLY_HERE = "QDQPropagationTransformer,DoubleQDQPairsRemover,ReluQuantRewrite,ClipQuantRewrite,CommonSubexpressionElimination"
STEP = 0.05  # the default quantization step of a model
# onnxruntime 1.31 saves no operators for these actions, and then cannot replay its records.
WITHOUT_PRODUCTS = {"MatMul", "dropSplitQDQ"}
wanted = sys.argv[1:]
problems = []


def problem(name, words):
    problems.append(name)
    print(f"{name}: {words}"[:800], file=sys.stderr)


class Builder:
    """A model under construction: names are generated, constants are initializers."""

    def __init__(self, opset=13):
        self.opset, self.nodes, self.constants, self.inputs, self.outputs, self.count = opset, [], [], [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), self.name("c")))
        return self.constants[-1].name

    def input(self, *shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(self.name("x"), kind, shape))
        return self.inputs[-1].name

    def output(self, value, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(value, kind, None))
        return self

    def node(self, op, *inputs, outputs=1, **attributes):
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        made = [self.name(op.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, made, name=self.name("n"), **attributes))
        return made if outputs > 1 else made[0]

    def quantize(self, x, scale=STEP, zero=128, kind=np.uint8):
        return self.node("QuantizeLinear", x, np.float32(scale), kind(zero))

    def dequantize(self, x, scale=STEP, zero=128, kind=np.uint8):
        return self.node("DequantizeLinear", x, np.float32(scale), kind(zero))

    def rounded(self, x, **how):
        return self.dequantize(self.quantize(x, **how), **how)

    def weights(self, *shape, scale=0.02, kind=np.int8, axis=None, most=60):
        info = np.iinfo(kind)
        integers = np.random.default_rng(1).integers(max(info.min, -most), most, shape).astype(kind)
        if axis is None:
            return self.node("DequantizeLinear", integers, np.float32(scale), kind(0))
        count = shape[axis]
        return self.node("DequantizeLinear", integers, np.linspace(scale, 2 * scale, count, dtype=np.float32),
                         np.zeros(count, kind), axis=axis)

    def bias(self, count, scale=0.001):
        return self.weights(count, scale=scale, kind=np.int32, most=900)

    def model(self):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


SIGNED = {"zero": 0, "kind": np.int8}
MODELS = {}


def case(build):
    MODELS[build.__name__] = build
    return build


def around(name, op, *more, opset=13, shape=(1, 4, 4, 4), how={}, after=None, **attributes):  # noqa: B006 - only read
    """DequantizeLinear, one node, QuantizeLinear."""
    def build():
        b = Builder(opset)
        made = b.node(op, b.rounded(b.input(*shape), **how), *more, **attributes)
        return b.output(b.rounded(made, **(how if after is None else after)))
    MODELS[name] = build


@case
def conv():
    b = Builder()
    return b.output(b.rounded(b.node("Conv", b.rounded(b.input(1, 3, 6, 6)), b.weights(4, 3, 3, 3), b.bias(4))))


@case
def conv_by_channel():
    b = Builder()
    return b.output(b.rounded(b.node("Conv", b.rounded(b.input(1, 3, 6, 6)), b.weights(4, 3, 3, 3, axis=0),
                                     pads=[1, 1, 1, 1], strides=[2, 2])))


@case
def conv_signed():
    b = Builder()
    return b.output(b.rounded(b.node("Conv", b.rounded(b.input(1, 3, 6, 6), **SIGNED), b.weights(4, 3, 3, 3)), **SIGNED))


@case
def conv_then_relu_within_bounds():
    b = Builder()
    return b.output(b.rounded(b.node("Relu", b.node("Conv", b.rounded(b.input(1, 3, 6, 6)), b.weights(4, 3, 3, 3))), zero=0))


@case
def conv_twice_read():
    b = Builder()
    made = b.node("Conv", b.rounded(b.input(1, 3, 6, 6)), b.weights(4, 3, 3, 3))
    return b.output(b.rounded(made)).output(b.node("Neg", made))


@case
def conv_and_what_gives_out_its_input():
    b = Builder()
    x = b.rounded(b.input(1, 3, 6, 6))
    return b.output(x).output(b.rounded(b.node("Conv", x, b.weights(4, 3, 3, 3))))


for activation, attributes in [("Relu", {}), ("LeakyRelu", {"alpha": 0.2}), ("Sigmoid", {}), ("Tanh", {}),
                               ("HardSigmoid", {"alpha": 0.3, "beta": 0.4})]:
    def build(activation=activation, attributes=attributes):
        b = Builder()
        made = b.node("Conv", b.input(1, 3, 6, 6), np.random.default_rng(2).normal(size=(4, 3, 3, 3)).astype(np.float32))
        return b.output(b.node(activation, made, **attributes))
    MODELS[f"float_conv_{activation}"] = build


@case
def float_conv_clip():
    b = Builder()
    made = b.node("Conv", b.input(1, 3, 6, 6), np.random.default_rng(2).normal(size=(4, 3, 3, 3)).astype(np.float32))
    return b.output(b.node("Clip", made, np.float32(0), np.float32(3)))


def matrices(name, op, *bias, opset=13, axis=None, how={}, weights=(4, 5), is_float=False, **attributes):  # noqa: B006
    def build():
        b = Builder(opset)
        made = b.node(op, b.rounded(b.input(2, 4), **how), b.weights(*weights, axis=axis), *(f(b) for f in bias), **attributes)
        return b.output(made if is_float else b.rounded(made, **how))
    MODELS[name] = build


matrices("matmul", "MatMul")
matrices("matmul_newer", "MatMul", opset=21)
matrices("matmul_by_column", "MatMul", axis=1)
matrices("matmul_signed", "MatMul", how=SIGNED)
matrices("gemm", "Gemm", lambda b: b.bias(5))
matrices("gemm_without_bias", "Gemm", weights=(5, 4), transB=1)
matrices("gemm_to_float", "Gemm", lambda b: b.bias(5), is_float=True)
matrices("gemm_scaled", "Gemm", alpha=0.5)
matrices("gemm_bias_scaled", "Gemm", lambda b: b.bias(5), beta=0.5)
matrices("gemm_signed", "Gemm", how=SIGNED)
for op, attributes in [("AveragePool", {"kernel_shape": [2, 2]}), ("LeakyRelu", {"alpha": 0.1}), ("Sigmoid", {}),
                       ("GlobalAveragePool", {}), ("Softmax", {"axis": -1}), ("Tanh", {}),
                       ("Flatten", {}), ("Transpose", {"perm": [0, 2, 3, 1]}), ("DepthToSpace", {"blocksize": 2}),
                       ("MaxPool", {"kernel_shape": [2, 2]}), ("ReduceMax", {"axes": [2]}), ("ReduceMin", {}),
                       ("ReduceMean", {})]:
    around(op, op, **attributes)
around("Sigmoid_signed", "Sigmoid", how=SIGNED)
around("Sigmoid_of_16_bits", "Sigmoid", opset=21, how={"kind": np.uint16})
around("Softmax_old", "Softmax", opset=12)
around("MaxPool_of_16_bits", "MaxPool", opset=21, how={"kind": np.uint16}, kernel_shape=[2, 2])
around("MaxPool_other_scale", "MaxPool", after={"scale": 0.1}, kernel_shape=[2, 2])
around("MaxPool_old", "MaxPool", opset=11, kernel_shape=[2, 2])
around("Reshape", "Reshape", np.array([4, -1]))
around("Squeeze", "Squeeze", np.array([0]))
around("Unsqueeze", "Unsqueeze", np.array([0]))
around("Expand", "Expand", np.array([2, 4, 4, 4]))
around("Tile", "Tile", np.array([1, 1, 2, 1]))
around("Tile_of_16_bits", "Tile", np.array([1, 1, 2, 1]), opset=21, how={"zero": 0, "kind": np.int16, "scale": 0.001})
around("Gather", "Gather", np.array([2, 0]), axis=1)
around("GatherElements", "GatherElements", np.zeros((1, 4, 4, 1), np.int64), axis=3)
around("Slice", "Slice", np.array([1]), np.array([3]), np.array([1]))
around("Resize", "Resize", "", np.array([1, 1, 2, 2], np.float32), mode="nearest")
around("Pad", "Pad", np.array([0, 0, 1, 1, 0, 0, 1, 1]))


def two(name, op, second=STEP, how={}, relu=False):  # noqa: B006
    def build():
        b = Builder()
        x, y = b.rounded(b.input(1, 4, 3, 3), **how), b.rounded(b.input(1, 4, 1, 1), **{**how, "scale": second})
        made = b.node(op, x, y)
        return b.output(b.rounded(b.node("Relu", made), zero=0) if relu else b.rounded(made, **how))
    MODELS[name] = build


two("Add", "Add", 0.03)
two("Add_signed", "Add", how=SIGNED)
two("Add_then_relu_within_bounds", "Add", relu=True)
two("Mul", "Mul")
two("Sub", "Sub")


@case
def concat():
    b = Builder()
    parts = [b.rounded(b.input(2, n), scale=0.02 * n) for n in (2, 3, 4)]
    return b.output(b.rounded(b.node("Concat", *parts, axis=1)))


@case
def where():
    b = Builder(16)
    return b.output(b.rounded(b.node("Where", b.input(2, 4, kind=TensorProto.BOOL), b.rounded(b.input(2, 4)),
                                     b.rounded(b.input(2, 4), scale=0.04))))


@case
def split():
    b = Builder()
    for part in b.node("Split", b.rounded(b.input(2, 6)), np.array([2, 4]), outputs=2, axis=1):
        b.output(b.rounded(part))
    return b


@case
def argmax():
    b = Builder()
    return b.output(b.node("ArgMax", b.rounded(b.input(2, 6)), axis=1), TensorProto.INT64)


@case
def without_zero_points():
    b = Builder()
    scale = np.float32(STEP)
    x = b.node("DequantizeLinear", b.node("QuantizeLinear", b.input(2, 4), scale), scale)
    return b.output(b.node("DequantizeLinear", b.node("QuantizeLinear", b.node("Sigmoid", x), scale), scale))


@case
def small_network():
    b = Builder()
    y = b.rounded(b.node("Conv", b.rounded(b.input(1, 3, 8, 8)), b.weights(4, 3, 3, 3, axis=0), b.bias(4)), zero=0)
    y = b.rounded(b.node("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), zero=0)
    y = b.rounded(b.node("Flatten", y), zero=0)
    y = b.rounded(b.node("Gemm", y, b.weights(36, 5), b.bias(5)), scale=0.2)
    return b.output(b.rounded(b.node("Softmax", y), scale=1 / 256, zero=0))


def cameo(*args):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit status {done.returncode}")


def config(**keys):
    return [part for key, value in keys.items() for part in ("--config", f"{key.replace('__', '.')}={value}")]


def ort_run(path, feeds, replay=False, save=None, mode=None):
    """The outputs of onnxruntime; it writes the optimized model to `save`."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = (ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED if replay or mode else
                                        ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    if replay:
        options.add_session_config_entry(REPLAY, "1")
    if mode:
        options.add_session_config_entry(SAVE, mode)
    if save:
        options.optimized_model_filepath = str(save)
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds) if feeds else None


def cameo_run(path, feeds, folder, replay):
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    inputs = []
    for name, array in feeds.items():
        np.save(folder / f"in_{name}.npy", array)
        inputs += ["--input", f"{name}={folder / f'in_{name}.npy'}"]
    cameo("run", path, *inputs, "--output-dir", folder, "--optimize", "extended", *config(**{REPLAY: int(replay)}), "--quiet")
    return {file.stem: np.load(file) for file in folder.glob("*.npy") if not file.stem.startswith("in_")}


def decoded(path, folder):
    subprocess.run(["flatc", "-t", "--strict-json", "--raw-binary", "-o", str(folder),
                    str(root / "src" / "format" / "ort.fbs"), "--", str(path)], check=True, capture_output=True)
    return json.loads((folder / f"{path.stem}.json").read_text())


Record = collections.namedtuple("Record", "optimizer action nodes places makes")


def records(path, folder):
    """The saved records, with nodes named by operator and output, as the two writers number nodes differently."""
    graph = decoded(path, folder)["model"]["graph"]
    shown = {n.get("index", 0): (n["op_type"], n["outputs"][0]) for n in graph["nodes"]}
    made_of = {n["outputs"][0]: n["inputs"][0] for n in graph["nodes"] if n["op_type"] == "DequantizeLinear"}
    found = []
    for entry in graph.get("runtime_optimizations", {}).get("records", []):
        for record in entry["runtime_optimization_records"]:
            places = dict(record["nodes_to_optimize_indices"])
            nodes = [shown.get(i) for i in places.pop("node_indices")]
            # The names of copies of a DequantizeLinear differ between the writers.
            nodes = tuple((n[0], made_of.get(n[1], n[1])) if n else None for n in nodes)
            found.append(Record(entry["optimizer_name"], record["action_id"], nodes,
                                tuple(sorted((k, v) for k, v in places.items() if v)),
                                tuple(record.get("produced_op_ids", []))))
    return sorted(found, key=str)


def operators(path):
    return collections.Counter(f"{n.domain}:{n.op_type}" for n in onnx.load(path).graph.node)


def made_operators(path, folder):
    """The operators that the records make, without those on nodes that an earlier record replaces."""
    taken, made = set(), collections.Counter()
    for record in sorted(records(path, folder), key=lambda r: r.optimizer != "QDQSelectorActionTransformer"):
        if taken.isdisjoint(n for n in record.nodes if n):
            made.update(":".join(op.split(":")[:2]) for op in record.makes)
            taken.update(n for n in record.nodes if n and n[0] != "DequantizeLinear")
    return made


def same(got, want, step):
    return all(g.shape == w.shape and (np.abs(g.astype(np.float64) - w.astype(np.float64)) <= 1.01 * step).all()
               for g, w in zip(got, want))


def feeds_of(model):
    made, rng = {}, np.random.default_rng(7)
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        made[value.name] = rng.normal(size=shape).astype(np.float32)
        if value.type.tensor_type.elem_type == TensorProto.BOOL:
            made[value.name] = made[value.name] > 0
    return made


def check_records(name, model, scratch):
    """Compares the records that cameo and onnxruntime save for a model."""
    signed = config(session__qdqisint8allowed=1)
    cameo("convert", model, scratch / "same.ort", "--optimize", "extended", "--quiet", *config(**{SAVE: "save"}),
          *config(optimization__disable_specified_optimizers=ONLY_HERE))
    cameo("convert", model, scratch / "by_cameo.ort", "--optimize", "extended", "--quiet", *config(**{SAVE: "save"}), *signed)
    try:
        ort_run(model, None, save=scratch / "by_ort.ort", mode="save")
    except Exception:  # noqa: BLE001 - it cannot read back a file without zero points that it wrote
        return False
    ours, theirs = records(scratch / "same.ort", scratch), records(scratch / "by_ort.ort", scratch)
    known = [r._replace(makes=()) if r.action in WITHOUT_PRODUCTS else r for r in ours]
    if known != theirs:
        problem(name, f"saved {ours}, onnxruntime {theirs}")
    if any(not r.makes for r in ours if r.action in WITHOUT_PRODUCTS):
        problem(name, f"names no operators: {ours}")
    return True


def check_replay(name, step, model, scratch):
    feeds = feeds_of(onnx.load(model))
    want = ort_run(model, feeds)
    names = [o.name for o in onnx.load(model).graph.output]
    by_ort = check_records(name, model, scratch)
    # Both replay what cameo saved, and what onnxruntime saved if there is any.
    for file in ["by_cameo.ort"] + by_ort * ["by_ort.ort"]:
        made = made_operators(scratch / file, scratch)
        replaced = [("cameo", scratch / "replayed.onnx")]
        cameo("convert", scratch / file, scratch / "replayed.onnx", "--optimize", "extended", "--quiet", *config(**{REPLAY: 1}))
        for replay in (False, True):
            got = cameo_run(scratch / file, feeds, scratch / "data", replay)
            if not same([got[n] for n in names], want, step):
                problem(name, f"{file}: cameo gives other outputs, replay {replay}")
        try:
            got = ort_run(scratch / file, feeds, replay=True, save=scratch / "by_peer.onnx")
            replaced.append(("onnxruntime", scratch / "by_peer.onnx"))
            if not same(got, want, step):
                problem(name, f"{file}: onnxruntime gives other outputs")
        except Exception as e:  # noqa: BLE001
            if file != "by_ort.ort" or not any(r.action in WITHOUT_PRODUCTS for r in records(scratch / file, scratch)):
                problem(name, f"{file}: onnxruntime: {e}")
        for who, path in replaced:
            there = operators(path)
            if any(there[op] < count for op, count in made.items()):
                problem(name, f"{file}: {who} made {dict(there)} of {dict(made)}")
    # The records that were replayed are removed, the others stay.
    cameo("convert", scratch / "by_cameo.ort", scratch / "again.ort", "--optimize", "extended", "--quiet", *config(**{REPLAY: 1}))
    if records(scratch / "again.ort", scratch):
        problem(name, "replayed records are still there")
    cameo("convert", scratch / "by_cameo.ort", scratch / "again.ort", "--quiet")
    if (scratch / "again.ort").read_bytes() != (scratch / "by_cameo.ort").read_bytes():
        problem(name, "writing again what was saved gives other bytes")
    return len(records(scratch / "same.ort", scratch)), len(made_operators(scratch / "by_cameo.ort", scratch))


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    count = total = 0
    for name, build in MODELS.items():
        if wanted and not any(w in name for w in wanted):
            continue
        made = build().model()
        onnx.save(made, scratch / "model.onnx")
        scales = [numpy_helper.to_array(i) for i in made.graph.initializer]
        step = max([float(s) for s in scales if s.dtype == np.float32 and s.ndim == 0 and s < 1] + [1e-4])
        try:
            here, _ = check_replay(name, step, scratch / "model.onnx", scratch)
            count, total = count + 1, total + here
        except Exception as e:  # noqa: BLE001 - the case is reported, the others continue
            problem(name, f"{type(e).__name__}: {e}")
print(f"{count} models, {total} records the same both ways; {len(problems)} problems")
sys.exit(1 if problems or not count else 0)
