#!/usr/bin/env python3
"""Every operator for which cpu has a kernel has random cases in one of the differential scripts, except those that
tests/data/no_random_cases.txt lists. The list may only shrink: an operator without cases that is not listed is an
error, and so is a listed operator that has cases.

--write writes the list. Needs CAMEO_SOURCE_DIR and CAMEO_PROGRAM in the environment, as CTest sets them.
"""
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "tests" / folder) for folder in ("program", "scripts")]
import differential  # noqa: E402
import shrinking_list  # noqa: E402

HEAD = """# Operators that cpu has kernels for and no differential script has random cases of: domain, operator.
# tests/scripts/differential_coverage.py reads this list, which may only shrink.
"""
# Operators that draw random numbers: this test compares the distributions of their outputs instead.
BY_DISTRIBUTION = {f"ai.onnx {op}": "eps/cpu/tests/random_test.cpp"
                   for op in ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
                              "RandomUniformLike")}


def known():
    told = subprocess.run([os.environ["CAMEO_PROGRAM"], "ops", "--ep", "cpu", "--json"], capture_output=True, text=True,
                          check=True).stdout
    return {f"{op['domain']} {op['op']}" for op in json.loads(told)["ops"]}


def operators_in(graph):
    """The operators of the nodes of a graph and of their subgraphs."""
    found = {f"{node.domain or 'ai.onnx'} {node.op_type}" for node in graph.node}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= operators_in(attribute.g)
    return found


def covered():
    found = set()
    for script in differential.SCRIPTS:
        for name, (make, count) in importlib.import_module(script).FAMILIES.items():
            for number in range(min(count, 250)):
                found |= operators_in(differential.made_case(name, 1, make, number).model.graph)
    return found


def missing_tests():
    """The operators of BY_DISTRIBUTION that the test does not name."""
    root = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
    return [op for op, test in BY_DISTRIBUTION.items() if not re.search(rf"op::{op.split()[1]}\b", (root / test).read_text())]


kernels = known()
without = kernels - covered() - set(BY_DISTRIBUTION)
failed = shrinking_list.hold("no_random_cases.txt", HEAD, without, "has a kernel and no random cases")
for op in missing_tests():
    print(f"{op}: {BY_DISTRIBUTION[op]} has no test of it")
    failed += 1
print(f"{len(kernels)} operators with kernels, {len(without)} without random cases")
sys.exit(1 if failed or len(kernels) < 300 else 0)
