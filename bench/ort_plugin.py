#!/usr/bin/env python3
"""What it costs to run cameo's kernels as a plugin inside ONNX Runtime: its time beside that of cameo alone.

    python3 bench/models/make_models.py MODELS --only mobilenetv2,minilm_l6
    ninja -C build/release cameo_program cameo_provider
    python3 bench/ort_plugin.py MODELS build/release [--rounds N] [--threads N]

For each model, rounds of `cameo bench` and of a process with onnxruntime and the plugin take turns, each a few seconds;
of each side the least run of all rounds counts, so that others on the machine do not. Where the sides differ by more
than a twentieth, in either direction, there are up to four times as many rounds. Inside ONNX Runtime inputs and outputs
are bound to memory of numpy's, and outputs are compared with those that `cameo run` writes, to the last bit.

A run of a session costs something in ONNX Runtime and Python whatever the model is; that is measured, too, with a model
of one Identity and ONNX Runtime's own kernel, and is not counted. Exit status 1 if a model gives other bits, or takes
more than 1.05 of cameo's time."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MOST = 1.05


def work(model, library, seconds, threads, folder):
    """In a process of its own: the least time of a run, in ms; outputs go to the folder."""
    import numpy as np
    import onnxruntime as ort
    ort.register_execution_provider_library("cameo", str(library))
    how = ort.SessionOptions()
    how.intra_op_num_threads = threads
    how.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # cameo's session rewrites
    how.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "CameoExecutionProvider"], {})
    empty = least_of(empty_session(ort), {"x": np.zeros(1, np.float32)}, {"y": np.zeros(1, np.float32)}, 0.2)[0]
    session = ort.InferenceSession(str(model / "model.onnx"), how)
    inputs = dict(np.load(model / "input.npz"))
    outputs = dict(zip((o.name for o in session.get_outputs()), session.run(None, inputs)))
    least, bound = least_of(session, inputs, {name: np.zeros_like(array) for name, array in outputs.items()}, seconds)
    for name, value in bound.items():
        np.save(folder / (name.replace("/", "_") + ".npy"), value)
    print(json.dumps({"least_ms": least / 1e6, "empty_ms": empty / 1e6, "same_bound": all(
        np.array_equal(value, outputs[name], equal_nan=True) for name, value in bound.items())}))


def empty_session(ort):
    import onnx
    value, how = onnx.helper.make_tensor_value_info, ort.SessionOptions()
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g", [value("x", 1, [1])],
                                   [value("y", 1, [1])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    how.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), how, providers=["CPUExecutionProvider"])


def least_of(session, inputs, outputs, seconds):
    """The least time of a run, in ns, and its outputs."""
    import onnxruntime as ort
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    bound = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in outputs.items()}
    for name, value in bound.items():
        binding.bind_ortvalue_output(name, value)
    least, end = float("inf"), time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.perf_counter_ns()
        session.run_with_iobinding(binding)
        least = min(least, time.perf_counter_ns() - begin)
    return least, {name: value.numpy().copy() for name, value in bound.items()}


def given(model, folder):
    import numpy as np
    options = []
    for name, array in np.load(model / "input.npz").items():
        path = folder / f"in_{len(options)}.npy"
        np.save(path, array)
        options += ["--input", f"{name}={path}"]
    return options


def differing(a, b):
    import numpy as np
    names = sorted(path.name for path in a.glob("*.npy"))
    if names != sorted(path.name for path in b.glob("*.npy")):
        return f"other outputs: {names}"
    return ", ".join(n for n in names if np.load(a / n).tobytes() != np.load(b / n).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--work", type=pathlib.Path, help=argparse.SUPPRESS)
    how = parser.parse_args()
    library = how.build.resolve() / "examples" / "libcameo_provider.so"
    if how.work:
        return work(how.models, library, how.seconds, how.threads, how.work) or 0
    program, failed = how.build / "cameo", []
    chosen = [m for m in sorted(how.models.iterdir())
              if (m / "model.onnx").exists() and (not how.only or m.name in how.only.split(","))]
    print(f"{'model':16} {'cameo':>11} {'in ONNX Runtime':>16} {'an empty run':>13} {'ratio':>7}  bits")
    for model in chosen:
        with tempfile.TemporaryDirectory() as made:
            folders = [pathlib.Path(made) / name for name in ("cameo", "ort", "in")]
            for folder in folders:
                folder.mkdir()
            options = given(model, folders[2])
            common = [str(program), "{}", str(model / "model.onnx"), "--threads", str(how.threads), "--quiet", *options]
            command = lambda verb, *more: [verb if part == "{}" else part for part in common] + list(more)  # noqa: E731
            subprocess.run(command("run", "--output-dir", str(folders[0])), check=True, stdout=subprocess.DEVNULL)
            alone, inside, empty, same, ratio = [], [], [], True, 0
            while len(alone) < how.rounds or (len(alone) < 4 * how.rounds and not 1 / MOST < ratio < MOST):
                done = subprocess.run(command("bench", "--json", "--seconds", str(how.seconds)), check=True,
                                      capture_output=True, text=True)
                alone.append(json.loads(done.stdout)["min_us"] / 1e3)
                done = subprocess.run([sys.executable, __file__, str(model), str(how.build), "--seconds", str(how.seconds),
                                       "--threads", str(how.threads), "--work", str(folders[1])], check=True,
                                      capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
                answer = json.loads(done.stdout.splitlines()[-1])
                inside.append(answer["least_ms"]), empty.append(answer["empty_ms"])
                ratio = (min(inside) - min(empty)) / min(alone)
                same &= answer["same_bound"]
            differ = differing(*folders[:2]) or ("" if same else "bound outputs differ from others")
            print(f"{model.name:16} {min(alone):8.4f} ms {min(inside):13.4f} ms {min(empty):10.4f} ms {ratio:7.3f}  "
                  f"{differ or 'same'}",
                  flush=True)
            if differ or ratio > MOST:
                failed.append(model.name)
    print(f"{len(chosen)} models, {len(failed)} failed: {', '.join(failed)}" if failed else f"{len(chosen)} models, all fine")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
