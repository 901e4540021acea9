"""Runs ONNX's cases with onnx.backend.test.BackendTest. All cases that `cameo conformance` passes must pass here, too.

Usage: backend_test.py PROGRAM CASES     (the program cameo, and the folder that tests/conformance/make_cases.py wrote)
Closes with one line: N passed, N failed.
"""
import io
import pathlib
import re
import subprocess
import sys
import unittest
import warnings

import onnx.backend.test

import cameo.backend

CATEGORIES = {"node": "Node", "simple": "Simple", "pytorch-converted": "PyTorchConverted", "pytorch-operator": "PyTorchOperator"}


def judged_otherwise(case):
    """True if the program compares a case in a way that ONNX's runner lacks: random numbers as samples of a
    distribution, or with the case's own tolerance, for which tests/conformance/make_cases.py has the reason."""
    return case.name.startswith("test_bernoulli") or (case / "tolerance.json").exists()


class Cases(onnx.backend.test.BackendTest):
    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None):
        """Compares outputs. The runner's function fails for lists of scalars, because it takes the length of each."""
        assert len(ref_outputs) == len(outputs), (ref_outputs, outputs)
        for wanted, made in zip(ref_outputs, outputs, strict=True):
            if isinstance(wanted, (list, tuple)):
                assert isinstance(made, (list, tuple)), made
                cls.assert_similar_outputs(wanted, made, rtol, atol, model_dir)
            elif wanted is None or made is None:
                assert wanted is made, (wanted, made)
            else:
                super().assert_similar_outputs([wanted], [made], rtol, atol, model_dir)


def of_backend():
    """({category: names of cases that passed}, {category: {name of a case that failed: reason}})"""
    warnings.filterwarnings("ignore")
    cases = Cases(cameo.backend, __name__)
    cases.exclude("_cuda$")
    passed, failed = {}, {}
    for name, case in cases.test_cases.items():
        category = next((folder for folder, word in CATEGORIES.items() if name == f"OnnxBackend{word}ModelTest"), None)
        if category is None:
            continue  # the real models would be downloaded
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
        names = {each.id().rsplit(".", 1)[1].removesuffix("_cpu") for each in suite}
        result = unittest.TextTestRunner(io.StringIO(), verbosity=0).run(suite)
        failed[category] = {each.id().rsplit(".", 1)[1].removesuffix("_cpu"): words.strip().splitlines()[-1]
                            for each, words in [*result.failures, *result.errors]}
        skipped = {each.id().rsplit(".", 1)[1].removesuffix("_cpu") for each, _ in result.skipped}
        passed[category] = names - set(failed[category]) - skipped
    return passed, failed


def of_program(program, folder):
    done = subprocess.run([program, "conformance", "--jobs", "2", folder], capture_output=True, text=True)
    return set(re.findall(r"^FAIL (\w+)", done.stdout, re.MULTILINE))


def main():
    program, cases = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    passed, failed = of_backend()
    right = wrong = 0
    for category in CATEGORIES:
        folders = {path.parent.name for path in (cases / category).glob("*/model.onnx")}
        program_fails = of_program(program, cases / category)
        known = folders & (passed[category] | set(failed[category]))
        for name in sorted(known):
            if name in passed[category] or name in program_fails or judged_otherwise(cases / category / name):
                right += 1
            else:
                wrong += 1
                print(f"{category}/{name}: the program passes it, and the backend does not: {failed[category][name]}")
        print(f"{category}: {len(passed[category])} passed, {len(failed[category])} not, {len(program_fails)} not by the program")
        if len(known) < 0.85 * len(folders) or not known:  # make_cases.py makes some cases that the backend test lacks
            wrong += 1
            print(f"{category}: the backend's test has {len(known)} of {len(folders)} cases")
    print(f"{right} passed, {wrong} failed")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
