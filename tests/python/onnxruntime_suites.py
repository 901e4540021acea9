#!/usr/bin/env python3
"""Runs onnxruntime's Python tests with onnxruntime and with cameo, and compares which pass. Not a part of CI.

Usage: onnxruntime_suites.py FOLDER [--site build/python/site] [--only core quantization transformers] [--files NAME...]
  FOLDER    onnxruntime/test/python in a checkout of onnxruntime's sources; test/testdata beside it is read, too
  --site    the folder that tests/python/run.py unpacked the wheel in
  --files   only the test files whose names contain one of these words
  --shrink  removes tests that pass now from the list
Needs pytest, parameterized and the packages of requirements.txt, but onnx in a version whose models onnxruntime reads:
1.20.1 for onnxruntime 1.31, which refuses the IR version 14 that later ones write (more than 100 tests of quantization).
Those of quantization also use onnx_ir, those of transformers torch, transformers and others if they are installed. A
test counts if onnxruntime passes it. A test that cameo fails must be in tests/data/onnxruntime_differences.txt with its
reason, and one that passes must not be: the list may only shrink. The last line is: N passed, N failed.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIFFERENCES = ROOT / "tests" / "data" / "onnxruntime_differences.txt"
GROUPS = {"core": (".", "onnxruntime_test_*.py"), "quantization": ("quantization", "test_*.py"),
          "transformers": ("transformers", "test_*.py")}
SECONDS = 900  # the timeout for one file of tests

# Runs one file of tests and writes the outcome of each test at its end, because a later test may end the process.
RUNNER = """
import sys
module, report, path = sys.argv[1:]
if module == "cameo":
    import cameo.onnxruntime
    cameo.onnxruntime.install()
import pytest
class Recorder:
    def __init__(self):
        self.stages = {}
    def pytest_runtest_logreport(self, report):
        stages = self.stages.setdefault(report.nodeid, [])
        stages.append(report.outcome)
        if report.when == "teardown":
            outcome = "failed" if "failed" in stages else "skipped" if "skipped" in stages else "passed"
            with open(sys.argv[2], "a") as file:
                file.write(outcome + " " + report.nodeid.partition("::")[2] + chr(10))
sys.exit(pytest.main([path, "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:warnings"], plugins=[Recorder()]))
"""


def known_differences():
    """{name of a test: reason} of the list."""
    lines = [line for line in DIFFERENCES.read_text().splitlines() if line and not line.startswith("#")]
    found = dict(line.split("  ", 1) for line in lines)
    if len(found) != len(lines) or not all(reason.strip() for reason in found.values()):
        sys.exit(f"{DIFFERENCES.name}: a test is there twice, or has no reason")
    return found


def outcomes(module, scratch, path, site):
    """({name of a test: outcome}, what the process printed) for a file of tests, which runs in a folder with
    `testdata`."""
    report = pathlib.Path(tempfile.mkstemp(suffix=".txt")[1])
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1",
               PYTHONPATH=os.pathsep.join([str(path.parent), *([str(site)] if module == "cameo" else [])]))
    try:
        done = subprocess.run([sys.executable, "-c", RUNNER, module, report, path], cwd=scratch / "run", env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        words = done.stdout
    except subprocess.TimeoutExpired as expired:
        words = f"{(expired.stdout or b'').decode(errors='replace')}\nno end after {SECONDS} s"
    lines = report.read_text().splitlines()
    report.unlink()
    return dict(reversed(line.split(" ", 1)) for line in lines), words


def copy_of(folder, scratch):
    """Copies the tests, because they write files beside their data."""
    shutil.copytree(folder, scratch / "test" / "python", symlinks=True)
    if (folder.parent / "testdata").is_dir():
        shutil.copytree(folder.parent / "testdata", scratch / "test" / "testdata", symlinks=True)
    (scratch / "run").mkdir()
    if (scratch / "test" / "testdata").is_dir():
        (scratch / "run" / "testdata").symlink_to(scratch / "test" / "testdata")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--site", type=pathlib.Path, default=ROOT / "build" / "python" / "site")
    parser.add_argument("--only", nargs="*", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--files", nargs="*", default=[""])
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--logs", type=pathlib.Path, help="a folder for what the tests print, one file for each file of tests")
    args = parser.parse_args()
    known, passing, seen, failed = known_differences(), set(), set(), 0
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        scratch = {module: pathlib.Path(temporary) / module for module in ("onnxruntime", "cameo")}
        for each in scratch.values():
            copy_of(args.folder.resolve(), each)
        for group in args.only:
            below, pattern = GROUPS[group]
            count = collections.Counter()
            for path in sorted((args.folder / below).glob(pattern)):
                if not any(word in path.name for word in args.files):
                    continue
                runs = [pool.submit(outcomes, module, scratch[module], scratch[module] / "test" / "python" / below / path.name,
                                    args.site.resolve()) for module in scratch]
                (theirs, _), (ours, words) = (each.result() for each in runs)
                if args.logs:
                    args.logs.mkdir(parents=True, exist_ok=True)
                    (args.logs / f"{group}_{path.stem}.txt").write_text(words)
                for name in sorted(theirs):
                    if theirs[name] != "passed":
                        continue
                    test = f"{group}/{path.name}::{name}"
                    passes = ours.get(name) == "passed"
                    count["onnxruntime"] += 1
                    count["cameo"] += passes
                    seen.add(test)
                    if passes:
                        passing.add(test)
                    if passes == (test in known):
                        failed += not (passes and args.shrink)
                        print(f"{test}: passes, and has to leave the list" if passes else
                              f"{test}: {ours.get(name, 'never ended')}, and is not in the list", flush=True)
            total += count
            print(f"{group}: onnxruntime passes {count['onnxruntime']}, cameo {count['cameo']} of those", flush=True)
    for name in sorted(set(known) - seen):
        if args.files == [""] and name.partition("/")[0] in args.only:
            print(f"{name}: in the list, and onnxruntime does not pass it here")
    if args.shrink:
        DIFFERENCES.write_text("".join(line for line in DIFFERENCES.read_text().splitlines(keepends=True)
                                       if line.split("  ", 1)[0] not in passing))
    print(f"{total['cameo']} passed, {failed} failed")
    return failed != 0 or total["onnxruntime"] == 0


if __name__ == "__main__":
    sys.exit(main())
