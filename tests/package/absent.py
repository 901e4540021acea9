#!/usr/bin/env python3
"""Configures cameo as on a machine that lacks one Debian package, for each package of cmake/bootstrap.sh, and then without all
optional packages. If cameo needs a package, the error has to name it, with the CMake variable for the path of a copy. Otherwise
the build has to be configured, one sentence has to name the parts that are left out, everything else has to be compilable, and
ninja needs a rule for every file.

A preloaded library (absent.cpp) hides the files of the package from CMake, pkg-config and the compiler, so that no way of
searching finds them.

Usage: absent.py [--only PACKAGE...] [--jobs N]     with a python3 that has the packages of tests/requirements.txt
Closes with one line: N passed, N failed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "build" / "absent"

# Packages that cameo needs, with the name of the library in the error.
NEEDED = {"libonnx-dev": "onnx", "libprotobuf-dev": "protobuf", "libfmt-dev": "fmt", "librange-v3-dev": "range-v3",
          "nlohmann-json3-dev": "nlohmann_json", "libhwy-dev": "Highway", "libutf8proc-dev": "utf8proc", "pkg-config": "utf8proc"}
# Optional packages, with a regular expression for each sentence about the parts that are left out without them.
LEFT_OUT = {
    "ccache": ["no ccache .*compiles everything again"],
    "libcli11-dev": ["no CLI11 .*the program cameo is left out", "no program .*the scripts that test it are left out"],
    "libre2-dev": ["no RE2 .*no RegexFullMatch"],
    "libpng-dev": ["no libpng .*no PNG files"], "libjpeg-dev": ["no libjpeg .*no JPEG files"],
    "libtiff-dev": ["no libtiff-4 .*no TIFF files"], "libwebp-dev": ["no libwebp .*no WebP files"],
    "libopenjp2-7-dev": ["no libopenjp2 .*no JPEG 2000 files"],
    "doctest-dev": ["no doctest .*tests in C.. .*are left out"],
    "libeigen3-dev": ["no Eigen .*tests of <cameo/interop/eigen.hpp>", "no Eigen .*examples/eigen", "no Eigen .*benchmarks"],
    "libxtensor-dev": ["no xtensor .*tests of <cameo/interop/xtensor.hpp>", "no xtensor .*examples/xtensor"],
    "libflatbuffers-dev": ["no FlatBuffers "], "flatbuffers-compiler": ["no FlatBuffers "],
    "libbenchmark-dev": ["no Google Benchmark .*benchmarks of single operators"],
    "python3": ["no python3 .*tests in Python"],
}
# Packages on which CMake must not depend, packages without which nothing can be configured, and packages that tests use when
# they run.
NOT_NEEDED = {"git", "protobuf-compiler"}
TOOLS = {"g++", "cmake", "ninja-build"}
OF_TESTS = {"libonnx-testdata", "ca-certificates", "clang-16", "libc++-16-dev", "libc++abi-16-dev", "chromium"}
# Packages that contain the files of a package in the list.
PARTS = {"libjpeg-dev": ["libjpeg62-turbo-dev"], "pkg-config": ["pkgconf", "pkgconf-bin"]}


def packages():
    """The sets of cmake/bootstrap.sh that are configured here."""
    text = (ROOT / "cmake" / "bootstrap.sh").read_text(encoding="utf-8")
    return [name for group in ("build", "tests")
            for name in re.search(rf'^cameo_packages_{group}="([^"]*)"', text, re.MULTILINE)[1].split()]


def files_of(package):
    """The files that have to be hidden for the package to be absent."""
    if package == "python3":  # of every origin
        folders = [pathlib.Path(folder) for folder in os.environ["PATH"].split(":")]
        paths = [path for folder in folders for path in folder.glob("python3*")]
    else:
        names = [package, *PARTS.get(package, [])]
        listed = subprocess.run(["dpkg-query", "-L", *names], capture_output=True, text=True, check=False).stdout
        paths = [pathlib.Path(line) for line in listed.splitlines() if line.startswith("/usr") or line.startswith("/lib")]
        paths = [path for path in paths if path.is_symlink() or path.is_file()]
    return {os.path.join(os.path.realpath(path.parent), path.name) for path in paths}


class Failed(Exception):
    pass


class Machine:
    """A machine that lacks some packages."""

    def __init__(self, name, lacks):
        self.folder, self.lacks = OUT / name, lacks
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.hidden = set().union(*map(files_of, lacks)) if lacks else set()
        if lacks and not self.hidden:
            raise Failed(f"{', '.join(lacks)} is not installed, so its absence shows nothing: cmake/bootstrap.sh installs it")
        (self.folder / "absent.txt").write_text("".join(f"{path}\n" for path in sorted(self.hidden)))
        self.environment = dict(os.environ, LD_PRELOAD=str(OUT / "libabsent.so"), CAMEO_ABSENT=str(self.folder / "absent.txt"))

    def run(self, *words, cwd=None):
        done = subprocess.run([str(word) for word in words], env=self.environment, cwd=cwd, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def configure(self, preset, *options):
        """The exit status of CMake, whose output is then in `said`."""
        python = [] if "python3" in self.lacks else [f"-DCAMEO_VENV_PYTHON={sys.executable}"]
        status, text = self.run("cmake", "--preset", preset, "-B", self.folder / preset, "-Wno-dev", *python, *options, cwd=ROOT)
        self.said = text
        return status

    def sentences(self):
        return re.findall(r"^-- cameo: (.*)", self.said, re.MULTILINE)

    def commands(self, preset):
        return json.loads((self.folder / preset / "compile_commands.json").read_text(encoding="utf-8"))

    def check_compilable(self, preset):
        """Checks that the compiler finds all headers of each source that may include a hidden one, and that ninja has a rule
        for every file."""
        names = {path.split("/include/", 1)[1] for path in self.hidden if "/include/" in path}
        names |= {name.split("/", 1)[1] for name in names if "/" in name}  # such as eigen3/Eigen/Core
        generated = self.folder / preset / "generated"
        names |= {str(path.relative_to(generated)) for path in generated.rglob("*.h*")
                  if names & set(INCLUDE.findall(path.read_text(encoding="utf-8")))}
        reaching = sources_reaching(names)
        for each in self.commands(preset):
            file = pathlib.Path(each["file"])
            inside = {file, *map(pathlib.Path, re.findall(r'#include "(/[^"]*)"', file.read_text(encoding="utf-8")))}
            inside |= {ROOT / "include" / line for line in re.findall(r"#include <(cameo/[^>]*)>", file.read_text(encoding="utf-8"))}
            if not inside & reaching:
                continue
            words = shlex.split(each["command"])
            words = words[next(i for i, word in enumerate(words) if re.search(r"(\+\+|/cc)[-\d]*$", word)):]
            at = words.index("-o")
            status, text = self.run(*words[:at], *words[at + 2:], "-M", "-MF", os.devnull, cwd=each["directory"])
            if status:
                raise Failed(f"{preset} is to compile {each['file']}:\n{text[-1500:]}")
        targets = ["all", *(["cameo_benchmarks"] if preset == "release" else [])]
        status, text = self.run("ninja", "-C", self.folder / preset, "-n", *targets)
        if status:
            raise Failed(f"ninja can't make {targets}: {text[-1500:]}")


INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
TREE = {}


def sources_reaching(names):
    """The files of the tree that include one of these headers, directly or not."""
    if not TREE:
        for folder in ("include", "src", "eps", "tests", "bench", "examples"):
            for path in (ROOT / folder).rglob("*.[ch]pp"):
                TREE[path] = set(INCLUDE.findall(path.read_text(encoding="utf-8")))
    reaching, grown = set(), True
    while grown:
        more = {path for path, includes in TREE.items() if path not in reaching and includes & names}
        grown = bool(more)
        reaching |= more
        names = {name for path in more for name in suffixes(path)}
    return reaching


def suffixes(path):
    """The names by which an #include may refer to the file."""
    parts = path.relative_to(ROOT).parts
    return {"/".join(parts[at:]) for at in range(len(parts))}


