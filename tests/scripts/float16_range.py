#!/usr/bin/env python3
"""Float16 models whose intermediate values leave the range of float16 return what float64 returns, at each level of
optimization, with bits that do not depend on the level; with session.round_float16 they return what ONNX's text
defines.

The reference is onnx.reference on the same graph in float64, rounded once. The values that docs/performance.md lists as
rounded (products, Casts of the model, graph outputs, captured values) must be rounded.
"""
import functools
import os
import pathlib
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
from ort_judge import cameo, ort_session  # noqa: E402

LEVELS = ("none", "basic", "extended", "layout", "all")
ROUND = ("--config", "session.round_float16=1")
F16, F64 = TensorProto.FLOAT16, TensorProto.DOUBLE
problems = []


class Net:
    """A model under construction, whose floats have one type: `net.Mul(a, 2.0)` adds a node and returns its output."""

    def __init__(self, element):
        self.element, self.nodes, self.weights, self.names = element, [], [], 0
        self.type = helper.tensor_dtype_to_np_dtype(element)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, array):
        array = np.asarray(array)
        array = array.astype(np.float16).astype(self.type) if array.dtype.kind == "f" else array
        self.weights.append(numpy_helper.from_array(array, self.name()))
        return self.weights[-1].name

    def add(self, op, *inputs, outputs=1, domain="", **attributes):
        inputs = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        made = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, made, domain=domain, **attributes))
        return made[0] if outputs == 1 else made

    def __getattr__(self, op):
        return functools.partial(self.add, op)

    def value(self, name, shape=None):
        return helper.make_tensor_value_info(name, self.element, shape)

    def graph(self, outputs, inputs=(), weights=True):
        return helper.make_graph(self.nodes, "net", list(inputs), [self.value(each) for each in outputs],
                                 initializer=self.weights if weights else [])


def ints(*numbers):
    return np.array(numbers, np.int64)


def mul_div(n, x):
    return n.Div(n.Mul(n.Mul(x, 777.0), 777.0), 777.0)


def square_mean(n, x):
    a = n.Mul(x, 777.0)
    return n.Div(a, n.Sqrt(n.ReduceMean(n.Pow(a, 2.0), axes=[-1])))


def residual_grows(n, x):
    a = n.Mul(x, 25000.0)
    b = n.Add(a, a)
    n_ = n.Div(b, n.Sqrt(n.Add(n.ReduceMean(n.Mul(b, b), axes=[-1]), 1e-5)))
    return n.Mul(n_, np.ones(8))


def tiny(n, x):
    return n.Mul(n.Mul(n.Mul(n.Mul(x, 1e-4), 1e-4), 1e4), 1e4)


def softmax_parts(n, x):
    s = n.Mul(x, 30000.0)
    s = n.Mul(n.Mul(s, 100.0), 1e-3)
    e = n.Exp(n.Sub(n.Mul(s, 1e-3), n.ReduceMin(n.Mul(s, 1e-3), axes=[-1])))
    return n.Div(e, n.ReduceSum(e, ints(-1)))


def log_sum_exp(n, x):
    return n.Log(n.ReduceSum(n.Exp(n.Mul(x, 8.0)), ints(-1)))


def layer_norm_parts(n, x):
    a = n.Mul(x, 5000.0)
    c = n.Sub(a, n.ReduceMean(a, axes=[-1]))
    r = n.Sqrt(n.Add(n.ReduceMean(n.Pow(c, 2.0), axes=[-1]), 1e-5))
    return n.Add(n.Mul(n.Div(c, r), np.linspace(0.5, 1.5, 8)), np.linspace(-1, 1, 8))


def layer_norm(n, x):
    a = n.Mul(x, 25000.0)
    return n.LayerNormalization(n.Add(a, n.Add(a, a)), np.linspace(0.5, 1.5, 8), np.linspace(-1, 1, 8))


def batch_norm(n, x):
    a = n.Mul(n.Mul(x, 1000.0), 1000.0)
    return n.BatchNormalization(n.Mul(a, 0.001), np.full(8, 0.01), np.ones(8), np.full(8, 100.0), np.full(8, 4.0))


def gelu_tanh(n, x):
    a = n.Mul(x, 30.0)
    inner = n.Mul(n.Add(a, n.Mul(n.Mul(n.Mul(a, a), a), 0.044715)), 0.7978515625)
    return n.Mul(n.Mul(a, n.Add(n.Tanh(inner), 1.0)), 0.5)


