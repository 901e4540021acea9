#!/usr/bin/env python3
"""Measures the cost of running cameo's kernels as a plugin in ONNX Runtime, compared with cameo alone.

    python3 bench/models/make_models.py MODELS --only mobilenetv2,minilm_l6
    ninja -C build/release cameo_program cameo_provider bench_peers_onnxruntime
    python3 bench/ort_plugin_export.py MODELS build/release [--rounds N] [--threads N]

For each model, `cameo bench` and a process with ONNX Runtime and the plugin alternate, a few seconds each. The minimum
over all rounds counts on each side, because other processes on the machine only make runs slower. If the sides differ
by more than 5% in either direction, up to four times as many rounds are measured. ONNX Runtime is called from C++,
because Python would evict the processor's caches between two runs. Inputs and outputs are bound, and the outputs must
equal those of `cameo run` bit for bit.

A run of a session has an overhead in ONNX Runtime that does not depend on the model. It is measured with a model of one
Identity node on ONNX Runtime's CPU provider, and subtracted. The overhead is larger after the weights of a model have
evicted ONNX Runtime's code and data from the caches, so between these runs as many bytes are read as the model's file
has. Needs a python3 with onnx and onnxruntime. The exit status is 1 if the outputs of a model differ, or if it takes
more than 1.05 times cameo's time."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
from raw_inputs import write_inputs  # noqa: E402

MOST = 1.05


def worker(build, folder, threads, *plugin):
    """Returns the command that runs ONNX Runtime with the model and the inputs of a folder."""
    import onnxruntime
    library, = (pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*")
    return [str(build / "bench" / "peers" / "bench_peers_onnxruntime"), str(library), str(folder / "model.onnx"), str(folder),
            str(threads), *map(str, plugin)]


def least_of(command, seconds, outputs=None, between=0):
    """Returns the minimum time of a run in ms, and the names of the outputs if they are requested: the folder `outputs`
    gets a file for each, named by its index. Between two runs, `between` bytes of other memory are read."""
    requests = ["load", "first", f"time {seconds} {between}"] + ([f"outputs {outputs}"] if outputs else [])
    done = subprocess.run(command, input="\n".join(requests) + "\n", check=True, capture_output=True, text=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    return replies[2]["min_us"] / 1e3, [each[0] for each in replies[3]["outputs"]] if outputs else []


def write_empty_model(folder):
    import numpy as np
    import onnx
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", [value("x", 1, [1])],
                                   [value("y", 1, [1])])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9),
              folder / "model.onnx")
    write_inputs({"x": np.zeros(1, np.float32)}, folder)


def given(model, folder):
    import numpy as np
    options = []
    for name, array in np.load(model / "input.npz").items():
        path = folder / f"in_{len(options)}.npy"
        np.save(path, array)
        options += ["--input", f"{name}={path}"]
    return options


def differing(cameo, inside, names):
    """Returns the names of the outputs whose bytes differ from those of `cameo run`."""
    import numpy as np
    return ", ".join(name for i, name in enumerate(names)
                     if np.load(cameo / (name.replace("/", "_") + ".npy")).tobytes() != (inside / str(i)).read_bytes())


def main():
    import numpy as np
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    how = parser.parse_args()
    plugin = how.build.resolve() / "examples" / "libcameo_provider.so", "CameoExecutionProvider"
    program, failed = how.build / "cameo", []
    chosen = [m for m in sorted(how.models.iterdir())
              if (m / "model.onnx").exists() and (not how.only or m.name in how.only.split(","))]
    print(f"{'model':16} {'cameo':>11} {'in ONNX Runtime':>16} {'an empty run':>13} {'ratio':>7}  bits")
    for model in chosen:
        with tempfile.TemporaryDirectory() as made:
            folders = [pathlib.Path(made) / name for name in ("cameo", "ort", "in", "empty")]
            for folder in folders:
                folder.mkdir()
            write_empty_model(folders[3])
            (folders[2] / "model.onnx").symlink_to((model / "model.onnx").resolve())
            write_inputs(np.load(model / "input.npz"), folders[2])
            options, size = given(model, folders[3]), (model / "model.onnx").stat().st_size
            common = [str(program), "{}", str(model / "model.onnx"), "--threads", str(how.threads), "--quiet", *options]
            command = lambda verb, *more: [verb if part == "{}" else part for part in common] + list(more)  # noqa: E731
            subprocess.run(command("run", "--output-dir", str(folders[0])), check=True, stdout=subprocess.DEVNULL)
            alone, inside, empty, ratio = [], [], [], 0
            while len(alone) < how.rounds or (len(alone) < 4 * how.rounds and not 1 / MOST < ratio < MOST):
                done = subprocess.run(command("bench", "--json", "--seconds", str(how.seconds)), check=True,
                                      capture_output=True, text=True)
                alone.append(json.loads(done.stdout)["min_us"] / 1e3)
                least, names = least_of(worker(how.build, folders[2], how.threads, *plugin), how.seconds, folders[1])
                inside.append(least)
                empty.append(least_of(worker(how.build, folders[3], 1), 0.2, between=size)[0])
                ratio = (min(inside) - min(empty)) / min(alone)
            differ = differing(folders[0], folders[1], names)
            print(f"{model.name:16} {min(alone):8.4f} ms {min(inside):13.4f} ms {min(empty):10.4f} ms {ratio:7.3f}  "
                  f"{differ or 'same'}",
                  flush=True)
            if differ or ratio > MOST:
                failed.append(model.name)
    print(f"{len(chosen)} models, {len(failed)} failed: {', '.join(failed)}" if failed else f"{len(chosen)} models, all fine")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
