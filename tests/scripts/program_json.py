#!/usr/bin/env python3
"""docs/program.md documents what each command prints with --json: each key that a command prints is on the page with
its type, and each key on the page is printed by one of the runs below.

Usage: program_json.py              compares the page with the program
       program_json.py --keys       prints the keys and types of the runs, for authors of the page"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto as T
from onnx import helper as h

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
SOURCE = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
PAGE = SOURCE / "docs" / "program.md"
PROVIDERS = {p["name"] for p in json.loads(subprocess.run(
    [PROGRAM, "devices", "--json"], capture_output=True, text=True, check=True).stdout)["providers"]}
HAS_FROZEN = "frozen" in PROVIDERS
# Objects whose keys are names of something: one row of the page stands for all of them.
MAPS = {"ops", "opsets", "metadata", "providers", "hardware", "options", "session_options", "provider_options",
        "executor_info", "types", "types.*"}


# Content of another file, which is printed unchanged.
OPAQUE = re.compile(r"(^|[.\]])(additional_metadata|executor_info\.\*)$")


def run(*arguments, codes=(0,)):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    expect(done.returncode in codes, f"{arguments}: {done.stderr}")
    return json.loads(done.stdout or "null")


def kind_of(value):
    return {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object",
            type(None): "null"}[type(value)]


def is_map(path):
    return any(path == name or path.endswith("." + name) or path.endswith("]." + name) for name in MAPS)


def collect(value, path, into):
    """Adds the path of each value (with [] for elements and * for names) and its types; objects and lists have none."""
    if path and (not isinstance(value, (dict, list)) or OPAQUE.search(path)):
        into.setdefault(path, set()).add(kind_of(value))
    if OPAQUE.search(path):
        return
    if isinstance(value, dict):
        for key, each in value.items():
            key = "*" if is_map(path) else key
            collect(each, f"{path}.{key}" if path else key, into)
    if isinstance(value, list):
        for each in value:
            collect(each, path + "[]", into)


def model(folder, name, nodes, inputs, outputs, constants=()):
    value = lambda name, kind, *dims: h.make_tensor_value_info(name, kind, dims)  # noqa: E731
    graph = h.make_graph(nodes, name, [value(*i) for i in inputs], [value(*o) for o in outputs],
                         [onnx.numpy_helper.from_array(numpy.asarray(a), n) for n, a in constants])
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8)
    h.set_model_props(made, {"made": "by a test"})
    onnx.save(made, folder / name)
    return folder / name


def outputs_by_command(root):
    """(command, object) of runs that together print every key."""
    sums = model(root, "sums.onnx", [h.make_node("MatMul", ["x", "w"], ["z"], "product"), h.make_node("Add", ["z", "b"], ["y"], "sum")],
                 [("x", T.FLOAT, "n", 4), ("b", T.FLOAT, 3)], [("y", T.FLOAT, "n", 3)],
                 [("w", numpy.ones((4, 3), numpy.float32))])
    texts = model(root, "texts.onnx", [h.make_node("Identity", ["s"], ["y"]), h.make_node("Identity", ["o"], ["p"]),
                                       h.make_node("SequenceConstruct", ["s"], ["q"])],
                  [("s", T.STRING, 2), ("o", T.BOOL, 2)], [("y", T.STRING, 2), ("p", T.BOOL, 2)])
    with_sequence = onnx.load(texts)
    with_sequence.graph.output.append(h.make_tensor_sequence_value_info("q", T.STRING, None))
    onnx.save(with_sequence, texts)
    unknown = model(root, "unknown.onnx", [h.make_node("NonZero", ["x"], ["y"])], [("x", T.FLOAT, None, 4)], [("y", T.INT64, 2, None)])
    given = ["--random-inputs", "--top", 1, "--output-dir", root / "out"]
    yield "run", run("run", sums, *given, "--json")
    yield "run", run("run", texts, "--random-inputs", "--json")
    yield "bench", run("bench", sums, "--seconds", 0, "--json")
    yield "bench", run("bench", sums, "--seconds", 0, "--per-node", "--json")
    yield "bench", run("bench", texts, "--seconds", 0, "--per-node", "--json")
    other = model(root, "other.onnx", [h.make_node("MatMul", ["x", "w"], ["z"]), h.make_node("Add", ["z", "b"], ["y"])],
                  [("x", T.FLOAT, "n", 4), ("b", T.FLOAT, 3)], [("y", T.FLOAT, "n", 3)],
                  [("w", numpy.full((4, 3), 1.01, numpy.float32))])
    more_outputs = onnx.load(sums)
    more_outputs.graph.output.append(h.make_tensor_value_info("z", T.FLOAT, ["n", 3]))
    more_outputs.graph.input.append(h.make_tensor_value_info("w", T.FLOAT, [4, 3]))
    onnx.save(more_outputs, root / "more.onnx")
    yield "compare", run("compare", sums, other, "--optimize", "none", "--json")
    yield "compare", run("compare", root / "more.onnx", sums, "--optimize", "none", "--json")
    yield "compare", run("compare", texts, "--json")
    for each in [sums, texts, unknown, root / "more.onnx"]:
        yield "inspect", run("inspect", each, "--json")
    yield "convert", run("convert", sums, root / "sums.ort", "--json")
    yield "convert", run("convert", sums, root / "again.onnx", "--json")
    yield "reduce", run("reduce", sums, "-o", root / "list.hpp", "--json")
    yield "reduce", run("reduce", sums, "--ops-config", root / "ops.config", "--json")
    if HAS_FROZEN:
        eps = ["--ep", "frozen", "--ep", "cpu"]
        for more in [[], ["--embed", "--force"]]:
            yield "compile", run("compile", sums, "-o", root / "c.onnx", *eps, *more, "--json")
            yield "inspect", run("inspect", root / "c.onnx", "--json")
            yield "inspect", run("inspect", root / "c.onnx", *eps, "--json")
        yield "inspect", run("inspect", sums, *eps, "--json")
        yield "inspect", run("inspect", texts, *eps, "--json")
        yield "share", run("share", "--ep", "frozen", sums, "--json")
    yield "ops", run("ops", "--json")
    yield "devices", run("devices", "--json")
    yield "devices --preference", run("devices", "--preference", "--json")
    yield from outputs_of_packages(root, sums)
    yield "conformance", conformance(root, sums)


def outputs_of_packages(root, sums):
    folder, files = root / "package", root / "files"
    files.mkdir()
    (files / "m.onnx").write_bytes(sums.read_bytes())
    add = ["--from", files, "--model", "m.onnx", "--json"]
    yield "package add", run("package", "add", folder, "main", "plain", "--ep", "cpu", "--external", "--session-option",
                             "session.intra_op_num_threads=1", *add)
    yield "package add", run("package", "add", folder, "main", "npu", "--ep", "SomeNpu", "--device", "npu",
                             "--compatibility", "gen=2", "--provider-option", "a=b", *add)
    yield "package merge", run("package", "merge", root / "merged", folder, "--json")
    yield "package show", run("package", "show", folder, "--json")
    yield "package select", run("package", "select", folder, "--json")
    yield "package select", run("package", "select", folder, "--ep", "cpu", "--json")
    yield "run", run("run", folder, "--random-inputs", "--json")
    yield "package asset", run("package", "asset", folder, files, "--json")
    yield "package show", run("package", "show", folder, "--json")
    (folder / "unused").mkdir()
    yield "package remove", run("package", "remove", folder, "main", "npu", "--prune", "--json")
    yield "package select", run("package", "select", folder, "--json")
    yield "package remove", run("package", "remove", folder, "main", "--json")
    yield "package prune", run("package", "prune", folder, "--json")
    yield "package validate", run("package", "validate", folder, "--json")
    (folder / "manifest.json").write_text("{}")
    yield "package validate", run("package", "validate", folder, "--json", codes=(1,))


def conformance(root, sums):
    for name, right in [("right", 5), ("wrong", 6)]:
        folder = root / "cases" / name / "test_data_set_0"
        folder.mkdir(parents=True)
        (folder.parent / "model.onnx").write_bytes(sums.read_bytes())
        for file, content in [("input_0", numpy.ones((1, 4), numpy.float32)), ("input_1", numpy.ones(3, numpy.float32)),
                              ("output_0", numpy.full((1, 3), right, numpy.float32))]:
            (folder / f"{file}.pb").write_bytes(onnx.numpy_helper.from_array(content).SerializeToString())
    subprocess.run([PROGRAM, "conformance", root / "cases", "--json", root / "report.json"], capture_output=True)
    return json.loads((root / "report.json").read_text())


def printed(root):
    keys = {}
    for command, report in outputs_by_command(root):
        if command == "conformance":
            expect(len(report) == 2, f"an array of two cases: {str(report)[:80]}")
            objects, report = report, {"": report}
        else:
            objects = [report]
        for each in objects:
            expect(isinstance(each, dict) and next(iter(each), "") == "version" and each["version"] == 1,
                   f"{command}: its first key is the version: {str(each)[:80]}")
        collect(report, "", keys.setdefault(command, {}))
    keys["conformance"] = {path.lstrip("."): kinds for path, kinds in keys["conformance"].items() if path not in ("", "[]")}
    return keys


def documented(text):
    """The types of each key in the tables of the page, by command."""
    found = {}
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        command = re.match(r"`([^`]+)`", section)
        if not command:
            continue
        rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section, re.MULTILINE)
        found[command[1]] = {key: set(types.strip().split(" or ")) for key, types in rows}
    return found


def fit(told, printed):
    """True if the types match. Not every run prints null for something absent, and no run here can fill some keys."""
    return printed <= told and (told - {"null"} == printed - {"null"} or printed == {"null"})


def differences(told, keys):
    """The differences between the page and the program."""
    for command in sorted(set(told) ^ set(keys)):
        yield f"{command}: only {'the page has' if command in told else 'the program prints'} it"
    for command in sorted(set(told) & set(keys)):
        page, program = told[command], keys[command]
        for key in sorted(set(page) | set(program)):
            if (key in page) != (key in program) or not fit(page[key], program[key]):
                yield (f"{command}: {key} is {' or '.join(sorted(program.get(key, {'not printed'})))}, and "
                       f"{' or '.join(sorted(page.get(key, {'nothing'})))} on the page")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        keys = printed(pathlib.Path(scratch))
    if sys.argv[1:] == ["--keys"]:
        for command, paths in keys.items():
            print(f"\n### `{command}`\n\n| key | type | meaning |\n|---|---|---|")
            for path, kinds in paths.items():
                print(f"| `{path}` | {' or '.join(sorted(kinds))} |  |")
        return
    told = documented(PAGE.read_text(encoding="utf-8"))
    if not HAS_FROZEN:  # no provider of the build compiles models
        for command in ["compile", "share"]:
            told.pop(command, None)
        told["inspect"] = {k: v for k, v in told["inspect"].items() if not k.startswith(("compiled_nodes", "not_loaded"))}
    if "openvino" not in PROVIDERS:  # the devices of the other providers have no hardware metadata and no options
        for command in ["devices", "devices --preference"]:
            told[command] = {k: v for k, v in told[command].items()
                             if not k.endswith(("devices[].hardware.*", "devices[].options.*"))}
    for each in differences(told, keys):
        expect(False, each)
    # The comparison reports what is wrong.
    broken = {command: dict(rows) for command, rows in told.items()}
    broken["run"]["no_such_key"] = {"string"}
    broken["bench"].pop("min_us")
    broken["convert"]["bytes"] = {"string"}
    broken.pop("ops")
    noticed = [each.split(" ")[0] for each in differences(broken, keys)]
    expect({"run:", "bench:", "convert:", "ops:"} <= set(noticed), f"broken pages are noticed: {noticed}")
    conclude()


if __name__ == "__main__":
    main()
