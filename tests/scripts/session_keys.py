"""docs/session_keys.md has every session key of ONNX Runtime: those of its header, and those in the library of the
tests' Python environment. (A C++ test compares the page with the program.)

Needs CAMEO_SOURCE_DIR in the environment, as CTest sets it.
"""
import importlib.util
import os
import pathlib
import re
import sys

root = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
KEY = re.compile(rb"\0((?:session|optimization|ep|mlas)\.[a-z0-9_.]*[a-z0-9_])\0")

page = (root / "docs" / "session_keys.md").read_text(encoding="utf-8")
listed = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
wanted = {line for line in (root / "tests" / "data" / "session_keys.txt").read_text(encoding="utf-8").splitlines()
          if line and not line.startswith("#")}
found = importlib.util.find_spec("onnxruntime")
libraries = sorted(pathlib.Path(found.origin).parent.glob("capi/*.so*")) if found else []
in_library = {key.decode() for library in libraries for key in KEY.findall(library.read_bytes())}

failures = [f"docs/session_keys.md lists {key} twice" for key in sorted(set(listed)) if listed.count(key) > 1]
failures += [f"docs/session_keys.md lacks {key}, which ONNX Runtime's header names"
             for key in sorted(wanted - set(listed))]
# Compilers cut long strings into parts: a part counts as the key that it is the beginning of.
failures += [f"docs/session_keys.md lacks {key}, which ONNX Runtime's library has in it; if it is a session key, list "
             "it there and in tests/data/session_keys.txt"
             for key in sorted(in_library) if not any(name.startswith(key) for name in listed)]
if libraries and len(in_library) < 20:
    failures.append(f"ONNX Runtime's libraries show only {len(in_library)} keys: they are written otherwise now")
for failure in failures:
    print(f"FAILED: {failure}")
checks = len(wanted) + len(in_library) + 1
print(f"{len(wanted)} keys of the header, {len(in_library)} of the library")
print(f"{checks - len(failures)} passed, {len(failures)} failed")
sys.exit(1 if failures else 0)
