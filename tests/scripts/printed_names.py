#!/usr/bin/env python3
"""Names in a model, and strings that it computes, cannot control the terminal or begin a line in the output of any
command. That includes --json, although JSON allows some control characters in strings."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402
import onnx_bytes as ob  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
EVIL = "\x1b[2J\x1b]0;title\x07\u009b2J\x7f\nerror: OK: fine\r\u202e"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def evil_model():
    """A model in which every name is the hostile one; a run outputs a hostile string."""
    name = lambda what: what + EVIL  # noqa: E731
    texts = ob.tensor(name("texts"), ob.STRING, (2,), strings=[name("one"), name("two")])
    numbers = ob.tensor_type(ob.FLOAT, (name("dim"), 2))
    nodes = [ob.node("Relu", [name("x")], [name("y")], name("relu")),
             ob.node("Identity", [name("texts")], [name("t")], name("texts of"))]
    graph = ob.graph(nodes, [(name("x"), numbers)],
                     [(name("y"), numbers), (name("t"), ob.tensor_type(ob.STRING, (2,)))], [texts])
    graph = graph.replace(ob.text(2, "g"), ob.text(2, name("g")))
    metadata = ob.text(14, ob.text(1, name("key")) + ob.text(2, name("value")))
    whole = ob.model(graph).replace(ob.text(2, "cameo tests"), ob.text(2, name("producer")))
    return whole + ob.text(3, name("version")) + metadata


def check(folder, arguments, code=0, says=""):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=120, cwd=folder)
    expect(done.returncode == code, arguments, "ends as it should", done)
    for stream in (done.stdout, done.stderr):
        found = CONTROL.search(stream.decode())
        expect(not found, arguments, "prints no control characters", found and stream[:2000])
        expect(b"\nerror: OK" not in b"\n" + stream, arguments, "begins no line with a name's", stream[:2000])
    expect(says in done.stdout.decode() + done.stderr.decode(), arguments, "says", repr(says), done)
    if "--json" in arguments:
        expect(EVIL in texts_of(json.loads(done.stdout)), arguments, "has the names whole in JSON", done.stdout[:500])


def texts_of(value):
    if isinstance(value, dict):
        return "".join(k + texts_of(v) for k, v in value.items())
    if isinstance(value, list):
        return "".join(map(texts_of, value))
    return value if isinstance(value, str) else ""


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    model = folder / "evil.onnx"
    model.write_bytes(evil_model())
    case = folder / "cases" / ("case\x1b[2J") / "test_data_set_0"
    case.mkdir(parents=True)
    (case.parent / "model.onnx").write_bytes(evil_model())
    (case / "input_0.pb").write_bytes(ob.floats("x" + EVIL, (1, 2), [1, 2]))
    (case / "output_0.pb").write_bytes(ob.floats("y" + EVIL, (1, 2), [1, 3]))
    check(folder, ["run", model, "--random-inputs"], says="y?[2J?]0;title??2J? error: OK: fine ?: float[1,2]")
    check(folder, ["run", model, "--random-inputs", "--top", "1", "--output-dir", folder / "out"], says="written to")
    check(folder, ["run", model, "--random-inputs", "--log", "verbose"], says="relu?[2J")
    check(folder, ["run", model, "--random-inputs", "--json"])
    check(folder, ["run", model], 1, "error: INVALID_ARGUMENT: ")
    check(folder, ["run", model, "--input", "x=evil.onnx"], 1, "error: INVALID_ARGUMENT: ")
    check(folder, ["inspect", model], says="graph       g?[2J")
    check(folder, ["inspect", model, "--json"])
    check(folder, ["bench", model, "--random-inputs", "--seconds", "0", "--quiet"])
    check(folder, ["conformance", folder / "cases", "--verbose"], 1, "FAIL case?[2J")
    check(folder, ["convert", model, folder / "out\x1b[2J.onnx"], says="out?[2J.onnx")
    (folder / "files").mkdir()
    (folder / "files" / "m.onnx").write_bytes(evil_model())
    check(folder, ["package", "add", "packed", "main", "plain", "--from", "files", "--model", "m.onnx", "--ep", "cpu"])
    manifest = json.loads((folder / "packed/manifest.json").read_text())
    manifest["description"] = "of" + EVIL
    (folder / "packed/manifest.json").write_text(json.dumps(manifest))
    check(folder, ["package", "show", "packed"], says="of?[2J")
    check(folder, ["package", "show", "packed", "--json"])
    check(folder, ["run", "packed", "--random-inputs"], says="y?[2J")
conclude()
