#!/usr/bin/env python3
"""The translation units of a build that took longest, compiled once more: processor time, as a multiple of compiling
nlohmann/json.hpp with the same options, and the compiler's largest memory, which fails above --megabytes; times are as
noisy as the machine.

Usage: unit_costs.py BUILD [--in eps/cpu] [--units 3] [--megabytes 600]
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile


def cost(command, folder):
    """Seconds of processor time and MB, of a compiler run that writes nothing."""
    words = shlex.split(command)
    words = words[1:] if "ccache" in words[0] else words
    words[words.index("-o") + 1] = os.devnull
    words = [word for word in words if word not in ("-MD", "-MMD")]
    for option in ("-MF", "-MT"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    process = subprocess.Popen(words, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"FAILED: {' '.join(words)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def slowest(build, under, most):
    """Commands of the build's log, the longest first."""
    commands = {each["command"].split(" -o ")[1].split()[0]: each
                for each in json.loads((build / "compile_commands.json").read_text())}
    taken = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        if output in commands and output.startswith(under):
            taken[output] = int(end) - int(begin)
    return [commands[output] for output in sorted(taken, key=taken.get, reverse=True)[:most]]


def main():
    say = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    say.add_argument("build", type=pathlib.Path)
    say.add_argument("--in", dest="under", default="eps/cpu")
    say.add_argument("--units", type=int, default=3)
    say.add_argument("--megabytes", type=int, default=600)
    o = say.parse_args()
    units = slowest(o.build, o.under, o.units)
    if not units:
        sys.exit(f"FAILED: {o.build} has compiled nothing of {o.under}")
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as probe:
        probe.write("#include <nlohmann/json.hpp>\n")
        probe.flush()
        compiler = shlex.split(units[0]["command"])
        compiler = compiler[1 if "ccache" in compiler[0] else 0]
        unit, _ = min(cost(f"{compiler} -std=c++20 -O2 -c {probe.name} -o x", ".") for _ in range(3))
    print(f"nlohmann/json.hpp: {unit:.2f} s of processor time")
    large = []
    for each in units:
        seconds, memory = cost(each["command"], each["directory"])
        name = each["command"].split(" -o ")[1].split()[0].split(".dir/")[-1]
        print(f"{name}: {seconds:.1f} s = {seconds / unit:.1f} times, {memory:.0f} MB")
        if memory > o.megabytes:
            large.append(name)
    if large:
        sys.exit(f"FAILED: more than {o.megabytes} MB for {', '.join(large)}: divide it")


if __name__ == "__main__":
    main()
