#!/usr/bin/env python3
"""ORT files both ways, with PyPI's onnxruntime as the judge.

The samples (tests/data/ort): cameo runs each, and what it writes of them, as .ort and as .onnx, onnxruntime loads and
runs with the expected outputs; the .ort again decodes with flatc, and cameo reads the same from it. ONNX's light
models, PyTorch's exports and the simple cases: cameo converts them and onnxruntime runs the result; onnxruntime converts them
and cameo runs the result.

Usage: ort_both_ways.py [NAME...]   only the cases with one of these in their name
"""
# not with a sanitizer: onnxruntime is not built with one, and what is read and written is the same
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper
from onnx.backend.test.runner import Runner

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
SAMPLES = root / "tests" / "data" / "ort"
DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
LEVELS = ("none", "basic", "extended", "all")
# a layout that depends on the machine that wrote it: loading is all that is asked for
OTHER_LAYOUT = {"conv2d_nchwc"}
WITHOUT_NUMPY = ("bfloat16", "float8")  # element types that onnxruntime can't hand to Python
wanted = sys.argv[1:]
problems = []


def problem(name, words):
    problems.append(name)
    print(f"{name}: {words}"[:600], file=sys.stderr)


def cameo(*args, check=True):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=300)
    if check and done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit status {done.returncode}")
    return done


def read_value(path, type_name):
    """A tensor or a list, as the type says: the file does not."""
    made, to = ((onnx.SequenceProto(), numpy_helper.to_list) if type_name.startswith("seq(") else
                (onnx.TensorProto(), numpy_helper.to_array))
    made.ParseFromString(path.read_bytes())
    return made.name, to(made)


def same(got, want, rtol, atol):
    if isinstance(want, dict):
        want = {k.decode() if isinstance(k, bytes) else k: v for k, v in want.items()}
        return isinstance(got, dict) and got.keys() == want.keys() and all(same(got[k], want[k], rtol, atol)
                                                                           for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(same(g, w, rtol, atol)
                                                                       for g, w in zip(got, want))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return False
    if want.dtype.kind in "OSUb":
        return [str(g) for g in got.ravel()] == [w.decode() if isinstance(w, bytes) else str(w) for w in want.ravel()]
    return np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)


def ort_options(**keys):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.allow_released_opsets_only", "0")
    for key, value in keys.items():
        options.add_session_config_entry("session." + key, value)
    return options


def ort_session(path):
    return ort.InferenceSession(str(path), ort_options(), providers=["CPUExecutionProvider"])


def ort_agrees(path, case, tolerance):
    """What is wrong with the answers of onnxruntime to the case's data sets, or None."""
    session = ort_session(path)
    inputs = {i.name: i.type for i in session.get_inputs() + session.get_overridable_initializers()}
    outputs = session.get_outputs()
    order = json.loads((SAMPLES / "manifest.json").read_text()).get(case.name, {}).get("inputs")
    names = order or list(inputs)
    comparable = {o.name for o in outputs if not any(kind in o.type for kind in WITHOUT_NUMPY)}
    for folder in sorted(case.glob("test_data_set_*")):
        feeds = {}
        for file in folder.glob("input_*.pb"):
            by_place = names[int(file.stem.split("_")[1])]
            name, value = read_value(file, inputs[by_place])
            feeds[name if name in names else by_place] = value
        got = dict(zip(sorted(comparable), session.run(sorted(comparable), feeds)))
        for file in folder.glob("output_*.pb"):
            output = outputs[int(file.stem.split("_")[1])]
            if output.name in comparable and not same(got[output.name], read_value(file, output.type)[1], *tolerance):
                return f"output '{output.name}' of {folder.name} differs"
    return None


def tolerance_of(case):
    file = case / "tolerance.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    return known.get("rtol", 1e-3), known.get("atol", 1e-7 if known else 1e-5)


def conformance(scratch, folder, expected):
    """Cases of a folder that cameo does not pass, by name."""
    report = scratch / "report.json"
    cameo("conformance", folder, "--json", report, "--jobs", "2", check=False)
    results = json.loads(report.read_text())
    if len(results) < expected:
        problem(folder.name, f"{len(results)} cases were found, not {expected}")
    return {r["name"]: r for r in results if r["status"] != "pass"}


