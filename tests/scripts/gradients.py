#!/usr/bin/env python3
"""The gradient of each operator that has a derivative, against difference quotients of ONNX's reference evaluator in
double: with known and unknown shapes, broadcast, with empty tensors, in the latest opset and in an old one. For an
operator without a derivative, the error is NOT_IMPLEMENTED and names it.
"""
import json
import math
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper
from onnx.reference.op_run import OpRun

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402
import ort_judge  # noqa: E402

TRAINING = "ai.onnx.preview.training"
rng = np.random.default_rng(7)


def x(*shape):
    return rng.uniform(0.2, 0.9, shape) * np.where(rng.random(shape) < 0.5, -1, 1)


def above(*shape, least=0.2):
    return rng.uniform(least, least + 0.8, shape)


def i8(*values):
    return np.array(values, "i8")


def case(op, *inputs, by=(0,), opsets=(21, 12), outputs=1, constant=(), **attributes):
    return op, list(inputs), by, opsets, outputs, constant, attributes


NEW = (21,)
SIMPLE = "Neg Abs Exp Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Atanh Tanh Sigmoid Softplus Softsign Erf Relu LeakyRelu Elu Identity"
CASES = [case(op, x(*shape)) for op in SIMPLE.split() for shape in ((2, 3), (0, 3), (1,))]
CASES += [case(op, above(2, 3)) for op in ("Log", "Sqrt", "Reciprocal")] + [case("Acosh", above(2, 3, least=1.2))]
CASES += [case("Gelu", x(2, 3), opsets=NEW, approximate=a) for a in ("none", "tanh")]
CASES += [case("LeakyRelu", x(2, 3), alpha=0.3), case("Elu", x(2, 3), alpha=1.7)]
SHAPES = [((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2, 2)), ((0, 3), (1, 3)), ((1, 3), (0, 3)),
          ((1, 1), (0, 3)), ((4, 1, 2), (3, 1))]
CASES += [case(op, x(*a), x(*b), by=(0, 1)) for op in ("Add", "Sub", "Mul", "Div", "Max", "Min") for a, b in SHAPES]
CASES += [case("Pow", above(*a), x(*b), by=(0, 1)) for a, b in SHAPES]
CASES += [case("Pow", np.array([0.0, 2.0, -3.0]), np.array([2.0, 2.0, 3.0])), case("Pow", x(3), i8(0, 2, 3))]
CASES += [case(op, x(2, 3), x(3), x(2, 1), by=(0, 1, 2)) for op in ("Sum", "Mean")]
CASES += [case("Where", rng.random(c) < 0.5, x(*a), x(*b), by=(1, 2)) for c, a, b in
          (((2, 3), (2, 3), (2, 3)), ((3,), (2, 1), (3,)), ((2, 3), (), (3,)), ((0, 3), (1, 3), ()))]
