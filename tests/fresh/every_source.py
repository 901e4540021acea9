#!/usr/bin/env python3
"""Compiles every source separately, with all warnings as errors and without writing objects. Other builds compile the
sources of a folder as one (CAMEO_TOGETHER), which hides missing includes, and use only one compiler.

Usage: every_source.py [--compiler CXX]... [--passed FOLDER] [--minutes M] [--jobs N] [--only EXPRESSION]
  --compiler   default: g++
  --passed     a folder that records the sources that passed: a source is compiled again if it, a header that it includes,
               the compiler or an option has changed
  --minutes    does not start another source after this time, for each compiler. Changed sources that passed before come
               first, then the others in an order that depends on the date. The number of sources left is printed
  --only       a regular expression for the paths of sources
The last line of the output is: N passed, N failed.
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
# Sources that are not in a target of the default build, and the build that compiles them.
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
    """Configures a build folder for the compiler and makes the generated headers; returns the folder."""
    folder = ROOT / "build" / "alone" / pathlib.Path(compiler).name
    command("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release", "-DCAMEO_TOGETHER=OFF",
            "-DCAMEO_WERROR=ON", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_COMPILER_LAUNCHER=")
    rules = command("ninja", "-C", folder, "-t", "targets", "rule", "CUSTOM_COMMAND")
    headers = [line for line in rules.splitlines() if re.search(r"\.(hpp|h|inc)$", line)]
    if headers:
        command("ninja", "-C", folder, *headers)
    return folder


class Memory:
    """Records which sources passed: for each source and compiler the files that were read, and their hash."""

    def __init__(self, folder):
        self.folder = folder
        self.hashes = {}
        self.hits = 0
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def hash_of(self, path):
        if path not in self.hashes:
            try:
                self.hashes[path] = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
            except OSError:
                self.hashes[path] = "missing"
        return self.hashes[path]

    def record(self, key):
        return self.folder / hashlib.sha256(key.encode()).hexdigest()[:32]

    def passed_before(self, key):
        """True if this source passed before, in this state or another."""
        return bool(self.folder) and self.record(key).exists()

    def has(self, key):
        if not self.folder or not self.record(key).exists():
            return False
        kept = json.loads(self.record(key).read_text(encoding="utf-8"))
        return kept["hash"] == self.hash_of_all(kept["files"])

    def hash_of_all(self, files):
        return hashlib.sha256("\n".join(path + self.hash_of(path) for path in files).encode()).hexdigest()

    def keep(self, key, dependencies):
        """Records that a source passed. `dependencies` is the output of -MD: a target, a colon and paths. Paths in the
        tree are stored relative to it."""
        if not self.folder:
            return
        words = dependencies.replace("\\\n", " ").partition(":")[2].split()
        files = sorted({os.path.relpath(word, ROOT) if word.startswith(str(ROOT)) else word for word in words})
        text = json.dumps({"files": files, "hash": self.hash_of_all(files)})
        part = self.record(key).with_suffix(f".{os.getpid()}")
        part.write_text(text, encoding="utf-8")
        part.replace(self.record(key))


def words_of(entry):
    """Returns the command of an entry without its object file, and the object file."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    object_file = words[at + 1]
    del words[at:at + 2]
    return [word for word in words if word != "-c"], object_file


def key_of(entry, version):
    return version + " ".join(words_of(entry)[0]).replace(str(ROOT), "")


def compile_one(entry, version, memory):
    """Compiles a source; returns an empty string or the compiler's errors."""
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
    """Returns the sources that passed in another state, then those that never passed, both shuffled by the date."""
    shuffled = list(paths)
    random.Random(datetime.date.today().isoformat()).shuffle(shuffled)
    return sorted(shuffled, key=lambda path: not memory.passed_before(key_of(entries[path], version)))


def compile_all(compiler, memory, jobs, only, minutes):
    """Compiles the sources, prints the errors, and returns the numbers of sources that passed and failed."""
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
        print(f"FAILED {path}: no target of the build compiles it, and it is not in ELSEWHERE of every_source.py")
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
                print(f"FAILED {path}, compiled separately with {version}:\n{said[:4000]}", flush=True)
            left += said is None
    print(f"{len(known) - left} sources compile separately, {len(known) - left - memory.hits + before} were compiled now, "
          f"{left} left, {version}: {time.monotonic() - began:.0f} s", flush=True)
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