def through_moves(n, x):
    a = n.Transpose(n.Mul(n.Mul(x, 500.0), 500.0), perm=[1, 0])
    a = n.Reshape(a, ints(4, -1))
    left, right = n.Split(a, ints(2, 2), outputs=2, axis=0)
    a = n.Concat(right, n.Slice(left, ints(0), ints(1), ints(0)), axis=0)
    return n.Div(n.Unsqueeze(a, ints(0)), 500.0)


def through_limits(n, x):
    a = n.Neg(n.Mul(n.Mul(x, 500.0), 500.0))
    a = n.Where(np.array([True, False] * 4), n.Abs(a), n.Relu(n.Neg(a)))
    return n.Div(n.Min(n.Max(a, n.Clip(a, 1.0, 60000.0)), n.Mul(n.Mul(x, 600.0), 600.0)), 700.0)


def l2_norm(n, x):
    a = n.Mul(x, 600.0)
    return n.Div(a, n.Sqrt(n.ReduceSum(n.Mul(a, a), ints(-1))))


def dropout(n, x):
    a = n.Dropout(n.Mul(n.Mul(x, 777.0), 777.0), "", n.constant(np.array(False)))
    return n.Div(a, 777.0)


def sizes_alone(n, x):
    a = n.Mul(n.Mul(x, 777.0), 777.0)
    s = n.Div(a, n.Mul(n.Squeeze(n.Cast(n.Slice(n.Shape(a), ints(1), ints(2)), to=n.element)), 97.125))
    return n.Mul(s, 0.1)


def cumulative(n, x):
    return n.Div(n.CumSum(n.Mul(x, 25000.0), np.array(1, np.int64)), 25000.0)


def softmax(n, x):
    return n.Softmax(n.Div(n.Mul(n.Mul(x, 3000.0), 100.0), 30000.0), axis=-1)


def skip_norms(n, x):
    a = n.Unsqueeze(x, ints(0))
    for _ in range(3):
        y = n.LayerNormalization(a, np.ones(8), np.zeros(8), axis=-1)
        a = n.Add(a, n.Mul(n.Sigmoid(y), 40000.0))
    return n.LayerNormalization(a, np.ones(8), np.zeros(8), axis=-1)


def compared(n, x):
    big = n.Greater(n.Mul(n.Mul(x, 400.0), 700.0), n.Mul(n.Mul(x, 500.0), 500.0))
    return n.Where(big, n.Mul(x, 2.0), x)


def branches(n, x):
    def branch(k):
        inner = Net(n.element)
        inner.name = n.name  # names are unique in the whole model
        y = inner.Div(inner.Mul(inner.Mul(x, k), k), k)
        return inner.graph([y])

    choice = n.Greater(n.ReduceSum(x), 0.0)
    return n.If(n.Squeeze(choice), then_branch=branch(777.0), else_branch=branch(10.0))


def loop(n, x):
    inner = Net(n.element)
    inner.name = n.name
    count, going, carried = (n.name() for _ in range(3))
    y = inner.Div(inner.Div(inner.Mul(inner.Mul(carried, 500.0), 500.0), 500.0), 400.0)
    more = inner.Identity(going)
    body = inner.graph([y])
    body.input.extend([helper.make_tensor_value_info(count, TensorProto.INT64, []),
                       helper.make_tensor_value_info(going, TensorProto.BOOL, []), n.value(carried)])
    body.output.insert(0, helper.make_tensor_value_info(more, TensorProto.BOOL, []))
    return n.Loop(np.array(3, np.int64), np.array(True), x, body=body)


# Nets, each with the level from which on a fusion adds in another order or uses another series: the bits may differ
# from those of lower levels.
NETS = {mul_div: None, square_mean: None, residual_grows: "extended", tiny: None, softmax_parts: None,
        log_sum_exp: None, layer_norm_parts: "extended", layer_norm: None, batch_norm: None, gelu_tanh: "extended",
        through_moves: None, through_limits: None, l2_norm: None, dropout: None, sizes_alone: None, cumulative: None, softmax: None,
        skip_norms: None, compared: None, branches: None, loop: None}


