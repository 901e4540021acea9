#!/usr/bin/env python3
"""Measures the overhead of a call from Python: runs of a model of ten small nodes by cameo, cameo.onnxruntime and
onnxruntime, compared with the same runs from C++. Also measures the runs per second of one and of eight threads. The
contestants alternate within a round, and the best result over all rounds counts.

Usage: calls.py BENCH_PYTHON [--rounds N]     (BENCH_PYTHON: the program of the CMake target bench_python)
Needs cameo, onnxruntime, onnx and numpy. Prints the tables of docs/python.md.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import cameo
import cameo.onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "python"))
import models  # noqa: E402

CALLS = 4000


def large(width=256, nodes=6):
    """Returns a model whose run takes about a millisecond."""
    random = numpy.random.default_rng(3)
    names = ["x", *(f"t{i}" for i in range(1, nodes)), "y"]
    weights = [numpy_helper.from_array(random.standard_normal((width, width), numpy.float32) / width, f"w{i}")
               for i in range(nodes)]
    steps = [helper.make_node("MatMul", [names[i], f"w{i}"], [names[i + 1]]) for i in range(nodes)]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(steps, "g", [info("x", TensorProto.FLOAT, [64, width])],
                              [info("y", TensorProto.FLOAT, [64, width])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def microseconds(call):
    for _ in range(100):
        call()
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS * 1e6


def per_second(make_call, count, length):
    done, counts = threading.Event(), [0] * count

    def work(i):
        call = make_call()
        while not done.is_set():
            call()
            counts[i] += 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for each in threads:
        each.start()
    time.sleep(length)
    done.set()
    for each in threads:
        each.join()
    return sum(counts) / length


def calls(program, path, rounds):
    x = numpy.full((1, 4), 0.5, numpy.float32)
    session = cameo.Session(path, threads=1)
    binding = session.bind()
    binding.bind_input("x", x)
    binding.bind_output("y", numpy.zeros_like(x))
    inputs = {"x": x}
    rows = {
        "cameo, a binding": binding.run,
        "cameo, `run`": lambda: session.run(inputs),
    }
    for name, ort in ("cameo.onnxruntime", cameo.onnxruntime), ("onnxruntime", onnxruntime):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        made = ort.InferenceSession(path, options, ["CPUExecutionProvider"])
        bound = made.io_binding()
        bound.bind_cpu_input("x", x)
        bound.bind_output("y")
        rows[f"{name}, a binding"] = lambda made=made, bound=bound: made.run_with_iobinding(bound)
        rows[f"{name}, `run`"] = lambda made=made: made.run(None, inputs)
    best = dict.fromkeys(["C++, a binding", "C++, `run`", *rows], 1e9)
    for _ in range(rounds):
        done = subprocess.run([program, path, str(CALLS)], check=True, capture_output=True, text=True).stdout.split()
        for name, text in zip(list(best)[:2], done, strict=True):
            best[name] = min(best[name], float(text) / 1000)
        for name, call in rows.items():
            best[name] = min(best[name], microseconds(call))
    print("| a run of ten small nodes | microseconds | above cameo from C++ |\n|---|---|---|")
    for name, taken in best.items():
        base = best["C++, a binding" if name.endswith("a binding") else "C++, `run`"]
        print(f"| {name} | {taken:.2f} | {'' if name.startswith('C++') else f'{taken - base:.2f}'} |")


def threads(program, path, rounds):
    x = numpy.full((64, 256), 0.5, numpy.float32)
    session = cameo.Session(path, threads=1)

    def bound():
        binding = session.bind()
        binding.bind_input("x", x)
        return binding.run

    best = {}
    for _ in range(rounds):
        for count in (1, 8):
            done = subprocess.run([program, path, "0.5", "threads", str(count)], check=True, capture_output=True, text=True)
            best["C++, a binding", count] = max(best.get(("C++, a binding", count), 0), float(done.stdout))
            for name, make in ("Python, a binding", bound), ("Python, `run`", lambda: lambda: session.run({"x": x})):
                best[name, count] = max(best.get((name, count), 0), per_second(make, count, 0.5))
    print("\n| runs of six products in a second | 1 thread | 8 threads | 8 by 1 |\n|---|---|---|---|")
    for name in dict.fromkeys(name for name, _ in best):
        one, eight = best[name, 1], best[name, 8]
        print(f"| {name} | {one:.0f} | {eight:.0f} | {eight / one:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=12)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, big = folder + "/small.onnx", folder + "/large.onnx"
        onnx.save(models.chain(), small)
        onnx.save(large(), big)
        calls(args.program, small, args.rounds)
        threads(args.program, big, args.rounds)


if __name__ == "__main__":
    main()
