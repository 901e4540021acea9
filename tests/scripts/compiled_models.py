"""Compiled models through the command line: the onnx package checks what `cameo compile`, `cameo share` and
ep_weight_sharing_ctx_gen write, and `cameo run` runs it. The program is the one with the reference providers
(tests/program/references). The numbers in the names of functions are those of the cases of compiled models.

Needs CAMEO_BINARY_DIR in the environment, as CTest sets it.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(os.environ["CAMEO_BINARY_DIR"]) / "tests" / "references"
PROGRAM, SHARING = FOLDER / "cameo", FOLDER / "ep_weight_sharing_ctx_gen"
X = numpy.arange(8, dtype=numpy.float32).reshape(2, 4) / 8 - 0.4
failures = []


def check(holds, words):
    if not holds:
        frame = sys._getframe(1)
        failures.append(f"line {frame.f_lineno} ({frame.f_code.co_name}): {words}")


def plain(path, island=False, external=None):
    """A model of MatMul, Relu and Add; with an island, also a Sigmoid and a Sub, which only cpu runs, and another
    Add."""
    rows = numpy.random.RandomState(7)
    weights = {"w": rows.randn(4, 3), "b": rows.randn(3), "c": rows.randn(3), "d": rows.randn(3)}
    nodes = [("MatMul", ["x", "w"], "p"), ("Relu", ["p"], "r"), ("Add", ["r", "b"], "y")]
    if island:
        nodes += [("Sigmoid", ["y"], "s"), ("Sub", ["s", "d"], "t"), ("Add", ["t", "c"], "z")]
    made = [helper.make_node(op, ins, [out], name="n_" + out) for op, ins, out in nodes]
    used = {name for _, ins, _ in nodes for name in ins}
    graph = helper.make_graph(
        made, "plain", [helper.make_tensor_value_info("x", 1, [2, 4])],
        [helper.make_tensor_value_info(nodes[-1][2], 1, [2, 3])],
        [numpy_helper.from_array(w.astype(numpy.float32), n) for n, w in weights.items() if n in used])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if external:
        onnx.save(model, path, save_as_external_data=True, location=external, size_threshold=0)
    else:
        onnx.save(model, path)
    return path


def call(*arguments, program=PROGRAM, cwd=None):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False)
    check(done.returncode >= 0, f"{arguments} ended with signal {-done.returncode}")
    return done


def compiled(*arguments, eps=("RefA", "cpu")):
    done = call("compile", *arguments, *[word for ep in eps for word in ("--ep", ep)], "--quiet")
    check(done.returncode == 0, f"{arguments}: {done.stderr}")
    return done


def outputs(model, *config, eps=("RefA", "cpu"), cwd=None):
    with tempfile.TemporaryDirectory() as out:
        numpy.save(f"{out}/x.npy", X)
        words = [word for ep in eps for word in ("--ep", ep)] + [word for c in config for word in ("--config", c)]
        done = call("run", model, "--input", f"x={out}/x.npy", "--output-dir", out, "--quiet", *words, cwd=cwd)
        found = [numpy.load(f) for f in pathlib.Path(out).glob("*.npy") if f.name != "x.npy"]
        return (found[0] if found else None), done.stderr


def runs(model, source, *config, **how):
    want, _ = outputs(source, eps=("cpu",))
    got, said = outputs(model, *config, **how)
    check(got is not None and numpy.allclose(got, want, atol=1e-6), f"{model}: {said}")


def refused(model, code, part, *config, **how):
    got, said = outputs(model, *config, **how)
    check(got is None and said.startswith(f"error: {code}: ") and part in said, f"{model}: {said or got}")


def contexts(path):
    nodes = [n for n in onnx.load(path, load_external_data=False).graph.node if n.op_type == "EPContext"]
    return [{a.name: helper.get_attribute_value(a) for a in n.attribute} | {"name": n.name} for n in nodes]


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def case_1_2_20(folder):
    """The context is in a file or embedded; the compiled model finds the file from any working directory."""
    source = plain(folder / "m.onnx")
    compiled(source, "-o", folder / "m_ctx.onnx")
    check(files(folder) == ["m.onnx", "m_ctx.onnx", "m_ctx_RefA.bin"], files(folder))
    nodes = contexts(folder / "m_ctx.onnx")
    check(len(nodes) == 1 and nodes[0]["embed_mode"] == 0 and nodes[0]["ep_cache_context"] == b"m_ctx_RefA.bin", nodes)
    check(nodes[0]["source"] == b"RefA" and nodes[0]["partition_name"] == nodes[0]["name"].encode(), nodes)
    runs(folder / "m_ctx.onnx", source, cwd="/")
    compiled(source, "-o", folder / "e.onnx", "--embed")
    node = contexts(folder / "e.onnx")[0]
    check(node["embed_mode"] == 1 and node["ep_cache_context"] == (folder / "m_ctx_RefA.bin").read_bytes(), node)
    check(not (folder / "e_RefA.bin").exists(), "embedded, and yet a file")
    (folder / "m_ctx_RefA.bin").unlink()
    runs(folder / "e.onnx", source)


def case_1_6_session(folder):
    """Compiles while a session is made: --config does what the compile command does, and an existing output is an
    error."""
    source = plain(folder / "m.onnx")
    runs(source, source, "ep.context_enable=1")
    check(files(folder) == ["m.onnx", "m_RefA.bin", "m_ctx.onnx"], files(folder))
    runs(folder / "m_ctx.onnx", source)
    before = (folder / "m_ctx.onnx").read_bytes()
    refused(source, "FAIL", "exists already", "ep.context_enable=1")
    check((folder / "m_ctx.onnx").read_bytes() == before, "the old file was touched")
    runs(source, source, "ep.context_enable=true")
    for path in (f"{folder}/out/", f"{folder}/outfile"):
        refused(source, "INVALID_ARGUMENT", "extension", "ep.context_enable=1", f"ep.context_file_path={path}")


def case_4_14(folder):
    """A model without anything to compile; an output that exists; --force."""
    source = plain(folder / "m.onnx")
    done = call("compile", source, "-o", folder / "c.onnx", "--ep", "cpu")
    check(done.returncode == 1 and done.stderr.startswith("error: FAIL: "), done.stderr)
    check(not (folder / "c.onnx").exists(), "written in spite of the error")
    (folder / "c.onnx").write_bytes(source.read_bytes())
    before = (folder / "c.onnx").read_bytes()
    done = call("compile", source, "-o", folder / "c.onnx", "--ep", "RefA")
    check(done.returncode == 1 and done.stderr.startswith("error: FAIL: "), done.stderr)
    check((folder / "c.onnx").read_bytes() == before and not (folder / "c_RefA.bin").exists(), "touched")
    done = call("compile", source, "-o", folder / "c.onnx", "--ep", "RefA", "--force", "--json")
    said = json.loads(done.stdout)
    check(said["compiled_nodes"] == 1 and said["to"] == str(folder / "c.onnx"), said)
    check(said["bytes"] == (folder / "c.onnx").stat().st_size, said)
    check(call("compile", source).returncode == 2, "no -o")
    done = call("compile", folder / "none.onnx", "-o", folder / "n.onnx", "--ep", "RefA")
    check(done.returncode == 1 and done.stderr.startswith("error: INVALID_ARGUMENT: "), done.stderr)


def case_9_10_11_12(folder):
    """Two partitions with nodes of cpu between them; where initializers are stored."""
    source = plain(folder / "m.onnx", island=True, external="weights.bin")
    want, _ = outputs(source, eps=("cpu",))
    compiled(source, "--optimize", "none", "-o", folder / "c.onnx")
    model = onnx.load(folder / "c.onnx")
    check([n.op_type for n in model.graph.node] == ["EPContext", "Sigmoid", "Sub", "EPContext"], "order")
    check([n["name"] for n in contexts(folder / "c.onnx")] == ["RefA_part_0", "RefA_part_1"], "names")
    check([i.name for i in model.graph.initializer] == ["d"], "what is read no longer is gone")
    compiled(source, "--optimize", "none", "-o", folder / "e.onnx", "--external-initializers", "ini.bin")
    outside = onnx.load(folder / "e.onnx", load_external_data=False).graph.initializer
    check(all(i.data_location == onnx.TensorProto.EXTERNAL for i in outside), outside)
    check([e.value for i in outside for e in i.external_data if e.key == "location"] == ["ini.bin"], outside)
    compiled(source, "--optimize", "none", "-o", folder / "t.onnx", "--external-initializers", "t.bin", "--external-threshold", "1024")
    check(not (folder / "t.bin").exists(), "12 bytes are under the threshold")
    for name in ("weights.bin", "m.onnx"):
        (folder / name).unlink()
    for name in ("c.onnx", "e.onnx", "t.onnx"):
        got, said = outputs(folder / name)
        check(got is not None and numpy.allclose(got, want, atol=1e-6), f"{name}: {said}")
    plain(folder / "m.onnx")
    done = call("compile", folder / "m.onnx", "-o", folder / "a.onnx", "--ep", "RefA", "--external-initializers", "/a.bin")
    check(done.returncode == 1 and done.stderr.startswith("error: FAIL: "), done.stderr)


def edited(path, to, **changes):
    model = onnx.load(path, load_external_data=False)
    for node in [n for n in model.graph.node if n.op_type == "EPContext"]:
        for name, new in changes.items():
            kept = [a for a in node.attribute if a.name != name]
            del node.attribute[:]
            node.attribute.extend(kept + ([] if new is None else [helper.make_attribute(name, new)]))
    onnx.save(model, to)
    return to


def case_22_to_27(folder):
    """Wrong paths, contents, attributes and sources."""
    source = plain(folder / "m.onnx")
    compiled(source, "-o", folder / "c.onnx")
    bad, node = folder / "bad.onnx", "RefA_part_0"
    (folder / "sub").mkdir()
    outside = folder.parent / (folder.name + "_outside")
    outside.mkdir()
    shutil.copy(folder / "c_RefA.bin", outside / "x.bin")
    (folder / "link.bin").symlink_to(outside / "x.bin")
    for value in (str(folder / "c_RefA.bin"), f"../{outside.name}/x.bin", "", "link.bin", "sub", "NUL", "C:x.bin"):
        refused(edited(folder / "c.onnx", bad, ep_cache_context=value), "INVALID_GRAPH", node)
    runs(edited(folder / "c.onnx", bad, ep_cache_context="sub/../c_RefA.bin"), source)
    for content in (None, b"", b"garbage", (folder / "c_RefA.bin").read_bytes().replace(b"3.2.0", b"9.9.9")):
        (folder / "other.bin").unlink(missing_ok=True)
        if content is not None:
            (folder / "other.bin").write_bytes(content)
        refused(edited(folder / "c.onnx", bad, ep_cache_context="other.bin"), "INVALID_GRAPH", "other.bin")
    refused(edited(folder / "c.onnx", bad, embed_mode=None), "INVALID_GRAPH", node)
    refused(edited(folder / "c.onnx", bad, embed_mode="0"), "INVALID_GRAPH", "embed_mode")
    runs(edited(folder / "c.onnx", bad, shade="blue"), source)
    edited(folder / "c.onnx", bad, source="RefB")
    refused(bad, "NOT_IMPLEMENTED", "'RefB'")
    runs(bad, source, eps=("RefA", "RefB", "cpu"))
    refused(source, "MODEL_REQUIRES_COMPILATION", "RefA", "session.disable_model_compile=1")
    runs(folder / "c.onnx", source, "session.disable_model_compile=1")


def case_29_30_37(folder):
    """A secondary context node, metadata, and a prefix of the context file's name."""
    source = plain(folder / "m.onnx", island=True)
    compiled(source, "-o", folder / "c.onnx", "--config", "ep.context_node_name_prefix=p_")
    check(all(n["name"].startswith("p_RefA_part_") for n in contexts(folder / "c.onnx")), "prefix")
    check({p.key: p.value for p in onnx.load(folder / "c.onnx").metadata_props} ==
          {"ep_compatibility_info.RefA": "gen2"}, "metadata")
    model = onnx.load(folder / "c.onnx")
    first = [n for n in model.graph.node if n.op_type == "EPContext"][0]
    kept = [a for a in first.attribute if a.name not in ("main_context", "ep_cache_context")]
    del first.attribute[:]
    first.attribute.extend(kept + [helper.make_attribute("main_context", 0)])
    onnx.save(model, folder / "s.onnx")
    runs(folder / "s.onnx", source)
    for node in model.graph.node:
        for a in node.attribute:
            if a.name == "main_context":
                a.i = 0
            if a.name == "ep_cache_context":
                a.s = b""
    onnx.save(model, folder / "s.onnx")
    refused(folder / "s.onnx", "INVALID_GRAPH", "no main node")