def model_of(make, element, opset=17):
    n = Net(element)
    y = make(n, "x")
    outputs = y if isinstance(y, list) else [y]
    g = n.graph(outputs, [n.value("x", [2, 8])])
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(path, x, level, *more):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        np.save(folder / "x.npy", x)
        cameo("run", path, "--input", f"x={folder / 'x.npy'}", "--optimize", level, "--output-dir", folder / "out",
              *more)
        return [np.load(each) for each in sorted((folder / "out").glob("*.npy"))]


def say(name, words):
    problems.append(f"{name}: {words}")


def bits(arrays):
    return [(a.dtype, a.shape, a.tobytes()) for a in arrays]


def is_close(got, want):
    """Equal but for float16's rounding and the error of sums in float32."""
    return all(g.shape == w.shape and g.dtype == np.float16 and
               np.allclose(g.astype(np.float64), w.astype(np.float64), rtol=2e-3, atol=1e-6)
               for g, w in zip(got, want))


def check_range(make, fuses_from, folder):
    name = make.__name__
    x = (1 + 2 * np.random.default_rng(7).random((2, 8))).astype(np.float16)
    path = folder / f"{name}.onnx"
    path.write_bytes(model_of(make, F16).SerializeToString())
    want = ReferenceEvaluator(model_of(make, F64)).run(None, {"x": x.astype(np.float64)})
    want = [np.asarray(w).astype(np.float16) for w in want]
    assert all(np.isfinite(w).all() for w in want), name
    first, first_rounded = None, None
    for level in LEVELS:
        got = run(path, x, level)
        if not is_close(got, want):
            say(name, f"at level {level} is {got[0].ravel()[:4]}, float64 gives {want[0].ravel()[:4]}")
        if level == fuses_from or first is None:
            first = got
        if bits(got) != bits(first):
            say(name, f"at level {level} has other bits than before")
        rounded = run(path, x, level, *ROUND)
        first_rounded = first_rounded or rounded
        if bits(rounded) != bits(first_rounded):
            say(name, f"with session.round_float16 at level {level} is {rounded[0].ravel()[:4]}, at level none "
                      f"{first_rounded[0].ravel()[:4]}")
    if make is not gelu_tanh and is_close(first_rounded, want):  # tanh of infinity is correct
        say(name, "is right with session.round_float16: it does not leave float16's range")
    check_saved(name, path, x, folder)
    if "float16" in cameo("inspect", path, "--optimize", "none").stderr:
        say(name, "warns")


def check_saved(name, path, x, folder):
    """The optimized model, when saved, contains the Casts, and gives the same result when it is optimized again."""
    for level in ("none", "extended"):
        saved = folder / "saved.onnx"
        want = run(path, x, level, "--config", f"session.optimized_model_filepath={saved}")
        ort_session(saved)  # onnxruntime loads it, too
        for again in ("none", level):
            if bits(run(saved, x, again)) != bits(want):
                say(name, f"saved at level {level} and run at level {again} has other bits")


def check_compiled(make, folder):
    """A model that frozen compiled gives the same bits as on cpu, with and without session.round_float16."""
    x = (1 + 2 * np.random.default_rng(7).random((2, 8))).astype(np.float16)
    path, compiled = folder / "net.onnx", folder / "net_ctx.onnx"
    path.write_bytes(model_of(make, F16).SerializeToString())
    for more in ((), ROUND):
        cameo("compile", path, "-o", compiled, "--ep", "frozen", "--force", *more)
        want, got = run(path, x, "all", *more), run(compiled, x, "all", "--ep", "frozen")
        if bits(got) != bits(want):
            say(make.__name__, f"compiled by frozen {more} is {got[0].ravel()[:4]}, not {want[0].ravel()[:4]}")


def check_saved_as_is(folder):
    """A model that is saved at the level none has only the Casts of the source model."""
    path, made = folder / "plain.onnx", folder / "made.onnx"
    path.write_bytes(model_of(mul_div, F16).SerializeToString())
    run(path, np.ones((2, 8), np.float16), "none", "--config", f"session.optimized_model_filepath={made}")
    if b"Cast" in made.read_bytes():
        say("saving at the level none", "writes Casts that the model lacks")


