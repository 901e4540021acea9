"""The cost of including cameo: cameo/cameo.hpp costs at most 1.4 times as much as fmt/format.h, the header of the
library that formats its text. The measure is the memory that g++ allocates while it compiles, which is the same in
every run and correlates with its time (both are printed); processor time differs by a third between runs on a busy
machine."""
import os
import re
import subprocess
import sys
import tempfile
import time

SOURCE = os.environ["CAMEO_SOURCE_DIR"]
MOST = 1.4


def cost(header, folder):
    """The megabytes that g++ allocates, and the least time of three runs in seconds."""
    path = os.path.join(folder, "one.cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#include <{header}>\n")
    seconds, allocated = [], 0.0
    for _ in range(3):
        begin = time.monotonic()
        done = subprocess.run(
            ["g++", "-std=c++20", "-O0", "-I" + os.path.join(SOURCE, "include"), "-ftime-report", "-c", path, "-o",
             os.devnull], capture_output=True, text=True, check=True)
        seconds.append(time.monotonic() - begin)
        total = re.search(r"^ TOTAL .*?(\d+)([kMG])\s*$", done.stderr, re.MULTILINE)
        if not total:
            sys.exit("FAILED: g++ -ftime-report does not say what it allocated")
        allocated = int(total[1]) * {"k": 1 / 1024, "M": 1, "G": 1024}[total[2]]
    return allocated, min(seconds)


def main():
    with tempfile.TemporaryDirectory() as folder:
        theirs = cost("fmt/format.h", folder)
        ours = cost("cameo/cameo.hpp", folder)
    ratio = ours[0] / theirs[0]
    print(f"fmt/format.h: {theirs[0]:.0f} MB, {theirs[1]:.2f} s; cameo/cameo.hpp: {ours[0]:.0f} MB, {ours[1]:.2f} s; "
          f"{ratio:.2f} times (at most {MOST})")
    if ratio > MOST:
        sys.exit(f"FAILED: cameo/cameo.hpp costs {ratio:.2f} times fmt/format.h: what does it include now?")


if __name__ == "__main__":
    main()
