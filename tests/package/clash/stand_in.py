#!/usr/bin/env python3
"""Writes a library that defines all symbols of the given libraries as functions that end the process.

Usage: stand_in.py OUT.so PART LIBRARY...        PART: a regular expression that is searched for in the names of symbols
                                                LIBRARY: .so or .a
"""
import pathlib
import re
import subprocess
import sys


def symbols(library):
    kind = ["-D"] if ".so" in pathlib.Path(library).name else []
    lines = subprocess.run(["nm", *kind, "--defined-only", "--extern-only", "--format=posix", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        words = line.split()
        if len(words) > 1 and words[1] in "TtWwVvBDRu" and words[0].startswith(("_ZN", "_ZT", "_ZS")):
            yield words[0].partition("@")[0]


def main():
    out, part, *libraries = sys.argv[1:]
    names = sorted({name for library in libraries for name in symbols(library) if re.search(part, name)})
    if len(names) < 20:
        raise SystemExit(f"only {len(names)} symbols in {' '.join(libraries)}")
    text = ["#include <stdio.h>", "#include <stdlib.h>"]
    for i, name in enumerate(names):
        text.append(f'void s{i}(void) __asm__("{name}");')
        text.append(f'void s{i}(void) {{ fputs("the stand-in was called: {name}\\n", stderr); _Exit(77); }}')
    source = pathlib.Path(out).with_suffix(".c")
    source.write_text("\n".join(text) + "\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-o", out, str(source)], check=True)
    print(f"{len(names)} symbols")


if __name__ == "__main__":
    main()
