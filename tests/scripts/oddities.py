#!/usr/bin/env python3
"""The accepted deviations of docs/oddities.md. Each row has a model here: cameo runs it and warns as the row describes,
onnxruntime does what the row says about it, with the same numbers, and --strict refuses the model."""
import os
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
from ort_judge import cameo, ort_options, ort_session  # noqa: E402

problems = []
X = np.arange(-1, 5, dtype=np.float32).reshape(2, 3)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, dims, element=FLOAT):
    return helper.make_tensor_value_info(name, element, dims)


def model(nodes, inputs, outputs, opset=13, values=(), weights=(), sparse=(), imports=None, functions=()):
    graph = helper.make_graph(nodes, "odd", inputs, outputs, value_info=list(values), initializer=list(weights),
                              sparse_initializer=list(sparse))
    opsets = [helper.make_opsetid(*each) for each in imports or [("", opset)]]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=list(functions))


def relu(x, y):
    return model([helper.make_node("Relu", ["x"], ["y"])], [value("x", x)], [value("y", y)])


def relu_between(r):
    return model([helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Abs", ["r"], ["y"])], [value("x", [2, 3])],
                 [value("y", [2, 3])], values=[value("r", r)])


def half_broken():
    """A model with a branch that is never taken and adds tensors whose shapes do not broadcast."""
    right = helper.make_graph([helper.make_node("Relu", ["x"], ["fine"])], "right", [], [value("fine", None)])
    wrong = helper.make_graph([helper.make_node("Add", ["x", "five"], ["bad"])], "wrong", [], [value("bad", None)],
                              [numpy_helper.from_array(np.zeros(5, np.float32), "five")])
    return model([helper.make_node("If", ["condition"], ["y"], then_branch=right, else_branch=wrong)],
                 [value("x", [2, 3])], [value("y", [2, 3])],
                 weights=[numpy_helper.from_array(np.array(True), "condition")])


def reshaped(y):
    return model([helper.make_node("Reshape", ["x", "shape"], ["y"])],
                 [value("x", [2, 3]), value("shape", [None], INT64)], [value("y", y)])


def constant(opset, **held):
    return model([helper.make_node("Constant", [], ["c"], **held), helper.make_node("Reshape", ["x", "c"], ["y"])],
                 [value("x", [2, 3])], [value("y", [3, 2])], opset)


def redeclared():
    odd = relu([2, 3], [2, 3])
    odd.graph.output.append(value("x", [3, 2]))
    return odd


def node(op, *inputs, outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), **attributes)


def added(*weights, sparse=(), values=()):
    """A model that computes y = x + w."""
    return model([node("Add", "x", "w")], [value("x", [2, 3])], [value("y", [2, 3])], values=values, weights=weights,
                 sparse=sparse)


def shown(weight):
    """A model that returns y = w."""
    return model([node("Identity", "w")], [], [value("y", list(weight.dims), weight.data_type)], weights=[weight])


def with_axes(*imports):
    """ReduceSum as before opset 13: the axes are an attribute."""
    return model([node("ReduceSum", "x", axes=[1], keepdims=0)], [value("x", [2, 3])], [value("y", [2])],
                 imports=imports)


def tensor(element, dims, **fields):
    made = TensorProto(name="w", data_type=element, dims=dims)
    for field, content in fields.items():
        if isinstance(content, bytes):
            setattr(made, field, content)
        else:
            getattr(made, field).extend(content)
    return made


def weight(array, name="w"):
    return numpy_helper.from_array(np.asarray(array), name)


def segment():
    made = tensor(FLOAT, [2], float_data=[1, 2])
    made.segment.begin, made.segment.end = 0, 2
    return shown(made)


def sparse(indices, values):
    return helper.make_sparse_tensor(weight(np.array(values, np.float32)), weight(np.array(indices), ""), [2, 3])


def same_names(*dims):
    return relu(list(dims), list(dims))


