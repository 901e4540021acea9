#!/usr/bin/env python3
"""Checks that compiled models can be exchanged: the SDK imports the contexts that cameo wrote and computes the same, and
models that cameo compiles have the attributes of those of ONNX Runtime's provider. The program runs without the SDK.

Needs onnx; the SDK and ONNX Runtime's provider are in separate venvs (CAMEO_OPENVINO_PYTHON,
CAMEO_ORT_OPENVINO_PYTHON), where this file is run again as `openvino_both_ways.py import ...` and `openvino_both_ways.py generate ...`.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[3]))
SAMPLES = ROOT / "tests" / "data" / "epctx"


def bson(data, at=0):
    """The BSON document at `at` as a dict, with the types that a container needs: numbers, texts and documents."""
    end = at + struct.unpack_from("<i", data, at)[0] - 1
    assert data[end] == 0
    found, at = {}, at + 4
    while at < end:
        kind, stop = data[at], data.index(0, at + 1)
        name, at = data[at + 1:stop].decode(), stop + 1
        if kind == 2:
            size = struct.unpack_from("<i", data, at)[0]
            found[name], at = data[at + 4:at + 3 + size].decode(), at + 4 + size
        elif kind == 3:
            found[name], at = bson(data, at), at + struct.unpack_from("<i", data, at)[0]
        elif kind == 16:
            found[name], at = struct.unpack_from("<i", data, at)[0], at + 4
        elif kind == 18:
            found[name], at = struct.unpack_from("<q", data, at)[0], at + 8
        else:
            raise ValueError(f"element '{name}' of kind {kind}")
    assert at == end
    return found


def blobs_of(data):
    """Reads a container as its format specifies, without cameo's code."""
    magic, version, header, offset, size = struct.unpack_from("<8sQQQQ", data)
    assert (magic, version, header, offset) == (b"OVEP_BIN", 1, 40, 40), (magic, version, header, offset)
    document = bson(data[offset:offset + size])
    assert document["version"] == "1.0.0" and document["producer"].startswith("cameo-openvino-ep-"), document
    assert len(data) % 65536 == 0
    used, blobs = bytearray(data[:40 + size]), {}
    for name, entry in sorted(document["blob_metadata_map"].items(), key=lambda item: item[1]["data_offset"]):
        first, count = entry["data_offset"], entry["size"]
        assert first % 65536 == 0 and not any(data[len(used):first]), f"what lies before {name} is not zeros"
        blobs[name] = data[first:first + count]
        used = bytearray(first + count)
    assert not any(data[len(used):])
    return blobs


def import_and_run(container, precision, arrays, to):
    """Runs in the SDK's venv: imports the blobs of a container, and runs them one after the other on named arrays."""
    import numpy as np
    import openvino

    core = openvino.Core()
    core.set_property("CPU", {"EXECUTION_MODE_HINT": precision})
    values = dict(np.load(arrays))
    for name, blob in blobs_of(pathlib.Path(container).read_bytes()).items():
        program = core.import_model(blob, "CPU")
        ins = {port.any_name: values[port.any_name] for port in program.inputs}
        for port, value in program(ins).items():
            values[f"{name}:{port.any_name}"] = values[port.any_name] = value
        if "scaled" not in values and "f" in values:  # the nodes between the partitions of the sample
            values["scaled"] = ((values["f"] - np.float32(0.1)) * np.float32(2)).astype(np.float32)
    np.savez(to, **values)


