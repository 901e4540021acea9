#!/usr/bin/env python3
"""Builds the wheel of the Python package from a build of cameo, unpacks it into build/python/site, and runs its tests.

Usage: run.py [--build build/release] [--cases build/cases] [--only NAME...]
  --build   a build of cameo that is up to date; its libraries are not compiled again
  --cases   the folder that tests/conformance/make_cases.py wrote
Needs a python3 with the packages of requirements.txt. The last line is: N passed, N failed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "build" / "python"


def command(*words, **more):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)


def make_wheel(build):
    """Builds the wheel and returns its path; ends the script with the output if that fails."""
    shutil.rmtree(OUT / "wheels", ignore_errors=True)
    settings = [f"cmake.define.CAMEO_BUILT={build}", f"cmake.define.CAMEO_WERROR={os.environ.get('CAMEO_WERROR', 'OFF')}"]
    done = command(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--disable-pip-version-check",
                   "-w", OUT / "wheels", *(f"-C{each}" for each in settings), ROOT)
    if done.returncode:
        sys.exit(f"{done.stdout[-6000:]}\n0 passed, 1 failed")
    wheel, = (OUT / "wheels").glob("cameo-*.whl")
    return wheel


def faults_of(wheel):
    """Yields a message for each fault of the wheel's contents."""
    names = set(zipfile.ZipFile(wheel).namelist())
    for wanted in ("cameo/__init__.py", "cameo/py.typed", "cameo/_core.pyi", "cameo/backend.py", "cameo/onnxruntime/__init__.py",
                   "cameo/onnxruntime/capi/onnxruntime_pybind11_state.py"):
        if wanted not in names:
            yield f"{wanted} is not in the wheel"
    modules = [name for name in names if name.endswith(".so")]
    if len(modules) != 1:
        yield f"the wheel has {modules}, and should have one module"
    for name in names:
        if re.search(r"\.(cpp|hpp)$|CMakeLists|__pycache__", name):
            yield f"{name} is in the wheel"
    text = (ROOT / "include" / "cameo" / "core" / "version.hpp").read_text()
    version = ".".join(re.findall(r"^#define CAMEO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))
    if not wheel.name.startswith(f"cameo-{version}-"):
        yield f"{wheel.name} is not of version {version}"
    shown = command("nm", "-D", "--defined-only", OUT / "site" / modules[0]).stdout.split()
    if shown[2::3] != ["PyInit__core"]:
        yield f"the module exports {shown[2::3][:5]}, and should export only PyInit__core"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--cases", type=pathlib.Path, default=ROOT / "build" / "cases")
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    begin = time.monotonic()
    wheel = make_wheel(args.build.resolve())
    shutil.rmtree(OUT / "site", ignore_errors=True)
    zipfile.ZipFile(wheel).extractall(OUT / "site")
    print(f"{wheel.name}: {wheel.stat().st_size >> 10} KiB in {time.monotonic() - begin:.1f} s", flush=True)
    passed = failed = 0
    for fault in faults_of(wheel):
        failed += 1
        print(fault)
    passed += not failed
    env = dict(os.environ, PYTHONPATH=str(OUT / "site"), PYTHONDONTWRITEBYTECODE="1")
    for name, *arguments in (["package_test"], ["onnxruntime_test"], ["without_numpy"], ["pages_test"],
                             ["backend_test", args.build / "cameo", args.cases], ["add_option", args.build]):
        if args.only and name not in args.only:
            continue
        begin = time.monotonic()
        done = command(sys.executable, HERE / f"{name}.py", *arguments, env=env)
        ran = re.search(r"^Ran (\d+) tests?", done.stdout, re.MULTILINE)
        counted = re.findall(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
        good, bad = map(int, counted[-1]) if counted else (int(ran[1]) if ran and not done.returncode else 0, done.returncode)
        passed, failed = passed + good, failed + (bad or done.returncode != 0)
        print(f"{'FAILED' if done.returncode else 'passed'}  {name:<18} {time.monotonic() - begin:6.1f} s", flush=True)
        if done.returncode:
            print(done.stdout[-6000:], flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
