"""Tests that a new session option needs only a member, a row of the table of options, and its use: applies
tests/data/add_option.patch to a copy of the tree, builds the interfaces there, and checks the option in C, in Python, in
the program, in Triton's backend and in the page of options.

Usage: add_option.py [BUILD]     (default: build/release, whose flags and, by ccache, objects are used)
Needs the packages of requirements.txt. The last line is: N passed, N failed.
"""
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ["CAMEO_SOURCE_DIR"] = str(ROOT)
os.environ["CAMEO_BINARY_DIR"] = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release").resolve())
sys.path.insert(0, str(ROOT / "tests" / "scripts"))
import add_kernel  # noqa: E402
from add_kernel import command  # noqa: E402

PATCH = ROOT / "tests" / "data" / "add_option.patch"
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
# The messages for the value 13, which the patched loading refuses, and for a value beyond the limit in the row.
USED, LIMIT = "made_up is 13", "needs a number from 0 to 20, not '21'"


def check_patch():
    """Checks that the patch adds a member, a row and its use, and nothing else."""
    parts = PATCH.read_text(encoding="utf-8").split("diff --git ")[1:]
    assert not any(re.search(r"^-(?!--)", part, re.MULTILINE) for part in parts), "lines are removed"
    files = [part.split()[0].removeprefix("a/") for part in parts]
    assert files == ["include/cameo/session/options.hpp", "src/session/option_table.cpp", "src/session/settings.cpp"], files
    member, row, use = ("\n".join(add_kernel.added(part)) for part in parts)
    assert len(member.splitlines()) == 1 and row.count("option<") == 1 and use.count(";") == 1, "a member, a row, its use"


def words_of(*arguments, **more):
    """The output of a command that fails; "no error" if it succeeds."""
    done = subprocess.run([str(a) for a in arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **more)
    return done.stdout if done.returncode else "no error"


def in_c(library, value):
    c = ctypes.CDLL(library)
    for name in "cameo_options_new", "cameo_error_words":
        getattr(c, name).restype = ctypes.c_void_p
    c.cameo_options_set.restype = c.cameo_session_load.restype = ctypes.c_void_p
    options, runtime, session = ctypes.c_void_p(c.cameo_options_new()), ctypes.c_void_p(), ctypes.c_void_p()
    c.cameo_runtime_new(None, ctypes.c_size_t(0), ctypes.byref(runtime))
    error = c.cameo_options_set(options, b"made_up", str(value).encode())
    error = error or c.cameo_session_load(runtime, str(DIGITS).encode(), options, ctypes.byref(session))
    return ctypes.string_at(c.cameo_error_words(ctypes.c_void_p(error))).decode() if error else "no error"


def build_module(tree, out):
    """Builds the Python package; returns the folder to import it from."""
    module = out / "python"
    command("cmake", "-S", tree / "src" / "python", "-B", module, "-G", "Ninja", f"-DCAMEO_BUILT={out}",
            "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}")
    command("cmake", "--build", module, "--target", "_core")
    for built in module.glob("_core*.so"):
        built.rename(tree / "src" / "python" / "cameo" / built.name)
    return tree / "src" / "python"


def build_backend(tree, out):
    """Builds Triton's backend and a program that loads a model with it; returns the paths of both."""
    command("cmake", "-S", tree / "src" / "triton", "-B", out / "triton", "-G", "Ninja", f"-DCAMEO_BUILT={out}")
    command("cmake", "--build", out / "triton")
    command("c++", "-std=c++20", "-rdynamic", f"-I{tree / 'src'}", ROOT / "tests" / "serving" / "one_model.cpp", "-o",
            out / "one_model", "-ldl")
    return out / "one_model", out / "triton" / "libtriton_cameo.so"


def main():
    check_patch()
    with tempfile.TemporaryDirectory(prefix="cameo-patch-") as folder:
        tree = pathlib.Path(folder).resolve() / "tree"
        add_kernel.copy_tree(tree)
        add_kernel.apply(tree, PATCH)
        out = add_kernel.build(tree, "cameo_shared")
        package, backend = build_module(tree, out), build_backend(tree, out)
        models = pathlib.Path(folder) / "model"
        (models / "1").mkdir(parents=True)
        (models / "1" / "model.onnx").write_bytes(DIGITS.read_bytes())

        def in_python(value):
            load = f"import cameo; cameo.Session({str(DIGITS)!r}, made_up={value})"
            return words_of(sys.executable, "-c", load, env=dict(os.environ, PYTHONPATH=str(package)))

        def in_program(value):
            return words_of(out / "cameo", "run", DIGITS, "--random-inputs", "--made-up", value)

        def in_triton(value):
            config = {"parameters": {"made_up": {"string_value": str(value)}}}
            return words_of(*backend, models, json.dumps(config))

        passed = failed = 0
        page = command(out / "cameo", "options")
        checks = [("page", re.search(r"^\| `made_up` \| `--made-up` \| `N` \| `7` \|", page, re.MULTILINE), page)]
        for name, load in (("C", lambda value: in_c(out / "libcameo.so", value)), ("Python", in_python),
                           ("program", in_program), ("Triton", in_triton)):
            for value, words in ((13, USED), (21, LIMIT), (7, "no error")):
                printed = load(value)
                checks.append((f"{name}, {value}", words in printed, printed))
        for what, is_right, printed in checks:
            passed, failed = passed + bool(is_right), failed + (not is_right)
            if not is_right:
                print(f"{what}: {printed}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