CHECKS = {}


def check(name):
    return lambda function: CHECKS.setdefault(name, function)


@check("everything is here: nothing is left out")
def everything():
    machine = Machine("nothing", [])
    for preset in "install", "release":
        if machine.configure(preset) or machine.sentences():
            raise Failed(machine.said[-3000:])
    # The sources that quickstart compiles have the same commands in the build of the tests, so that both use one cache.
    def objects(preset):
        folder = str(machine.folder / preset)
        return {each["file"].replace(folder, "BUILD"): each["command"].replace(folder, "BUILD")
                for each in machine.commands(preset)}

    less, more = objects("install"), objects("release")
    other = [file for file, command in less.items() if "/examples/" not in file and more.get(file) != command]
    if other or len(less) < 50:
        raise Failed(f"compiled twice, for the presets install and release: {other or less}")
    if any(" -Werror " not in command for file, command in less.items() if "/src/" in file):
        raise Failed("CI, which sets CAMEO_WERROR, compiles with other flags than who builds by hand")
    for each in machine.commands("install"):
        if f"{ROOT}/tests/" in each["file"] or f"{ROOT}/bench" in each["file"]:
            raise Failed(f"the preset install configures {each['file']}")
    rules = (machine.folder / "install" / "build.ninja").read_text(encoding="utf-8") + "".join(
        path.read_text(encoding="utf-8") for path in (machine.folder / "install" / "CMakeFiles").glob("rules.ninja"))
    if f"CCACHE_BASEDIR={ROOT}" not in rules:
        raise Failed("a build that is started by hand does not share the compiler cache with other folders")


