"""Compares a worker's outputs with the reference and prints {"wrong": reason or null, "largest_error": e}.

Usage: compare.py MODEL_FOLDER OUTPUTS_FOLDER LIST

LIST is a worker's description of its outputs, [[name, type, dims], ...], whose elements are in the raw files 0, 1, ...
of OUTPUTS_FOLDER. Names, types and shapes must be those of output.npz in MODEL_FOLDER, and values must agree within the
tolerances of meta.json.
"""
import json
import pathlib
import sys

import numpy as np

from worker import TYPES


def wrong(want, got, name, meta):
    if got.shape != want.shape:
        return f"{name} has the shape {list(got.shape)} instead of {list(want.shape)}", 0
    if want.dtype.kind != "f":
        return (None if np.array_equal(got, want) else f"{name} differs"), 0
    if not want.size:
        return None, 0
    error = np.abs(got.astype(np.float64) - want.astype(np.float64))
    allowed = meta["rtol"] * np.abs(want) + meta["atol_of_max"] * np.abs(want).max()
    largest = float(error.max())
    return (None if (error <= allowed).all() else f"{name} is off by {largest:.3g}"), largest


def main():
    folder, outputs = map(pathlib.Path, sys.argv[1:3])
    want, meta = np.load(folder / "output.npz"), json.loads((folder / "meta.json").read_text())
    listed = {}
    for i, (name, kind, dims) in enumerate(json.loads(sys.argv[3])):
        dtype = {v: k for k, v in TYPES.items()}.get(kind, kind)
        listed[name] = np.fromfile(outputs / str(i), dtype).reshape(dims)
    reason, largest = None, 0.0
    for name in want.files:
        if name not in listed:
            reason = reason or f"no output {name}"
            continue
        if listed[name].dtype != want[name].dtype:
            reason = reason or f"{name} is of {listed[name].dtype} instead of {want[name].dtype}"
            continue
        why, error = wrong(want[name], listed[name], name, meta)
        reason, largest = reason or why, max(largest, error)
    print(json.dumps({"wrong": reason, "largest_error": largest}))


main()
