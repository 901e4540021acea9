#!/usr/bin/env python3
"""What a new user does, on empty machines: roots of Debian 12 and 13 in which README.md's commands run in README.md's order, as
root and as a user. Debian 13 runs quickstart and find_package alone, with g++ 14, and there every source compiles by itself
with clang 19.

Usage: run.py [--release NAME]... [--only CHECK]... [--list] [--keep] [--prepare] [--closing]
  --release   bookworm or trixie; default: both
  --only      checks whose name has one of these texts in it; most need what those before them make
  --list      prints the checks' names
  --keep      leaves the roots, for a look into them; the next run removes them
  --prepare   only makes the empty roots, which takes a network's time
  --closing   before a release, half an hour longer where nothing is in the compiler cache: all sources by themselves, those
              of tests with g++ 14, too, and everything optimized for every instruction set. Without it, as in CI, sources
              by themselves have three minutes, changed ones first; what passed is remembered beside the roots
The commit at HEAD is tested. Roots and packages are kept in $CAMEO_ROOTS_DIR: see debian_root.py. Needs root, debootstrap and
the namespaces for mounts. Closes with one line: N passed, N failed.
"""
import argparse
import math
import re
import subprocess
import sys
import time

import debian_root
import pages
from debian_root import CannotMake, Failed, Root, USER

RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
STEPS = {"bookworm": list(pages.STEPS), "trixie": ["quickstart", "install", "find_package"]}
# What else compiles in a root: each source by itself, without objects. By name: its package, the version that it must have,
# which sources, and whether CI does it. g++ has compiled the library and the program in quickstart, with warnings as errors.
COMPILERS = {"trixie": {"clang++-19": ("clang-19", "19", ".", True), "g++": ("g++", "14", "^(tests|examples|bench)/", False)}}
CI_MINUTES = 3
# What compiles only to be compiled is not optimized, and has one instruction set.
QUICK = {"CMAKE_CXX_FLAGS": "-DHWY_COMPILE_ONLY_STATIC", "CMAKE_CXX_FLAGS_RELEASE": "-O0"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
APT_LINE = re.compile(r"^\s*(?:sudo )?(apt-get .*)$", re.MULTILINE)


class Reader:
    """One who follows README.md in a root. Lines that install packages are run by root, all others by the reader."""

    def __init__(self, root, user, closing=False):
        self.root, self.user, self.closing = root, user, closing
        self.home = "/root" if user == "root" else f"/home/{user}"
        self.clone = f"{self.home}/cameo"

    def sh(self, text, folder):
        for line in APT_LINE.findall(text):
            self.root.install(line)
        return self.root.run(["bash", "-ec", APT_LINE.sub("", text)], self.user, folder, environment={
            "CAMEO_WERROR": "ON", "CCACHE_BASEDIR": folder, "CCACHE_NOHASHDIR": "1", **self.flags()})

    def flags(self):
        """Debian 12's compiler has compiled the same on this machine; Debian 13's has not, so it gets one instruction set."""
        if self.closing or self.root.release == debian_root.this_release():
            return {}
        return {"CXXFLAGS": "-DHWY_COMPILE_ONLY_STATIC"}

    def write(self, path, text):
        self.root.write(path.lstrip("/"), text)
        self.root.run(["chown", f"{self.user}:", path])

    def has_clone(self):
        return (self.root.folder / self.clone.lstrip("/") / "README.md").exists()

    def get(self, folder):
        """Clones the tree, where no line of README.md says how."""
        target = self.root.folder / folder.lstrip("/")
        subprocess.run(["git", "clone", "--quiet", self.root.folder / "lent/cameo.git", target], check=True)
        self.root.run(["chown", "-R", f"{self.user}:", folder])

    def block(self, step):
        """A block of sh that needs no preparation."""
        # The repository's address is the one word of the pages that is replaced.
        text, clones = re.subn(r"(\bgit clone (?:-\S+ )*)\S+", r"\1file:///lent/cameo.git", step.text)
        if not clones and not self.has_clone():
            self.get(self.clone)
        output = self.sh(text, self.home if clones else self.clone)
        expect(self.has_clone(), f"{step.text} leaves a clone in the folder cameo", output)
        return output

    def quickstart(self, step):
        output = self.block(step)
        expect(re.search(r"^whole run .* 360 images", output, re.MULTILINE), "quickstart reads 360 digits", output)

    def install(self, step):
        self.root.run(["sh", "-c", f"rm -rf /opt/cameo && mkdir -p /opt/cameo && chown {self.user}: /opt/cameo"])
        self.block(step)
        self.prints_digits(f"{self.clone}/app")

    def pip(self, step):
        self.write(f"{self.clone}/examples/digits/first.py", pages.first_block("python"))
        # In the shell of the block, since that may have activated an environment; otherwise with the Python that has its pip.
        beside = re.search(r"(\S*/)?pip install", step.text).group(1) or ""
        self.sh(f"{step.text}\npython=$(realpath -s \"$(command -v {beside}python3)\")\ncd examples/digits\n\"$python\" first.py\n",
                self.clone)

    def project(self, step, name, folder, configure):
        """Builds the program of README.md's first screen by a block of CMake in `folder` of a new folder, in which cameo lies."""
        base = f"{self.home}/{name}"
        self.root.run(["rm", "-rf", base])
        self.root.run(["mkdir", "-p", f"{base}/{folder}"])
        self.root.run(["chown", "-R", f"{self.user}:", base])
        text = step.text
        if "add_executable(" not in text:  # a block that says how to get cameo; how to use it is the same for all
            text += "".join(re.findall(r"^(?:add_executable|target_link_libraries).*\n", pages.block_with(r"find_package\(")[1],
                                       re.MULTILINE))
        self.write(f"{base}/{folder}/CMakeLists.txt",
                   f"cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\n{text}")
        self.write(f"{base}/{folder}/main.cpp", pages.first_block("cpp"))
        if name != "find_package":
            self.get(f"{base}/cameo")
        self.sh(f"cd {folder}\n{configure} -DCMAKE_CXX_COMPILER_LAUNCHER=ccache\ncmake --build build\n", base)
        self.prints_digits(f"{base}/{folder}/build/app")

    def find_package(self, step):
        self.project(step, "find_package", "app", pages.command(r"cmake -S \. -B build .*CMAKE_PREFIX_PATH=\S+"))

    def built_with_cameo(self, step, folder):
        configure = pages.command(r"cmake -S \. -B build .*CMAKE_PREFIX_PATH=\S+").replace("-DCMAKE_PREFIX_PATH=/opt/cameo", "")
        quick = "" if self.closing else " ".join(f"-D{name}={value}" for name, value in QUICK.items())
        self.project(step, step.name, folder, f"{configure} {pages.command('-DCMAKE_BUILD_TYPE=Release')} {quick}")

    def add_subdirectory(self, step):
        self.built_with_cameo(step, ".")

    def FetchContent(self, step):
        self.built_with_cameo(step, "app")

    def cpack(self, step):
        self.root.install(pages.command(r"apt-get install .*dpkg-dev.*"))
        self.block(step)
        made = self.root.run(["find", f"{self.clone}/build", "-name", "_CPack_Packages", "-prune", "-o",
                              "-name", "*cameo*.deb", "-print", "-o", "-name", "cameo*.tar.gz", "-print"])
        expect(made.count(".deb\n") == 3 and made.count(".tar.gz\n") == 1, "cpack makes three packages and an archive", made)

    def prints_digits(self, program):
        """README.md shows what its program prints; last digits may differ by the processor."""
        printed = self.root.run([program], self.user, f"{self.clone}/examples/digits").strip().splitlines()
        shown = pages.first_block("text").strip().splitlines()
        same = len(printed) == len(shown) and all(
            NUMBER.sub("#", a) == NUMBER.sub("#", b) and
            all(math.isclose(float(x), float(y), rel_tol=1e-2, abs_tol=1e-6) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))
            for a, b in zip(shown, printed))
        expect(same, f"{program} prints what README.md shows", "\n".join(printed))

    def says_what_is_missing(self):
        """A user's quickstart on the empty machine ends with the line that root has to run, which then installs all."""
        self.get(f"{self.home}/first")
        done = self.root.try_run(["./examples/quickstart"], self.user, f"{self.home}/first")
        line = re.search(r"^ *(apt-get update && apt-get install .*)$", done.stdout, re.MULTILINE)
        expect(done.returncode != 0 and line, "quickstart says which packages root has to install", done.stdout)
        self.root.install(line.group(1))