def check_needed(package, library):
    machine = Machine(package, [package])
    status, said = machine.configure("install"), " ".join(machine.said.split())
    if status == 0:
        raise Failed("CMake does without it")
    for words in (f"cameo needs {library}", package, "-DCMAKE_PREFIX_PATH="):
        if words not in said:
            raise Failed(f"the error does not say '{words}':\n{machine.said[-3000:]}")


def check_left_out(name, lacks, expected):
    machine = Machine(name, lacks)
    if machine.configure("release"):
        raise Failed(f"it can't be configured:\n{machine.said[-3000:]}")
    check_sentences(machine.sentences(), expected)
    machine.check_compilable("release")
    if len(lacks) > 1:
        if machine.configure("install"):
            raise Failed(f"the preset install can't be configured:\n{machine.said[-3000:]}")
        machine.check_compilable("install")
        if machine.configure("release", "-DCAMEO_LEAVE_OUT=OFF") == 0:
            raise Failed("CAMEO_LEAVE_OUT=OFF leaves something out")


FINDS = """cmake_minimum_required(VERSION 3.25)
project(finds LANGUAGES CXX)
find_package(cameo PATHS ${CMAKE_CURRENT_SOURCE_DIR} NO_DEFAULT_PATH)
message(STATUS "goes on, found: ${cameo_FOUND}")
find_package(cameo REQUIRED PATHS ${CMAKE_CURRENT_SOURCE_DIR} NO_DEFAULT_PATH)
"""


@check("an installed cameo, of whose static libraries one is missing")
def installed():
    """find_package(cameo) fails with a message; without REQUIRED the project is configured further."""
    for package, library in ("libhwy-dev", "Highway"), ("libre2-dev", "RE2"), ("libwebp-dev", "libwebp"):
        machine = Machine(f"installed_{package}", [package])
        (machine.folder / "cameoConfig.cmake").write_text(
            f'set(CAMEO_RE2 ON)\nset(CAMEO_PICTURES webp)\ninclude("{ROOT}/cmake/cameo_dependencies.cmake")\n')
        (machine.folder / "CMakeLists.txt").write_text(FINDS)
        status, said = machine.run("cmake", "-G", "Ninja", "-S", machine.folder, "-B", machine.folder / "build")
        said = " ".join(said.split())
        if status == 0 or said.count(f"cameo needs {library}") != 2 or not re.search("goes on, found: (0|FALSE)", said):
            raise Failed(f"without {package} find_package(cameo) says: {said}")


