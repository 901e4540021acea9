# not with a sanitizer: it builds the program once more, and what it looks for is no bad access
"""A new kernel is one header and one line: applies tests/data/add_kernel.patch to a copy of the tree, builds the program
there and runs the operator through it. The program without the patch must refuse the same model.

Needs CAMEO_SOURCE_DIR, CAMEO_BINARY_DIR and CAMEO_PROGRAM, as CTest sets them, and a python3 with onnx. What the patch
does not touch comes from ccache when the tree was built with CCACHE_BASEDIR set to its root, as tests/run does.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

source = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
binary = pathlib.Path(os.environ["CAMEO_BINARY_DIR"])
PATCH = source / "tests/data/add_kernel.patch"
KEPT = ["CMAKE_GENERATOR", "CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_CXX_FLAGS",
        "CAMEO_PROVIDERS", "CAMEO_WERROR", "CAMEO_TOGETHER"]


def command(*arguments, **more):
    done = subprocess.run([str(a) for a in arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **more)
    if done.returncode != 0:
        print(done.stdout[-8000:])
        sys.exit(f"failed: {' '.join(map(str, arguments))}")
    return done.stdout


def check_patch():
    """One new file and one line: that is the claim."""
    text = PATCH.read_text(encoding="utf-8")
    files = re.findall(r"^\+\+\+ b/(.*)$", text, re.MULTILINE)
    assert len(files) == 2 and text.count("new file mode") == 1, files
    changed = text[text.index("--- a/") :]
    assert len(re.findall(r"^\+(?!\+\+)", changed, re.MULTILINE)) == 1, "more than one line of the list"
    assert not re.search(r"^-(?!--)", changed, re.MULTILINE), "lines are taken away"


def copy_tree(to):
    """What git has or would have, as it is now: builds and caches stay behind."""
    listed = subprocess.run(["git", "-c", f"safe.directory={source}", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=source, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (source / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, to / name)


def write_case(folder):
    """A one-node model with data, as `cameo conformance` takes them."""
    node = helper.make_node("Inverse", ["x"], ["y"], name="inverse", domain="com.microsoft")
    io = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2, 2]) for name in "xy"]
    graph = helper.make_graph([node], "inverse", io[:1], io[1:])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    x = numpy.array([[[0, 2], [1, 3]], [[4, 7], [2, 6]]], numpy.float32)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), folder / "model.onnx")
    onnx.save_tensor(numpy_helper.from_array(x, "x"), data / "input_0.pb")
    onnx.save_tensor(numpy_helper.from_array(numpy.linalg.inv(x).astype(numpy.float32), "y"), data / "output_0.pb")


def build(tree):
    cache = (binary / "CMakeCache.txt").read_text(encoding="utf-8")
    options = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.MULTILINE))
    inside = os.path.relpath(binary, source)
    out = tree / ("build/patched" if inside.startswith("..") else inside)
    command("cmake", "-S", tree, "-B", out, "-Wno-dev", "-G", options["CMAKE_GENERATOR"], "-DCAMEO_TESTS=OFF",
            *[f"-D{name}={options[name]}" for name in KEPT[1:] if options.get(name)])
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    environment.pop("CCACHE_DISABLE", None)
    jobs = os.environ.get("CAMEO_JOBS") or len(os.sched_getaffinity(0))
    command("cmake", "--build", out, "-j", jobs, "--target", "cameo_program", env=environment)
    return out / "cameo"


def main():
    check_patch()
    with tempfile.TemporaryDirectory(prefix="cameo-patch-") as folder:
        # Not a link to somewhere else: compilers see through it, and ccache would not know the files again.
        tree, case = pathlib.Path(folder).resolve() / "tree", pathlib.Path(folder) / "case"
        write_case(case)
        before = subprocess.run([os.environ["CAMEO_PROGRAM"], "run", case / "model.onnx"], capture_output=True, text=True,
                                check=False)
        if before.returncode != 1 or "NOT_IMPLEMENTED" not in before.stderr or "Inverse" not in before.stderr:
            sys.exit("without the patch the program must refuse Inverse; if cpu has it now, patch another operator in:\n"
                     + before.stdout + before.stderr)
        copy_tree(tree)
        # A tree of its own for git apply, which otherwise looks for one above; -C1: lines around may change.
        command("git", "init", "-q", cwd=tree)
        command("git", "apply", "-C1", PATCH, cwd=tree)
        program = build(tree)
        said = command(program, "conformance", case)
        if not re.search(r"^1 passed, 0 failed", said, re.MULTILINE):
            sys.exit(f"the patched program does not pass:\n{said}")
        print(command(program, "run", case / "model.onnx", "--input", f"x={case}/test_data_set_0/input_0.pb"))
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
