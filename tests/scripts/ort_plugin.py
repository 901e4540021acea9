#!/usr/bin/env python3
"""Providers of cameo as plugins of PyPI's onnxruntime: the two of examples/ort_plugin_export are registered, run and
checked.

The library exports two symbols and reports with a message that it needs a newer ONNX Runtime; the guide's provider and
cameo's kernels run the digits; contexts are written, embedded or beside the model, and restored; unknown options are
refused; libraries are registered, run and unregistered again and again; and ONNX's cases run in ONNX Runtime with
cameo's kernels as a plugin, which claims the nodes.

Usage: ort_plugin.py [--long] [--cases FOLDER] [NAME...]
       ort_plugin.py --placements [--models FOLDER]
  --long          all of ONNX's cases, 100 cycles, and placements; by default every 20th case and 3 cycles
  --placements    only vendors' plugins, in cameo and in ONNX Runtime: the same nodes are assigned to them, and their
                  outputs have the same bits; they come from PyPI, into a Python environment of the build
  --models FOLDER models of bench/models/make_models.py for that, besides the digits
  --cases FOLDER  the folder of ONNX's cases (tests/conformance/make_cases.py); by default the build's, if it exists
  NAME...         only the cases with one of these in their name
"""
import argparse
import collections
import ctypes
import importlib.util
import json
import multiprocessing
import multiprocessing.pool
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
build = pathlib.Path(os.environ.get("CAMEO_BINARY_DIR", root / "build" / "release"))
sys.path.insert(0, str(root / "tests" / "program"))
import ort_judge as judge  # noqa: E402

NPU, CAMEO, FUSING, FROZEN, ACME = (f"{name}ExecutionProvider" for name in ("MyNpu", "Cameo", "Fusing", "Frozen", "AcmeNpu"))
LIBRARY = {NPU: build / "examples" / "libmy_npu.so", CAMEO: build / "examples" / "libcameo_provider.so",
           FUSING: build / "examples" / "libfusing_plugin.so", ACME: build / "examples" / "libacme_npu.so"}
if (build / "examples" / "libfrozen_plugin.so").exists():
    LIBRARY[FROZEN] = build / "examples" / "libfrozen_plugin.so"
DIGITS = root / "examples" / "digits" / "digits.onnx"
TOLERANCE = (1e-3, 1e-5)
RECORD = "session.record_ep_graph_assignment_info"
HAS_RECORD = hasattr(ort.InferenceSession, "get_provider_graph_assignment_info")
RANDOM = ("Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial")
MINOR = int(ort.__version__.split(".")[1])
problems = []


def expect(true, words):
    if not true:
        problems.append(words)
        print(words[:600], file=sys.stderr)


def session(model, ep, level="none", options=None, provider_options=None, **keys):
    how = judge.ort_options(level)
    for key, value in {**({RECORD: "1"} if HAS_RECORD else {}), **(options or {})}.items():
        how.add_session_config_entry(key, value)
    how.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == ep], provider_options or {})
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), how, **keys)


def placed(made):
    """The operators that were assigned to each provider."""
    by = collections.defaultdict(list)
    for part in made.get_provider_graph_assignment_info() if HAS_RECORD else []:
        by[part.ep_name] += [node.op_type for node in part.get_nodes()]
    return by


def image():
    return np.random.default_rng(1).random((3, 1, 8, 8), dtype=np.float32)


def feed(made):
    return {made.get_inputs()[0].name: image()}


def answers_agree(words, made, want=None):
    want = want or judge.ort_session(DIGITS)
    for a, b in zip(made.run(None, feed(made)), want.run(None, feed(want))):
        expect(a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-5), f"{words}: other answers")


# The most hand-written lines of code, without blank lines and comments: of the adapter for providers inside ONNX
# Runtime, of the host for plugins inside cameo, and apart from these of what both share, the tables of functions by
# their offsets, and the list of all function names that the host has for its messages.
SIZES = (("the adapter", ["src/ort_plugin_export/*", "include/cameo/ort_plugin_export/export.hpp"], 1500),
         ("the host", ["eps/ort_plugin_host/include/**/*.hpp", "eps/ort_plugin_host/src/[!n]*"], 1500),
         ("the tables of both", ["include/cameo/ort_abi/tables.hpp"], 410),
         ("the host's list of names", ["eps/ort_plugin_host/src/names.hpp"], 140))


def try_sizes():
    for name, patterns, most in SIZES:
        files = [path for pattern in patterns for path in root.glob(pattern)]
        lines = [line.strip() for path in files for line in path.read_text().splitlines()]
        count = sum(bool(line) and not line.startswith("//") for line in lines)
        print(f"{name}: {count} lines of code in {len(files)} files")
        expect(0 < count <= most, f"{name}: {count} lines of code, at most {most}")


def try_symbols():
    for library in LIBRARY.values():
        shown = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
        names = sorted(line.split()[-1] for line in shown.stdout.splitlines())
        expect(names == ["CreateEpFactories", "ReleaseEpFactory"], f"{library.name} shows {names}")


def try_old_version():
    """ONNX Runtime of another version, imitated by a function table with a single function."""
    said = []
    create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)(
        lambda code, words: said.append((code, words.decode())) or 1)
    table = (ctypes.c_void_p * 1)(ctypes.cast(create, ctypes.c_void_p))
    get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(
        lambda version: ctypes.addressof(table) if version <= 22 else None)
    for text in (b"1.22.1", b"2.0.0", b"", b"1."):
        name = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda text=text: ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value)
        base = (ctypes.c_void_p * 2)(ctypes.cast(get, ctypes.c_void_p), ctypes.cast(name, ctypes.c_void_p))
        factories, count = (ctypes.c_void_p * 4)(), ctypes.c_size_t(9)
        library = ctypes.CDLL(str(LIBRARY[NPU]))
        library.CreateEpFactories.restype = ctypes.c_void_p
        failed = library.CreateEpFactories(b"x", base, None, factories, ctypes.c_size_t(4), ctypes.byref(count))
        expect(failed and count.value == 0 and said and said[-1][0] == 9 and "1.23 or newer" in said[-1][1]
               and text.decode() in said[-1][1], f"version {text}: {said}")


