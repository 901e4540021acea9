#!/usr/bin/env python3
"""Each sample of ONNX Runtime's ORT files has the outputs that are stored beside it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")

with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / "report.json"
    subprocess.run([PROGRAM, "conformance", str(root / "tests" / "data" / "ort"), "--json", str(report), "--quiet"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    results = {r["name"]: r for r in json.loads(report.read_text())}
assert len(results) == 43, f"{len(results)} samples were found"
wrong = [f"{name}: {r['reason']}" for name, r in sorted(results.items())
         if r["status"] != "pass"]
print(*wrong, sep="\n", file=sys.stderr)
sys.exit(1 if wrong else 0)
