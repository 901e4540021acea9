"""Profiles in onnxruntime's format, which its tools read: a list of events, one per line."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

from .. import _core


def _event(kind: str, name: str, begin_us: float, length_us: float, thread: int, args: dict[str, Any]) -> dict[str, Any]:
    return {
        "cat": kind, "pid": os.getpid(), "tid": thread, "dur": max(round(length_us), 0), "ts": max(round(begin_us), 0),
        "ph": "X", "name": name, "args": args,
    }  # fmt: skip


def _node_events(trace: dict[str, Any], begin_us: float) -> list[dict[str, Any]]:
    """The events of nodes, each with the node's name and _kernel_time. `begin_us` is the time when the first run
    began."""
    long_names = dict(_core.providers())
    made = []
    for each in trace["traceEvents"]:
        if each.get("cat") != "node":
            continue
        args = each["args"]
        provider = long_names.get(args["provider"], args["provider"])
        details = {"op_name": args["op"], "provider": provider, "node_index": ".".join(map(str, args.get("step", ())))}
        made.append(_event("Node", f"{each['name']}_kernel_time", begin_us + each["ts"], each["dur"], each["tid"], details))
    return made


def write_profile(
    profile: Any, path: str, begin: int, loaded: int, runs: Sequence[tuple[int, int]], is_path: bool
) -> None:
    """Writes a profile. `begin` and `loaded` are the times when loading began and ended; `runs` has the begin and end
    of each run. Times are those of time.time_ns()."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.json"
        profile.write(file)
        trace = json.loads(file.read_text())
    first = (runs[0][0] - begin) / 1000 if runs else 0.0
    events = [
        _event("Session", "model_loading_uri" if is_path else "model_loading_array", 0, (loaded - begin) / 1000, 0, {}),
        _event("Session", "session_initialization", 0, (loaded - begin) / 1000, 0, {}),
        *_node_events(trace, first),
    ]
    for started, ended in runs:
        for name in ("SequentialExecutor::Execute", "model_run"):
            events.append(_event("Session", name, (started - begin) / 1000, (ended - started) / 1000, 0, {}))
    text = "[\n" + ",\n".join(json.dumps(each, separators=(",", " :")) for each in events) + "\n]\n"
    pathlib.Path(path).write_text(text)
