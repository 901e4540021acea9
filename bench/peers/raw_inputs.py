"""Writes the arrays of INPUT.npz to FOLDER as raw files, and lists them in FOLDER/inputs.txt (bench/raw_inputs.hpp).

Usage: raw_inputs.py INPUT.npz FOLDER
"""
import pathlib
import sys

import numpy as np

from worker import onnx_type


def write_inputs(arrays, folder):
    lines = []
    for i, (name, array) in enumerate(arrays.items()):
        np.ascontiguousarray(array).tofile(folder / str(i))
        lines.append("\t".join([name, onnx_type(array.dtype), ",".join(map(str, array.shape)), str(i)]))
    (folder / "inputs.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write_inputs(np.load(sys.argv[1]), pathlib.Path(sys.argv[2]))
