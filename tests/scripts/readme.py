"""The first screen of README.md is true: its code is examples/first/main.cpp, and its output is what that prints.

Needs CAMEO_SOURCE_DIR and CAMEO_BINARY_DIR in the environment, as CTest sets them.
"""
import math
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
program = pathlib.Path(os.environ["CAMEO_BINARY_DIR"]) / "examples" / "example_first"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
failed = 0


def check(holds, words):
    global failed
    if not holds:
        failed += 1
        print(f"FAILED: {words}")


def same(shown, printed):
    """Equal words, and numbers equal but for the last digits, which another processor may round otherwise."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed))
    return all(math.isclose(float(a), float(b), rel_tol=1e-2, abs_tol=1e-6) for a, b in pairs)


readme = (root / "README.md").read_text(encoding="utf-8")
first = re.search(r"^```cpp\n(.*?)^```\n\n```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
check(first is not None, "README.md begins with a block of C++ and the output below it")
if first:
    source = (root / "examples" / "first" / "main.cpp").read_text(encoding="utf-8")
    check(first.group(1) == source, "the first block of README.md is the text of examples/first/main.cpp")
    shown = [line.strip() for line in first.group(2).splitlines()]
    done = subprocess.run([program], cwd=root / "examples" / "digits", capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr}")
    printed = [line.strip() for line in done.stdout.splitlines()]
    check(len(shown) == len(printed) and all(map(same, shown, printed)),
          f"README.md shows what the program prints, which is now:\n{done.stdout}")
print(f"{3 - min(failed, 3)} passed, {failed} failed")
sys.exit(1 if failed else 0)
