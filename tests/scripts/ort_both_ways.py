#!/usr/bin/env python3
"""ORT files in both directions, with PyPI's onnxruntime as the reference; ort_cases.py does the same for ONNX's cases.

Samples (tests/data/ort): cameo runs each and rewrites it as .ort and as .onnx; onnxruntime loads and runs both with the
expected outputs; flatc decodes the .ort, and cameo reads the same from it. Layouts for one processor: neither runtime
runs weights that the other has packed, and onnxruntime runs only those of its processor. Float16: there are Casts
around it unless they are disabled.

Usage: ort_both_ways.py [NAME...]   only what has one of these in its name
"""
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

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
from ort_judge import cameo, ort_agrees, ort_answers, ort_channel_block, ort_options, ort_session  # noqa: E402

SAMPLES = root / "tests" / "data" / "ort"
PACKED, PACKED_BLOCK = "conv2d_nchwc", 16  # weights are in blocks for the processor on which it was written: it loads
wanted = sys.argv[1:]
problems = []


def problem(name, words):
    problems.append(name)
    print(f"{name}: {words}"[:600], file=sys.stderr)


def is_wanted(name):
    return not wanted or any(w in name for w in wanted)


def tolerance_of(case):
    file = case / "tolerance.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    return known.get("rtol", 1e-3), known.get("atol", 1e-7 if known else 1e-5)


def order_of(case):
    return json.loads((SAMPLES / "manifest.json").read_text())[case.name].get("inputs")


def cameo_report(scratch, folder):
    report = scratch / "report.json"
    report.unlink(missing_ok=True)
    cameo("conformance", folder, "--json", report, "--jobs", "2", check=False)
    return report.read_text()


def conformance(scratch, folder, expected):
    """The cases of a folder that cameo does not pass, by name."""
    results = {r["name"]: r for r in json.loads(cameo_report(scratch, folder))}
    if len(results) < expected:
        problem(folder.name, f"{len(results)} cases were found, not {expected}")
    return {name: r for name, r in results.items() if r["status"] != "pass"}


