"""`cameo package`: a package is made, shown, selected from, checked and taken apart by the program alone."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CAMEO = os.environ["CAMEO_PROGRAM"]
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
    check_usage()
print(f"{failures} claims did not hold" if failures else "all claims hold")
sys.exit(1 if failures else 0)