def check_rounds(folder):
    """A value beyond the range of float16 is infinite where values are rounded, with the key and without."""

    def outputs_between(n, x):
        a = n.Mul(x, 50000.0)
        return [a, n.Div(n.Mul(a, 2.0), 50000.0)]

    def own_casts(n, x):
        a = n.Cast(n.Mul(x, 50000.0), to=TensorProto.FLOAT)
        return n.Cast(n.Div(a, n.Cast(n.constant(50000.0), to=TensorProto.FLOAT)), to=F16)

    def casts_there_and_back(n, x):
        return n.Div(n.Cast(n.Cast(n.Mul(x, 50000.0), to=TensorProto.FLOAT), to=F16), 50000.0)

    def cast_to_itself(n, x):
        return n.Div(n.Cast(n.Mul(x, 50000.0), to=F16), 50000.0)

    def constants(n, x):
        return n.Mul(x, n.Mul(n.Mul(n.constant(np.float16(777)), 777.0), 0.001))

    def product(n, x):
        return n.Add(n.MatMul(n.Add(n.Mul(x, 50000.0), 1.0), np.eye(8)), 1.0)

    def captured(n, x):
        a = n.Mul(x, 50000.0)
        inner = Net(n.element)
        inner.name = n.name
        body = inner.graph([inner.Div(a, 50000.0)])
        return n.If(np.array(True), then_branch=body, else_branch=body)

    x = np.full((2, 8), 2, np.float16)
    for make in (outputs_between, own_casts, casts_there_and_back, cast_to_itself, constants, product, captured):
        path = folder / "rounds.onnx"
        path.write_bytes(model_of(make, F16).SerializeToString())
        for level in LEVELS:
            if make is captured and level != "none":
                continue  # a constant condition: the branch is inlined
            first = run(path, x, level)[0]
            if np.isfinite(first.astype(np.float32)).any():
                say(make.__name__, f"at level {level} is {first.ravel()[:3]}, and has to round 100,000 to infinity")
    second = run_named(folder, outputs_between, x)
    if not np.allclose(second.astype(np.float32), 4):
        say("outputs_between", f"behind an output that is infinite is {second.ravel()[:3]}, not 4")


def run_named(folder, make, x):
    path = folder / "named.onnx"
    path.write_bytes(model_of(make, F16).SerializeToString())
    return run(path, x, "all")[1]


def check_single_nodes(folder):
    """A single node with float16 inputs and outputs gives the same bits with the key and without."""
    x = np.random.default_rng(3).normal(size=(2, 8)).astype(np.float16)
    cases = {op: functools.partial(lambda op, n, x: n.add(op, x), op)
             for op in ("Exp", "Sigmoid", "Erf", "Softmax", "ReduceSum", "Tanh", "Softplus")}
    cases["Mul"] = lambda n, x: n.Mul(x, 3.3)
    cases["LayerNormalization"] = lambda n, x: n.LayerNormalization(x, np.linspace(0.5, 1.5, 8))
    for name, make in cases.items():
        path = folder / "single.onnx"
        path.write_bytes(model_of(make, F16).SerializeToString())
        if bits(run(path, x, "all")) != bits(run(path, x, "all", *ROUND)):
            say(name, "as a single node depends on session.round_float16")
        shown = cameo("inspect", path, "--optimize", "all").stdout
        if "Cast" in shown:
            say(name, "as a single node has Casts")


def check_compare(folder):
    path = folder / "compared.onnx"
    path.write_bytes(model_of(mul_div, F16).SerializeToString())
    np.save(folder / "x.npy", np.full((2, 8), 1.5, np.float16))
    done = cameo("compare", path, "--input", f"x={folder / 'x.npy'}", "--b-config", "session.round_float16=1", "--rtol",
                 "1e-2", "--atol", "1e-2", check=False)
    if done.returncode != 1:
        say("compare", f"shows no difference between the two settings: {done.stdout}")


with tempfile.TemporaryDirectory() as made:
    made = pathlib.Path(made)
    chosen = sys.argv[1:]
    for net, from_level in NETS.items():
        if not chosen or net.__name__ in chosen:
            check_range(net, from_level, made)
    for net in (mul_div, layer_norm, through_moves):
        check_compiled(net, made)
    check_saved_as_is(made)
    check_rounds(made)
    check_single_nodes(made)
    check_compare(made)
print("\n".join(problems) or f"{len(NETS)} nets and their levels agree")
sys.exit(bool(problems))