def try_digits():
    made = session(DIGITS, NPU)
    answers_agree("the guide's provider", made)
    expect(not HAS_RECORD or placed(made)[NPU] == ["Relu"], f"the guide's provider has {dict(placed(made))}")
    made = session(DIGITS, CAMEO)
    answers_agree("cameo's kernels", made)
    expect(not HAS_RECORD or set(placed(made)) == {CAMEO}, f"cameo's kernels have {dict(placed(made))}")
    made.run(None, feed(made))
    many = [multiprocessing.pool.ThreadPool(4).apply_async(answers_agree, ("on four threads", made)) for _ in range(16)]
    for each in many:
        each.get(60)


def try_dynamic_shapes():
    """Shapes that are only determined by a run, and an output that is not longer than its input."""
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("NonZero", ["x"], ["i"]), onnx.helper.make_node("Relu", ["x"], ["y"])],
                                   "g", [value("x", 1, ["n", None])], [value("i", 7, None), value("y", 1, None)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    made = session(model.SerializeToString(), CAMEO)
    for shape in ((2, 3), (4, 1), (0, 5), (1, 2)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 1
        found = made.run(None, {"x": x})
        expect(np.array_equal(found[0], np.array(np.nonzero(x))) and np.array_equal(found[1], np.maximum(x, 0)),
               f"shape {shape}: {found}")


def try_bodies():
    """Subgraphs read an outer value that nothing else reads: before 1.27 the node is left to other providers."""
    value, node = onnx.helper.make_tensor_value_info, onnx.helper.make_node
    bodies = [onnx.helper.make_graph([node(op, ["x", "w"], ["b"])], op, [], [value("b", 1, None)]) for op in ("Add", "Sub")]
    graph = onnx.helper.make_graph([node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])], "g",
                                   [value("c", 9, []), value("x", 1, [2])], [value("y", 1, None)],
                                   [onnx.numpy_helper.from_array(np.ones(2, np.float32), "w")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    made = session(model.SerializeToString(), CAMEO)
    for c, want in ((True, [3, 4]), (False, [1, 2])):
        found = made.run(None, {"c": np.array(c), "x": np.array([2, 3], np.float32)})[0]
        expect(found.tolist() == want, f"If {c}: {found}")
    expect(not HAS_RECORD or (CAMEO in placed(made)) == (MINOR >= 27), f"If is on {dict(placed(made))}")


def try_contexts(folder):
    for embed in "01":
        path = folder / f"embed{embed}_ctx.onnx"
        made = session(DIGITS, CAMEO, options={"ep.context_enable": "1", "ep.context_file_path": str(path),
                                               "ep.context_embed_mode": embed})
        answers_agree("a session that writes contexts", made)
        nodes = onnx.load(path).graph.node
        expect([n.op_type for n in nodes] == ["EPContext"], f"embed {embed}: nodes {[n.op_type for n in nodes]}")
        files = list(folder.glob(f"embed{embed}_ctx_*.bin"))
        expect(len(files) == (embed == "0"), f"embed {embed}: files {files}")
        answers_agree(f"restored, embed {embed}", session(path, CAMEO))
        by_bytes = session(path.read_bytes(), CAMEO, options={"ep.context_file_path": str(path)})
        answers_agree(f"restored from memory, embed {embed}", by_bytes)
        attribute = next(a for a in nodes[0].attribute if a.name == "ep_cache_context")
        for bad in (b"", b"../x.bin", b"/etc/hostname", attribute.s[:40]):
            model = onnx.load(path)
            next(a for a in model.graph.node[0].attribute if a.name == "ep_cache_context").s = bad
            onnx.save(model, folder / "bad_ctx.onnx")
            try:
                session(folder / "bad_ctx.onnx", CAMEO)
                expect(False, f"embed {embed}: the context {bad[:20]!r} was taken")
            except Exception as refused:  # noqa: BLE001
                expect("ONNXRuntimeError" in str(refused), f"embed {embed}: {refused}")


def fusable(first):
    """A model with two groups for `fusing`; `first` is the first number of the weight."""
    value, node = onnx.helper.make_tensor_value_info, onnx.helper.make_node
    nodes = [node("Mul", ["x", "w"], ["a"]), node("Add", ["a", "y"], ["b"]), node("Sigmoid", ["b"], ["c"]),
             node("Mul", ["c", "b"], ["d"]), node("Sub", ["d", "y"], ["z"])]
    weights = onnx.numpy_helper.from_array(np.arange(first, first + 12, dtype=np.float32).reshape(3, 4), "w")
    graph = onnx.helper.make_graph(nodes, "g", [value("x", 1, [3, 4]), value("y", 1, [3, 4])], [value("z", 1, [3, 4])],
                                   [weights])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)


def try_own_contexts(folder):
    """A provider that compiles its groups itself: the node has the context that it stored."""
    model = fusable(0)
    feeds = {"x": np.full((3, 4), 0.25, np.float32), "y": np.ones((3, 4), np.float32)}
    want = ort.InferenceSession(model.SerializeToString(), judge.ort_options(),
                                providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    for embed in "01":
        path = folder / f"fusing{embed}_ctx.onnx"
        made = session(model.SerializeToString(), FUSING, options={
            "ep.context_enable": "1", "ep.context_file_path": str(path), "ep.context_embed_mode": embed})
        for each in (made, session(path, FUSING)):
            expect(np.allclose(each.run(None, feeds)[0], want, rtol=1e-6), f"fusing, embed {embed}: other answers")
        stored = [n for n in onnx.load(path).graph.node if n.op_type == "EPContext"]
        texts = [{a.name: a.s for a in n.attribute} for n in stored]
        expect(len(stored) == 2 and all(t["ep_sdk_version"] == b"fusing 1" and t["source"] == FUSING.encode()
                                        for t in texts), f"fusing, embed {embed}: nodes {texts}")


def own_model(nodes, inputs, outputs, opset=1, between=()):
    value, domains = onnx.helper.make_tensor_value_info, {node.domain for node in nodes}
    graph = onnx.helper.make_graph(nodes, "g", [value(name, kind, [3]) for name, kind in inputs],
                                   [value(name, kind, None) for name, kind in outputs],
                                   value_info=[value(name, kind, [3]) for name, kind in between])
    return onnx.helper.make_model(graph, ir_version=9, opset_imports=[
        onnx.helper.make_opsetid(d, opset if d else 17) for d in domains | {""}]).SerializeToString()


def try_own_operators():
    """Operators that only the provider declares to ONNX Runtime, on values in the provider's memory."""
    node = onnx.helper.make_node
    chain = [node("Square", ["x"], ["a"], domain="acme"), node("Abs", ["a"], ["b"]),
             node("Square", ["b"], ["c"], domain="acme"), node("Identity", ["c"], ["y"])]
    if MINOR < 24:  # it does not accept operators from plugins, and reports that
        refused = refusal(own_model(chain, [("x", 1)], [("y", 1)]))
        expect("acme" in refused, f"custom operators before 1.24: {refused}")
        return
    for kind, dtype, opset in ((1, np.float32, 1), (11, np.float64, 1), (1, np.float32, 2)):
        made = session(own_model(chain, [("x", kind)], [("y", kind)], opset), ACME)
        x = np.array([-2, 0, 3], dtype)
        expect(np.array_equal(made.run(None, {"x": x})[0], x ** 4), "Square: other answers")
        expect(not HAS_RECORD or placed(made)[ACME] == ["Square", "Square"], f"Square: on {dict(placed(made))}")
    for kind, dtype in ((1, np.float32), (7, np.int64)):
        for more in range(3):
            nodes = [node("As", ["x", "like", *["x"] * more], ["a", "n"], domain="acme.more"), node("Abs", ["a"], ["y"])]
            made = session(own_model(nodes, [("x", 1), ("like", kind)], [("y", kind), ("n", 7)], 2), ACME)
            y, n = made.run(None, {"x": np.array([-2, 0, 3], np.float32), "like": np.zeros(3, dtype)})
            expect(y.dtype == dtype and y.tolist() == [2, 0, 3] and n == more, f"As: {y} and {n}, with {more} more")
    for opset, kinds in ((2, (1,)), (3, (11,)), (4, (1, 11)), (5, (7, 1)), (9, (7, 11))):
        inputs = list(zip("xz", kinds))
        counts = [("n", 7)] if opset >= 4 else []
        nodes = [node("Grown", [name for name, _ in inputs], ["a", *["n" for _ in counts]], domain="acme.grown"),
                 node("Abs", ["a"], ["y"])]
        try:
            made = session(own_model(nodes, inputs, [("y", kinds[0]), *counts], opset), ACME)
            feeds = {name: np.array([-2, 0, 3], {1: np.float32, 7: np.int64, 11: np.float64}[kind]) for name, kind in inputs}
            found = made.run(None, feeds)
            expect(found[0].tolist() == [4, 0, 9] and found[1:] == [1] * len(counts), f"Grown at {opset}: {found}")
            expect(not HAS_RECORD or placed(made)[ACME] == ["Grown"], f"Grown at {opset}: on {dict(placed(made))}")
        except Exception as refused:  # noqa: BLE001
            expect(False, f"Grown at {opset}: {refused}")
    # An operator without this version or type is refused; of versions with the same inputs and other outputs, ONNX
    # Runtime uses the first.
    for op, opset, kinds, words in (("Square", 1, (6, 6), "int32"), ("Later", 1, (1, 1), "Later"),
                                    ("Guess", 1, (1, 1), "Guess"), ("Grown", 2, (7, 7), "Grown"),
                                    ("Grown", 4, (1, 1), "Grown"), ("Turned", 3, (1, 1), "expected type (tensor(int64))")):
        domain = "acme.grown" if op in ("Grown", "Turned") else "acme"
        refused = refusal(own_model([node(op, ["x"], ["y"], domain=domain)], [("x", kinds[0])], [("y", kinds[1])], opset))
        expect(words in refused, f"{op} at {opset}: {refused}")
    refused = refusal(own_model([node("Turned", ["x"], ["y"], domain="acme.grown")], [("x", 1)], [("y", 7)], 2))
    expect(refused == "it loads", f"Turned at 2: {refused}")
    refused = refusal(own_model([node("Guess", ["x"], ["y"], domain="acme")], [("x", 1)], [("y", 1)], 3))
    expect(refused == "it loads", f"Guess at 3: {refused}")


def softsigns():
    """Two groups for the provider, around a node of another provider."""
    node = onnx.helper.make_node
    return own_model([node("Softsign", ["x"], ["a"]), node("Abs", ["a"], ["b"]), node("Softsign", ["b"], ["y"])],
                     [("x", 1)], [("y", 1)])


def calls_of_acme(work):
    """The result of `work`, and the numbers of calls of three hooks of the provider's memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "calls"
        path.touch()
        os.environ["ACME_NPU_CALLS"] = str(path)
        try:
            made = work()
        finally:
            del os.environ["ACME_NPU_CALLS"]
        counts = collections.Counter(line.rsplit(" ", 1)[0] for line in path.read_text().splitlines())
    return made, tuple(counts[hook] for hook in ("to device", "to host", "allocate"))


def try_own_memory():
    """Values are in the provider's memory, where they have other bits, and are copied if nodes of other providers use
    them."""
    node = onnx.helper.make_node
    square, x = node("Square", ["x"], ["a"], domain="acme"), np.array([-2, 0, 3], np.float32)
    found, counts = calls_of_acme(lambda: session(softsigns(), ACME).run(None, {"x": x})[0])
    a = x / (1 + np.abs(x))
    expect(np.allclose(found, np.abs(a) / (1 + np.abs(a))), f"Softsign: {found}")
    if MINOR < 24:  # values are passed in the processor's memory: copied into and out of each group
        expect(counts[:2] == (2, 2), f"Softsign before 1.24: {counts}")
        return
    # Each kind of transfer: one group around a node of another provider; a value that goes directly from group to group
    # and is also read by another provider's node; an output that others read; shapes that are determined by the run; an
    # input of both.
    chain = [square, node("Abs", ["a"], ["b"]), node("Square", ["b"], ["c"], domain="acme"), node("Identity", ["c"], ["y"])]
    straight = [square, node("Neg", ["a"], ["b"]), node("As", ["a", "b"], ["c", "n"], domain="acme.more"),
                node("Identity", ["c"], ["y"])]
    given_out = [square, node("Neg", ["a"], ["y"])]
    shared = [square, node("Add", ["x", "a"], ["y"])]
    floats = [(name, 1) for name in "abc"]
    for words, nodes, outputs, between, want, copies in (
            ("around another's node", chain, "y", floats, [x ** 4], (2, 2)),
            ("from group to group", straight, "y", floats, [x ** 2], (2, 2)),
            ("an output that others read", given_out, "ya", floats, [-x ** 2, x ** 2], (1, 1)),
            ("of unknown shapes", chain, "y", [], [x ** 4], (3, 3)),
            ("an input of two providers", shared, "y", floats, [x + x ** 2], (1, 1))):
        made = session(own_model(nodes, [("x", 1)], [(name, 1) for name in outputs], 2,
                                 [each for each in between if each[0] not in outputs]), ACME)
        for run in range(4):
            found, counts = calls_of_acme(lambda made=made: made.run(None, {"x": x}))
            expect(all(np.array_equal(a, b) for a, b in zip(found, want)), f"{words}, run {run}: {found}")
            expect(counts[:2] == copies, f"{words}, run {run}: {counts[:2]} copies to and from, not {copies}")
            expect(run < 2 or counts[2] == 0, f"{words}, run {run}: allocates {counts[2]} times")
    if MINOR < 29:
        return  # its Python package cannot allocate values on a plugin's device
    # With inputs and outputs bound in the device's memory nothing is copied; each one in the processor's memory is one
    # copy.
    made = session(own_model([square, node("Square", ["a"], ["y"], domain="acme")], [("x", 1)], [("y", 1)], 2, [("a", 1)]),
                   ACME)
    [device] = [d for d in ort.get_ep_devices() if d.ep_name == ACME]
    there = device.memory_info(ort.OrtDeviceMemoryType.DEFAULT)
    given, taken = (ort.OrtValue.ortvalue_from_shape_and_type([3], np.float32, memory_info=there) for _ in range(2))
    found = ort.OrtValue.ortvalue_from_numpy(np.zeros(3, np.float32))
    binding = made.io_binding()
    binding.bind_ortvalue_input("x", given)
    binding.bind_ortvalue_output("y", taken)
    _, counts = calls_of_acme(lambda: ort.copy_tensors([ort.OrtValue.ortvalue_from_numpy(x)], [given]))
    expect(counts[:2] == (1, 0), f"to the device: {counts}")
    for run in range(4):
        _, counts = calls_of_acme(lambda: made.run_with_iobinding(binding))
        expect(counts[:2] == (0, 0) and (run < 2 or counts[2] == 0), f"bound in the device's memory, run {run}: {counts}")
    _, counts = calls_of_acme(lambda: ort.copy_tensors([taken], [found]))
    expect(np.array_equal(found.numpy(), x ** 4) and counts[:2] == (0, 1), f"back from the device: {found}, {counts}")
    _, counts = calls_of_acme(lambda: ort.copy_tensors([taken], [given]))
    made.run_with_iobinding(binding)
    ort.copy_tensors([taken], [found])
    expect(np.array_equal(found.numpy(), x ** 16) and counts[:2] == (1, 1), f"within the device: {found}, {counts}")


def refusal(model):
    try:
        session(model, ACME)
        return "it loads"
    except Exception as refused:  # noqa: BLE001
        return str(refused)


def try_shared_contexts(folder):
    """Two models whose contexts are in one file, written by ONNX Runtime and by cameo, read by both."""
    if FROZEN not in LIBRARY:
        return
    models = {"a": onnx.load(DIGITS), "b": onnx.load(DIGITS)}
    models["b"].graph.node.append(onnx.helper.make_node("Identity", [models["b"].graph.output[0].name], ["again"]))
    models["b"].graph.output.append(onnx.helper.make_tensor_value_info("again", 1, None))
    sources = {name: folder / f"{name}.onnx" for name in models}
    for name, model in models.items():
        onnx.save(model, sources[name])
    for by in ("onnxruntime", "cameo"):
        to = folder / by
        to.mkdir()
        compiled = {name: to / f"{name}_ctx.onnx" for name in models}
        for name, path in compiled.items():
            keys = {"ep.share_ep_contexts": "1", "ep.stop_share_ep_contexts": str(int(name == "b"))}
            if by == "onnxruntime":
                made = session(sources[name], FROZEN, options={**keys, "ep.context_enable": "1",
                                                               "ep.context_file_path": str(path)})
                answers_agree(f"a session that shares contexts, {name}", made, judge.ort_session(sources[name]))
                expect(len(list(to.glob("*.bin"))) == (name == "b"), f"after {name}: files {list(to.glob('*'))}")
        if by == "cameo":
            for name in models:
                onnx.save(models[name], to / f"{name}.onnx")
            judge.cameo("share", ",".join(str(to / f"{name}.onnx") for name in models), "--ep", "frozen")
        stored = {name: [n for n in onnx.load(path).graph.node if n.op_type == "EPContext"]
                  for name, path in compiled.items()}
        named = {a.s for nodes in stored.values() for n in nodes for a in n.attribute if a.name == "ep_cache_context"}
        expect(len(named) == 1 and all(stored.values()), f"{by}: contexts {named}")
        for share in "01":
            made = {name: session(path, FROZEN, options={"ep.share_ep_contexts": share}) for name, path in compiled.items()}
            mapped = sum(str(to) in line and ".bin" in line for line in pathlib.Path("/proc/self/maps").open())
            expect(mapped == (1 if share == "1" else 2), f"shared by {by}, share {share}: mapped {mapped} times")
            for name, each in made.items():
                answers_agree(f"shared by {by}, {name}, share {share}", each, judge.ort_session(sources[name]))
            made = each = None
        for name, path in compiled.items():
            judge.cameo("run", path, "--random-inputs", "--ep", "frozen")
    # The last model may have no node for the provider.
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", [value("x", 8, [1])],
                                   [value("y", 8, [1])])
    text = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    to = folder / "none"
    to.mkdir()
    common = {"ep.context_enable": "1", "ep.share_ep_contexts": "1"}
    session(sources["a"], FROZEN, options={**common, "ep.context_file_path": str(to / "a_ctx.onnx")})
    session(text.SerializeToString(), FROZEN, options={**common, "ep.stop_share_ep_contexts": "1",
                                                       "ep.context_file_path": str(to / "text_ctx.onnx")})
    if MINOR >= 27:
        answers_agree("completed by a model without groups", session(to / "a_ctx.onnx", FROZEN))
    try:
        session(sources["a"], FROZEN, options={**common, "ep.context_embed_mode": "1",
                                               "ep.context_file_path": str(to / "e_ctx.onnx")})
        expect(False, "contexts that are shared and embedded")
    except Exception as refused:  # noqa: BLE001
        expect("ep.context_embed_mode must be 0" in str(refused), f"shared and embedded: {refused}")


def try_shared_in_cameo(folder):
    """cameo shares a plugin's contexts between two models: both are in one file, and each runs as before."""
    plugin = ["--ep-library", LIBRARY[FUSING], "--config", "ep.ort_plugin.contexts=1"]
    feeds, given = {"x": np.full((3, 4), 0.25, np.float32), "y": np.ones((3, 4), np.float32)}, []
    for name, array in feeds.items():
        np.save(folder / f"{name}.npy", array)
        given += ["--input", f"{name}={folder / name}.npy"]
    names = ("one", "two")
    for i, name in enumerate(names):
        onnx.save(fusable(i), folder / f"{name}.onnx")
    judge.cameo("share", ",".join(str(folder / f"{name}.onnx") for name in names), *plugin)
    files = [path.name for path in folder.glob("*.bin")]
    expect(files == ["one_OrtPluginExecutionProvider.bin"], f"shared by a plugin in cameo: files {files}")
    for name in names:
        stored = sum(n.op_type == "EPContext" for n in onnx.load(folder / f"{name}_ctx.onnx").graph.node)
        judge.cameo("run", folder / f"{name}_ctx.onnx", "--output-dir", folder, *plugin, *given)
        want = judge.ort_session(folder / f"{name}.onnx").run(None, feeds)[0]
        expect(stored == 2 and np.allclose(np.load(folder / "z.npy"), want, rtol=1e-6),
               f"shared by a plugin in cameo, {name}: {stored} nodes, or other answers")


def try_secondary_nodes(folder):
    """Nodes whose context is in another node, as cameo embeds it: they load in ONNX Runtime (1.23 loads no such model
    that has sequences)."""
    if FROZEN not in LIBRARY or MINOR < 24:
        return
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    nodes = [node("Mul", ["x", "x"], ["a"]), node("Neg", ["a"], ["b"]), node("SequenceConstruct", ["a", "b"], ["s"]),
             node("SequenceAt", ["s", "i"], ["c"]), node("Exp", ["c"], ["d"]), node("Sub", ["d", "c"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "g", [value("x", 1, [3]), value("i", 7, [])], [value("y", 1, None)])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9),
              folder / "twice.onnx")
    path = folder / "secondary_ctx.onnx"
    judge.cameo("compile", folder / "twice.onnx", "-o", path, "--ep", "frozen", "--embed")
    mains = [a.i for n in onnx.load(path).graph.node for a in n.attribute if a.name == "main_context"]
    expect(sorted(mains) == [0, 1], f"secondary nodes: {mains}")
    feeds = {"x": np.array([-1, 0, 2], np.float32), "i": np.array(1)}
    want = judge.ort_session(folder / "twice.onnx").run(None, feeds)[0]
    expect(np.allclose(session(path, FROZEN).run(None, feeds)[0], want, rtol=1e-5), "secondary nodes: other answers")


def try_weightless(folder):
    """Contexts of `frozen`, with and without their constants, that cameo and ONNX Runtime wrote, load in both. Two
    variants of a model share one file of weights."""
    if FROZEN not in LIBRARY:
        return

    def keys_of(path, **more):
        return {"ep.context_enable": "1", "ep.context_file_path": str(path),
                "ep.context_model_external_initializers_file_name": "weights.bin",
                **{f"ep.{key}": value for key, value in more.items()}}

    for by, variant, weightless in (("cameo", "a", "0"), ("cameo", "a", "1"), ("onnxruntime", "a", "0"),
                                    ("onnxruntime", "a", "1"), ("onnxruntime", "b", "1")):
        to = folder / f"{by}{weightless}"
        to.mkdir(exist_ok=True)
        path = to / f"{variant}_ctx.onnx"
        before = (to / "weights.bin").read_bytes() if variant == "b" else None
        if by == "cameo":
            judge.cameo("compile", DIGITS, "-o", path, "--ep", "frozen", "--embed", "--config",
                        f"ep.enable_weightless={weightless}", "--external-initializers", "weights.bin")
        else:
            made = session(DIGITS, FROZEN, level="all" if variant == "b" else "none", options=keys_of(
                path, enable_weightless=weightless, context_embed_mode=str(int(variant == "a"))))
            answers_agree(f"a session that writes contexts, weightless {weightless}", made)
        words = f"weightless {weightless}, by {by}, variant {variant}"
        compiled = onnx.load(path, load_external_data=False)
        constants = sorted(i.name for i in compiled.graph.initializer)
        expect(constants == (["conv_weight", "dense_weight"] if weightless == "1" else []) and
               sorted(compiled.graph.node[0].input) == [*constants, "image"], f"{words}: constants {constants}")
        expect(all(i.data_location == onnx.TensorProto.EXTERNAL for i in compiled.graph.initializer), f"{words}: inside")
        expect(before is None or before == (to / "weights.bin").read_bytes(), f"{words}: other weights")
        for each in sorted(to.glob("*_ctx.onnx")):
            made = session(each, FROZEN, options={"ep.enable_weightless": weightless})
            expect(not HAS_RECORD or set(placed(made)) == {FROZEN}, f"{words}: on {dict(placed(made))}")
            answers_agree(words, made)
            judge.cameo("run", each, "--random-inputs", "--ep", "frozen")
    value, node = onnx.helper.make_tensor_value_info, onnx.helper.make_node
    weights = [onnx.numpy_helper.from_array(np.full(100, 3, np.float32), "w"),
               onnx.numpy_helper.from_array(np.full(100, 5, np.float32), "v")]
    graph = onnx.helper.make_graph([node("Mul", ["w", "x"], ["a"]), node("Sub", ["v", "a"], ["b"]), node("Div", ["b", "y"], ["z"])],
                                   "g", [value("x", 1, [100]), value("y", 1, [100])], [value("z", 1, [100])], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    path = folder / "constants_first_ctx.onnx"
    for each in (model.SerializeToString(), path):
        made = session(each, FROZEN, options={} if each is path else keys_of(path, enable_weightless="1"))
        z = made.run(None, {"x": np.full(100, 2, np.float32), "y": np.full(100, 4, np.float32)})[0]
        expect((z == -0.25).all(), f"constants before inputs: {z}")
    expect(len(onnx.load(path).graph.initializer) == 2, "constants before inputs: not left in the model")
    for ep, key in ((CAMEO, "enable_weightless"), (FUSING, "enable_weightless"), (FUSING, "enable_weightless_ep_context_nodes")):
        try:
            session(fusable(0).SerializeToString(), ep, options=keys_of(folder / "none_ctx.onnx", **{key: "1"}))
            expect(False, f"{ep}: contexts without constants, by {key}")
        except Exception as refused:  # noqa: BLE001
            expect("weightless" in str(refused) and ep in str(refused), f"{ep}, {key}: {refused}")
        expect(not (folder / "none_ctx.onnx").exists(), f"{ep}: a compiled model of which nothing was compiled")


def try_weightless_in_cameo(folder):
    """Contexts without constants that cameo writes for a plugin: the variants of a model have identical weight
    files."""
    if FROZEN not in LIBRARY:
        return
    plugin, key = ["--config", "ep.ort_plugin.contexts=1", "--ep-library"], ["--config", "ep.enable_weightless=1"]
    np.save(folder / "image.npy", image())
    given = ["--input", f"image={folder / 'image.npy'}", "--output-dir", folder]
    judge.cameo("run", DIGITS, *given)
    want = np.load(folder / "logits.npy")
    weights = set()
    for variant in ("--embed", "--force"):
        to = folder / variant
        to.mkdir()
        judge.cameo("compile", DIGITS, "-o", to / "m_ctx.onnx", *plugin, LIBRARY[FROZEN], *key, variant,
                    "--external-initializers", "weights.bin")
        compiled = onnx.load(to / "m_ctx.onnx", load_external_data=False).graph
        expect([n.op_type for n in compiled.node] == ["EPContext"] and
               sorted(compiled.node[0].input) == ["conv_weight", "dense_weight", "image"] and
               len(compiled.initializer) == 2, f"a plugin's context without constants: {compiled.node}")
        weights.add((to / "weights.bin").read_bytes())
        for more in ([], key):
            judge.cameo("run", to / "m_ctx.onnx", *plugin, LIBRARY[FROZEN], *more, *given)
            expect(np.allclose(np.load(folder / "logits.npy"), want, rtol=1e-5), f"{variant} {more}: other answers")
    expect(len(weights) == 1, "variants of a model have other weights")
    for ep in (FUSING, NPU):
        done = judge.cameo("compile", DIGITS, "-o", folder / "none_ctx.onnx", *plugin, LIBRARY[ep], *key, check=False)
        expect("NOT_IMPLEMENTED" in done.stderr and ep in done.stderr, f"{ep}: {done.stderr}")


def try_in_cameo():
    """cameo's program loads the plugins that were built from cameo's providers."""
    for ep in (NPU, CAMEO):
        done = judge.cameo("compare", DIGITS, "--ep-library", LIBRARY[ep], "--b-ep", "cpu", "--rtol", "1e-5", "--atol",
                           "1e-6", check=False)
        expect(done.returncode == 0, f"{ep} in cameo: {done.stderr}")
        shown = judge.cameo("run", DIGITS, "--random-inputs", "--ep-library", LIBRARY[ep], "--log", "verbose")
        expect("on ort_plugin" in shown.stderr, f"{ep} in cameo claims nothing: {shown.stderr}")
    # The plugin's own memory is not used by cameo's host: values are copied there and back.
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "softsigns.onnx"
        path.write_bytes(softsigns())
        done = judge.cameo("compare", path, "--ep-library", LIBRARY[ACME], "--b-ep", "cpu", check=False)
        expect(done.returncode == 0, f"{ACME} in cameo: {done.stderr}")
        shown = judge.cameo("run", path, "--random-inputs", "--ep-library", LIBRARY[ACME], "--log", "verbose")
        expect("on ort_plugin" in shown.stderr, f"{ACME} in cameo claims nothing: {shown.stderr}")


VENDORS = "onnxruntime==1.31.1", "onnxruntime-qnn==2.7.0", "onnxruntime-ep-openvino==1.8.1", "numpy", "onnx"
# The Python module of a vendor's plugin, its library, and the options that name other files of the module.
PLUGINS = (("onnxruntime_qnn", "libonnxruntime_providers_qnn.so", {"backend_path": "libQnnHtp.so"}),
           ("onnxruntime_ep_openvino", "libonnxruntime_providers_openvino_plugin.so", {}))


def try_vendors(more):
    """Runs this script again with the Python environment that has vendors' plugins."""
    python = build / "plugins" / "venv" / "bin" / "python"
    stamp = python.parents[1] / "stamp"
    if not stamp.exists() or stamp.read_text() != " ".join(VENDORS):
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *VENDORS], check=True)
        stamp.write_text(" ".join(VENDORS))
    done = subprocess.run([python, __file__, "--placements", *more])
    expect(done.returncode == 0, "vendors' plugins: see above")


def try_placements(models):
    folder = pathlib.Path(next(p for p in sys.path if p.endswith("site-packages")))
    for module, library, options in PLUGINS:
        path = folder / module / library
        ort.register_execution_provider_library(module, str(path))
        options = {key: str(folder / module / name) for key, name in options.items()}
        others = {"CPUExecutionProvider", "AzureExecutionProvider"}
        found = [d.ep_name for d in ort.get_ep_devices() if d.ep_name not in others]
        for model in models if found else []:
            compare_placement(module, path, options, found[0], model)
        if found and len(models) > 1:
            compare_shared(module, path, options, models[:2])
        if not found:
            print(f"{module}: ONNX Runtime finds no device for it on this machine: left out")
        ort.unregister_execution_provider_library(module)


def with_fixed_dims(model):
    """The model with fixed dims: such plugins only claim nodes of fixed shapes."""
    for part in model.graph.input:
        for d in part.type.tensor_type.shape.dim:
            if not d.HasField("dim_value"):
                d.dim_value = 1
    return model


def compare_placement(module, library, options, ep, path):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        model = with_fixed_dims(onnx.load(path))
        for i, node in enumerate(model.graph.node):
            node.name = f"n{i}"
        onnx.save(model, scratch / "m.onnx")
        made = session(scratch / "m.onnx", ep, provider_options=options)
        # The names of nodes that were changed to channels last have another suffix there. Transposes are not compared:
        # a layout inserts some, and removes those of the model that cancel with them.
        counted = {node.name for node in model.graph.node if node.op_type != "Transpose"}
        theirs = {re.sub(r"_token_\d+$", "", node.name) for part in made.get_provider_graph_assignment_info()
                  if part.ep_name == ep for node in part.get_nodes()} & counted
        rng, feeds, given = np.random.default_rng(1), {}, []
        for i in made.get_inputs():
            feeds[i.name] = rng.random(i.shape, dtype=np.float32)
            np.save(scratch / f"{len(feeds)}.npy", feeds[i.name])
            given += ["--input", f"{i.name}={scratch / f'{len(feeds)}.npy'}"]
        how = ["--optimize", "none", "--ep-library", f"{library}:" + ";".join(f"{k}={v}" for k, v in options.items())]
        shown = judge.cameo("inspect", scratch / "m.onnx", "--json", *how).stdout
        left = {each["node"] for each in json.loads(shown[shown.index("{\n"):])["refusals"]}
        ours = counted - left
        words = f"{module}, {path.parent.name}/{path.name}: {len(ours)} of {len(counted)} nodes"
        expect(ours == theirs, f"{words}; ONNX Runtime assigns {sorted(theirs ^ ours)} differently")
        (scratch / "out").mkdir()
        judge.cameo("run", scratch / "m.onnx", "--output-dir", scratch / "out", *how, *given)
        far = 0
        for info, want in zip(made.get_outputs(), made.run(None, feeds)):
            got = np.load(next(p for p in (scratch / "out").glob("*.npy") if len(made.get_outputs()) == 1 or
                               p.stem == info.name))
            far = max(far, float(np.abs(got.astype(np.float64) - want).max()))
        # The nodes that the plugin does not claim are run by different kernels in the two runtimes.
        expect(far == 0 if not left else far < 1e-4, f"{words}: outputs differ by {far}")
        print(f"{words} on it, as in ONNX Runtime; outputs differ by {far}")


def compare_shared(module, library, options, paths):
    """Two models whose contexts are in one file, which cameo wrote with a plugin's provider: each runs from it with the
    same bits as uncompiled."""
    how = ["--ep-library", f"{library}:" + ";".join(f"{k}={v}" for k, v in options.items())]
    for loader in "ort_plugin", "ort_plugin_nhwc":
        how += ["--config", f"ep.{loader}.contexts=1"]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        sources = [scratch / f"m{i}.onnx" for i in range(len(paths))]
        for path, to in zip(paths, sources):
            onnx.save(with_fixed_dims(onnx.load(path)), to)
        judge.cameo("share", ",".join(map(str, sources)), *how, "--ep", "ort_plugin")  # the shared file is among these
        files, far = list(scratch.glob("*.bin")), 0
        for source in sources:
            made = []
            for name in f"{source.stem}_ctx.onnx", source.name:
                (scratch / name).with_suffix("").mkdir()
                judge.cameo("run", scratch / name, "--random-inputs", "--optimize", "basic", "--output-dir",
                            (scratch / name).with_suffix(""), *how)
                made.append({each.name: each.read_bytes() for each in (scratch / name).with_suffix("").iterdir()})
            far += made[0] != made[1]
        words = f"{module}: {' and '.join(each.parent.name for each in paths)} share {len(files)} context file"
        expect(len(files) == 1 and far == 0, f"{words}; {far} of them answer otherwise")
        print(f"{words}, and answer as without it")


def try_options():
    try:
        session(DIGITS, CAMEO, provider_options={"speed": "high"})
        expect(False, "an option that does not exist was taken")
    except Exception as refused:  # noqa: BLE001
        expect("speed" in str(refused) and "INVALID_ARGUMENT" in str(refused), f"an unknown option: {refused}")


def try_cycles(count):
    for i in range(count):
        for ep, library in LIBRARY.items():
            name = f"cycle {ep}"
            ort.register_execution_provider_library(name, str(library))
            devices = [d for d in ort.get_ep_devices() if d.ep_name == ep]
            expect(len(devices) == 1, f"cycle {i}: {len(devices)} devices")
            del devices
            made = session(DIGITS, ep)
            made.run(None, feed(made))
            del made
            ort.unregister_execution_provider_library(name)
    for ep, library in LIBRARY.items():
        ort.register_execution_provider_library(ep, str(library))


def is_of_tensors(model):
    """True if all values that a case names are tensors of numbers."""
    def fine(info):
        kind = info.type
        return not kind.WhichOneof("value") or (kind.HasField("tensor_type") and kind.tensor_type.elem_type != 8)
    other = ("Sequence", "Optional", "String", "Regex", "TfIdf", "LabelEncoder", "Category", "ZipMap", "DictVectorizer")
    return all(fine(v) for part in (model.graph.input, model.graph.output, model.graph.value_info) for v in part) and \
        not any(node.op_type.startswith(other) or "Sequence" in node.op_type for node in model.graph.node)


def run_case(case):
    """(outcome, operators on other providers); the outcome is 'right', 'declined', 'not run' or a description of the
    error."""
    model = onnx.load(case / "model.onnx", load_external_data=False)
    model.ir_version = min(model.ir_version, 13)
    whole = case / "model.onnx" if model.ByteSize() > 1 << 20 else model.SerializeToString()
    try:
        made = session(whole, CAMEO)
        answers = judge.ort_answers(made, case)
    except Exception as refused:  # noqa: BLE001
        try:
            alone = ort.InferenceSession(whole if isinstance(whole, bytes) else str(whole), judge.ort_options(),
                                         providers=["CPUExecutionProvider"])
            judge.ort_answers(alone, case)
        except Exception:  # noqa: BLE001
            # onnxruntime's kernels fail, too: an error only if the message names cameo.
            return ("not run" if CAMEO not in str(refused) else str(refused)), [], is_of_tensors(model)
        return str(refused), [], is_of_tensors(model)
    own = case / "tolerance.json"
    tolerance = tuple(json.loads(own.read_text()).values()) if own.exists() else TOLERANCE
    others = [op for ep, ops in placed(made).items() if ep != CAMEO for op in ops]
    if any("bfloat16" in o.type for o in made.get_outputs()):  # the tolerance of `cameo conformance`
        tolerance = max(tolerance[0], 2 ** -6), tolerance[1]
    differs = judge.what_differs(made, answers, *tolerance)
    if any(node.op_type in RANDOM or (node.op_type == "Dropout" and len(node.input) > 2) for node in model.graph.node):
        differs = None  # random numbers are not portable
    if differs and judge.cameo("conformance", case.parent, "--filter", f"^{case.name}$", check=False).returncode:
        differs = None  # cameo outside onnxruntime has the same deviation
    if differs:
        again = judge.ort_answers(made, case)
        if any(not np.array_equal(a[1][k], b[1][k]) for a, b in zip(answers, again) for k in a[1]):
            differs = None  # the outputs are random
    if differs and others:  # a deviation of onnxruntime's kernels is not an error of cameo
        alone = ort.InferenceSession(whole if isinstance(whole, bytes) else str(whole), judge.ort_options(),
                                     providers=["CPUExecutionProvider"])
        if judge.what_differs(alone, judge.ort_answers(alone, case), *tolerance):
            differs = None
    return differs or "right", others, is_of_tensors(model)


def start_worker():
    ort.set_default_logger_severity(4)
    ort.register_execution_provider_library(CAMEO, str(LIBRARY[CAMEO]))


def try_cases(folder, every, names):
    if not (folder / "node").exists():
        print(f"no cases of ONNX in {folder}: left out")
        return
    cases = sorted(c for kind in ("node", "simple", "light", "pytorch-converted", "pytorch-operator")
                   for c in (folder / kind).glob("*") if (c / "model.onnx").exists())
    cases = [c for c in cases if any(n in c.name for n in names)] if names else cases[::every]
    counts, left, on = collections.Counter(), collections.defaultdict(list), collections.Counter()
    with multiprocessing.get_context("spawn").Pool(2, start_worker, maxtasksperchild=200) as pool:
        pending = [(case, pool.apply_async(run_case, (case,))) for case in cases]
        for case, each in pending:
            try:
                outcome, others, of_tensors = each.get(120)
            except Exception as broken:  # noqa: BLE001
                outcome, others, of_tensors = f"the process ended or was too slow: {broken!r}", [], True
            known = outcome in ("right", "not run")
            counts[outcome if known else "wrong"] += 1
            expect(known, f"{case.name}: {outcome}")
            if outcome == "right" and of_tensors:
                on["all of it" if not others else "part"] += 1
                for op in others:
                    left[op].append(case.name)
                if names:
                    print(case.name, "left:", others)
    total = sum(on.values())
    print(f"cases: {dict(counts)}; of {total} with tensors alone {on['all of it']} wholly on {CAMEO} "
          f"({100 * on['all of it'] / max(total, 1):.1f} %); left: "
          f"{', '.join(f'{op} {len(of)} ({of[0]})' for op, of in sorted(left.items(), key=lambda each: -len(each[1])))}")
    expect(not HAS_RECORD or names or on["all of it"] >= 0.95 * total, "fewer than 95 % of the cases on cameo's kernels")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--cases", type=pathlib.Path, default=root / "build" / "cases")
    parser.add_argument("--placements", action="store_true")
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    ort.set_default_logger_severity(4)
    if given.placements:
        more = sorted(given.models.glob("*/model.onnx")) if given.models else []
        if importlib.util.find_spec(PLUGINS[0][0]):
            try_placements([DIGITS, *more])
        else:
            try_vendors(["--models", str(given.models)] if given.models else [])
        return 1 if problems else 0
    if not given.names:
        try_sizes()
        try_symbols()
        try_old_version()
        try_cycles(100 if given.long else 3)
        try_digits()
        try_dynamic_shapes()
        try_bodies()
        try_options()
        with tempfile.TemporaryDirectory() as folder:
            try_contexts(pathlib.Path(folder))
            try_own_contexts(pathlib.Path(folder))
            try_weightless(pathlib.Path(folder))
            try_secondary_nodes(pathlib.Path(folder))
            try_shared_contexts(pathlib.Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            try_shared_in_cameo(pathlib.Path(folder))
            try_weightless_in_cameo(pathlib.Path(folder))
        try_own_operators()
        try_own_memory()
        try_in_cameo()
    if given.long and not given.names:
        try_vendors(["--models", str(given.models)] if given.models else [])
    try_cases(given.cases, 1 if given.long else 20, given.names)
    print(f"onnxruntime {ort.__version__}: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