@check("a Python without Python.h, numpy or nanobind")
def python_package():
    """The project in src/python names a missing package before it configures cameo."""
    header = subprocess.run([sys.executable, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"],
                            capture_output=True, text=True, check=True).stdout.strip() + "/Python.h"
    numpy = subprocess.run([sys.executable, "-c", "import numpy; print(numpy.__file__)"],
                           capture_output=True, text=True, check=True).stdout.strip()
    for name, hidden, words in (("header", header, "apt-get install python3-dev"), ("numpy", numpy, "has no numpy"),
                                ("nanobind", None, "has no nanobind")):
        machine = Machine(f"python_{name}", [])
        paths = {os.path.join(os.path.realpath(os.path.dirname(hidden)), os.path.basename(hidden))} if hidden else set()
        (machine.folder / "absent.txt").write_text("".join(f"{path}\n" for path in paths))
        status, said = machine.run("cmake", "-G", "Ninja", "-S", ROOT / "src" / "python", "-B", machine.folder / "build",
                                   f"-DPython_EXECUTABLE={sys.executable}")
        said = " ".join(said.split())
        if status == 0 or words not in said:
            raise Failed(f"'{words}' is not said: {said[-1500:]}")


@check("a python3 without onnx")
def python_without_onnx():
    """The tests that need onnx are left out, and those of C++ are not."""
    machine = Machine("without_onnx", [])
    bare = pathlib.Path(sys.base_prefix) / "bin" / "python3"
    if machine.configure("release", f"-DCAMEO_VENV_PYTHON={bare}"):
        raise Failed(machine.said[-3000:])
    check_sentences(machine.sentences(), [f"no onnx and onnxruntime for {bare} .*tests in Python"])
    tests = subprocess.run(["ctest", "--test-dir", machine.folder / "release", "-N"], capture_output=True, text=True, check=True)
    if re.search(r"script[.]|make_models|image_classifier", tests.stdout) or "interop.eigen" not in tests.stdout:
        raise Failed(f"tests: {tests.stdout}")


def check_sentences(said, expected):
    if len(said) != len(set(said)):
        raise Failed(f"a sentence is said twice: {said}")
    for words in expected:
        if not any(re.search(words, sentence) for sentence in said):
            raise Failed(f"no sentence says '{words}': {said}")
    for sentence in said:
        if not any(re.search(words, sentence) for words in expected):
            raise Failed(f"an unexpected sentence: {sentence}")


def check_rows(listed):
    rows = [*NEEDED, *LEFT_OUT, *NOT_NEEDED, *TOOLS, *OF_TESTS]
    if sorted(set(listed)) != sorted(set(rows)) or len(rows) != len(set(rows)):
        raise Failed(f"this test and cmake/bootstrap.sh differ in {set(listed) ^ set(rows)}")


def main():
    say = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    say.add_argument("--only", nargs="+")
    say.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    o = say.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                    HERE / "absent.cpp", "-o", OUT / "libabsent.so", "-ldl"], check=True)
    listed = packages()
    CHECKS["each package has a row"] = lambda: check_rows(listed)
    for package in listed:
        if package in NEEDED:
            CHECKS[package] = lambda p=package: check_needed(p, NEEDED[p])
        elif package in LEFT_OUT or package in NOT_NEEDED:
            CHECKS[package] = lambda p=package: check_left_out(p, [p], LEFT_OUT.get(p, []))
    # Without doctest and python3 there are no tests that need FlatBuffers or the program.
    CHECKS["all that may be missing"] = lambda: check_left_out("all", list(LEFT_OUT), [
        words for rows in LEFT_OUT.values() for words in rows if not re.match("no (program|FlatBuffers)", words)])
    names = [name for name in CHECKS if not o.only or name in o.only]

    def tried(name):
        try:
            CHECKS[name]()
            return name, None
        except Failed as failed:
            return name, str(failed)

    failed = 0
    sources_reaching(set())  # fills TREE before threads are started
    with concurrent.futures.ThreadPoolExecutor(max_workers=o.jobs) as pool:
        for name, words in pool.map(tried, names):
            failed += words is not None
            print(f"{name}: {'ok' if words is None else 'FAILED: ' + words}", flush=True)
    shutil.rmtree(OUT)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
