#!/usr/bin/env python3
"""Everything that loads ONNX Runtime for a measurement or a test disables its telemetry first: packages of PyPI
otherwise send data about what they run."""
import os
import pathlib
import re
import sys

root = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
SWITCH = "ORT_DISABLE_TELEMETRY"
# A line that loads the library, or a module here that sets the switch before it does.
LOADS = re.compile(r"^\s*(?:import onnxruntime|from onnxruntime)|loaded\.open\(", re.MULTILINE)
IMPORTS = re.compile(r"^(?:import|from) (zoo_tools)\b", re.MULTILINE)

problems, seen = [], 0
for path in sorted((root / "bench").rglob("*")):
    if not path.is_file() or path.suffix not in ("", ".py", ".cpp"):
        continue
    text = path.read_text()
    load = LOADS.search(text)
    if not load:
        continue
    seen += 1
    before = text[:load.start()]
    if SWITCH not in before and not IMPORTS.search(before):
        problems.append(f"{path.relative_to(root)} loads onnxruntime without {SWITCH}=1")
if SWITCH not in (root / "bench" / "peers" / "run").read_text():
    problems.append(f"bench/peers/run starts its processes without {SWITCH}=1")
if f"export {SWITCH}=1" not in (root / "cmake" / "bootstrap.sh").read_text():
    problems.append(f"cmake/bootstrap.sh, which every run of the tests begins with, does not export {SWITCH}=1")
if seen < 8:
    problems.append(f"no more than {seen} files of bench load onnxruntime: this script looks for something else")
print(*problems, sep="\n")
print(f"{seen} files, {len(problems)} problems")
sys.exit(1 if problems else 0)
