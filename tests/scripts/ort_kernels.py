#!/usr/bin/env python3
"""cpu has kernels for all operators for which ONNX Runtime's CPU provider has kernels, except those that are listed in
tests/data/ort_kernels_missing.txt. The list may only shrink: a missing operator that is not listed is an error, and so
is a listed one that is not missing. Prints what is missing.

The kernels are those of the package onnxruntime, so a newer package adds its new operators to this test. --write writes
the list. Needs CAMEO_SOURCE_DIR and CAMEO_PROGRAM in the environment, as CTest sets them.
"""
import json
import os
import pathlib
import subprocess
import sys

from onnxruntime.capi import onnxruntime_pybind11_state as ort

sys.path.insert(0, str(pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "tests" / "program"))
import shrinking_list  # noqa: E402

HEAD = """# Operators that ONNX Runtime's CPU provider has kernels for and cameo's has not: domain, operator.
# tests/scripts/ort_kernels.py reads this list, which may only shrink.
"""
# Operators of ONNX Runtime's internal graphs, not of models: copies between devices.
NOT_OF_MODELS = {("", "MemcpyFromHost"), ("", "MemcpyToHost")}


def name_of(domain, op):
    return f"{domain or 'ai.onnx'} {op}"


def known():
    told = subprocess.run([os.environ["CAMEO_PROGRAM"], "ops", "--ep", "cpu", "--json"], capture_output=True, text=True,
                          check=True).stdout
    return {name_of(op["domain"], op["op"]) for op in json.loads(told)["ops"]}


kernels = {(k.domain, k.op_name) for k in ort.get_all_opkernel_def() if k.provider == "CPUExecutionProvider"}
missing = {name_of(*k) for k in kernels - NOT_OF_MODELS} - known()
failed = shrinking_list.hold("ort_kernels_missing.txt", HEAD, missing, "onnxruntime has a kernel, cameo has none")
print(f"onnxruntime's CPU provider has kernels for {len(kernels)} operators; cameo lacks {len(missing)}: "
      + (", ".join(sorted(missing)) or "none"))
sys.exit(1 if failed or len(kernels) < 200 else 0)