def case_33_to_36(folder):
    """Models that share weights, compiled by either program."""
    for way, program in ((["share", "--ep", "RefA", "--quiet"], PROGRAM), (["-e", "RefA"], SHARING)):
        for old in files(folder):
            (folder / old).unlink()
        first, second = plain(folder / "m1.onnx"), plain(folder / "m2.onnx", island=True)
        done = call(*way, f"{first},{second}", program=program)
        check(done.returncode == 0, done.stderr)
        check(files(folder) == ["m1.onnx", "m1_RefA.bin", "m1_ctx.onnx", "m2.onnx", "m2_ctx.onnx"], files(folder))
        nodes = contexts(folder / "m1_ctx.onnx") + contexts(folder / "m2_ctx.onnx")
        check({n["ep_cache_context"] for n in nodes} == {b"m1_RefA.bin"}, nodes)
        check(len({n["partition_name"] for n in nodes}) == 3, nodes)
        for source in (first, second):
            for config in ((), ("ep.share_ep_contexts=1",)):
                runs(source.with_name(source.stem + "_ctx.onnx"), source, *config)
        # Compiling is all or nothing: if one model cannot be compiled, no file of the others is written.
        before = files(folder)
        done = call(*way, f"{first},{second}", program=program)
        check(done.returncode != 0 and "exists already" in done.stderr, done.stderr)
        check(files(folder) == before, files(folder))
        (folder / "m1_ctx.onnx").unlink()
        done = call(*way, f"{first},{folder / 'none.onnx'}", program=program)
        check(done.returncode == (1 if program == PROGRAM else 255), done.returncode)
        check(not (folder / "m1_ctx.onnx").exists(), "a model without its context")


