"""Searches for differences with attributes and outputs that the differential scripts do not use: for each case, one
variant for each other value of each attribute of the operator's schema, and one for each output that the case leaves
out. Some values are meaningless, so a person has to judge the differences: this is a search, not a test.
"""
import collections
import copy
import pathlib
import re
import tempfile

import onnx
import onnxruntime.capi.onnxruntime_pybind11_state as state
from onnx import helper

import differential

NUMBERS = {"INT": [0, 1], "FLOAT": [0.5, 2.0], "INTS": [[1], [0, 1], [1, 1]], "FLOATS": [[0.5]]}


def schemas():
    """onnxruntime's schemas, including those of com.microsoft: (domain, operator) to its versions."""
    found = collections.defaultdict(list)
    for schema in state.get_all_operator_schema():
        found["" if schema.domain == "ai.onnx" else schema.domain, schema.name].append(schema)
    return found


SCHEMAS = schemas()


def schema_of(model):
    node = model.graph.node[0]
    version = next((o.version for o in model.opset_import if o.domain == node.domain), 1)
    versions = [s for s in SCHEMAS[node.domain, node.op_type] if s.since_version <= version]
    return max(versions, key=lambda s: s.since_version, default=None)


def values_of(attribute):
    """The values to try for an attribute; for texts, those that its description quotes."""
    kind = str(attribute.type).rsplit(".", 1)[-1]
    if kind == "STRING":
        return list(dict.fromkeys(re.findall(r"['\"`*]([A-Za-z]\w*)['\"`*]", attribute.description)))[:8]
    return NUMBERS.get(kind, [])


def with_output(case, place):
    made = copy.deepcopy(case)
    node = made.model.graph.node[0]
    node.output.extend([""] * (place - len(node.output)) + [f"more_{place}"])
    made.model.graph.output.append(onnx.ValueInfoProto(name=f"more_{place}"))
    return made


def with_attribute(case, name, value):
    made = copy.deepcopy(case)
    node = made.model.graph.node[0]
    others = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend(others + [helper.make_attribute(name, value)])
    return made


def variants(case):
    """Yields (what was changed, the case)."""
    schema = schema_of(case.model) if len(case.model.graph.node) == 1 else None
    if not schema:
        return
    for place in range(len(case.model.graph.node[0].output), schema.max_output if schema.max_output < 20 else 0):
        yield f"output {place}", with_output(case, place)
    for name, attribute in schema.attributes.items():
        for value in values_of(attribute):
            yield f"{name}={value}", with_attribute(case, name, value)


def answered(case):
    """True if onnxruntime returns all outputs: some operators have an output only with certain attributes."""
    who, told = differential.judge([case])[0]
    return who in differential.JUDGES and all(value is not None for value in told.values())


def search(family, make, seed, count):
    """Prints the differences of `count` cases of a family; returns the number of variants that were compared."""
    cases = []
    for number in range(count):
        for what, case in variants(differential.made_case(family, seed, make, number)):
            case.name, case.what = f"{family}.{number}.{len(cases)}", what
            if not what.startswith("output") or answered(case):
                cases.append(case)
    with tempfile.TemporaryDirectory() as folder:
        found, judged = differential.differences(cases, folder) if cases else ({}, {})
        for name in differential.judged_by_text(cases, found, judged, pathlib.Path(folder)):
            del found[name]
    for case in cases:
        if case.name in found:
            print(f"{case.name} with {case.what}, by {judged[case.name]}: {differential.in_words(case)[:300]}: "
                  f"{found[case.name][:300]}", flush=True)
    return sum(who in differential.JUDGES for who in judged.values())
