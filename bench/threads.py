#!/usr/bin/env python3
"""Measures how much faster a model runs on several threads than on one, by alternating runs of `cameo bench`.

Usage: bench/threads.py [--model MODEL.onnx] [--threads 2] [--rounds 5] [--seconds 2] [--program build/release/cameo]

Without --model, it makes ResNet-50 in build/models (bench/models/make_models.py; needs onnx, onnxruntime and numpy).
Prints the minimum and the median time for each thread count, and two speedups: the ratio of the minima, and the median
of the ratios of the medians in each round.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def bench(program, model, threads, seconds):
    command = [program, "bench", model, "--random-inputs", "--threads", str(threads), "--seconds", str(seconds),
               "--warmup", "2", "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--program", default=str(root / "build" / "release" / "cameo"))
    a = parser.parse_args()
    if not a.model:
        folder = root / "build" / "models"
        a.model = str(folder / "resnet50" / "model.onnx")
        if not pathlib.Path(a.model).exists():
            subprocess.run([sys.executable, str(root / "bench" / "models" / "make_models.py"), str(folder), "--only",
                            "resnet50"], check=True)
    rows = {1: [], a.threads: []}
    for _ in range(a.rounds):
        for threads in rows:
            rows[threads].append(bench(a.program, a.model, threads, a.seconds))
    for threads, runs in rows.items():
        print(f"{threads} threads: min {min(r['min_us'] for r in runs) / 1e3:.2f} ms, median "
              f"{statistics.median(r['median_us'] for r in runs) / 1e3:.2f} ms")
    pairs = [one["median_us"] / more["median_us"] for one, more in zip(rows[1], rows[a.threads])]
    least = min(r["min_us"] for r in rows[1]) / min(r["min_us"] for r in rows[a.threads])
    print(f"{a.threads} threads over 1: {least:.2f} times by minimum, {statistics.median(pairs):.2f} by median of pairs")


if __name__ == "__main__":
    main()
