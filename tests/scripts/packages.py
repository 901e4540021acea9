"""`cameo package`: the program alone makes a package, shows it, selects from it, checks it and removes parts of it."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

CAMEO = os.environ["CAMEO_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])


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
    expect("plain: chosen" in package("select", folder, "main").stdout, "the text names the chosen variant")
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
    """The bytes of each output."""
    with tempfile.TemporaryDirectory() as out:
        done = cameo("run", model, "--random-inputs", "--output-dir", out, "--quiet", *more)
        expect(done.returncode == 0, f"{model} {more}: {done.stderr}")
        return {file.name: file.read_bytes() for file in pathlib.Path(out).iterdir()}


def check_compiled(folder, root):
    """A model, uncompiled and compiled, in one package: the selected variant runs, and both have the same outputs."""
    (root / "plain").mkdir()
    (root / "frozen").mkdir()
    shutil.copy(SOURCE / "examples/digits/digits.onnx", root / "plain/model.onnx")
    done = cameo("compile", root / "plain/model.onnx", "-o", root / "frozen/model_ctx.onnx", "--ep", "frozen")
    if "there is no provider 'frozen'" in done.stderr:  # a program that only has cpu
        return
    expect(done.returncode == 0, done.stderr)
    for name, model, ep in [("frozen", "model_ctx.onnx", "frozen"), ("plain", "model.onnx", "cpu")]:
        object_of(package("add", folder, "digits", name, "--from", root / name, "--model", model, "--ep", ep, "--json"))
    frozen, plain = object_of(package("show", folder, "--json"))["components"][0]["variants"]
    expect(frozen["compatibility_string"], "the compiled model has its compatibility string")
    expect(plain["compatibility_string"] is None, plain)

    def selected(*arguments):
        component, = object_of(package("select", folder, "digits", "--json", *arguments))["components"]
        return component

    def runs(*arguments):
        """The variant that `run` chooses, which must be the one that `select` prints for the same options."""
        done = object_of(cameo("run", folder, "--random-inputs", "--json", *arguments))
        return done["components"][0]["variant"] if done else None

    chosen = selected("--ep", "frozen")
    expect(chosen["variant"] == "frozen" and chosen["variants"][0]["score"] == 100, chosen)
    expect(selected()["variant"] == "frozen", "of all providers the first that has a variant")
    expect(selected("--ranked") == selected(), "which is the default")
    by_default = selected("--no-ranked")
    expect(by_default["variant"] == "plain" and by_default["device"] == "cpu", by_default)
    expect(by_default["variants"][1]["device"] == "cpu" and by_default["variants"][0]["device"] is None, by_default)
    # The fallback's CPU device comes after all other CPU devices; which is first depends on the vendor and on the
    # build.
    devices = object_of(subprocess.run([CAMEO, "devices", "--preference", "--json"], capture_output=True, text=True))
    first = next(d["provider"] for d in devices["devices"] if d["kind"] == "cpu")
    expect(selected("--policy", "prefer_cpu", "--ranked")["variant"] == ("frozen" if first == "frozen" else "plain"),
           f"the first CPU is {first}'s")
    for arguments in [[], ["--no-ranked"], ["--ep", "frozen"], ["--ep", "cpu"], ["--ep", "cpu", "--ep", "frozen"],
                      ["--ep", "frozen", "--no-ranked"], ["--policy", "prefer_cpu"]]:
        expect(runs(*arguments) == selected(*arguments)["variant"], f"run and select choose alike: {arguments}")
    expect(package("select", folder, "--policy", "nobody").returncode == 2, "there is no such policy")
    expect(package("select", folder, "--policy", "prefer_npu", "--ep", "cpu").returncode == 2, "one or the other")
    models = [folder / c["folder"] / c["model_file"] for c in (chosen, by_default)]
    answers = [outputs_of(models[0], "--ep", "frozen"), outputs_of(models[1], "--ep", "cpu"), outputs_of(folder)]
    expect(answers[0] and answers[0] == answers[1] == answers[2], "both forms give the same, and so does the package")

    manifest = folder / "manifest.json"
    foreign = json.loads(manifest.read_text())
    frozen_body = dict(foreign["components"]["digits"]["variants"]["frozen"])
    foreign["components"]["digits"]["variants"]["frozen"]["compatibility_string"] = "of another machine"
    manifest.write_text(json.dumps(foreign))
    expect(selected("--ranked")["variant"] == "plain", "the plain one is chosen where the compiled one does not fit")
    expect(outputs_of(folder) == answers[0], "and it runs")
    expect(runs("--ep", "frozen") == selected("--ep", "frozen")["variant"] == "plain", "the fallback is tried last")
    for done in [package("select", folder, "--ep", "frozen", "--no-ranked"),
                 cameo("run", folder, "--ep", "frozen", "--no-ranked", "--random-inputs")]:
        expect(done.returncode == 1 and "does not work here" in done.stderr, done.stderr)
    object_of(package("remove", folder, "digits", "plain", "--json"))
    done = cameo("run", folder, "--random-inputs")
    expect(done.returncode == 1 and "does not work here" in done.stderr and "ranked" not in done.stderr, done.stderr)
    foreign["components"]["digits"]["variants"] = {"frozen": frozen_body}
    manifest.write_text(json.dumps(foreign))
    done = cameo("run", folder, "--no-ranked", "--random-inputs")
    expect(done.returncode == 1 and "was not considered" in done.stderr, "what would help: " + done.stderr)
    expect(runs() == "frozen", "and it does help")


def check_weightless(root):
    """Variants that are compiled without their weights share one weight file."""
    (root / "weights").mkdir()
    for name in "ab":
        (root / name).mkdir()
        done = cameo("compile", SOURCE / "examples/digits/digits.onnx", "-o", root / name / "model_ctx.onnx", "--ep",
                     "frozen", "--embed", "--config", "ep.enable_weightless=1", "--external-initializers", "weights.bin")
        if "there is no provider 'frozen'" in done.stderr:
            return
        expect(done.returncode == 0, done.stderr)
    files = [root / name / "weights.bin" for name in "ab"]
    expect(files[0].read_bytes() == files[1].read_bytes(), "both leave the same outside")
    for name, file in zip("ab", files):
        file.rename(root / "weights/weights.bin")
        object_of(package("add", root / "light", "main", name, "--from", root / name, "--model", "model_ctx.onnx", "--ep",
                          "frozen", "--weights", root / "weights", "--json"))
    variants = object_of(package("show", root / "light", "--json"))["components"][0]["variants"]
    expect(all(v["compatibility_string"] for v in variants), f"each has a compatibility string: {variants}")
    expect(len(list((root / "light").rglob("weights.bin"))) == 1, "the file of weights is there once")
    expect(outputs_of(root / "light") == outputs_of(SOURCE / "examples/digits/digits.onnx"), "it has the outputs of the model")


def model_of(path, takes, gives, op):
    """gives = op(takes...), all float[2]. The package onnx writes it, so that the program reads an external file."""
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2])  # noqa: E731
    graph = onnx.helper.make_graph([onnx.helper.make_node(op, takes, [gives])], "g", [*map(value, takes)], [value(gives)])
    path.parent.mkdir(parents=True)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def check_pipeline(folder, root):
    """Two components as one pipeline: declared by `add`, shown, checked, run."""
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
    expect("name one with --component" in cameo("bench", folder, "--random-inputs").stderr, "bench needs one component")

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


def check_writers(root):
    """Eight programs at once create and extend one package: what each reports as done is in the package."""
    folder = root / "busy"
    model_of(root / "busy_files/m.onnx", ["x"], "y", "Neg")
    start = [CAMEO, "package", "add", folder, "main"]
    more = ["--from", root / "busy_files", "--model", "m.onnx", "--ep", "cpu"]
    running = [subprocess.Popen([*map(str, start), f"v{i}", *map(str, more)], stderr=subprocess.PIPE, text=True)
               for i in range(8)]
    for process in running:
        words = process.communicate()[1]
        expect(process.returncode == 0, f"all of them may add: {words}")
    names = [v["name"] for v in object_of(package("show", folder, "--json"))["components"][0]["variants"]]
    expect(sorted(names) == [f"v{i}" for i in range(8)], names)
    done = package("remove", folder, "main", "v0", "--prune")
    expect(done.returncode == 0 and "deleted v0\n" in done.stdout and done.stdout.count("deleted") == 1, done.stdout)
    expect(package("validate", folder).returncode == 0, "the others' files are there")
    holder = os.open(folder / ".cameo.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    os.write(holder, b"process 4711 of somebody")
    done = package("remove", folder, "main", "v1", "--wait", "0.1")
    expect(done.returncode == 1 and "error: FAIL: " in done.stderr and "process 4711 of somebody" in done.stderr, done.stderr)
    os.close(holder)
    expect(package("remove", folder, "main", "v1").returncode == 0, "the lock went with its holder")
    done = package("prune", folder, "--dry-run")
    expect(done.stdout == "would delete v1\n" and (folder / "v1").exists(), done.stdout)
    expect(object_of(package("prune", folder, "--json"))["pruned"] == ["v1"] and not (folder / "v1").exists(), "pruned")


def check_names(root):
    """If `add` refuses something, it leaves nothing behind, and its message says what is wrong."""
    model_of(root / "name_files/m.onnx", ["x"], "y", "Neg")
    more = ["--from", root / "name_files", "--model", "m.onnx", "--ep", "cpu"]
    for name in ["manifest.json", "component.json", "shared_assets"]:
        done = package("add", root / "named", "main", name, *more)
        expect(done.returncode == 1 and f"'{name}'" in done.stderr and not (root / "named").exists(), done.stderr)
    for gone in [["--from", root / "name_files", "--model", "n.onnx"], ["--model", "m.onnx"],
                 ["--model", "sha256:" + 64 * "0" + "/m.onnx"]]:
        done = package("add", root / "named", "main", "a", *gone)
        expect(done.returncode == 1 and "error: INVALID_ARGUMENT: " in done.stderr and not (root / "named").exists(), done)
    object_of(package("add", root / "named", "main", "cpu", *more, "--json"))
    done = package("add", root / "named", "main", "CPU", *more)
    expect(done.returncode == 1 and "take 'CPU' for the same" in done.stderr, done.stderr)


def check_damaged(root):
    """A damaged package is an error FAIL that says what is wrong; it is not reported as a missing model."""
    folder = root / "damaged"
    model_of(root / "damaged_files/m.onnx", ["x"], "y", "Neg")
    object_of(package("add", folder, "main", "a", "--from", root / "damaged_files", "--model", "m.onnx", "--ep", "cpu",
                      "--external", "--json"))
    expect((folder / "main/component.json").exists() and (folder / "main/a/m.onnx").exists(), "a component in a separate file")
    expect(package("validate", folder).returncode == 0, "it is sound")
    (folder / "main/a/m.onnx").write_text("garbage")
    done = package("validate", folder, "--json")
    expect(done.returncode == 1 and not json.loads(done.stdout)["valid"], "a model that is none")
    expect("variant 'a'" in done.stderr, done.stderr)
    (folder / "main/component.json").unlink()
    done = cameo("run", folder, "--random-inputs")
    expect(done.stderr.startswith("error: FAIL: ") and "component.json" in done.stderr and "no model" not in done.stderr,
           done.stderr)
    (folder / "manifest.json").unlink()
    done = cameo("run", folder, "--random-inputs")
    expect("error: INVALID_ARGUMENT: a folder, but not a model package" in done.stderr, done.stderr)


def check_weights(root):
    """Weights in a shared asset that the program made are stored once; `validate` and `run` find them."""
    model = onnx.load(SOURCE / "examples/digits/digits.onnx")
    for name in ["one", "two"]:
        (root / "heavy" / name).mkdir(parents=True)
    (root / "heavy/weights").mkdir()
    onnx.save(model, root / "heavy/one/m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    shutil.move(root / "heavy/one/w.bin", root / "heavy/weights/w.bin")
    shutil.copy(root / "heavy/one/m.onnx", root / "heavy/two/m.onnx")
    folder = root / "shared"
    for name in ["one", "two"]:
        done = package("add", folder, "main", name, "--from", root / "heavy" / name, "--model", "m.onnx", "--ep", "cpu",
                       "--weights", root / "heavy/weights")
        expect(done.returncode == 0 and not done.stderr, done.stderr)
    shown = object_of(package("show", folder, "--json"))
    expect(len(shown["shared_assets"]) == 1 and shown["io"], shown)
    done = package("validate", folder, "--assets", "--json")
    expect(object_of(done)["problems"] == [], done.stdout)
    expect(outputs_of(folder) == outputs_of(SOURCE / "examples/digits/digits.onnx"), "with its weights")
    uri = package("asset", folder, root / "heavy/two").stdout.strip()
    expect(uri.startswith("sha256:"), uri)
    expect(package("add", folder, "main", "three", "--model", uri + "/m.onnx", "--ep", "cpu", "--session-option",
                   "session.model_external_initializers_file_folder_path=" + shown["shared_assets"][0]["uri"]).returncode == 0,
           "a model in an asset")
    absent = "sha256:" + 64 * "0"
    done = package("asset", folder, absent)
    expect(done.returncode == 1 and "no shared asset" in done.stderr, done.stderr)
    # If a shared asset is missing, the message names it, and where it is referenced.
    done = package("add", folder, "main", "four", "--from", root / "heavy/one", "--model", "m.onnx", "--ep", "cpu",
                   "--session-option", "session.model_external_initializers_file_folder_path=" + absent)
    for words in ("error: INVALID_ARGUMENT: ", "/four/", "session.model_external_initializers_file_folder_path: ",
                  f"there is no shared asset '{absent}'"):
        expect(words in done.stderr, f"{words}: {done.stderr}")
    done = package("validate", folder)
    expect(done.returncode == 0, f"what was refused is not there, what was added is fine: {done.stdout}")


def check_merge(root):
    """Two packages are merged into a third: their components run as one, and what they share is in it."""
    for name, component, files in [("left", "double", "parts/double"), ("right", "negate", "parts/negate")]:
        object_of(package("add", root / name, component, "plain", "--from", root / files, "--model", "m.onnx", "--ep",
                          "cpu", "--session-option", "session.intra_op_num_threads=1", "--external", "--json"))
    both = root / "both"
    done = object_of(package("merge", both, root / "left", root / "right", "--json"))
    expect(done == {"version": 1, "folder": str(both), "merged": [str(root / "left"), str(root / "right")]}, done)
    shown = object_of(package("show", both, "--json"))
    expect([c["name"] for c in shown["components"]] == ["double", "negate"], shown)
    expect([v["name"] for v in shown["io"]["outputs"]] == ["z"], shown["io"])
    for c in shown["components"]:
        expect(c["variants"][0]["session_options"] == {"session.intra_op_num_threads": "1"}, c)
    expect(object_of(package("validate", both, "--json"))["problems"] == [], "a valid package")
    given = [f"--fill={name}=3" for name in ["x", "x2"]]
    ran = object_of(cameo("run", both, *given, "--json"))
    expect(ran["outputs"][0]["values"] == [-6, -6], ran)
    # Merging never replaces what exists: it then adds nothing at all.
    before = (both / "manifest.json").read_text()
    done = package("merge", both, root / "left")
    expect(done.returncode == 1 and "has a variant 'plain' already" in done.stderr, done.stderr)
    expect((both / "manifest.json").read_text() == before, "a merge that fails changes nothing")
    # A shared asset that occurs in several packages is stored once.
    object_of(package("merge", root / "weights", root / "shared", "--json"))
    assets = object_of(package("show", root / "weights", "--json"))["shared_assets"]
    expect({a["uri"] for a in assets} == {a["uri"] for a in object_of(
        package("show", root / "shared", "--json"))["shared_assets"]}, assets)
    expect(outputs_of(root / "weights") == outputs_of(root / "shared"), "with its weights")
    done = package("merge", root / "weights", root / "nothing_here")
    expect(done.returncode == 1 and done.stderr.startswith("error: "), done.stderr)


def check_usage():
    for arguments in [[], ["show"], ["add", "x"], ["frobnicate", "x"], ["add", "x", "c", "v", "--device", "tpu"],
                      ["add", "x", "c", "v", "--session-option", "novalue"]]:
        expect(package(*arguments).returncode == 2, f"{arguments} is wrong usage")
    for name in ["show", "validate", "select", "add", "merge", "remove", "prune", "asset"]:
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
    check_writers(root)
    check_names(root)
    check_damaged(root)
    (root / "weightless").mkdir()
    check_weightless(root / "weightless")
    check_weights(root)
    check_merge(root)
    check_usage()
conclude()