def decodes(path, folder):
    done = subprocess.run(["flatc", "-t", "--strict-json", "--raw-binary", "-o", str(folder),
                           str(root / "src" / "format" / "ort.fbs"), "--", str(path)], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stdout + done.stderr


def check_samples(scratch):
    samples = sorted(p.parent for p in SAMPLES.glob("*/model.ort") if not wanted or any(w in str(p) for w in wanted))
    rewritten = scratch / "samples"
    for name, result in conformance(scratch, SAMPLES, 1).items():
        if name not in OTHER_LAYOUT and not (wanted and not any(w in name for w in wanted)):
            problem(f"sample {name}", result["reason"])
    for case in samples:
        to = rewritten / case.name
        shutil.copytree(case, to, ignore=shutil.ignore_patterns("model.ort"))
        try:
            cameo("convert", case / "model.ort", to / "model.ort")
            cameo("convert", case / "model.ort", scratch / f"{case.name}.onnx")
            cameo("convert", to / "model.ort", scratch / "again.ort")
            if (scratch / "again.ort").read_bytes() != (to / "model.ort").read_bytes():
                problem(f"sample {case.name}", "reading and writing again gives other bytes")
            wrong = decodes(to / "model.ort", scratch) or ort_agrees(to / "model.ort", case, tolerance_of(case))
            if wrong:
                problem(f"sample {case.name}, written", wrong)
            wrong = ort_agrees(scratch / f"{case.name}.onnx", case, tolerance_of(case))
            if wrong:
                problem(f"sample {case.name}, as .onnx", wrong)
        except Exception as e:  # noqa: BLE001 - the case is named, the others go on
            problem(f"sample {case.name}, written", e)
    for name, result in conformance(scratch, rewritten, len(samples)).items():
        if name not in OTHER_LAYOUT:
            problem(f"sample {name}, written and read", result["reason"])
    return len(samples)


def onnx_cases(scratch):
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for model in sorted((DATA / kind).glob("*/model.onnx")):
            yield model.parent
    for model in sorted((DATA / "light").glob("*.onnx")):
        folder = scratch / "light" / model.stem
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        shutil.copy(model, folder / "model.onnx")
        shutil.copy(DATA / "light" / f"{model.stem}_output_0.pb", data / "output_0.pb")
        graph = onnx.load(model).graph
        held = {i.name for i in graph.initializer}
        value = next(i for i in graph.input if i.name not in held)
        array = Runner.generate_dummy_data(value, seed=0, name=model.stem.replace("light_", ""), random=False)
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(array, value.name).SerializeToString())
        yield folder


def check_cases(scratch):
    by_ort = scratch / "by_ort"
    count = converted = 0
    for case in onnx_cases(scratch):
        name = f"{case.parent.name}/{case.name}"
        if wanted and not any(w in name for w in wanted):
            continue
        is_light = case.parent.name == "light"
        try:
            known = ort_agrees(case / "model.onnx", case, (1e-3, 1e-5))
        except Exception:  # noqa: BLE001 - not a case that onnxruntime runs
            continue
        if known:
            continue
        count += 1
        # Weights of the light models are made by nodes: folding them would make files of half a gigabyte.
        for level in ("none",) if is_light else LEVELS:
            try:
                cameo("convert", case / "model.onnx", scratch / "c.ort", "--optimize", level)
                wrong = ort_agrees(scratch / "c.ort", case, (1e-3, 1e-5))
                if wrong:
                    problem(f"{name} converted at level {level}", wrong)
            except Exception as e:  # noqa: BLE001
                problem(f"{name} converted at level {level}", e)
        to = by_ort / name.replace("/", "_")
        shutil.copytree(case, to, ignore=shutil.ignore_patterns("model.onnx"))
        options = ort_options(save_model_format="ORT")
        if not is_light:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(to / "model.ort")
        try:
            ort.InferenceSession(str(case / "model.onnx"), options, providers=["CPUExecutionProvider"])
            (to / "tolerance.json").write_text('{"rtol": 1e-3, "atol": 1e-5}')
            converted += 1
        except Exception:  # noqa: BLE001 - a model that it can't write (optional types)
            shutil.rmtree(to)
    for name, result in (conformance(scratch, by_ort, converted) if converted else {}).items():
        problem(f"{name}, converted by onnxruntime", result["reason"])
    return count, converted


def check_definitions(scratch):
    """Operators that onnxruntime runs by their definitions alone, which it can't look up for an .ort file."""
    nodes = [onnx.helper.make_node("CastLike", ["x", "like"], ["a"]), onnx.helper.make_node("Mish", ["a"], ["b"]),
             onnx.helper.make_node("HardSwish", ["b"], ["y"])]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "definitions", [value("x", onnx.TensorProto.INT32, [3])],
                                   [value("y", onnx.TensorProto.FLOAT, [3])],
                                   [onnx.helper.make_tensor("like", onnx.TensorProto.FLOAT, [1], [0.0])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    onnx.save(model, scratch / "definitions.onnx")
    feeds = {"x": np.array([-2, 1, 3], np.int32)}
    want = ort_session(scratch / "definitions.onnx").run(None, feeds)[0]
    for level in LEVELS:
        try:
            cameo("convert", scratch / "definitions.onnx", scratch / "definitions.ort", "--optimize", level)
            if not same(ort_session(scratch / "definitions.ort").run(None, feeds)[0], want, 1e-4, 1e-5):
                problem(f"definitions at level {level}", "y differs")
        except Exception as e:  # noqa: BLE001
            problem(f"definitions at level {level}", e)


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    samples = check_samples(scratch)
    count, converted = check_cases(scratch)
    check_definitions(scratch)
print(f"{samples} samples; {count} models converted by cameo, {converted} by onnxruntime; {len(problems)} problems")
sys.exit(1 if problems or not (samples and count or wanted) else 0)
