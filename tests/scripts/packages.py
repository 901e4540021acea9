"""`cameo package`: a package is made, shown, selected from, checked and taken apart by the program alone."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx

CAMEO = os.environ["CAMEO_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
failures = 0


def expect(holds, claim):
    global failures
    if not holds:
        failures += 1
        print(f"not so: {claim}")


def package(*arguments):
    return subprocess.run([CAMEO, "package", *map(str, arguments)], capture_output=True, text=True)


def object_of(done):
    expect(done.returncode == 0, f"{done.args}: {done.stderr}")
    return json.loads(done.stdout or "{}")


def check_add_and_show(folder, files):
    done = object_of(package("add", folder, "main", "plain", "--from", files, "--model", "m.onnx", "--ep", "cpu",
                             "--session-option", "session.intra_op_num_threads=1", "--json"))
    expect(done.get("variant") == "plain", done)
    object_of(package("add", folder, "main", "npu", "--from", files, "--model", "m.onnx", "--ep", "SomeNpu",
                      "--device", "npu", "--compatibility", "gen=2", "--json"))
    shown = object_of(package("show", folder, "--json"))
    expect(shown["schema_version"] == "1.0" and shown["package_name"] == folder.name, shown)
    plain, npu = shown["components"][0]["variants"]
    expect(plain["ep"] == "CPUExecutionProvider" and plain["model_file"] == "m.onnx", plain)
    expect(plain["session_options"] == {"session.intra_op_num_threads": "1"}, plain)
    expect(npu["ep"] == "SomeNpu" and npu["device"] == "npu" and npu["compatibility_string"] == "gen=2", npu)
    expect((folder / "plain/m.onnx").read_text() == "model", "the files are in the package")
    text = package("show", folder).stdout
    expect("component main" in text and "plain: CPUExecutionProvider" in text, text)


def check_select(folder):
    component, = object_of(package("select", folder, "--json"))["components"]
    expect(component["variant"] == "plain" and component["ep"] == "CPUExecutionProvider", component)
    verdicts = {v["variant"]: v for v in component["variants"]}
    expect(verdicts["plain"]["matches"] and not verdicts["npu"]["matches"], verdicts)
    expect("SomeNpu" in verdicts["npu"]["why"], verdicts)
    expect("plain: chosen" in package("select", folder, "main").stdout, "the text says what was chosen")
    for arguments, words in [(["other"], "INVALID_ARGUMENT"), (["--ep", "nobody"], "INVALID_ARGUMENT")]:
        done = package("select", folder, *arguments)
        expect(done.returncode == 1 and done.stderr.startswith(f"error: {words}: "), f"{arguments}: {done.stderr}")


def check_remove(folder):
    removed = object_of(package("remove", folder, "main", "plain", "--prune", "--json"))
    expect(not (folder / "plain").exists(), "the files are gone")
    expect(removed["pruned"] == ["plain"], removed)
    done = package("select", folder)
    expect(done.returncode == 1 and "no suitable variant" in done.stderr and "'npu'" in done.stderr, done.stderr)
    expect(done.stderr.count("\n") == 1, done.stderr)
    object_of(package("remove", folder, "main", "--json"))
    expect(object_of(package("show", folder, "--json"))["components"] == [], "the component is gone")


def check_validate(folder):
    folder.mkdir()
    manifest = folder / "manifest.json"
    manifest.write_text('{"schema_version": "1.0", "novel": 1, "components": {}}')
    done = object_of(package("validate", folder, "--json"))
    expect(done["valid"] and [p["severity"] for p in done["problems"]] == ["warning"], done)
    manifest.write_text('{"schema_version": "1.0", "components": {"c": {"variants": {"a": {"ep": 1}, "../b": {}}}}}')
    done = package("validate", folder, "--json")
    problems = json.loads(done.stdout)["problems"]
    kinds = {p["kind"] for p in problems if p["severity"] == "error"}
    expect(done.returncode == 1 and {"schema", "confinement"} <= kinds, done.stdout)
    expect(any(p["at"] == "/components/c/variants/a/ep" for p in problems), problems)
    expect(done.stderr.startswith("error: FAIL: ") and "manifest.json" in done.stderr, done.stderr)
    expect(package("show", folder / "nowhere").returncode == 1, "no package")


def cameo(*arguments):
    return subprocess.run([CAMEO, *map(str, arguments)], capture_output=True, text=True)


def outputs_of(model, *more):
    """Every output's bytes."""
    with tempfile.TemporaryDirectory() as out:
        done = cameo("run", model, "--random-inputs", "--output-dir", out, "--quiet", *more)
        expect(done.returncode == 0, f"{model} {more}: {done.stderr}")
        return {file.name: file.read_bytes() for file in pathlib.Path(out).iterdir()}


