"""No file that becomes part of a program is compiled without optimization in a Release build: the linker may otherwise
choose the unoptimized copy of a template that the libraries instantiate, too."""
import json
import os
import pathlib
import shlex
import sys

BUILD = pathlib.Path(os.environ["CAMEO_BINARY_DIR"])
# Object libraries that nothing links: they are compiled only for the compiler's messages.
NEVER_LINKED = ("compile_fail_", "cameo_headers.dir")


def level_of(command):
    """The optimization level: the last option counts; without any it is 0."""
    levels = [word for word in command if word.startswith("-O")]
    return levels[-1] if levels else "-O0"


def unoptimized(entries):
    for entry in entries:
        command = shlex.split(entry["command"])
        target = next((word for word in command if "CMakeFiles/" in word), "")
        if not any(part in target for part in NEVER_LINKED) and level_of(command) == "-O0":
            yield entry["file"]


cache = (BUILD / "CMakeCache.txt").read_text()
if "CMAKE_BUILD_TYPE:STRING=Release" not in cache:
    print("not a Release build: nothing to see")
    sys.exit(0)
entries = json.loads((BUILD / "compile_commands.json").read_text())
# The check must fail for a file of the program with the options that it once had.
made_up = {"command": "c++ -O2 -O0 -o CMakeFiles/cameo_program.dir/src/program/main.cpp.o -c main.cpp", "file": "main.cpp"}
if list(unoptimized([made_up])) != ["main.cpp"]:
    sys.exit("a file without optimization is not seen")
if not any("cameo_program.dir" in entry["command"] for entry in entries):
    sys.exit("no file of the program is among the commands")
found = list(unoptimized(entries))
for file in found:
    print(f"compiled without optimization: {file}")
sys.exit(1 if found else 0)
