"""The command loop of a worker: a process that runs one model with one library. It executes commands, one per line of
standard input, and prints a JSON object for each, with these members:

    load            creates the session:      load_ms, rss_before_kb (with libraries and inputs), rss_load_kb
    first           binds and runs once:      first_us, rss_run_kb, peak_kb (since before load)
    outputs DIR     writes raw outputs:       outputs: [[name, ONNX's type name, [dims]], ...], in the files 0, 1, ...
    time SECONDS    runs repeatedly:          runs, min_us, median_us (in C++, "time SECONDS BYTES" reads this number of
                                              bytes of other memory before each run)
    reload          creates another session:  load_ms
    allocations N   runs N times:             allocations: per run; -1 without the counter

The workers in C++ (worker.hpp) have the same commands. A contender is a class with create(), first(), run and
outputs().
"""
import ctypes
import json
import pathlib
import sys
import time

import numpy as np

TYPES = {"float32": "float", "float64": "double"}


def onnx_type(dtype):
    return TYPES.get(dtype.name, dtype.name)


def read_inputs(folder):
    inputs = {}
    for line in (pathlib.Path(folder) / "inputs.txt").read_text().splitlines():
        name, kind, dims, file = line.split("\t")
        dtype = {v: k for k, v in TYPES.items()}.get(kind, kind)
        shape = [int(d) for d in dims.split(",") if d]
        inputs[name] = np.fromfile(pathlib.Path(folder) / file, dtype).reshape(shape)
    return inputs


def memory_kb(file, key):
    for line in open(f"/proc/self/{file}"):
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def resident_kb():
    return memory_kb("smaps_rollup", "Rss")


def load(contender):
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")  # resets the peak of resident memory
    before = resident_kb()
    start = time.perf_counter_ns()
    contender.session = contender.create()
    elapsed = time.perf_counter_ns() - start
    return {"load_ms": elapsed / 1e6, "rss_before_kb": before, "rss_load_kb": resident_kb()}


def reload(contender):
    start = time.perf_counter_ns()
    made = contender.create()
    elapsed = time.perf_counter_ns() - start
    del made
    return {"load_ms": elapsed / 1e6}


def first(contender):
    start = time.perf_counter_ns()
    contender.first()
    elapsed = time.perf_counter_ns() - start
    return {"first_us": elapsed / 1e3, "rss_run_kb": resident_kb(), "peak_kb": memory_kb("status", "VmHWM")}


def write_outputs(contender, folder):
    listed = []
    for i, (name, array) in enumerate(contender.outputs()):
        np.ascontiguousarray(array).tofile(pathlib.Path(folder) / str(i))
        listed.append([name, onnx_type(array.dtype), list(array.shape)])
    return {"outputs": listed}


def measure(contender, seconds):
    run, clock = contender.run, time.perf_counter_ns
    run(), run()  # the first runs after a pause are slower: caches are cold, threads sleep
    times = []
    end = clock() + int(seconds * 1e9)
    now = clock()
    while now < end or len(times) < 3:
        start = clock()
        run()
        now = clock()
        times.append(now - start)
    times.sort()
    n = len(times)
    return {"runs": n, "min_us": times[0] / 1e3, "median_us": (times[(n - 1) // 2] + times[n // 2]) / 2e3}


def allocations(contender, runs):
    counter = getattr(ctypes.CDLL(None), "cameo_peers_allocations", None)
    if counter is None:
        return {"allocations": -1}
    counter.restype = ctypes.c_ulong
    run = contender.run
    before = counter()
    own = counter() - before  # allocations of a call of the counter
    before = counter()
    for _ in range(runs):
        run()
    return {"allocations": max(0, counter() - before - own) / runs}


def serve(make):
    """Executes the commands of standard input for the contender that `make(model, inputs, threads)` returns."""
    model, folder, threads = sys.argv[1:4]
    contender = make(model, read_inputs(folder), int(threads))
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "load":
            answer = load(contender)
        elif command == "reload":
            answer = reload(contender)
        elif command == "first":
            answer = first(contender)
        elif command == "outputs":
            answer = write_outputs(contender, rest[0])
        elif command == "time":
            answer = measure(contender, float(rest[0]))
        elif command == "allocations":
            answer = allocations(contender, int(rest[0]))
        else:
            sys.exit(f"unknown command '{command}'")
        print(json.dumps(answer), flush=True)