def check_compiled(folder, root):
    """A model as it is and compiled, in one package: what is selected runs, and gives the same."""
    (root / "plain").mkdir()
    (root / "frozen").mkdir()
    shutil.copy(SOURCE / "examples/digits/digits.onnx", root / "plain/model.onnx")
    done = cameo("compile", root / "plain/model.onnx", "-o", root / "frozen/model_ctx.onnx", "--ep", "frozen")
    if "there is no provider 'frozen'" in done.stderr:  # a program of cpu alone
        return
    expect(done.returncode == 0, done.stderr)
    for name, model, ep in [("frozen", "model_ctx.onnx", "frozen"), ("plain", "model.onnx", "cpu")]:
        object_of(package("add", folder, "digits", name, "--from", root / name, "--model", model, "--ep", ep, "--json"))
    frozen, plain = object_of(package("show", folder, "--json"))["components"][0]["variants"]
    expect(frozen["compatibility_string"], "the compiled model says what it was compiled for")
    expect(plain["compatibility_string"] is None, plain)

    def selected(*arguments):
        component, = object_of(package("select", folder, "digits", "--json", *arguments))["components"]
        return component

    chosen = selected("--ep", "frozen")
    expect(chosen["variant"] == "frozen" and chosen["variants"][0]["score"] == 100, chosen)
    expect(selected("--ranked")["variant"] == "frozen", "of all providers the first that has a variant")
    by_default = selected()
    expect(by_default["variant"] == "plain" and by_default["device"] == "cpu", by_default)
    expect(by_default["variants"][1]["device"] == "cpu" and by_default["variants"][0]["device"] is None, by_default)
    # Of all CPUs the fallback's comes last; which is first depends on who made this one, and on the build.
    devices = object_of(subprocess.run([CAMEO, "devices", "--preference", "--json"], capture_output=True, text=True))
    first = next(d["provider"] for d in devices["devices"] if d["kind"] == "cpu")
    expect(selected("--policy", "prefer_cpu", "--ranked")["variant"] == ("frozen" if first == "frozen" else "plain"),
           f"the first CPU is {first}'s")
    expect(package("select", folder, "--policy", "nobody").returncode == 2, "there is no such policy")
    expect(package("select", folder, "--policy", "prefer_npu", "--ep", "cpu").returncode == 2, "one or the other")
    models = [folder / c["folder"] / c["model_file"] for c in (chosen, by_default)]
    answers = [outputs_of(models[0], "--ep", "frozen"), outputs_of(models[1], "--ep", "cpu"), outputs_of(folder)]
    expect(answers[0] and answers[0] == answers[1] == answers[2], "both forms give the same, and so does the package")

    manifest = folder / "manifest.json"
    foreign = json.loads(manifest.read_text())
    foreign["components"]["digits"]["variants"]["frozen"]["compatibility_string"] = "of another machine"
    manifest.write_text(json.dumps(foreign))
    expect(selected("--ranked")["variant"] == "plain", "the plain one is chosen where the compiled one does not fit")
    expect(outputs_of(folder) == answers[0], "and it runs")
    done = package("select", folder, "--ep", "frozen")
    expect(done.returncode == 1 and "does not work here" in done.stderr, done.stderr)