def expect(condition, claim, output):
    if not condition:
        raise Failed(f"this does not hold: {claim}. The output:\n{output[-4000:]}")


def sources_alone(root, closing, compiler, package, version, only):
    """Each source by itself. What passed is remembered beside the roots."""
    folder = "/root/cameo"
    if not (root.folder / "root/cameo").exists():
        Reader(root, "root").get(folder)
    listed = root.run(["bash", "-euc", f". {folder}/cmake/bootstrap.sh; echo $cameo_packages_build $cameo_packages_tests"]).split()
    # Libraries whose headers the tests use. Compilers and programs that run tests have other versions in each release.
    libraries = [name for name in listed if not re.match(r"clang|libc\+\+|chromium|libonnx-testdata", name)]
    root.install(f"apt-get update && apt-get install --no-install-recommends {' '.join(libraries)} {package}")
    said = root.run([compiler, "--version"]).splitlines()[0]
    expect(re.search(rf"\b{version}\.\d", said), f"{compiler} is version {version}", said)
    done = root.try_run(["python3", "tests/fresh/every_source.py", "--compiler", compiler, "--only", only,
                         "--passed", "/lent/passed", *([] if closing else ["--minutes", str(CI_MINUTES)])], folder=folder)
    expect(done.returncode == 0, f"every source compiles by itself with {compiler}", done.stdout)
    return re.search(r"^\d+ sources.*$", done.stdout, re.MULTILINE).group(0)


def checks_of(release, closing):
    """The names of a release's checks and what each does with a root, in order."""
    checks = []
    wanted = [step for step in pages.steps() if step.name in STEPS[release] or
              (step.language == "sh" and step.name not in pages.STEPS)]
    if release == "trixie":
        checks.append((f"{USER}: what is missing", lambda root: Reader(root, USER, closing).says_what_is_missing()))
    for user in ("root", USER):
        for step in wanted:
            checks.append((f"{user}: {step.name}", lambda root, user=user, step=step: getattr(
                Reader(root, user, closing), step.name, Reader(root, user, closing).block)(step)))
    for compiler, (*needs, in_ci) in COMPILERS.get(release, {}).items():
        if in_ci or closing:
            checks.append((f"every source by itself: {compiler}",
                           lambda root, compiler=compiler, needs=needs: sources_alone(root, closing, compiler, *needs)))
    return checks


def run_checks(release, only, keep, closing):
    """The numbers of checks in a new root that passed and failed."""
    passed = failed = 0
    began = time.monotonic()
    root = Root(release)
    try:
        with root:
            root.lend(debian_root.KEPT / release / "passed", root.folder / "lent/passed")
            print(f"   an empty root of {RELEASES[release]}: {time.monotonic() - began:.0f} s", flush=True)
            for name, check in checks_of(release, closing):
                if only and not any(text in name for text in only):
                    continue
                started = time.monotonic()
                try:
                    words = check(root) or ""
                    passed += 1
                    print(f"ok     {RELEASES[release]}, {name}: {time.monotonic() - started:.0f} s {words}", flush=True)
                except Failed as error:
                    failed += 1
                    print(f"FAILED {RELEASES[release]}, {name}: {error}", flush=True)
            root.kept = keep
    except CannotMake as error:
        failed += 1
        print(f"FAILED {RELEASES[release]}: there is no root to test in: {error}", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--release", action="append", choices=list(RELEASES))
    parser.add_argument("--only", action="append")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--closing", action="store_true")
    args = parser.parse_args()
    passed = failed = 0
    try:
        if args.list:
            for release in args.release or RELEASES:
                print("\n".join(f"{release}, {name}" for name, _ in checks_of(release, args.closing)))
            return 0
        if args.prepare:
            for release in args.release or RELEASES:
                debian_root.lock(release)
                debian_root.make_pristine(release)
            return 0
        debian_root.enter_namespace()
        for release in args.release or RELEASES:
            counts = run_checks(release, args.only, args.keep, args.closing)
            passed, failed = passed + counts[0], failed + counts[1]
    except (CannotMake, pages.Stale) as error:
        failed += 1
        print(f"FAILED {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
