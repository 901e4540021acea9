#!/usr/bin/env python3
"""A size that value_info declares and a run contradicts has no effect. The models have each operator whose output has a
data-dependent size, a false declaration of that size, and behind it nodes that rewrites replace. At each level of
optimization the outputs are those of onnxruntime for the model without the declaration.

    stale_shapes.py            a random part of the models, chosen by a seed
    stale_shapes.py --all      all models
"""
import itertools
import json
import os
import pathlib
import random
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
from ort_judge import cameo, ort_session  # noqa: E402
from stale_shape_models import (BOOL, FLOAT, INT64, MAKERS, OPSET, READERS, Part, elements_of_a_sequence,  # noqa: E402
                                elements_of_an_input, loop_without_rounds, scan_without_rounds, value)

LEVELS = ("none", "basic", "extended", "layout", "all")
ELEMENTS = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64, np.dtype(bool): BOOL}
SHAPES = ((4, 3), (1, 3), (1, 12), (4, 1), (1, 1))
DECLARED = ([6, 2], [2, 6], [1, 12], [4, 3], [1, 3], [3, 1], [1, 1], [4, 1], [1, 4], [12], [3], [], [1, 4, 3], ["m", "n"],
            ["n", 3], ["m", "m"])


def model_of(made, hints):
    outputs = [helper.make_empty_tensor_value_info("y")]
    outputs[0].type.tensor_type.elem_type = FLOAT
    inputs = [helper.make_tensor_sequence_value_info(name, FLOAT, made.dims[name]) if isinstance(fed, list) else
              value(name, made.dims[name], ELEMENTS[fed.dtype]) for name, fed in made.feeds.items()]
    graph = helper.make_graph(made.nodes, "stale", inputs, outputs, made.constants, value_info=hints)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=made.functions)


def build(make, read, actual, declared):
    """The parts of a model; None if the maker or the reader does not fit the shape."""
    made = Part()
    MAKERS[make](made, *actual)
    if not made.nodes:
        return None
    sizes = [each if isinstance(each, int) else 5 for each in declared]
    try:
        READERS[read](made, *actual, sizes)
    except (ValueError, IndexError):
        return None
    return made


def expected(made):
    """The outputs of onnxruntime without the declaration; None if the model cannot run."""
    try:
        model = model_of(made, [])
        del model.functions[:]
        for function in made.functions:
            plain = onnx.FunctionProto()
            plain.CopyFrom(function)
            del plain.value_info[:]
            model.functions.append(plain)
        return ort_session_of(model).run(None, made.feeds)[0]
    except Exception:  # noqa: BLE001 - any error
        return None


def ort_session_of(model):
    path = pathlib.Path(scratch) / "plain.onnx"
    path.write_bytes(model.SerializeToString())
    return ort_session(path)


def with_more_hints(model):
    """The model with all shapes that tools infer from the false declaration."""
    try:
        return onnx.shape_inference.infer_shapes(model)
    except Exception:  # noqa: BLE001 - the declaration contradicts the nodes
        return model


def write_case(folder, model, made, wanted):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, (name, fed) in enumerate(made.feeds.items()):
        message = numpy_helper.from_list(fed, name) if isinstance(fed, list) else numpy_helper.from_array(fed, name)
        (data / f"input_{i}.pb").write_bytes(message.SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(wanted, "y").SerializeToString())


def choices(everything):
    for make, read in itertools.product(MAKERS, READERS):
        chosen = random.Random(f"{make} {read}")
        pairs = [(actual, declared) for actual in SHAPES for declared in DECLARED if list(actual) != declared]
        yield make, read, pairs if everything else chosen.sample(pairs, 1)


def write_cases(folder, everything):
    count = 0
    # The expected outputs are computed by hand: onnxruntime gives values with one declared dim name the same memory and
    # fails at the second, and it does not run a Scan of length 0 at all.
    for make, answer in ((elements_of_a_sequence, [1, 7, 1, 3]), (elements_of_an_input, [4, 3, 2, 3, 5, 3]),
                         (loop_without_rounds, np.zeros((0, 2, 3))),
                         (scan_without_rounds, np.zeros((2, 0, 3)))):
        made = make()
        write_case(folder / make.__name__, model_of(made, []), made, np.array(answer, np.float32))
        count += 1
    for make, read, pairs in choices(everything):
        for actual, declared in pairs:
            made = build(make, read, actual, declared)
            wanted = None if made is None else expected(made)
            if wanted is None:
                continue
            model = model_of(made, [value("r", declared)])
            if count % 2:
                model = with_more_hints(model)
            name = f"{make}-{read}-{actual[0]}x{actual[1]}-as-{'x'.join(map(str, declared)) or 'scalar'}"
            write_case(folder / name, model, made, wanted)
            count += 1
    return count


with tempfile.TemporaryDirectory() as scratch:
    cases = pathlib.Path(scratch) / "cases"
    cases.mkdir()
    count = write_cases(cases, "--all" in sys.argv)
    problems = []
    for level in LEVELS:
        report = pathlib.Path(scratch) / f"{level}.json"
        cameo("conformance", cases, "--optimize", level, "--json", report, check=False, timeout=3600)
        results = json.loads(report.read_text())
        assert len(results) == count, f"{len(results)} of {count} cases ran"
        problems += [f"--optimize {level}: {each['name']}: {each['status']}: {each['reason']}"
                     for each in results if each["status"] != "pass"]
for problem in problems:
    print(problem)
print(f"{count} models, {len(LEVELS)} levels, {len(problems)} problems")
sys.exit(1 if problems or count < 1000 else 0)
