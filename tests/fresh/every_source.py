#!/usr/bin/env python3
"""Compiles every source by itself, with all warnings as errors, and makes no objects. Builds compile the sources of a folder as
one (CAMEO_TOGETHER), which hides that one of them lacks an include, and they have one compiler each.

Usage: every_source.py [--compiler CXX]... [--passed FOLDER] [--minutes M] [--jobs N] [--only EXPRESSION]
  --compiler   default: g++
  --passed     remembers there what passed: a source is compiled again when it, a header that it reads, the compiler or
               an option is another
  --minutes    begins no further source after so many minutes, for each compiler: those that passed before in another state
               come first, the rest in an order that is another one each day. How many were left is printed
  --only       sources whose path below the tree has this in it
Closes with one line: N passed, N failed.
"""
import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Sources of which the build of the tree has no target, and what compiles them.
ELSEWHERE = {
    "bench/peers/": "bench/peers/run, with the peers that it loads", "eps/openvino/": "the stage release, with Intel's SDK",
    "examples/embedded/": "the presets minimal-*", "src/python/": "the stage python", "src/triton/": "the stage serving",
    "test_package/": "conan create", "tests/fuzz/": "the preset asan", "tests/minimal/": "the preset minimal",
    "tests/package/": "the stage package", "tests/serving/": "the stage serving", "tests/compile_fail/": "a test, by itself",
    "tests/include_cost.cpp": "the stage build, by itself",
}


def command(*words, **options):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout[-4000:]}\n0 passed, 1 failed")
    return done.stdout


def configure(compiler):
    """A build folder for the compiler, with the headers that the build generates."""
    folder = ROOT / "build" / "alone" / pathlib.Path(compiler).name
    command("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release", "-DCAMEO_TOGETHER=OFF",
            "-DCAMEO_WERROR=ON", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_COMPILER_LAUNCHER=")
    rules = command("ninja", "-C", folder, "-t", "targets", "rule", "CUSTOM_COMMAND")
    headers = [line for line in rules.splitlines() if re.search(r"\.(hpp|h|inc)$", line)]
    if headers:
        command("ninja", "-C", folder, *headers)
    return folder


class Memory:
    """What passed before: for each source and compiler the files that it read, and a hash of all of them."""

    def __init__(self, folder):
        self.folder = folder
        self.hashes = {}
        self.hits = 0
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def of_file(self, path):
        if path not in self.hashes:
            try:
                self.hashes[path] = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
            except OSError:
                self.hashes[path] = "missing"
        return self.hashes[path]

    def record(self, key):
        return self.folder / hashlib.sha256(key.encode()).hexdigest()[:32]

    def knows(self, key):
        """Whether this source passed before, in this state or another."""
        return bool(self.folder) and self.record(key).exists()

    def has(self, key):
        if not self.folder or not self.record(key).exists():
            return False
        kept = json.loads(self.record(key).read_text(encoding="utf-8"))
        return kept["hash"] == self.of_all(kept["files"])

    def of_all(self, files):
        return hashlib.sha256("\n".join(path + self.of_file(path) for path in files).encode()).hexdigest()

    def keep(self, key, dependencies):
        """`dependencies` is what -MD writes: a target, a colon and paths, of which those in the tree become relative."""
        if not self.folder:
            return
        words = dependencies.replace("\\\n", " ").partition(":")[2].split()
        files = sorted({os.path.relpath(word, ROOT) if word.startswith(str(ROOT)) else word for word in words})
        text = json.dumps({"files": files, "hash": self.of_all(files)})
        part = self.record(key).with_suffix(f".{os.getpid()}")
        part.write_text(text, encoding="utf-8")
        part.replace(self.record(key))


def words_of(entry):
    """The command of an entry without its object file, and that file."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    object_file = words[at + 1]
    del words[at:at + 2]
    return [word for word in words if word != "-c"], object_file


def key_of(entry, version):
    return version + " ".join(words_of(entry)[0]).replace(str(ROOT), "")


def compile_one(entry, version, memory):
    """Nothing if the source compiles, or what the compiler says."""
    words, object_file = words_of(entry)
    key = key_of(entry, version)
    if memory.has(key):
        memory.hits += 1
        return ""
    read = pathlib.Path(entry["directory"]) / (object_file.replace("/", "_") + ".read")
    done = subprocess.run([*words, "-fsyntax-only", "-MD", "-MF", str(read)], cwd=entry["directory"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        return done.stdout or f"exit status {done.returncode}"
    if read.exists():
        memory.keep(key, read.read_text(encoding="utf-8"))
        read.unlink()
    return ""


def in_order(paths, entries, version, memory):
    """The sources that passed in another state first, then those that never passed, shuffled by the day."""
    shuffled = list(paths)
    random.Random(datetime.date.today().isoformat()).shuffle(shuffled)
    return sorted(shuffled, key=lambda path: not memory.knows(key_of(entries[path], version)))


def compile_all(compiler, memory, jobs, only, minutes):
    """The numbers of sources that compile by themselves and of those that do not, which it prints."""
    began = time.monotonic()
    before = memory.hits
    folder = configure(compiler)
    version = command(compiler, "--version").splitlines()[0]
    entries = {}
    for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
        entries.setdefault(os.path.relpath(entry["file"], ROOT), entry)
    tracked = command("git", "-C", ROOT, "ls-files", "*.cpp").split()
    wanted = [path for path in tracked if not path.startswith(tuple(ELSEWHERE)) and (not only or re.search(only, path))]
    unknown = [path for path in wanted if path not in entries]
    for path in unknown:
        print(f"FAILED {path}: no target of the build compiles it, and every_source.py does not say what does")
    known = [path for path in wanted if path in entries]
    failed = len(unknown)
    left = 0
    if minutes:
        known = in_order(known, entries, version, memory)

    def one(path):
        if minutes and time.monotonic() - began > 60 * minutes and not memory.has(key_of(entries[path], version)):
            return None
        return compile_one(entries[path], version, memory)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, said in zip(known, pool.map(one, known)):
            if said:
                failed += 1
                print(f"FAILED {path} by itself, with {version}:\n{said[:4000]}", flush=True)
            left += said is None
    print(f"{len(known) - left} sources by themselves, {len(known) - left - memory.hits + before} of them now, {left} left for "
          f"another day, {version}: {time.monotonic() - began:.0f} s", flush=True)
    return len(known) - left + len(unknown) - failed, failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--passed", type=pathlib.Path)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only")
    args = parser.parse_args()
    memory = Memory(args.passed.resolve() if args.passed else None)
    passed, failed = map(sum, zip(*(compile_all(compiler, memory, args.jobs, args.only, args.minutes) for compiler in args.compiler or ["g++"])))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