def function(name, op, domain="local"):
    return helper.make_function(domain, name, ["a"], ["b"], [helper.make_node(op, ["a"], ["b"])],
                                [helper.make_opsetid("", 13)])


def with_functions(*functions, called="F", domain="local"):
    return model([node(called, "x", domain=domain)], [value("x", [2, 3])], [value("y", [2, 3])],
                 imports=[("", 13), ("local", 1)], functions=functions)


def external(folder):
    """A model whose data is in a file beside it, with a declared length of 0."""
    (folder / "w.bin").write_bytes(X.tobytes())
    made = TensorProto(name="w", data_type=FLOAT, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", "w.bin"), ("length", "0")):
        made.external_data.add(key=key, value=text)
    return added(made)


def pooled(size, window, stride):
    return model([node("MaxPool", "x", kernel_shape=[window], strides=[stride])], [value("x", [1, 1, size])],
                 [value("y", None)])


def blocked(folder):
    """A convolution as onnxruntime optimizes it on this machine; None if it does not pack weights."""
    numbers = np.random.default_rng(1).integers(-5, 6, (20, 16, 2, 2)).astype(np.float32)  # sums are exact
    plain = model([node("Conv", "x", "w")], [value("x", [1, 16, 3, 4])], [value("y", [1, 20, 2, 3])],
                  weights=[weight(numbers)])
    options = ort_options("all")
    options.optimized_model_filepath = str(folder / "blocked.onnx")
    onnx.save(plain, folder / "plain.onnx")
    ort_session(folder / "plain.onnx", options)
    made = onnx.load(folder / "blocked.onnx")
    return made if any(each.domain == "com.microsoft.nchwc" for each in made.graph.node) else None


def normalized(**attributes):
    return model([node("LayerNormalization", "x", "s", **attributes)], [value("x", [2, 3])], [value("y", [2, 3])], 17,
                 weights=[weight(np.array([1, 2, 3], np.float32), "s")])


def constants(*nodes, inputs=(), weights=(), opset=13):
    """A model that computes y = c, unless a Constant computes y."""
    last = [] if any("y" in each.output for each in nodes) else [node("Identity", "c")]
    return model([*nodes, *last], inputs, [onnx.ValueInfoProto(name="y")], opset, weights=weights)


def constant_of(content, name="value", output="c"):
    """A Constant with an attribute of this name, with any content."""
    made = helper.make_node("Constant", [], [output])
    pairs = [(name, content)] if isinstance(name, str) else zip(name, content)
    made.attribute.extend(helper.make_attribute(*pair) for pair in pairs)
    return made


def linear(op, outputs, columns, **attributes):
    return model([node(op, "x", outputs=outputs, domain="ai.onnx.ml", **attributes)], [value("x", [2, columns])],
                 [onnx.ValueInfoProto(name="y")], imports=[("", 17), ("ai.onnx.ml", 1)])


COUNTED = [float(i) for i in range(12)]
T1, T2 = (numpy_helper.from_array(np.array(numbers, np.float32)) for numbers in ([1, 2], [3, 4]))
SHAPE = np.array([3, 2])
SAMPLES = root / "tests" / "data" / "ort" / "malformed"
# Models (or ORT files) by row, with their inputs.
CASES = {
    "negative-dim": [(relu([-1, 3], [-1, 3]), {"x": X}), (relu([-7, 3], [2, -2]), {"x": X})],
    "other-shape": [(relu([2, 3], dims), {"x": X}) for dims in ([6], [], [2, 4], [2, 3, 1])],
    "other-shape-between": [(relu_between(dims), {"x": X}) for dims in ([6], [], [2, 4], [2, 3, 1])],
    "other-shape-in-run": [(reshaped(dims), {"x": X, "shape": SHAPE}) for dims in ([6], [2, 3], [], [7, 7, 7])],
    "early-constant": [(constant(8, value=numpy_helper.from_array(SHAPE)), {"x": X}),
                       (constant(5, value=numpy_helper.from_array(SHAPE)), {"x": X}),
                       (constant(9, value_ints=[3, 2]), {"x": X})],
    "output-redeclares-input": [(redeclared(), {"x": X})],
    "initializer-twice": [(added(weight(X), weight(2 * X)), {"x": X}),
                          (added(weight(X), sparse=[sparse([1, 4], [1, 2])]), {"x": X})],  # ORT files: tests/format
    "no-resolver": [(SAMPLES / "resolver_missing.ort", None)],
    "one-name-two-sizes": [(same_names("?", "?"), {"x": X})],
    "initializer-redeclared": [(added(weight(X), values=[value("w", [2, 3], TensorProto.DOUBLE)]), {"x": X})],
    "nameless-initializer": [(added(weight(X), weight(X, "")), {"x": X})],
    "broken-unused-initializer": [(added(weight(X), each), {"x": X}) for each in (
        TensorProto(name="u", data_type=FLOAT, dims=[-1], float_data=[1]),
        TensorProto(name="u", data_type=FLOAT, dims=[3], float_data=[1, 2]))],
    "broken-unused-function": [(with_functions(function("F", "Relu"), function("G", "Nonsense")), {"x": X})],
    "broken-unused-branch": [(half_broken(), {"x": X})],
    "opset-twice": [(with_axes(("", 13), ("", 11)), {"x": X}), (with_axes(("ai.onnx", 13), ("", 11)), {"x": X})],
    "opset-below-one": [(with_axes(("", 11), ("other", 0)), {"x": X}), (with_axes(("", 11), ("other", -1)), {"x": X})],
    "opset-missing": [(model([node("Gelu", "x", domain="com.microsoft")], [value("x", [2, 3])], [value("y", [2, 3])]),
                       {"x": X}),
                      (model([node("Scaler", "x", outputs=["r"], domain="ai.onnx.ml", offset=[0.5], scale=[2.0]),
                              node("Relu", "r")], [value("x", [2, 3])], [value("y", [2, 3])],
                             imports=[("ai.onnx.ml", 1)]), {"x": X})],
    "wide-number": [(shown(tensor(TensorProto.INT8, [2], int32_data=[300, -300])), {}),
                    (shown(tensor(TensorProto.UINT8, [2], int32_data=[-1, 256])), {}),
                    (shown(tensor(TensorProto.UINT32, [2], uint64_data=[1, 2**33 + 5])), {})],
    "data-twice": [(shown(tensor(FLOAT, [2], float_data=[1, 2], raw_data=X[:1, :2].tobytes())), {})],
    "segment": [(segment(), {})],
    "external-length-zero": [(external, {"x": X})],
    "sparse-unsorted": [(added(sparse=[sparse(*each)]), {"x": X}) for each in (
        ([4, 1], [1, 2]), ([1, 1], [1, 2]), ([[1, 1], [0, 1]], [1, 2]), ([5, 0, 5, 0], [1, 2, 3, 4]))],
    "large-window": [(pooled(size, window, stride), {"x": np.arange(size, dtype=np.float32).reshape(1, 1, size)})
                     for size, window, stride in ((3, 4, 1), (3, 4, 2), (2, 4, 2), (1, 6, 3))],
    "function-named-as-operator": [(with_functions(function("Relu", "Neg", ""), called="Relu", domain=""), {"x": X})],
    "blocked-weights": [(blocked, {"x": np.arange(192, dtype=np.float32).reshape(1, 16, 3, 4)})],
    "unknown-attribute": [(normalized(epsion=0.5), {"x": X}), (normalized(epsion=0.5, epsilon=0.25), {"x": X}),
                          (normalized(axes=[1]), {"x": X})],
    "constant-twice": [(made, {}) for made in (
        constants(constant_of(T1), constant_of(T1)), constants(constant_of(T1), constant_of(T2)),
        constants(constant_of(T1), node("Identity", "c", outputs=("d",)), constant_of(T2)),
        constants(constant_of(T1), constant_of(T2), constant_of(T1)),
        constants(constant_of(T1, output="y"), constant_of(T2, output="y")),
        constants(constant_of([1, 2], "value_ints"), constant_of([3, 4], "value_ints")),
        constants(constant_of(T1), weights=[weight(np.array([3, 4], np.float32), "c")]))] + [
        (constants(constant_of(T1), inputs=[value("c", [2])]), fed) for fed in ({}, {"c": np.array([5, 6], np.float32)})],
    "constant-attribute": [(constants(made), {}) for made in (
        constant_of(sparse([1, 4], [1, 2])), constant_of(T1, "sparse_value"), constant_of(7), constant_of([1.5, 2.5]),
        constant_of(T1, "value_int"), constant_of(7, "anything"), constant_of((T1, 7), ("value", "anything")),
        constant_of((7, T1), ("anything", "value")), constant_of((T1, 7), ("value", "value_int")))] + [
        (constants(constant_of(sparse([1, 4], [1, 2])), opset=9), {})],
    "unused-coefficients": [(linear("LinearClassifier", ["l", "y"], 3, coefficients=COUNTED, intercepts=COUNTED[:n],
                                    classlabels_ints=[4, 2, 7][:max(n, 2)]), {"x": X}) for n in (1, 2, 3)] + [
        (linear("LinearRegressor", ["y"], 3, coefficients=COUNTED[:n], targets=2), {"x": X}) for n in (7, 12)],
}


IMAGE = np.arange(-4, 20, dtype=np.float32).reshape(1, 2, 3, 4)


def on_image(opset, op, **attributes):
    return model([node(op, "x", **attributes)], [value("x", [1, 2, 3, 4])], [value("y", None)], opset), {"x": IMAGE}


def dynamic_slice(opset, names, kind):
    fed = {"s": [0, 1], "e": [2, -1], "a": [2, 3]}
    inputs = [value(name, [2], kind) for name in names]
    return (model([node("DynamicSlice", "x", *names)], [value("x", [1, 2, 3, 4]), *inputs], [value("y", None)], opset),
            {"x": IMAGE, **{name: np.array(fed[name], np.int64 if kind == INT64 else np.int32) for name in names}})


# Experimental operators that ONNX removed in opset 10.
TAKEN_BACK = [case for opset in (1, 6, 9) for case in (
    on_image(opset, "Affine", alpha=2.0, beta=0.5), on_image(opset, "Affine"),
    on_image(opset, "Crop", border=[1, 0, 1, 1]), on_image(opset, "Crop", border=[1, 1, 0, 0], scale=[2, 2]),
    on_image(opset, "ImageScaler", scale=2.0, bias=[0.5, -0.5]), on_image(opset, "ImageScaler", bias=[1.0, 2.0]),
    on_image(opset, "ParametricSoftplus", alpha=2.0, beta=0.5), on_image(opset, "ParametricSoftplus", alpha=1.0, beta=50.0),
    on_image(opset, "Scale", scale=2.0), on_image(opset, "Scale"), on_image(opset, "ScaledTanh", alpha=2.0, beta=0.5),
    on_image(opset, "ThresholdedRelu", alpha=2.0), on_image(opset, "ThresholdedRelu"),
    on_image(opset, "MeanVarianceNormalization"),
    dynamic_slice(opset, "sea", INT64), dynamic_slice(opset, "sea", TensorProto.INT32),
    dynamic_slice(opset, "se", INT64))] + [
    on_image(opset, "MeanVarianceNormalization", **attributes) for opset in (1, 8)
    for attributes in ({"across_channels": 1}, {"normalize_variance": 0}, {"across_channels": 1, "normalize_variance": 0})]


def chain(of, to):
    """A chain of elementwise nodes, whose values may share their memory with those of another chain."""
    names = [of, to + "1", to + "2", to + "3", to]
    return [node(op, a, outputs=(b,)) for op, a, b in zip(("Relu", "Abs", "Exp", "Neg"), names, names[1:])]


def word_dims(nodes, a, b, out=1):
    """A model with two vectors, whose dims both have the name 'n'."""
    return (model(nodes, [value("a", ["n"]), value("b", ["n"])], [value("y", [None] * out)], 17),
            {"a": np.arange(a, dtype=np.float32), "b": np.arange(b, dtype=np.float32) / 100})


# One name for dims of two sizes: onnxruntime does not compare them, and a run fails only if the later value is smaller.
# cameo refuses the run, except with session.separate_dims.
WORDS = [word_dims(nodes, a, b) for a, b in ((1, 5), (1, 3000)) for nodes in (
    [node("Add", "a", "b")],
    [node("Shape", "b", outputs=("s",)), node("Expand", "a", "s")],
    [*chain("a", "c"), *chain("b", "d"), node("Concat", "c", "d", axis=0)],
    [*chain("a", "c"), node("ReduceSum", "c", outputs=("t",), keepdims=0), *chain("b", "d"), node("Add", "d", "t")])]


def one_node_of(schema, **attributes):
    """A model of one node with only the required inputs and outputs, and only these attributes."""
    made = helper.make_node(schema.name, [f"i{i}" for i in range(schema.min_input)],
                            [f"o{i}" for i in range(max(schema.min_output, 1))], domain=schema.domain, **attributes)
    imports = {schema.domain: schema.since_version, **({} if schema.domain == "" else {"": 20})}
    graph = helper.make_graph([made], "g", [value(name, [2, 2]) for name in made.input],
                              [onnx.ValueInfoProto(name=name) for name in made.output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in imports.items()], ir_version=10)


def refusal_by_onnxruntime(path):
    try:
        ort_session(path)
        return ""
    except Exception as why:  # noqa: BLE001 - any error
        return str(why)


def check_unknown_attributes(folder):
    """For every operator, cameo checks the names of attributes if onnxruntime does. Constant is left out: its attribute
    is its value."""
    path, checked = folder / "one_node.onnx", 0
    schemas = sorted(onnxruntime_pybind11_state.get_all_operator_schema(), key=lambda each: each.since_version)
    newest = {(each.domain, each.name): each for each in schemas if not each.deprecated and each.name != "Constant"}
    for (domain, name), schema in newest.items():
        path.write_bytes(one_node_of(schema, no_such=1).SerializeToString())
        theirs, ours = refusal_by_onnxruntime(path), cameo("inspect", path, check=False).stderr
        if "under development" in theirs or "no operator" in ours or "declares" in ours:
            continue  # one of the two lacks the operator
        checked += 1
        if ("Unrecognized attribute" in theirs) != ("has no attribute 'no_such'" in ours):
            problems.append(f"{domain}.{name} of opset {schema.since_version} with an unknown attribute: onnxruntime: "
                            f"{theirs}; cameo: {ours}")
    if checked < 300:
        problems.append(f"the attributes of no more than {checked} operators are compared")


def rows():
    for line in (root / "docs" / "oddities.md").read_text().splitlines():
        found = re.match(r"\| `([a-z-]+)` \| .* \| (.*) \| (warning|info) \|$", line)
        if found:
            yield found.groups()


def run_by_onnxruntime(path, feeds):
    """The outputs of onnxruntime; None if it refuses the model."""
    try:
        return ort_session(path, ort_options("all")).run(None, feeds)
    except Exception:  # noqa: BLE001 - any error
        return None


def save(feeds, folder):
    """The arguments of the program that pass these inputs."""
    arguments = []
    for key, array in feeds.items():
        np.save(folder / f"{key}.npy", array)
        arguments += ["--input", f"{key}={folder / key}.npy"]
    return arguments


def check_taken_back(odd, feeds, folder):
    path = folder / "odd.onnx"
    path.write_bytes(odd.SerializeToString())
    name = f"{odd.graph.node[0].op_type} of opset {odd.opset_import[0].version}"
    expected = run_by_onnxruntime(path, feeds)
    done = cameo("run", path, *save(feeds, folder), "--quiet", "--output-dir", folder / "out", check=False)
    if expected is None or done.returncode or done.stderr:
        problems.append(f"{name}: onnxruntime {'refuses' if expected is None else 'accepts'} it; {done.stderr.strip()}")
        return
    got = np.load(folder / "out" / "y.npy")
    if got.shape != expected[0].shape or not np.allclose(got, expected[0], rtol=1e-5, atol=1e-6):
        problems.append(f"{name}: {got} is not {expected[0]}")


def check_words(odd, feeds, folder):
    path = folder / "odd.onnx"
    path.write_bytes(odd.SerializeToString())
    name = f"'n' of {[len(each) for each in feeds.values()]} in {[each.op_type for each in odd.graph.node]}"
    expected = run_by_onnxruntime(path, feeds)
    given = [*save(feeds, folder), "--quiet"]
    refused = cameo("run", path, *given, check=False)
    if refused.returncode != 1 or "the model needs one size for both" not in refused.stderr:
        problems.append(f"{name}: is not refused: {refused.stderr.strip()}")
    done = cameo("run", path, *given, "--config", "session.separate_dims=1", "--output-dir", folder / "out", check=False)
    if expected is None or done.returncode or "one-name-two-sizes: 'n'" not in done.stderr:
        problems.append(f"{name}: onnxruntime {'refuses' if expected is None else 'accepts'} it; {done.stderr.strip()}")
        return
    got = np.load(folder / "out" / "y.npy")
    if got.shape != expected[0].shape or not np.allclose(got, expected[0], rtol=1e-5, atol=1e-6):
        problems.append(f"{name}: {got} is not {expected[0]}")


def check(name, theirs, told, odd, feeds, folder):
    odd = odd(folder) if callable(odd) else odd
    if odd is None:
        return
    path = odd if isinstance(odd, pathlib.Path) else folder / "odd.onnx"
    if path is not odd:
        path.write_bytes(odd.SerializeToString())
    expected = run_by_onnxruntime(path, feeds or {})
    if (expected is None) != theirs.startswith("refuses"):
        problems.append(f"{name}: onnxruntime does not do what the row says: {theirs}")
    inputs = save(feeds or {}, folder)
    given = ["--random-inputs"] if feeds is None else inputs
    if cameo("run", path, *given, "--strict", "--quiet", check=False).returncode != 1:
        problems.append(f"{name}: --strict lets it pass")
    if feeds is None:
        done = cameo("run", path, "--random-inputs", "--log", "info", "--quiet", check=False)
    else:
        done = cameo("run", path, *inputs, "--log", "info", "--quiet", "--output-dir", folder / "out",
                     check=False)
    if done.returncode:
        problems.append(f"{name}: cameo: {done.stderr.strip()}")
        return
    lines = [line for line in done.stderr.splitlines() if f"{name}: " in line]
    if not lines or not all(line.startswith(f"{told}: ") for line in lines):
        problems.append(f"{name}: should be reported as {told}: {done.stderr.strip()}")
    if expected is None or feeds is None:
        return
    got = np.load(folder / "out" / "y.npy")
    if got.shape != expected[0].shape or not np.allclose(got, expected[0], rtol=1e-6, atol=0):
        problems.append(f"{name}: {got} is not {expected[0]}")


with tempfile.TemporaryDirectory() as scratch:
    seen = []
    for name, theirs, told in rows():
        seen.append(name)
        for odd, feeds in CASES.get(name, []):
            check(name, theirs, told, odd, feeds, pathlib.Path(scratch))
    for odd, feeds in TAKEN_BACK:
        check_taken_back(odd, feeds, pathlib.Path(scratch))
    check_unknown_attributes(pathlib.Path(scratch))
    for odd, feeds in WORDS:
        check_words(odd, feeds, pathlib.Path(scratch))
    if seen != list(CASES):
        problems.append(f"the rows of docs/oddities.md are {seen}, the cases here {list(CASES)}")
print(*problems, sep="\n")
print(f"{len(seen)} rows; {len(problems)} problems")
sys.exit(1 if problems else 0)