CASES += [case("Clip", x(3, 4), np.array(-0.5), np.array(0.5)), case("Cast", x(2, 3), to=TensorProto.DOUBLE)]
PRODUCTS = [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
            ((5, 1, 2, 3), (2, 3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((0, 2, 3), (3, 4)), ((2, 0), (0, 4)),
            ((1, 2, 3), (0, 3, 4))]
CASES += [case("MatMul", x(*a), x(*b), by=(0, 1)) for a, b in PRODUCTS]
CASES += [case("Gemm", x(*((3, 2) if ta else (2, 3))), x(*((4, 3) if tb else (3, 4))), x(*c), by=(0, 1, 2), transA=ta,
               transB=tb, alpha=0.5, beta=2.0) for ta in (0, 1) for tb in (0, 1) for c in ((2, 4), (4,), (2, 1), ())]
CASES += [case("Gemm", x(2, 3), x(3, 4), by=(0, 1))]
REDUCING = "ReduceSum ReduceMean ReduceSumSquare ReduceL2 ReduceLogSumExp ReduceMax ReduceMin".split()
for op in REDUCING:
    CASES += [case(op, x(2, 3, 4), opsets=(21, 12), keepdims=k) for k in (0, 1)]
    CASES += [case(op, x(2, 3, 4), i8(*axes), opsets=NEW, constant=(1,), keepdims=k) for axes in ((1,), (-1, 0)) for k in (0, 1)]
    CASES += [case(op, x(2, 3, 4), opsets=(12,), axes=[0, -1], keepdims=0)]
CASES += [case("ReduceSum", x(2, 3), opsets=NEW, noop_with_empty_axes=1), case("ReduceSum", x(2, 0), keepdims=0)]
CASES += [case("GlobalAveragePool", x(2, 3, 4, 2))]
CASES += [case(op, x(2, 3, 4), axis=axis, opsets=opsets) for op in ("Softmax", "LogSoftmax")
          for axis, opsets in ((1, NEW), (-1, (21, 12)))]  # the evaluator implements only the current meaning of axis
CASES += [case(op, x(2, 3)) for op in ("Softmax", "LogSoftmax")]
CASES += [case("LayerNormalization", x(2, 3, 4), x(*s), x(*s), by=(0, 1, 2), opsets=NEW, axis=axis)
          for axis, s in ((-1, (4,)), (1, (3, 4)), (2, (1,)))]
CASES += [case("Reshape", x(2, 6), i8(3, -1), opsets=NEW), case("Reshape", x(2, 6), i8(3, -1), constant=(1,)), case("Reshape", x(0, 3), i8(3, 0), opsets=NEW, allowzero=1),
          case("Flatten", x(2, 3, 4)), case("Squeeze", x(2, 1, 3), i8(1), opsets=NEW), case("Unsqueeze", x(2, 3), i8(0, 3), opsets=NEW),
          case("Expand", x(3, 1), i8(2, 1, 4), opsets=NEW), case("Expand", x(3, 1), i8(2, 1, 4), constant=(1,)), case("Transpose", x(2, 3, 4), perm=[2, 0, 1]), case("Transpose", x(2, 3, 4)),
          case("Slice", x(4, 5), i8(3, 0), i8(-5, 5), i8(0, 1), i8(-2, 2), opsets=NEW),
          case("Slice", x(4, 5), i8(3, 0), i8(-5, 5), i8(0, 1), i8(-2, 2), constant=(1, 2, 3, 4)),
          case("Slice", x(4, 5), i8(2), i8(2), constant=(1, 2)),
          case("DepthToSpace", x(1, 8, 2, 3), blocksize=2), case("SpaceToDepth", x(1, 2, 4, 6), blocksize=2),
          case("Gather", x(3, 4), np.array([[0, 2], [-1, 2]]), axis=1, opsets=NEW), case("Gather", x(3, 4), i8(), opsets=NEW),
          case("GatherElements", x(3, 3), np.array([[1, 2, 0], [2, 0, 0]]), axis=0, opsets=NEW),
          case("GatherND", x(2, 3, 2), np.array([[0, 1], [1, 0], [0, 1]]), opsets=NEW), case("Tile", x(2, 3), i8(2, 3), opsets=NEW),
          case("Concat", x(2, 3), x(2, 1), x(2, 0), by=(0, 1, 2), axis=-1), case("Split", x(5, 2), i8(2, 3), outputs=2, opsets=NEW),
          case("Split", x(6, 2), outputs=3, opsets=(12,)), case("Pad", x(2, 3), i8(1, 0, 1, 2), opsets=NEW), case("Pad", x(2, 3), i8(1, 0, 1, 2), constant=(1,)),
          case("Pad", x(2, 3), i8(1, 2), np.array(1.5), i8(1), opsets=NEW)]


class Erf(OpRun):
    """Erf in double: the evaluator's Erf computes in float."""
    def _run(self, v):
        return (np.vectorize(math.erf, otypes=["f8"])(v),)


class Gelu(OpRun):
    def _run(self, v, approximate=None):
        if approximate == "tanh":
            return (v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))),)
        return (v / 2 * (1 + np.vectorize(math.erf, otypes=["f8"])(v / np.sqrt(2))),)


def evaluator(graph, opset):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return onnx.reference.ReferenceEvaluator(model, new_ops=[Erf, Gelu])


