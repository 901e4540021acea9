#!/usr/bin/env python3
"""Traces of runs conform to the Trace Event format, with any names of nodes, on one thread or two, with steps inside
steps. The rules are first tested on broken traces."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
import onnx_bytes as ob  # noqa: E402
import page_models  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
THREE = pathlib.Path(os.environ.get("CAMEO_BINARY_DIR", ".")) / "tests" / "page_of_three"
METADATA = {"process_name": str, "thread_name": str, "process_labels": str, "process_sort_index": int,
            "thread_sort_index": int}


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool) and v == v and abs(v) != float("inf")


def is_integer(v):
    return isinstance(v, int) and not isinstance(v, bool)


def event_offenses(e, at):
    """What is wrong with one event, without regard to the others."""
    if not isinstance(e, dict):
        return ["event %d is not an object" % at]
    wrong = []
    for key in ["pid", "tid"]:
        if not is_integer(e.get(key)):
            wrong.append("event %d: %s is %r, no integer" % (at, key, e.get(key)))
    if not isinstance(e.get("name"), str) or not e["name"]:
        wrong.append("event %d has no name" % at)
    if "args" in e and not isinstance(e["args"], dict):
        wrong.append("event %d: args is not an object" % at)
    phase = e.get("ph")
    if phase == "M":
        kind, args = METADATA.get(e.get("name")), e.get("args")
        key = "name" if kind is str else "sort_index"
        if kind is None or not isinstance(args, dict) or not isinstance(args.get(key), kind):
            wrong.append("event %d: unknown metadata, or metadata without its argument" % at)
    elif phase == "X":
        for key in ["ts", "dur"]:
            if not is_number(e.get(key)) or e[key] < 0:
                wrong.append("event %d: %s is %r, no time" % (at, key, e.get(key)))
        if "cat" in e and not isinstance(e["cat"], str):
            wrong.append("event %d: cat is not a string" % at)
    else:
        wrong.append("event %d: phase %r" % (at, phase))
    return wrong


def nesting_offenses(events):
    """Complete events of one thread are nested or disjoint."""
    wrong, lanes = [], {}
    for e in events:
        if e["ph"] == "X":  # integral nanoseconds, as sums of decimal fractions are not exact
            start = round(e["ts"] * 1000)
            lanes.setdefault((e["pid"], e["tid"]), []).append((start, start + round(e["dur"] * 1000), e["name"]))
    for lane, spans in lanes.items():
        open_until = []
        for start, end, name in sorted(spans, key=lambda s: (s[0], -s[1])):
            while open_until and open_until[-1] <= start:
                open_until.pop()
            if open_until and end > open_until[-1]:
                wrong.append("thread %s: %r overlaps what began before it" % (lane, name))
            open_until.append(end)
    return wrong


def offenses(trace):
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        return ["no object with a list of traceEvents"]
    wrong = []
    if trace.get("displayTimeUnit", "ms") not in ("ms", "ns"):
        wrong.append("displayTimeUnit %r" % trace["displayTimeUnit"])
    for at, e in enumerate(trace["traceEvents"]):
        wrong += event_offenses(e, at)
    if wrong:
        return wrong
    named = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["name"] == "thread_name" and e["ph"] == "M"}
    used = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["ph"] == "X"}
    wrong += ["thread %s has no name" % (lane,) for lane in used - named]
    return wrong + nesting_offenses(trace["traceEvents"])


def steps_of(trace):
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] == "node"]


class Rules(unittest.TestCase):
    GOOD = {"displayTimeUnit": "ns", "traceEvents": [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "caller"}},
        {"name": "a", "ph": "X", "ts": 0, "dur": 10.5, "pid": 1, "tid": 0, "args": {}},
        {"name": "b", "ph": "X", "ts": 0, "dur": 4.25, "pid": 1, "tid": 0},
        {"name": "c", "ph": "X", "ts": 4.25, "dur": 6.25, "pid": 1, "tid": 0}]}

    def test_each_rule_notices_its_offense(self):
        self.assertEqual(offenses(self.GOOD), [])
        self.assertNotEqual(offenses([]), [])
        self.assertNotEqual(offenses({"displayTimeUnit": "ns"}), [])
        self.assertNotEqual(offenses({**self.GOOD, "displayTimeUnit": "us"}), [])
        for at, key, value in [(1, "ts", "0"), (1, "ts", None), (1, "ts", float("nan")), (1, "dur", -1),
                               (1, "dur", True), (1, "pid", "1"),
                               (1, "tid", 0.5), (1, "tid", 7), (1, "ph", "Y"), (1, "name", ""),
                               (1, "name", 5), (1, "args", []), (0, "args", {}), (0, "name", "tread_name"),
                               (1, "dur", 5), (2, "dur", 4.251), (3, "dur", 6.251)]:
            broken = copy.deepcopy(self.GOOD)
            broken["traceEvents"][at][key] = value
            self.assertNotEqual(offenses(broken), [], (at, key, value))


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def trace(self, content, *arguments):
        (self.dir / "model.onnx").write_bytes(content)
        done = subprocess.run([PROGRAM, "run", self.dir / "model.onnx", "--random-inputs", "--quiet", "--profile",
                               self.dir / "trace.json", *arguments], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done)
        return json.loads((self.dir / "trace.json").read_text(encoding="utf-8"))

    def test_hostile_names(self):
        kind = ob.tensor_type(ob.FLOAT, [2, 3])
        nodes = [ob.node("Neg", ["v%d" % i], ["v%d" % (i + 1)], n) for i, n in enumerate(page_models.HOSTILE)]
        last = "v%d" % len(nodes)
        trace = self.trace(ob.model(ob.graph(nodes, [("v0", kind)], [(last, kind)])), "--optimize", "none")
        self.assertEqual(offenses(trace), [])
        wanted = [n if isinstance(n, str) else n.decode(errors="replace") for n in page_models.HOSTILE]
        self.assertEqual([e["name"] for e in steps_of(trace)], wanted)
        self.assertEqual([e["args"]["step"] for e in steps_of(trace)], [[i] for i in range(len(nodes))])

    def test_steps_inside_steps(self):
        trace = self.trace(page_models.looping())
        self.assertEqual(offenses(trace), [])
        by_step = {}
        for e in steps_of(trace):
            by_step.setdefault(tuple(e["args"]["step"]), []).append(e)
        for events in by_step.values():  # one step is one node
            self.assertEqual(len({(e["name"], e["args"]["op"]) for e in events}), 1)
        self.assertEqual({len(path) for path in by_step}, {1, 3, 5})
        adds = [events for path, events in by_step.items() if len(path) == 3 and events[0]["args"]["op"] == "Add"]
        self.assertEqual([len(events) for events in adds], [5])  # once per iteration

    def test_two_threads(self):
        (self.dir / "model.onnx").write_bytes(page_models.small_cnn())
        subprocess.run([THREE, self.dir / "model.onnx", self.dir / "page.html", self.dir / "trace.json", "parallel"],
                       check=True, timeout=120)
        trace = json.loads((self.dir / "trace.json").read_text(encoding="utf-8"))
        self.assertEqual(offenses(trace), [])
        self.assertGreater(len({e["tid"] for e in steps_of(trace)}), 1)
        self.assertEqual({e["args"]["provider"] for e in steps_of(trace)}, {"npu", "fusing", "cpu"})
        steps = [e["args"]["step"] for e in steps_of(trace)]
        self.assertEqual(sorted(steps), [[i] for i in range(trace["otherData"]["steps"])])

    def test_threads_of_one_step_are_threads(self):
        """A product on two threads: the second thread's event is on a separate line, within the time of the product."""
        # The product is large enough for the second thread to take part even if other tests keep all processors busy.
        kind = ob.tensor_type(ob.FLOAT, [1200, 1200])
        content = ob.model(ob.graph([ob.node("MatMul", ["a", "b"], ["y"], "product")], [("a", kind), ("b", kind)], [("y", kind)]))
        (self.dir / "model.onnx").write_bytes(content)
        done = subprocess.run([PROGRAM, "bench", self.dir / "model.onnx", "--seconds", "0.1", "--threads", "2", "--quiet",
                               "--profile", self.dir / "trace.json"], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done)
        trace = json.loads((self.dir / "trace.json").read_text(encoding="utf-8"))
        self.assertEqual(offenses(trace), [])
        step, = steps_of(trace)
        others = [e for e in trace["traceEvents"] if e.get("cat") == "work"]
        self.assertEqual({(e["tid"], e["name"]) for e in others}, {(1, "product")})
        for e in others:
            self.assertNotIn("step", e["args"])
            self.assertGreaterEqual(e["ts"], step["ts"])
            self.assertLessEqual(e["ts"] + e["dur"], step["ts"] + step["dur"] + 0.001)
        self.assertGreater(sum(e["dur"] for e in others), 0.1 * step["dur"])


if __name__ == "__main__":
    unittest.main()
