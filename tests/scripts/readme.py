"""The first screen of README.md is correct: its code is examples/first/main.cpp, and its output is what that program
prints.

Usage: readme.py [--write]     --write: puts the code and its current output into README.md
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


def close(a, b):
    """True if numbers of six digits differ by at most one in the last, as another instruction set may round. A relative
    tolerance would hide outdated digits of small numbers."""
    unit = 10.0 ** (math.floor(math.log10(abs(b))) - 5) if b else 0
    return abs(a - b) <= 1.5 * unit


def same(shown, printed):
    """True if the words are equal and the numbers are close."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed))
    return all(close(float(a), float(b)) for a, b in pairs)


page = root / "README.md"
readme = page.read_text(encoding="utf-8")
source = (root / "examples" / "first" / "main.cpp").read_text(encoding="utf-8")
done = subprocess.run([program], cwd=root / "examples" / "digits", capture_output=True, text=True, check=False)
printed = [line.strip() for line in done.stdout.splitlines()]
check(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr}")
first = re.search(r"^```cpp\n(.*?)^```\n\n```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
check(first is not None, "README.md begins with a block of C++ and the output below it")
if first and "--write" in sys.argv[1:] and not failed:
    text = "```cpp\n" + source + "```\n\n```text\n" + "".join(f"{line}\n" for line in printed) + "```"
    page.write_text(readme[:first.start()] + text + readme[first.end():], encoding="utf-8")
elif first:
    check(first.group(1) == source, "the first block of README.md is the text of examples/first/main.cpp (readme.py --write)")
    shown = [line.strip() for line in first.group(2).splitlines()]
    check(len(shown) == len(printed) and all(map(same, shown, printed)),
          f"README.md does not show what the program prints (readme.py --write puts it there), which is now:\n{done.stdout}")
check(same("y = 6.65034e-10", "y = 6.65035e-10") and not same("y = 6.65034e-10", "y = 6.65038e-10"),
      "stale digits of a small number are not noticed")
print(f"{5 - min(failed, 5)} passed, {failed} failed")
sys.exit(1 if failed else 0)
