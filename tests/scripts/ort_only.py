#!/usr/bin/env python3
"""A program whose runtime has only the reader ort_format is not linked with protobuf or onnx, even if they are
installed."""
import os
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
binary = pathlib.Path(os.environ["CAMEO_BINARY_DIR"])
program = binary / "tests" / "ort_only"
FOREIGN = re.compile(r"google::protobuf|onnx::|protobuf_onnx|google/protobuf")
failed = 0


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def claim(holds, words):
    global failed
    if not holds:
        failed += 1
        print(f"not so: {words}")


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", str(path)))


def foreign_symbols(path):
    return [line for line in output("nm", "--demangle", str(path)).splitlines() if FOREIGN.search(line)]


def names(libraries):
    return [name for name in libraries if "protobuf" in name or "onnx" in name]


static = "libcameo" not in " ".join(needed(program))
claim(not names(needed(program)), f"{program} needs neither libprotobuf nor libonnx, but {names(needed(program))}")
claim(not foreign_symbols(program), f"no symbol of protobuf or onnx is in it, but {foreign_symbols(program)[:3]}")
library = binary / "libcameo_format.a"
if static and library.exists():
    claim(not foreign_symbols(library), f"{library.name} needs none, but {foreign_symbols(library)[:3]}")
# These checks must fail for a program that writes .onnx files.
if static:
    writer = pathlib.Path(os.environ["CAMEO_PROGRAM"])
    claim(names(needed(writer)) and foreign_symbols(writer), f"{writer} is linked with both")
model = source / "tests" / "data" / "ort" / "function_body" / "model.ort"
claim(output(str(program), str(model)).endswith("outputs\n"), f"it runs {model.name}")
print(f"{5 - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