def decodes(path, folder):
    done = subprocess.run(["flatc", "-t", "--strict-json", "--raw-binary", "-o", str(folder),
                           str(root / "src" / "format" / "ort.fbs"), "--", str(path)], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stdout + done.stderr


def ort_outcome(path, case):
    """The bytes of onnxruntime's outputs, or the message of its refusal."""
    try:
        return [{name: value.tobytes() for name, value in got.items()}
                for _, got in ort_answers(ort_session(path), case, order_of(case))]
    except Exception as e:  # noqa: BLE001
        return str(e)


def ort_finds(path, case):
    """What onnxruntime reports about a file that cameo wrote from a sample, or None. It refuses or misreads packed
    weights whose blocks do not suit this processor: the file must then have the same outcome as the sample."""
    if case.name != PACKED or ort_channel_block() == PACKED_BLOCK:
        return ort_agrees(path, case, tolerance_of(case), order_of(case))
    sample, written = ort_outcome(SAMPLES / case.name / "model.ort", case), ort_outcome(path, case)
    return None if sample == written else f"the sample gives {sample}, what was written of it {written}"


def check_samples(scratch):
    samples = sorted(p.parent for p in SAMPLES.glob("*/model.ort") if is_wanted(p.parent.name))
    if not samples:
        return 0
    rewritten = scratch / "samples"
    for name, result in conformance(scratch, SAMPLES, 1).items():
        if is_wanted(name):
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
            wrong = decodes(to / "model.ort", scratch) or ort_finds(to / "model.ort", case)
            if wrong:
                problem(f"sample {case.name}, written", wrong)
            wrong = ort_finds(scratch / f"{case.name}.onnx", case)
            if wrong:
                problem(f"sample {case.name}, as .onnx", wrong)
        except Exception as e:  # noqa: BLE001 - the case is reported, the others continue
            problem(f"sample {case.name}, written", e)
    for name, result in conformance(scratch, rewritten, len(samples)).items():
        problem(f"sample {name}, written and read", result["reason"])
    return len(samples)


def check_layouts(scratch):
    """A file that cameo wrote for one processor says so: cameo runs it, and onnxruntime refuses the attribute that it
    does not support."""
    rng = np.random.default_rng(0)
    value, tensor = onnx.helper.make_tensor_value_info, onnx.numpy_helper.from_array
    weights = [tensor((0.06 * rng.standard_normal(shape)).astype(np.float32), name)
               for name, shape in (("v", (32, 16, 3, 3)), ("w", (32, 32, 3, 3)))]
    nodes = [onnx.helper.make_node("Conv", ["x", "v"], ["a"]), onnx.helper.make_node("Conv", ["a", "w"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "layouts", [value("x", onnx.TensorProto.FLOAT, [1, 16, 32, 32])],
                                   [value("y", onnx.TensorProto.FLOAT, [1, 32, 28, 28])], weights)
    case = scratch / "layouts" / "conv"
    data = case / "test_data_set_0"
    data.mkdir(parents=True)
    plain = scratch / "layouts.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8), plain)
    x = rng.standard_normal((1, 16, 32, 32)).astype(np.float32)
    (data / "input_0.pb").write_bytes(tensor(x, "x").SerializeToString())
    (data / "output_0.pb").write_bytes(tensor(ort_session(plain).run(None, {"x": x})[0], "y").SerializeToString())
    (case / "tolerance.json").write_text('{"rtol": 1e-4, "atol": 1e-4}')
    for extension in ("ort", "onnx"):
        for file in case.glob("model.*"):
            file.unlink()
        file = case / f"model.{extension}"
        cameo("convert", plain, file, "--optimize", "all", "--native")
        if b"com.microsoft.nchwc" not in file.read_bytes() or b"plain_weights" not in file.read_bytes():
            problem(f"layouts, .{extension}", "no blocked convolution that declares the layout of its weights")
        for name, result in conformance(scratch, case.parent, 1).items():
            problem(f"layouts, .{extension}, {name}", result["reason"])
        try:
            ort_session(file)
            problem(f"layouts, .{extension}", "onnxruntime accepts unpacked weights as packed ones")
        except Exception as e:  # noqa: BLE001
            if "plain_weights" not in str(e):
                problem(f"layouts, .{extension}", e)
    options = ort_options("all", save_model_format="ONNX")
    options.optimized_model_filepath = str(case / "model.onnx")
    (case / "model.ort").unlink(missing_ok=True)
    ort_session(plain, options)
    if b"com.microsoft.nchwc" in (case / "model.onnx").read_bytes():  # on some processors only
        for result in conformance(scratch, case.parent, 1).values():
            problem("layouts of onnxruntime", result["reason"])


def check_left_out(scratch):
    """Float16 values are cast to float and back unless this is disabled, at each level."""
    half = onnx.TensorProto.FLOAT16
    graph = onnx.helper.make_graph([onnx.helper.make_node("Exp", ["x"], ["y"])], "half",
                                   [onnx.helper.make_tensor_value_info("x", half, [3])],
                                   [onnx.helper.make_tensor_value_info("y", half, [3])])
    plain, file = scratch / "half.onnx", scratch / "half.ort"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8), plain)
    for level in ("none", "all"):
        cameo("convert", plain, file, "--optimize", level)
        if ort_session(file).run(None, {"x": np.zeros(3, np.float16)})[0].tolist() != [1, 1, 1]:
            problem("half", f"other numbers at level {level}")
        cameo("convert", plain, file, "--optimize", level, "--config",
              "optimization.disable_specified_optimizers=InsertCastTransformer")
        if b"Cast" in file.read_bytes().replace(b":Cast:", b""):  # the kernel type resolver lists Cast in any case
            problem("half", f"casts that were to be left out at level {level}")


def check_refused(scratch):
    """Constants of 4 bits: cameo writes and runs them and warns that onnxruntime refuses the file, which it does."""
    tensor = onnx.helper.make_tensor("w", onnx.TensorProto.INT4, [4], [1, -2, 3, 0])
    plain, file = scratch / "four_bits.onnx", scratch / "four_bits.ort"
    for weights in ([tensor], []):
        nodes = [onnx.helper.make_node("Cast", ["w"], ["y"], to=onnx.TensorProto.FLOAT)]
        if not weights:  # a Constant becomes an initializer
            nodes.insert(0, onnx.helper.make_node("Constant", [], ["w"], value=tensor))
        graph = onnx.helper.make_graph(nodes, "four_bits", [],
                                       [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4])], weights)
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10), plain)
        for level in ("none", "basic"):
            said = cameo("convert", plain, file, "--quiet", "--optimize", level).stderr
            if "warning: " not in said or "'w' is a constant of int4: ONNX Runtime refuses" not in said:
                problem("four bits", f"no warning at level {level}: {said}")
            saved = scratch / "saved.ort"
            said = cameo("run", plain, "--optimize", "none", "--config", f"session.optimized_model_filepath={saved}").stderr
            if "'w' is a constant of int4: ONNX Runtime refuses" not in said:
                problem("four bits", f"no warning of a session that saves: {said}")
            cameo("run", file, "--quiet")
            try:
                ort_session(file)
                problem("four bits", "onnxruntime accepts a file of which cameo warns that it refuses it")
            except Exception:  # noqa: BLE001 - the warning was right
                pass


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    samples = check_samples(scratch)
    if is_wanted("layouts"):
        check_layouts(scratch)
    if is_wanted("half"):
        check_left_out(scratch)
    if is_wanted("four bits"):
        check_refused(scratch)
print(f"{samples} samples; {len(problems)} problems")
sys.exit(1 if problems or not (samples or wanted) else 0)