def model_of(one, opset, known):
    op, inputs, by, _, outputs, constant, attributes = one
    names = [f"in_{i}" for i in range(len(inputs))]
    made = [f"out_{i}" for i in range(outputs)]
    nodes = [helper.make_node(op, names, made, **attributes)]
    fixed = [numpy_helper.from_array(inputs[i], names[i]) for i in constant]
    values = evaluator(helper.make_graph(
        nodes, "forward", [helper.make_value_info(n, d.type_of(v)) for n, v in zip(names, inputs)],
        [onnx.ValueInfoProto(name=m) for m in made]), opset).run(None, dict(zip(names, inputs)))
    parts = []
    for i, value in enumerate(values):  # each element has a different weight in the sum
        fixed.append(numpy_helper.from_array(x(*np.shape(value)), f"weights_{i}"))
        nodes += [helper.make_node("Mul", [made[i], f"weights_{i}"], [f"weighted_{i}"]),
                  helper.make_node("ReduceSum", [f"weighted_{i}"], [f"sum_{i}"], keepdims=0)]
        parts.append(f"sum_{i}")
    nodes.append(helper.make_node("Sum", parts, ["y"]))
    forward = helper.make_graph(nodes, "forward", [helper.make_value_info(n, d.type_of(v, known))
                                                  for i, (n, v) in enumerate(zip(names, inputs)) if i not in constant],
                                [onnx.ValueInfoProto(name="y")], fixed)
    both = onnx.GraphProto()
    both.CopyFrom(forward)
    xs = [names[i] for i in by]
    zs = [names[i] for i in range(len(names)) if i not in by]
    both.node.append(helper.make_node("Gradient", xs + zs, [f"by_{n}" for n in xs], domain=TRAINING, xs=xs, y="y",
                                      **({"zs": zs} if zs else {})))
    both.output.extend(onnx.ValueInfoProto(name=f"by_{n}") for n in xs)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(TRAINING, 1)]
    return forward, helper.make_model(both, opset_imports=imports, ir_version=8)


def differences(forward, inputs, by, constant, opset):
    """dy/dx of each input by central difference quotients."""
    run = evaluator(forward, opset)
    given = {f"in_{i}": v for i, v in enumerate(inputs) if i not in constant}
    y, step = lambda feeds: float(run.run(None, feeds)[0]), 1e-5  # noqa: E731
    for i in by:
        gradient = np.zeros(np.shape(inputs[i]))
        for at in np.ndindex(gradient.shape):
            near = []
            for sign in (1, -1):
                moved = np.array(inputs[i])
                moved[at] += sign * step
                near.append(y(given | {f"in_{i}": moved}))
            gradient[at] = (near[0] - near[1]) / (2 * step)
        yield gradient


