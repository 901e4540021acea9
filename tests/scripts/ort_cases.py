#!/usr/bin/env python3
"""ORT files in both directions at the levels none, basic, extended and all: ONNX's cases (node, simple, light, and
PyTorch's exports) and the models of the benchmark.

A case is used if cameo passes it and onnxruntime runs it unchanged. Then onnxruntime must load what cameo writes of it
and return the same, and cameo must pass what onnxruntime writes of it. There is no list of exceptions. Some files are
left out during the run, and the last line counts them: files that onnxruntime writes and cannot run itself at that
level; and files that cameo refuses to write because the format cannot hold the model, of cases that onnxruntime cannot
write and run either.

Usage: ort_cases.py [--long] [--seed N] [NAME...]
  --long     all cases; by default a random part of the kinds that take long
  --seed N   the seed of that part (1)
  NAME...    only the cases with one of these in their name, all of them
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
import ort_judge as judge  # noqa: E402

# The least number of cases that both run, and N if one in N cases is tried without --long.
KINDS = {"node": (1450, 10), "simple": (15, 1), "light": (9, 9), "pytorch-converted": (55, 5),
         "pytorch-operator": (24, 2), "bench": (16, 8)}
TOLERANCE = {"rtol": 1e-3, "atol": 1e-5}  # onnxruntime's float16 and int8 kernels round differently from the reference
LARGE = 1 << 24  # bytes: a larger file is run and removed at once
counts = collections.Counter()
problems = []


def problem(name, words):
    problems.append(name)
    print(f"{name}: {words}"[:600], file=sys.stderr)


def passes(folder, report):
    """Each case with the reason why cameo does not pass it, or None if it does."""
    report.unlink(missing_ok=True)
    judge.cameo("conformance", folder, "--json", report, "--jobs", os.cpu_count(), "--quiet", check=False)
    if not report.exists():  # there were no cases
        return {}
    return {r["name"]: None if r["status"] == "pass" else r["reason"] for r in json.loads(report.read_text())}


class reference:
    """The expected outputs of a case: those of its files, or onnxruntime's outputs of the original if they differ from
    the files (a deviation of onnxruntime) and are the same twice."""

    def __init__(self, case):
        own = case / "tolerance.json"
        self.tolerance = (json.loads(own.read_text()) if own.exists() else TOLERANCE).values()
        session = judge.ort_session(case / "model.onnx")
        self.case, self.answers = case, judge.ort_answers(session, case)
        self.by_files = judge.what_differs(session, self.answers, *self.tolerance) is None
        self.is_random = not self.by_files and self.differs(judge.ort_answers(session, case))

    def differs(self, answers):
        return any(not judge.same(got[name], want[name], *self.tolerance)
                   for (_, want), (_, got) in zip(self.answers, answers) for name in want)

    def wrong(self, ort_file):
        """The difference between onnxruntime's outputs from the file and the expected ones, or None."""
        session = judge.ort_session(ort_file)
        answers = judge.ort_answers(session, self.case)
        if self.by_files:
            return judge.what_differs(session, answers, *self.tolerance)
        return "other answers than of the original" if not self.is_random and self.differs(answers) else None


def run_now(folder, counted):
    """Runs a large file with cameo and removes it, as all of them would fill the disk; returns what is wrong, or
    None."""
    results = passes(folder, folder.parent / f"{folder.name}.json")
    shutil.rmtree(folder)
    counted["of these run by cameo"] += results == {folder.name: None}
    return None if results == {folder.name: None} else str(results)


def attempt(what, *args):
    """(result, None) or (None, the message of the exception)."""
    try:
        return what(*args), None
    except Exception as e:  # noqa: BLE001 - the caller checks the message
        return None, str(e) or type(e).__name__


def try_case(job):
    """Both directions of one case: (what is wrong, counts). Files that onnxruntime writes are kept for cameo to run."""
    case, scratch = job
    found, counted = [], collections.Counter()
    known, failure = attempt(reference, case)
    if failure:
        return [], {"not run by onnxruntime": 1}
    counted["run by both"] = counted[case.parent.name] = 1
    can_be_written = False
    for level in judge.LEVELS:
        theirs = scratch / level / case.parent.name / case.name
        theirs.mkdir(parents=True)
        file = theirs / "model.ort"
        _, unwritten = attempt(judge.ort_writes, case / "model.onnx", file, level)
        if not unwritten and attempt(known.wrong, file) == (None, None):
            can_be_written = can_be_written or level == "none"
            counted["written by onnxruntime, run again"] += 1
            for data in case.iterdir():
                if data.name != "model.onnx":
                    (theirs / data.name).symlink_to(data)
            if file.stat().st_size > LARGE and (reason := run_now(theirs, counted)):
                found.append((f"{case.name} at level {level}, written by onnxruntime", reason))
        else:
            counted["not written by onnxruntime" if unwritten else "not run again by onnxruntime"] += 1
            file.unlink(missing_ok=True)
        ours = scratch / f"{case.parent.name}.{case.name}.{level}.ort"
        _, refused = attempt(judge.cameo, "convert", case / "model.onnx", ours, "--optimize", level)
        wrong = refused or next(filter(None, attempt(known.wrong, ours)), None)
        ours.unlink(missing_ok=True)
        if not wrong:
            counted["written by cameo, run by onnxruntime"] += 1
        elif can_be_written or (unwritten and not wrong.startswith("error: INVALID_ARGUMENT")):
            found.append((f"{case.name} at level {level}, written by cameo", wrong))
    return found, counted


def bench_cases(to):
    """The benchmark's models as cases, with onnxruntime's outputs without optimizations."""
    models = root / "bench" / "models"
    for script, *folders in (("make_models.py", to / "made"), ("npz_to_cases.py", to / "made", to / "bench")):
        subprocess.run([sys.executable, models / script, *folders], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(to / "made")
    return to / "bench"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    wanted = options.names
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        all_cases = judge.cases_of_onnx(root, scratch)
        jobs = []
        for kind, (_, share) in KINDS.items():
            if kind == "bench" and wanted and "bench" not in wanted:
                continue
            folder = bench_cases(scratch) if kind == "bench" else all_cases / kind
            chosen = [name for name, reason in sorted(passes(folder, scratch / "report.json").items())
                      if not reason and (not wanted or kind in wanted or any(w in name for w in wanted))]
            for name in chosen if wanted or options.long else rng.sample(chosen, -(-len(chosen) // share)):
                jobs.append((folder / name, scratch / "theirs"))
        with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
            for found, counted in pool.imap_unordered(try_case, jobs, chunksize=4):
                counts.update(counted)
                for name, words in found:
                    problem(name, words)
        for level in judge.LEVELS:
            for name, reason in passes(scratch / "theirs" / level, scratch / "report.json").items():
                counts["of these run by cameo"] += not reason
                if reason:
                    problem(f"{name} at level {level}, written by onnxruntime", reason)
    ran, written = counts["of these run by cameo"], counts["written by onnxruntime, run again"]
    if ran != written:
        problem("cameo", f"ran {ran} of {written} files")
    for kind, (fewest, share) in KINDS.items():
        if not options.long and share > 1:  # onnxruntime may not run some of the drawn cases
            fewest = int(0.8 * fewest / share)
        if not wanted and counts[kind] < fewest:
            problem(kind, f"only {counts[kind]} cases are run by both, not {fewest}")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())) + f"; {len(problems)} problems")
    return 1 if problems or not counts["written by cameo, run by onnxruntime"] else 0


if __name__ == "__main__":
    sys.exit(main())