def options_of_the_other_program(folder):
    models = plain(folder / "m1.onnx")
    for arguments, code, part in (([], 255, "needs one list"), ([models], 255, "no provider 'qnn'"),
                                  (["-e"], 255, "-e needs a value"), (["-z", models], 255, "no option -z"),
                                  (["-e", "RefA", "-i", "a", models], 255, "KEY|VALUE"),
                                  (["-e", "RefA", "-C", "a|1 a|2", models], 255, "set twice"),
                                  (["-e", "RefA", "-i", "no_such|1", models], 255, "no_such"),
                                  (["-e", "cpu", models], 255, "does not write contexts"),
                                  (["-p", "plugin.json", models], 1, "can be loaded from a library"),
                                  (["-e", "RefA", "-C", "ep.context_embed_mode|1 ep.context_file_path|x.onnx", models],
                                   0, "ep.context_file_path")):
        done = call(*arguments, program=SHARING)
        check(done.returncode == code and part in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")
    check((folder / "m1_ctx.onnx").exists() and not (folder / "x.onnx").exists(), files(folder))
    done = call("-h", program=SHARING)
    check(done.returncode == 0 and done.stdout.startswith("ep_weight_sharing_ctx_gen [options]"), done.stdout)
    (folder / "m1_ctx.onnx").unlink()
    done = call("-v", "-e", "RefA", models, program=SHARING)
    check(done.returncode == 0 and "RefA" in done.stderr, done.stderr)
    done = call("share", "--ep", "RefA", "--json", "--force", models)
    check(json.loads(done.stdout)["models"] == [{"path": str(folder / "m1_ctx.onnx"), "compiled_nodes": 1}], done.stdout)
    done = call("share", models)
    check(done.returncode == 2 and "needs --ep or --ep-library" in done.stderr, f"no provider: {done.stderr}")
    check(call("share", "--ep", "RefA", ",").returncode == 2, "no model")


def main():
    cases = (case_1_2_20, case_1_6_session, case_4_14, case_9_10_11_12, case_22_to_27, case_29_30_37, case_33_to_36,
             options_of_the_other_program)
    for case in cases:
        with tempfile.TemporaryDirectory() as top:
            folder = pathlib.Path(top) / "models"
            folder.mkdir()
            case(folder)
    for words in failures:
        print(words)
    print(f"{len(cases)} groups of cases, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
