#!/usr/bin/env python3
"""ONNX's node cases as ORT files, both ways, at levels none, basic, extended and all.

What both run goes both ways: a case that cameo passes, and that onnxruntime runs as it stands. Then what cameo writes
of it onnxruntime must load and answer the same, and what onnxruntime writes of it cameo must pass. There is no list of
exceptions. A case is left out where it turns out while running that onnxruntime can't write the model, or can't read
what it wrote itself; the last line counts these.

Usage: ort_node_cases.py [NAME...]   only the cases with one of these in their name
"""
# not with a sanitizer: onnxruntime is not built with one, and what is read and written is the same
import collections
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "tests" / "program"))
import ort_judge as judge  # noqa: E402

FEWEST = 1300  # cases that both run, of onnx 1.23.2: fewer means that this script went wrong
TOLERANCE = 1e-3, 1e-5  # onnxruntime's float16 and int8 kernels round otherwise than the reference
counts = collections.Counter()
problems = []


def problem(name, words):
    problems.append(name)
    print(f"{name}: {words}"[:600], file=sys.stderr)


def passes(folder, report):
    """Case to why cameo does not pass it, None where it does."""
    judge.cameo("conformance", folder, "--json", report, "--jobs", os.cpu_count(), "--quiet", check=False)
    return {r["name"]: None if r["status"] == "pass" else r["reason"] for r in json.loads(report.read_text())}


class reference:
    """What a case must give: what its files say, or what onnxruntime makes of the original, if that is another thing
    (its own deviations) and twice the same."""

    def __init__(self, case):
        session = judge.ort_session(case / "model.onnx")
        self.case, self.answers = case, judge.ort_answers(session, case)
        self.by_files = judge.what_differs(session, self.answers, *TOLERANCE) is None
        self.is_random = not self.by_files and self.differs(judge.ort_answers(session, case))

    def differs(self, answers):
        return any(not judge.same(got[name], want[name], *TOLERANCE)
                   for (_, want), (_, got) in zip(self.answers, answers) for name in want)

    def wrong(self, ort_file):
        """What is wrong with onnxruntime's answers from the file, or None."""
        session = judge.ort_session(ort_file)
        answers = judge.ort_answers(session, self.case)
        if self.by_files:
            return judge.what_differs(session, answers, *TOLERANCE)
        return "other answers than of the original" if not self.is_random and self.differs(answers) else None


def attempt(what, *args):
    """(its result, None) or (None, the words of what went wrong)."""
    try:
        return what(*args), None
    except Exception as e:  # noqa: BLE001 - the words are judged by the caller
        return None, str(e) or type(e).__name__


def try_case(job):
    """Both ways of one case: what is wrong, what was counted. What onnxruntime writes is left for cameo to run."""
    case, scratch, level_names = job
    found, counted = [], collections.Counter()
    known, failure = attempt(reference, case)
    if failure:
        return [], {"not run by onnxruntime": 1}
    counted["run by both"] = 1
    counted["random"] = known.is_random
    for level in level_names:
        theirs = scratch / level / case.name
        theirs.mkdir(parents=True)
        file = theirs / "model.ort"
        _, unwritten = attempt(judge.ort_writes, case / "model.onnx", file, level)
        readable = not unwritten and attempt(known.wrong, file) == (None, None)
        if readable:
            counted["written by onnxruntime"] += 1
            for data in case.iterdir():
                if data.name != "model.onnx":
                    (theirs / data.name).symlink_to(data)
        else:
            counted["which onnxruntime can't write" if unwritten else "which onnxruntime can't read again"] += 1
            file.unlink(missing_ok=True)
        ours = scratch / f"{case.name}.{level}.ort"
        _, refused = attempt(judge.cameo, "convert", case / "model.onnx", ours, "--optimize", level)
        wrong = refused or next(filter(None, attempt(known.wrong, ours)), None)
        ours.unlink(missing_ok=True)
        if not wrong:
            counted["written by cameo"] += 1
        elif readable:
            found.append((f"{case.name} at level {level}, written by cameo", wrong))
    return found, counted


def main():
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        nodes = judge.cases_of_onnx(root, scratch) / "node"
        cases = [nodes / name for name, reason in sorted(passes(nodes, scratch / "report.json").items())
                 if not reason and (not wanted or any(w in name for w in wanted))]
        jobs = [(case, scratch / "theirs", judge.LEVELS) for case in cases]
        with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
            for found, counted in pool.imap_unordered(try_case, jobs, chunksize=8):
                counts.update(counted)
                for name, words in found:
                    problem(name, words)
        for level in judge.LEVELS:
            for name, reason in passes(scratch / "theirs" / level, scratch / "report.json").items():
                counts["run by cameo"] += not reason
                if reason:
                    problem(f"{name} at level {level}, written by onnxruntime", reason)
    print(", ".join(f"{count} {what}" for what, count in counts.items()) + f"; {len(problems)} problems")
    too_few = not wanted and counts["run by both"] < FEWEST
    return 1 if problems or too_few or not counts["written by cameo"] else 0


if __name__ == "__main__":
    sys.exit(main())
