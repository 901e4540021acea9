#!/usr/bin/env python3
"""A kernel of cpu accepts every element type that ONNX's schemas allow, for each operator and version, one type
variable at a time. Exceptions are listed in tests/data/operator_types_missing.txt, which may only shrink.

The schemas are those of the package onnx, so a newer package adds its new types to this test. --write writes the list.
Needs CAMEO_SOURCE_DIR and CAMEO_PROGRAM in the environment, as CTest sets them.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "tests" / "program"))
import shrinking_list  # noqa: E402

HEAD = """# Element types that ONNX allows and cameo's cpu has no kernel for: domain, operator, version, type string, type; or
# operators without any kernel, with "-". tests/scripts/operator_types.py reads this list, which may only shrink.
# Col2Im adds elements up, and there is no sum of texts.
"""
told = subprocess.run([os.environ["CAMEO_PROGRAM"], "ops", "--ep", "cpu", "--json"], capture_output=True, text=True,
                      check=True).stdout
OPERATORS = {("" if op["domain"] == "ai.onnx" else op["domain"], op["op"]): op for op in json.loads(told)["ops"]}


def kernels_of(schema):
    """The types that the kernels of this version accept, by type variable; {} for all, None without a kernel."""
    found = OPERATORS.get((schema.domain, schema.name))
    for version in found["versions"] if found else []:
        if version["first"] <= schema.since_version and schema.since_version <= (version["last"] or 1 << 30):
            return version["types"].get("cpu")
    return None


def cells_of(schema):
    """(type variable, element type) for each tensor type that the schema allows."""
    for constraint in schema.type_constraints:
        for text in constraint.allowed_type_strs:
            if match := re.fullmatch(r"tensor\((\w+)\)", text):
                yield constraint.type_param_str, match[1]


cells, empty = 0, set()
for schema in onnx.defs.get_all_schemas_with_history():
    if schema.deprecated:
        continue
    name = f"{schema.domain or 'ai.onnx'} {schema.name} {schema.since_version}"
    taken = kernels_of(schema)
    if taken is None:
        # The operators in a function body are tested themselves.
        if not (schema.has_function or schema.has_context_dependent_function):
            empty.add(f"{name} - -")
        continue
    for string, element in cells_of(schema):
        cells += 1
        if string in taken and element not in taken[string]:
            empty.add(f"{name} {string} {element}")
failed = shrinking_list.hold("operator_types_missing.txt", HEAD, empty, "ONNX allows it, no kernel takes it")
print(f"{cells} types of operators and versions; {len(empty)} are not taken: {', '.join(sorted(empty)) or 'none'}")
sys.exit(1 if failed or cells < 7000 else 0)
