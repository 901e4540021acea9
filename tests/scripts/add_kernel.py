# not with a sanitizer: it builds the program once more, and what it looks for is no bad access
"""A new kernel is one header and one line; a new elementwise operator is one function and one row: applies
tests/data/add_kernel.patch and add_elementwise.patch to a copy of the tree, builds the program there and runs the
operators through it. The program without the patches must refuse the same models.

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
from onnx import helper, numpy_helper

source = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
binary = pathlib.Path(os.environ["CAMEO_BINARY_DIR"])
PATCHES = [source / "tests/data" / f"add_{name}.patch" for name in ("kernel", "elementwise")]
KEPT = ["CMAKE_GENERATOR", "CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_CXX_FLAGS",
        "CAMEO_PROVIDERS", "CAMEO_WERROR", "CAMEO_TOGETHER"]


def command(*arguments, **more):
    done = subprocess.run([str(a) for a in arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **more)
    if done.returncode != 0:
        print(done.stdout[-8000:])
        sys.exit(f"failed: {' '.join(map(str, arguments))}")
    return done.stdout


def added(part):
    return [line for line in re.findall(r"^\+(?!\+\+)(.*)$", part, re.MULTILINE) if not line.startswith("#include")]


def check_patches():
    """One new file and one line; one function and one row, and the tag of an operator that is ours: these are the
    claims. Nothing is taken away."""
    kernel, elementwise = (p.read_text(encoding="utf-8").split("diff --git ")[1:] for p in PATCHES)
    assert not any(re.search(r"^-(?!--)", part, re.MULTILINE) for part in kernel + elementwise), "lines are taken away"
    assert ["new file" in part for part in kernel] == [True, False] and len(added(kernel[1])) == 1, "one line of the list"
    assert ["new file" in part for part in elementwise] == [True, False, False], "a tag, a function, a row"
    function, row = added(elementwise[1]), added(elementwise[2])
    assert sum("apply(" in line for line in function) == 1 and len(function) <= 5, f"one function: {function}"
    assert len(row) == 1, f"one row: {row}"
    print(f"an elementwise operator: {len(elementwise)} files with its tag, {len(function)} lines and 1")


def copy_tree(to):
    """What git has or would have, as it is now: builds and caches stay behind."""
    listed = subprocess.run(["git", "-c", f"safe.directory={source}", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=source, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (source / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, to / name)


def write_case(folder, op, inputs, output, nodes, imports):
    """A model with data, as `cameo conformance` takes them."""
    kind = helper.np_dtype_to_tensor_dtype(inputs.dtype)
    io = [helper.make_tensor_value_info(name, kind, inputs.shape) for name in "xy"]
    data = folder / op / "test_data_set_0"
    data.mkdir(parents=True)
    model = helper.make_model(helper.make_graph(nodes, op, io[:1], io[1:]), ir_version=8,
                              opset_imports=[helper.make_opsetid(*each) for each in [("", 17), *imports]])
    onnx.save(model, folder / op / "model.onnx")
    onnx.save_tensor(numpy_helper.from_array(inputs, "x"), data / "input_0.pb")
    onnx.save_tensor(numpy_helper.from_array(output, "y"), data / "output_0.pb")


def write_cases(folder):
    x = numpy.array([[[0, 2], [1, 3]], [[4, 7], [2, 6]]], numpy.float32)
    inverse = helper.make_node("Inverse", ["x"], ["y"], name="inverse", domain="com.microsoft")
    write_case(folder, "Inverse", x, numpy.linalg.inv(x).astype(numpy.float32), [inverse], [("com.microsoft", 1)])
    # Elementwise, in half precision too, and between two transposes that cancel: rewrites know what it is.
    for kind in (numpy.float32, numpy.float64, numpy.float16):
        x = numpy.linspace(-3, 3, 60).reshape(3, 4, 5).astype(kind)
        y = ((x + numpy.sqrt(x.astype(numpy.float64) ** 2 + 2.5)) / 2).astype(kind)
        nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[2, 0, 1]),
                 helper.make_node("Squareplus", ["t"], ["u"], name="squareplus", domain="example", b=2.5),
                 helper.make_node("Transpose", ["u"], ["y"], perm=[1, 2, 0])]
        write_case(folder, f"Squareplus_{kind.__name__}", x, y, nodes, [("example", 1)])


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
    check_patches()
    with tempfile.TemporaryDirectory(prefix="cameo-patch-") as folder:
        # Not a link to somewhere else: compilers see through it, and ccache would not know the files again.
        tree, cases = pathlib.Path(folder).resolve() / "tree", pathlib.Path(folder) / "cases"
        write_cases(cases)
        for model in sorted(cases.glob("*/model.onnx")):
            op = model.parent.name.split("_")[0]
            before = subprocess.run([os.environ["CAMEO_PROGRAM"], "run", model], capture_output=True, text=True,
                                    check=False)
            if before.returncode != 1 or op not in before.stderr:
                sys.exit(f"without the patches the program must refuse {op}; if cpu has it now, patch another operator "
                         "in:\n" + before.stdout + before.stderr)
        copy_tree(tree)
        # A tree of its own for git apply, which otherwise looks for one above; -C1: lines around may change.
        command("git", "init", "-q", cwd=tree)
        command("git", "apply", "-C1", *PATCHES, cwd=tree)
        program = build(tree)
        said = command(program, "conformance", cases)
        if not re.search(r"^4 passed, 0 failed", said, re.MULTILINE):
            sys.exit(f"the patched program does not pass:\n{said}")
        listed = command(program, "inspect", cases / "Squareplus_float32/model.onnx")
        if "Transpose" in listed:
            sys.exit(f"rewrites do not know that Squareplus is pointwise:\n{listed}")
    print("4 passed, 0 failed")


if __name__ == "__main__":
    main()
