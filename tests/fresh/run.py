#!/usr/bin/env python3
"""Runs the commands of README.md in their order on empty Debian systems, as root and as a user. On Debian 12 all
commands run; on Debian 13 only quickstart, install and find_package, with g++ 14. There, every source is also compiled
separately with clang 19.

Usage: run.py [--release NAME]... [--only CHECK]... [--list] [--keep] [--prepare] [--closing]
  --release   bookworm or trixie; default: both
  --only      runs only checks whose name contains one of these texts; most need the results of earlier checks
  --list      prints the names of the checks
  --keep      does not remove the roots, so that they can be examined; the next run removes them
  --prepare   only makes the empty roots, which needs the network
  --minutes   begins no check after this many minutes, and prints the names of those that are left out
  --closing   for a release: compiles all sources separately, those of tests with g++ 14, too, and optimizes everything for
              every instruction set. Takes half an hour longer with an empty compiler cache. Without it, as in CI,
              sources are compiled separately for three minutes, changed ones first; those that passed are recorded
The commit at HEAD is tested. Roots and packages are stored in $CAMEO_ROOTS_DIR: see debian_root.py. Needs the user
root, debootstrap and mount namespaces. The last line of the output is: N passed, N failed.
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
# Compilers that compile each source separately in a root: the package, the expected version, an expression for the
# paths of sources, and whether CI runs it. quickstart has compiled the library and the program with g++, with warnings
# as errors.
COMPILERS = {"trixie": {"clang++-19": ("clang-19", "19", ".", True), "g++": ("g++", "14", "^(tests|examples|bench)/", False)}}
CI_MINUTES = 3
# Options for builds whose results are not measured: no optimization, and one instruction set.
QUICK = {"CMAKE_CXX_FLAGS": "-DHWY_COMPILE_ONLY_STATIC", "CMAKE_CXX_FLAGS_RELEASE": "-O0"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
APT_LINE = re.compile(r"^\s*(?:sudo )?(apt-get .*)$", re.MULTILINE)


class Reader:
    """A user who follows README.md in a root. Lines that install packages run as root, all others as the user."""

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
        """The compiler of this machine's release finds its objects in the compiler cache. Other compilers do not, so
        they compile for one instruction set only."""
        if self.closing or self.root.release == debian_root.this_release():
            return {}
        return {"CXXFLAGS": "-DHWY_COMPILE_ONLY_STATIC"}

    def write(self, path, text):
        self.root.write(path.lstrip("/"), text)
        self.root.run(["chown", f"{self.user}:", path])

    def has_clone(self):
        return (self.root.folder / self.clone.lstrip("/") / "README.md").exists()

    def get(self, folder):
        """Clones the tree, for steps without a line that does it."""
        target = self.root.folder / folder.lstrip("/")
        subprocess.run(["git", "clone", "--quiet", self.root.folder / "lent/cameo.git", target], check=True)
        self.root.run(["chown", "-R", f"{self.user}:", folder])

    def block(self, step):
        """Runs a block of sh that needs no preparation."""
        # The repository's address is the only word of the pages that is replaced.
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
        # Runs in the shell of the block, which may have activated an environment, with the Python that the block's pip
        # has.
        beside = re.search(r"(\S*/)?pip install", step.text).group(1) or ""
        self.sh(f"{step.text}\npython=$(realpath -s \"$(command -v {beside}python3)\")\ncd examples/digits\n\"$python\" first.py\n",
                self.clone)

    def project(self, step, name, folder, configure):
        """Builds the first program of README.md by a block of CMake, in the folder `folder` of a new folder with
        cameo."""
        base = f"{self.home}/{name}"
        self.root.run(["rm", "-rf", base])
        self.root.run(["mkdir", "-p", f"{base}/{folder}"])
        self.root.run(["chown", "-R", f"{self.user}:", base])
        text = step.text
        if "add_executable(" not in text:  # the block only gets cameo; all blocks use it in the same way
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
        """Checks that a program prints the output in README.md; last digits may depend on the processor."""
        printed = self.root.run([program], self.user, f"{self.clone}/examples/digits").strip().splitlines()
        shown = pages.first_block("text").strip().splitlines()
        same = len(printed) == len(shown) and all(
            NUMBER.sub("#", a) == NUMBER.sub("#", b) and
            all(math.isclose(float(x), float(y), rel_tol=1e-2, abs_tol=1e-6) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))
            for a, b in zip(shown, printed))
        expect(same, f"{program} prints what README.md shows", "\n".join(printed))

    def says_what_is_missing(self):
        """Checks that quickstart, run by a user on the empty machine, prints the line that root has to run, and runs
        it."""
        self.get(f"{self.home}/first")
        done = self.root.try_run(["./examples/quickstart"], self.user, f"{self.home}/first")
        line = re.search(r"^ *(apt-get update && apt-get install .*)$", done.stdout, re.MULTILINE)
        expect(done.returncode != 0 and line, "quickstart says which packages root has to install", done.stdout)
        self.root.install(line.group(1))


def expect(condition, claim, output):
    if not condition:
        raise Failed(f"this does not hold: {claim}. The output:\n{output[-4000:]}")


def sources_alone(root, closing, compiler, package, version, only):
    """Compiles each source separately. Sources that passed are recorded in the folder of the roots."""
    folder = "/root/cameo"
    if not (root.folder / "root/cameo").exists():
        Reader(root, "root").get(folder)
    listed = root.run(["bash", "-euc", f". {folder}/cmake/bootstrap.sh; echo $cameo_packages_build $cameo_packages_tests"]).split()
    # Only libraries whose headers the tests use: compilers and programs for tests have other versions in each release.
    libraries = [name for name in listed if not re.match(r"clang|libc\+\+|chromium|libonnx-testdata", name)]
    root.install(f"apt-get update && apt-get install --no-install-recommends {' '.join(libraries)} {package}")
    said = root.run([compiler, "--version"]).splitlines()[0]
    expect(re.search(rf"\b{version}\.\d", said), f"{compiler} is version {version}", said)
    done = root.try_run(["python3", "tests/fresh/every_source.py", "--compiler", compiler, "--only", only,
                         "--passed", "/lent/passed", *([] if closing else ["--minutes", str(CI_MINUTES)])], folder=folder)
    expect(done.returncode == 0, f"every source compiles separately with {compiler}", done.stdout)
    return re.search(r"^\d+ sources.*$", done.stdout, re.MULTILINE).group(0)


def checks_of(release, closing):
    """Returns the names of a release's checks, and a function of a root for each, in order."""
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
            checks.append((f"every source separately: {compiler}",
                           lambda root, compiler=compiler, needs=needs: sources_alone(root, closing, compiler, *needs)))
    return checks


def run_checks(release, only, keep, closing, end):
    """Runs the checks in a new root, and begins none after `end`; returns the numbers of checks that passed and failed."""
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
                if started > end:
                    print(f"left out, for want of time: {RELEASES[release]}, {name}", flush=True)
                    continue
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
        print(f"FAILED {RELEASES[release]}: a root could not be made: {error}", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--release", action="append", choices=list(RELEASES))
    parser.add_argument("--only", action="append")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--closing", action="store_true")
    args = parser.parse_args()
    end = time.monotonic() + 60 * args.minutes
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
            counts = run_checks(release, args.only, args.keep, args.closing, end)
            passed, failed = passed + counts[0], failed + counts[1]
    except (CannotMake, pages.Stale) as error:
        failed += 1
        print(f"FAILED {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
