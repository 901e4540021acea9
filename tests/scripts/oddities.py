#!/usr/bin/env python3
"""Every row of docs/oddities.md has a model here: cameo runs it and says what the row says, and onnxruntime does what the
row says of it, with the same numbers."""
# not with a sanitizer: onnxruntime is not built with one, and the tests in C++ have the same models
import os
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
from ort_judge import cameo, ort_options, ort_session  # noqa: E402

problems = []
X = np.arange(-1, 5, dtype=np.float32).reshape(2, 3)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, dims, element=FLOAT):
    return helper.make_tensor_value_info(name, element, dims)


def model(nodes, inputs, outputs, opset=13, values=()):
    graph = helper.make_graph(nodes, "odd", inputs, outputs, value_info=list(values))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def relu(x, y):
    return model([helper.make_node("Relu", ["x"], ["y"])], [value("x", x)], [value("y", y)])


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


SHAPE = np.array([3, 2])
SAMPLES = root / "tests" / "data" / "ort" / "malformed"
# By row: models (or ORT files), with what they are fed.
CASES = {
    "negative-dim": [(relu([-1, 3], [-1, 3]), {"x": X}), (relu([-7, 3], [2, -2]), {"x": X})],
    "question-mark": [(relu(["?", "?"], ["?", "?"]), {"x": X})],
    "other-shape": [(relu([2, 3], dims), {"x": X}) for dims in ([6], [], [2, 4], [2, 3, 1])],
    "other-shape-in-run": [(reshaped(dims), {"x": X, "shape": SHAPE}) for dims in ([6], [2, 3], [], [7, 7, 7])],
    "early-constant": [(constant(8, value=numpy_helper.from_array(SHAPE)), {"x": X}),
                       (constant(5, value=numpy_helper.from_array(SHAPE)), {"x": X}),
                       (constant(9, value_ints=[3, 2]), {"x": X})],
    "output-redeclares-input": [(redeclared(), {"x": X})],
    "initializer-twice": [],  # a file made by hand: tests/format
    "no-resolver": [(SAMPLES / "resolver_missing.ort", None)],
}


def rows():
    for line in (root / "docs" / "oddities.md").read_text().splitlines():
        found = re.match(r"\| `([a-z-]+)` \| .* \| (.*) \| (warning|info) \|$", line)
        if found:
            yield found.groups()


def run_by_onnxruntime(path, feeds):
    """Its outputs; None if it refuses the model."""
    try:
        return ort_session(path, ort_options("all")).run(None, feeds)
    except Exception:  # noqa: BLE001 - whatever it says
        return None


def check(name, theirs, told, odd, feeds, folder):
    path = odd if isinstance(odd, pathlib.Path) else folder / "odd.onnx"
    if path is not odd:
        path.write_bytes(odd.SerializeToString())
    expected = run_by_onnxruntime(path, feeds or {})
    if (expected is None) != theirs.startswith("refuses"):
        problems.append(f"{name}: onnxruntime does not do what the row says: {theirs}")
    inputs = []
    for key, array in (feeds or {}).items():
        np.save(folder / f"{key}.npy", array)
        inputs += ["--input", f"{key}={folder / key}.npy"]
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
        problems.append(f"{name}: should be told as {told}: {done.stderr.strip()}")
    if expected is None or feeds is None:
        return
    got = np.load(folder / "out" / "y.npy")
    if got.shape != expected[0].shape or not np.array_equal(got, expected[0]):
        problems.append(f"{name}: {got} is not {expected[0]}")


with tempfile.TemporaryDirectory() as scratch:
    seen = []
    for name, theirs, told in rows():
        seen.append(name)
        for odd, feeds in CASES.get(name, []):
            check(name, theirs, told, odd, feeds, pathlib.Path(scratch))
    if seen != list(CASES):
        problems.append(f"the rows of docs/oddities.md are {seen}, the cases here {list(CASES)}")
print(*problems, sep="\n")
print(f"{len(seen)} rows; {len(problems)} problems")
sys.exit(1 if problems else 0)