def refused(folder, op, words, **attributes):
    """None if the model fails with NOT_IMPLEMENTED and these words, else a description of what happened."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], **attributes),
         helper.make_node("Gradient", ["x"], ["dx"], domain=TRAINING, xs=["x"], y="y")], "refused",
        [helper.make_tensor_value_info("x", 1, [2, 3])], [helper.make_tensor_value_info(n, 1, None) for n in ("y", "dx")])
    path = folder / f"{op}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(TRAINING, 1)],
                                ir_version=8), path)
    done = ort_judge.cameo("run", path, "--random-inputs", check=False)
    right = done.returncode != 0 and "NOT_IMPLEMENTED" in done.stderr and words in done.stderr
    return None if right else f"{op}: {done.returncode} {done.stderr.strip()[-300:]}, not {words}"


def graph_gradients(folder):
    """Graphs of several nodes, with expected gradients by calculus."""
    a, b = above(2, 3), x(3)

    def graph(name, nodes, feeds, want):
        made = helper.make_graph(nodes, name, [helper.make_value_info(n, d.type_of(v, False)) for n, v in feeds.items()],
                                 [onnx.ValueInfoProto(name=n) for n in want])
        model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(TRAINING, 1)],
                                  ir_version=8)
        d.write_case(folder / name, d.case(model, feeds, rtol=1e-9, atol=1e-12), want)

    def gradient(inputs, outputs, xs, y, **more):
        return helper.make_node("Gradient", inputs, outputs, domain=TRAINING, xs=xs, y=y, **more)

    node = helper.make_node
    graph("second_order", [node("Mul", ["a", "a"], ["s"]), node("Mul", ["s", "a"], ["y"]), gradient(["a"], ["d"], ["a"], "y"),
                           gradient(["a"], ["dd"], ["a"], "d")], {"a": a}, {"dd": 6 * a})
    graph("of_other_values", [node("Mul", ["a", "a"], ["s"]), node("Mul", ["s", "b"], ["y"]),
                              gradient(["c", "b"], ["d"], ["a"], "y", zs=["b"])],
          {"a": a, "b": b, "c": 3 * a}, {"d": 6 * a * b, "y": a * a * b})
    graph("by_a_value_between", [node("Exp", ["a"], ["h"]), node("Mul", ["h", "h"], ["y"]), gradient(["h"], ["d"], ["h"], "y")],
          {"a": a}, {"d": 2 * np.exp(a)})
    graph("not_reached", [node("Exp", ["a"], ["y"]), gradient(["a", "b"], ["c", "d"], ["a", "b"], "y")], {"a": a, "b": b},
          {"c": np.exp(a), "d": np.zeros(3)})
    graph("by_steps", [node("Floor", ["a"], ["f"]), node("Mul", ["a", "f"], ["y"]), gradient(["a"], ["d"], ["a"], "y")],
          {"a": 3 * a}, {"d": np.floor(3 * a)})
    graph("of_itself", [gradient(["a"], ["d"], ["a"], "a"), node("Neg", ["a"], ["n"])], {"a": a},
          {"d": np.ones((2, 3)), "n": -a})
    return [p.name for p in folder.iterdir()]


def refused_nesting(folder):
    """Gradients of gradients grow exponentially: a small model with thirty nested ones must end soon, with an error."""
    nodes = [helper.make_node("Tanh", ["x"], ["y0"])]
    nodes += [helper.make_node("Gradient", ["x"], [f"y{i + 1}"], domain=TRAINING, xs=["x"], y=f"y{i}") for i in range(30)]
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [3])] for name in ("x", "y30")]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(TRAINING, 1)]
    path = folder / "nested.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", *ends), opset_imports=imports, ir_version=8), path)
    done = ort_judge.cameo("run", path, "--random-inputs", check=False, timeout=120)
    if done.returncode == 1 and "INVALID_GRAPH" in done.stderr and "nodes" in done.stderr:
        return None
    return f"30 gradients of gradients: {done.returncode} {done.stderr[-300:]}"


def main():
    failures, number = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "cases").mkdir()
        words = {}
        for one in CASES:
            op, inputs, by, opsets, _, constant, attributes = one
            for opset in opsets:
                for known in (True, False) if opset >= 13 else (True,):
                    np.seterr(all="ignore")
                    forward, model = model_of(one, opset, known)
                    want = dict(zip((f"by_in_{i}" for i in by), differences(forward, inputs, by, constant, opset)))
                    feeds = {f"in_{i}": v for i, v in enumerate(inputs) if i not in constant}
                    want["y"] = evaluator(forward, opset).run(None, feeds)[0]
                    name = f"case_{number}"
                    number += 1
                    words[name] = f"{op} {[np.shape(v) for v in inputs]} {attributes} opset {opset}" + " unknown shapes" * (not known)
                    d.write_case(scratch / "cases" / name, d.case(model, feeds, rtol=1e-5, atol=1e-7), want)
        words |= {name: name for name in graph_gradients(scratch / "cases") if name not in words}
        report = scratch / "report.json"
        ort_judge.cameo("conformance", scratch / "cases", "--json", report, "--quiet", check=False, timeout=600)
        for told in json.loads(report.read_text()):
            if told["status"] != "pass":
                failures.append(f"{words[told['name']]}: {told['reason']}"[:600])
        failures += filter(None, [refused(scratch, "ReduceProd", "cameo has no derivative of ReduceProd"),
                                  refused(scratch, "Hardmax", "cameo has no derivative of Hardmax"),
                                  refused_nesting(scratch)])
    source = (pathlib.Path(__file__).resolve().parents[2] / "src/transform/rules/gradient_rows.cpp").read_text()
    rows = set(re.findall(r"op_id_of<op::(\w+)>, (?!nullptr)", source))
    untested = sorted(rows - {one[0] for one in CASES})
    for line in failures + [f"{op} has a derivative and no case here" for op in untested]:
        print(line)
    print(f"{number} gradients of {len(rows)} operators, {len(failures)} wrong")
    return 1 if failures or untested or len(rows) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
