#!/usr/bin/env python3
"""Checks which libraries and symbols programs for devices link, and how large the programs are.

Usage: sizes.py READELF NM PROGRAM[=BYTES]...     BYTES: the limit for code and constants
"""
import pathlib
import re
import subprocess
import sys

LIBRARIES = {"libc.so.6", "libm.so.6"}
# Symbols of C++ exceptions, allocation and streams, and of libraries that cameo only uses on hosts.
FORBIDDEN = re.compile(r"__cxa_(throw|allocate|begin)|__gxx_personality|^_Zn[wa]|^_Zd[la]|^_ZSt\d+__throw|_Unwind_|"
                       r"^_ZNS[ois]|^_ZNSt\d+(locale|exception|logic_error|basic_stringI)|protobuf|4onnx|3fmt|nlohmann|utf8proc|"
                       r"^(malloc|calloc|realloc|aligned_alloc|posix_memalign)(@|$)")
SECTIONS = re.compile(r"^\.(text|vectors|ARM\.exidx|init|fini|rodata|data|eh_frame|gcc_except_table|init_array|fini_array|tm_clone)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sections(readelf, program):
    """Returns the sizes of the sections with code and constants in bytes."""
    found = {}
    for line in run(readelf, "-S", "-W", program).splitlines():
        match = re.match(r"\s*\[\s*\d+\]\s+(\.\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", line)
        if match and SECTIONS.match(match.group(1)):
            found[match.group(1)] = int(match.group(2), 16)
    return found


def offenses(readelf, nm, program, most):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run(readelf, "-d", "-W", program)))
    for library in sorted(needed - LIBRARIES):
        if not library.startswith("ld-linux"):  # the loader belongs to the C library
            yield f"needs {library}"
    for line in run(nm, program).splitlines():
        name = line.split()[-1]
        if FORBIDDEN.search(name) and line.split()[-2] not in "wv":
            yield f"links {name}"
    found = sections(readelf, program)
    total = sum(found.values())
    print(f"{pathlib.Path(program).name}: {total} bytes of code and constants"
          + (f" (limit: {most})" if most else ""), found)
    if most and total > most:
        yield f"has {total} bytes of code and constants, may have {most}"


def main(readelf, nm, programs):
    failed = 0
    for each in programs:
        program, _, most = each.partition("=")
        for offense in offenses(readelf, nm, program, int(most or 0)):
            print(f"{program}: {offense}", file=sys.stderr)
            failed += 1
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