def model_of(path, takes, gives, op):
    """gives = op(takes...), all float[2]; onnx alone, so that the program meets a file that it did not write."""
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2])  # noqa: E731
    graph = onnx.helper.make_graph([onnx.helper.make_node(op, takes, [gives])], "g", [*map(value, takes)], [value(gives)])
    path.parent.mkdir(parents=True)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def check_pipeline(folder, root):
    """Two components as one: declared by `add`, shown, checked, run."""
    model_of(root / "double/m.onnx", ["x", "x2"], "y", "Add")
    model_of(root / "negate/m.onnx", ["y"], "z", "Neg")
    model_of(root / "other/m.onnx", ["q"], "z", "Neg")

    def add(component, variant, files, *more):
        return package("add", folder, component, variant, "--from", root / files, "--model", "m.onnx", "--ep", "cpu",
                       *more)

    def declared():
        return object_of(package("show", folder, "--json"))["io"]

    object_of(add("double", "plain", "double", "--json"))
    expect([v["name"] for v in declared()["outputs"]] == ["y"], declared())
    object_of(add("negate", "plain", "negate", "--json"))
    both = declared()
    expect([v["name"] for v in both["inputs"]] == ["x", "x2"] and [v["name"] for v in both["outputs"]] == ["z"], both)
    expect(both["inputs"][0] == {"name": "x", "type": "tensor(float)", "shape": [2]}, both)
    expect("takes x: tensor(float)[2]" in package("show", folder).stdout, package("show", folder).stdout)
    done = add("negate", "wrong", "other")
    expect(done.returncode == 1 and "INVALID_ARGUMENT" in done.stderr and "'q'" in done.stderr, done.stderr)
    expect(not (folder / "wrong").exists(), "what is refused leaves nothing")

    numpy.save(root / "x.npy", numpy.array([1, 2], dtype=numpy.float32))
    given = ["--input", f"x={root / 'x.npy'}", "--input", f"x2={root / 'x.npy'}"]
    ran = object_of(cameo("run", folder, *given, "--json", "--output-dir", root / "out"))
    expect([c["component"] for c in ran["components"]] == ["double", "negate"], ran)
    expect(numpy.load(root / "out/z.npy").tolist() == [-2, -4], "the components run one after the other")
    one = object_of(cameo("run", folder, *given, "--component", "double", "--json"))
    expect([o["name"] for o in one["outputs"]] == ["y"], one)
    expect("name one with --component" in cameo("bench", folder, "--random-inputs").stderr, "bench wants one component")

    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"z"', '"w"'))
    done = package("validate", folder, "--json")
    problem = json.loads(done.stdout)["problems"][-1]
    expect(done.returncode == 1 and problem["at"] == "/additional_metadata/io" and "'w'" in problem["message"], problem)
    expect("output 'w' is declared" in cameo("run", folder, *given).stderr, "a pipeline holds it against the models, too")
    manifest.write_text(text)
    object_of(package("remove", folder, "negate", "--json"))
    expect([v["name"] for v in declared()["outputs"]] == ["y"], declared())


def check_usage():
    for arguments in [[], ["show"], ["add", "x"], ["frobnicate", "x"], ["add", "x", "c", "v", "--device", "tpu"],
                      ["add", "x", "c", "v", "--session-option", "novalue"]]:
        expect(package(*arguments).returncode == 2, f"{arguments} is wrong usage")
    for name in ["show", "validate", "select", "add", "remove"]:
        expect(package(name, "--help").returncode == 0, f"{name} explains itself")


with tempfile.TemporaryDirectory() as scratch:
    root = pathlib.Path(scratch)
    (root / "files").mkdir()
    (root / "files/m.onnx").write_text("model")
    check_add_and_show(root / "toy", root / "files")
    check_select(root / "toy")
    check_remove(root / "toy")
    check_validate(root / "broken")
    check_compiled(root / "digits", root)
    (root / "parts").mkdir()
    check_pipeline(root / "pipeline", root / "parts")
    check_usage()
print(f"{failures} claims did not hold" if failures else "all claims hold")
sys.exit(1 if failures else 0)