def generate(source, to, embed):
    """Runs in ONNX Runtime's venv: compiles a model with its provider for the same SDK."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("ep.context_enable", "1")
    options.add_session_config_entry("ep.context_file_path", to)
    options.add_session_config_entry("ep.context_embed_mode", embed)
    onnxruntime.InferenceSession(source, options, providers=[("OpenVINOExecutionProvider", {"device_type": "CPU"})])


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def cameo(*arguments):
    return run(os.environ["CAMEO_PROGRAM"], *arguments, "--quiet")


def compile_with_cameo(source, to, embed):
    cameo("run", source, "--random-inputs", "--ep", "openvino", "--config", "ep.context_enable=1", "--config",
          f"ep.context_file_path={to}", "--config", f"ep.context_embed_mode={embed}")


def sdk_computes_the_same(folder):
    import numpy as np
    import onnx

    source, compiled = SAMPLES / "two_partitions_external" / "model.onnx", folder / "sdk" / "model_ctx.onnx"
    compiled.parent.mkdir()
    compile_with_cameo(source, compiled, 0)
    image = onnx.numpy_helper.to_array(onnx.load_tensor(source.parent / "test_data_set_0" / "input_0.pb"))
    np.savez(folder / "in.npz", image=image)
    np.save(folder / "image.npy", image)
    cameo("run", compiled, "--input", f"image={folder / 'image.npy'}", "--ep", "openvino", "--output-dir", folder)
    container = compiled.with_name("model_ctx_OpenVINOExecutionProvider.bin")
    run(os.environ["CAMEO_OPENVINO_PYTHON"], __file__, "import", container, "ACCURACY", folder / "in.npz",
        folder / "out.npz")
    theirs, mine = np.load(folder / "out.npz"), np.load(folder / "probabilities.npy")
    assert len([name for name in theirs if ":" in name]) == 2, list(theirs)
    assert mine.shape == (1, 10) and np.allclose(mine.sum(), 1, atol=1e-3)
    assert np.allclose(mine, theirs["probabilities"], rtol=1e-6, atol=0), abs(mine - theirs["probabilities"]).max()


def attributes_of(path):
    """The attributes of every compiled node as names, types and values in order, without payloads, the partitions'
    counters and the id in the notes, which only cameo writes."""
    import onnx

    found = []
    for node in onnx.load(path).graph.node:
        if node.op_type != "EPContext":
            continue
        said = {a.name: (a.type, onnx.helper.get_attribute_value(a)) for a in node.attribute}
        if "notes" in said:
            assert re.fullmatch(rb"context id [0-9a-f]{32}", said.pop("notes")[1])
        if said["embed_mode"][1] and said["ep_cache_context"][1]:
            assert said["ep_cache_context"][1].startswith(b"OVEP_BIN")
            said["ep_cache_context"] = (said["ep_cache_context"][0], "a container")
        uncounted = lambda text: re.sub(r"_\d+_(\d+)$", r"_*_\1", text)
        said["partition_name"] = (said["partition_name"][0], uncounted(said["partition_name"][1].decode()))
        found.append((uncounted(node.name), node.domain, list(node.input), list(node.output), list(said.items())))
    return found


def attributes_are_onnxruntimes(folder):
    for name in ("one_partition", "two_partitions"):
        for embed in (0, 1):
            mine, theirs = (folder / f"{name}_{embed}_{who}" / "model_ctx.onnx" for who in ("mine", "theirs"))
            mine.parent.mkdir(), theirs.parent.mkdir()
            source = SAMPLES / f"{name}_external" / "model.onnx"
            compile_with_cameo(source, mine, embed)
            run(os.environ["CAMEO_ORT_OPENVINO_PYTHON"], __file__, "generate", source, theirs, embed)
            assert attributes_of(mine) == attributes_of(theirs), (attributes_of(mine), attributes_of(theirs))
            assert len(attributes_of(mine)) == (2 if name == "two_partitions" else 1)
            assert sorted(p.name for p in mine.parent.iterdir()) == sorted(p.name for p in theirs.parent.iterdir())


def program_runs_without_the_sdk(folder):
    alone, source = folder / "alone" / "cameo", SAMPLES / "one_partition_external" / "model.onnx"
    alone.parent.mkdir()
    shutil.copy(os.environ["CAMEO_PROGRAM"], alone)  # in a folder from which it does not find the SDK
    bare = {name: text for name, text in os.environ.items() if name != "CAMEO_OPENVINO_LIBRARIES"}

    def done(*options, **environment):
        return subprocess.run([alone, "run", source, "--random-inputs", "--quiet", *options], capture_output=True,
                              text=True, timeout=300, env={**bare, **environment})

    assert done().returncode == 0
    asked = done("--ep", "openvino")
    assert asked.returncode == 1, asked
    assert "EP_FAIL" in asked.stderr and "OpenVINO's library was not found" in asked.stderr, asked.stderr
    assert "CAMEO_OPENVINO_LIBRARIES" in asked.stderr, asked.stderr
    where = run(os.environ["CAMEO_OPENVINO_PYTHON"], "-c", "import openvino as o; print(o.__path__[0])").strip()
    found = done("--ep", "openvino", CAMEO_OPENVINO_LIBRARIES=f"{where}/libs")  # without the helper library
    assert found.returncode == 0, found


if __name__ == "__main__":
    if sys.argv[1:2] == ["import"]:
        sys.exit(import_and_run(*sys.argv[2:]))
    if sys.argv[1:2] == ["generate"]:
        sys.exit(generate(*sys.argv[2:]))
    with tempfile.TemporaryDirectory() as scratch:
        program_runs_without_the_sdk(pathlib.Path(scratch))
        sdk_computes_the_same(pathlib.Path(scratch))
        if os.environ.get("CAMEO_ORT_OPENVINO_PYTHON"):
            attributes_are_onnxruntimes(pathlib.Path(scratch))
        else:
            print("not compared with ONNX Runtime: no CAMEO_ORT_OPENVINO_PYTHON")
