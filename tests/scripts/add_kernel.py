"""Checks three claims: a new kernel is one header and one row; a new elementwise, reducing or normalizing operator is
one function and one row; a new instruction set is one file and one row. Applies tests/data/add_*.patch to a copy of the
tree and builds the program there. Then runs the operators of the patches, checks that they are about as fast as similar
operators, that the rewrites of graphs apply to them, and that integers are multiplied with the new instruction set. The
program without the patches must refuse the same models.

Needs CAMEO_SOURCE_DIR, CAMEO_BINARY_DIR and CAMEO_PROGRAM in the environment, as CTest sets them, and a python3 with
onnx. Objects of files that the patches do not change come from ccache (cmake/cameo_compiler_cache.cmake).
"""
import json
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
# The text that each patch must add once: the beginning of its function or specialization.
FUNCTIONS = {"elementwise": "apply(", "reduction": "struct fold<", "normalization": "void normalize("}
PATCHES = [source / "tests/data" / f"add_{name}.patch" for name in ("kernel", "instruction_set", *FUNCTIONS)]
# Operators of the patches, each with an operator of cpu that does as much work per element.
LIKE = {"Squareplus": "Softplus", "ReduceRms": "ReduceL2", "MaxNormalization": "LpNormalization"}
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
    """Checks the claims: one new file and one row with its include, or one function and one row, and the tag of an
    operator that is ours. No patch removes a line."""
    kernel, instruction_set, *others = (p.read_text(encoding="utf-8").split("diff --git ")[1:] for p in PATCHES)
    for parts in (kernel, instruction_set, *others):
        assert not any(re.search(r"^-(?!--)", part, re.MULTILINE) for part in parts), "lines are taken away"
    assert ["new file" in part for part in kernel] == [True, False] and len(added(kernel[1])) == 1, "one row"
    assert ["new file" in part for part in instruction_set] == [True, False], "a file and a row"
    declaration, row = added(instruction_set[1])
    assert declaration.startswith("extern const") and row.startswith("    {"), "one row, and what it names"
    for (name, known_by), parts in zip(FUNCTIONS.items(), others):
        assert ["new file" in part for part in parts] == [True, False, False], "a tag, a function, a row"
        function, row = added(parts[1]), added(parts[2])
        assert sum(known_by in line for line in function) == 1 and len(function) <= 9, f"one function: {function}"
        assert len(row) == 1, f"one row: {row}"
        print(f"{name}: {len(parts)} files with the tag, a function of {len(function) - 1} lines and a row")


def copy_tree(to):
    """Copies what the build reads, without the repository: the tree may be a clone or an unpacked archive."""
    to.mkdir()
    for name in "CMakeLists.txt", "LICENSE", "THIRD_PARTY.md":
        shutil.copy2(source / name, to / name)
    for name in "cmake", "include", "src", "eps", "packaging":
        shutil.copytree(source / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))


def apply(tree, *patches):
    """Applies patches to a copy of the tree. -C1: the lines around them may change."""
    command("git", "init", "-q", cwd=tree)  # git apply looks for a repository above otherwise
    command("git", "apply", "-C1", *patches, cwd=tree)


def model_of(op, nodes, inputs, outputs, imports, constants=()):
    return helper.make_model(helper.make_graph(nodes, op, inputs, outputs, initializer=constants), ir_version=8,
                             opset_imports=[helper.make_opsetid(*each) for each in [("", 17), *imports]])


def write_case(folder, op, inputs, output, nodes, imports, constants=()):
    """A model with data, in the layout that `cameo conformance` reads."""
    io = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
          for name, each in (("x", inputs), ("y", output))]
    data = folder / op / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model_of(op, nodes, io[:1], io[1:], imports, constants), folder / op / "model.onnx")
    onnx.save_tensor(numpy_helper.from_array(inputs, "x"), data / "input_0.pb")
    onnx.save_tensor(numpy_helper.from_array(output, "y"), data / "output_0.pb")


def write_cases(folder):
    finite = helper.make_node("IsAllFinite", ["x"], ["y"], name="finite", domain="com.microsoft")
    for x in numpy.array([1, -2, 3], numpy.float32), numpy.array([1, numpy.inf, 3], numpy.float32):
        write_case(folder, f"IsAllFinite_{x[1]}", x, numpy.array(bool(numpy.isfinite(x).all())), [finite], [("com.microsoft", 1)])
    # Each operator is also run in float16, and between two transposes: a rewrite removes both around elementwise nodes.
    for kind in (numpy.float32, numpy.float64, numpy.float16):
        x = numpy.linspace(-3, 3, 60).reshape(3, 4, 5).astype(kind)
        wide = x.astype(numpy.float64)

        def case(op, y, *nodes):
            write_case(folder, f"{op}_{kind.__name__}", x, y.astype(kind), nodes, [("example", 1)])

        case("Squareplus", (wide + numpy.sqrt(wide**2 + 2.5)) / 2,
             helper.make_node("Transpose", ["x"], ["t"], perm=[2, 0, 1]),
             helper.make_node("Squareplus", ["t"], ["u"], name="squareplus", domain="example", b=2.5),
             helper.make_node("Transpose", ["u"], ["y"], perm=[1, 2, 0]))
        case("ReduceRms", numpy.sqrt((wide**2).mean((0, 2))),
             helper.make_node("ReduceRms", ["x"], ["y"], name="rms", domain="example", axes=[0, -1], keepdims=0))
        case("MaxNormalization", wide / abs(wide).max(1, keepdims=True),
             helper.make_node("MaxNormalization", ["x"], ["y"], name="largest", domain="example", axis=1))


def write_integers(folder):
    """A product of bytes for the added instruction set. It is not among the cases, as every cameo computes it."""
    random = numpy.random.default_rng(5)
    a, b = random.integers(0, 256, (37, 129), numpy.uint8), random.integers(-128, 128, (129, 45), numpy.int8)
    node = helper.make_node("MatMulInteger", ["x", "b"], ["y"])
    write_case(folder, "MatMulInteger", a, a.astype(numpy.int32) @ b.astype(numpy.int32), [node], [],
               [numpy_helper.from_array(b, "b")])


def check_instruction_set(program, folder):
    """Kernels use the added instruction set if the processor has it; products of integers are exact on every
    processor."""
    report = json.loads(command(program, "devices", "--json"))
    used = next(device["metadata"]["integers"] for provider in report["providers"] if provider["name"] == "cpu"
                for device in provider["devices"])
    has_avx2 = " avx2 " in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    if used != "made_up" and has_avx2:
        sys.exit(f"products of integers are made by {used}, where the made-up instruction set is the best")
    write_integers(folder)
    command(program, "conformance", folder)
    print(f"products of integers are made by {used}")


def write_large(folder, op, domain, kind, shaped=False):
    """One node over a matrix; with `shaped`, another branch that needs the shape of the node's output."""
    reduces = op.startswith("Reduce")
    nodes = [helper.make_node(op, ["x"], ["y"], domain=domain, **({"axes": [1]} if reduces else {}))]
    inputs = [helper.make_tensor_value_info("x", kind, [256, 1024])]
    if shaped:
        inputs.append(helper.make_tensor_value_info("other", kind, [16, 16] if reduces else [1024, 256]))
        nodes += [helper.make_node("Shape", ["y"], ["s"]), helper.make_node("Reshape", ["other", "s"], ["z"])]
    outputs = [helper.make_tensor_value_info(name, kind, None) for name in (["y", "z"] if shaped else ["y"])]
    path = folder / f"{op}_{kind}{shaped}.onnx"
    onnx.save(model_of(op, nodes, inputs, outputs, [(domain, 1)] if domain else []), path)
    return path


def check_like(program, folder):
    """Rewrites apply to the operators, and each takes at most three times as long as cpu's operator of its kind."""
    def least(path):
        said = command(program, "bench", path, "--threads", 1, "--seconds", 0.1, "--json", "--quiet")
        return json.loads(said[said.index("{"):])["min_us"]

    for op, like in LIKE.items():
        for kind in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16):
            if "Shape" in command(program, "inspect", write_large(folder, op, "example", kind, shaped=True)):
                sys.exit(f"rewrites have no shape for {op}")
            ours, theirs = write_large(folder, op, "example", kind), write_large(folder, like, "", kind)
            times = [(least(ours), least(theirs)) for _ in range(3)]
            mine, other = (min(each) for each in zip(*times))
            print(f"{op} of type {kind}: {mine:.0f} us, {like} {other:.0f} us")
            if mine > 3 * other:
                sys.exit(f"{op} is slow")


def build(tree, *targets):
    """Builds the program and these targets like the build that CTest runs in. Returns the folder of the build."""
    cache = (binary / "CMakeCache.txt").read_text(encoding="utf-8")
    options = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.MULTILINE))
    inside = os.path.relpath(binary, source)
    out = tree / ("build/patched" if inside.startswith("..") else inside)
    command("cmake", "-S", tree, "-B", out, "-Wno-dev", "-G", options["CMAKE_GENERATOR"], "-DCAMEO_TESTS=OFF",
            *[f"-D{name}={options[name]}" for name in KEPT[1:] if options.get(name)])
    environment = {name: value for name, value in os.environ.items() if name != "CCACHE_DISABLE"}
    jobs = os.environ.get("CAMEO_JOBS") or len(os.sched_getaffinity(0))
    command("cmake", "--build", out, "-j", jobs, "--target", "cameo_program", *targets, env=environment)
    return out


def main():
    check_patches()
    with tempfile.TemporaryDirectory(prefix="cameo-patch-") as folder:
        # The real path: compilers resolve symbolic links, and ccache would then miss the files that it has compiled
        # before.
        tree, cases = pathlib.Path(folder).resolve() / "tree", pathlib.Path(folder) / "cases"
        write_cases(cases)
        models = sorted(cases.glob("*/model.onnx"))
        for model in models:
            op = model.parent.name.split("_")[0]
            before = subprocess.run([os.environ["CAMEO_PROGRAM"], "run", model], capture_output=True, text=True,
                                    check=False)
            if before.returncode != 1 or op not in before.stderr:
                sys.exit(f"without the patches the program must refuse {op}; if cpu has it now, patch another operator "
                         "in:\n" + before.stdout + before.stderr)
        copy_tree(tree)
        apply(tree, *PATCHES)
        program = build(tree) / "cameo"
        said = command(program, "conformance", cases)
        if not re.search(rf"^{len(models)} passed, 0 failed", said, re.MULTILINE):
            sys.exit(f"the patched program does not pass:\n{said}")
        listed = command(program, "inspect", cases / "Squareplus_float32/model.onnx")
        if "Transpose" in listed:
            sys.exit(f"rewrites do not treat Squareplus as pointwise:\n{listed}")
        check_like(program, pathlib.Path(folder))
        check_instruction_set(program, pathlib.Path(folder) / "integers")
    print(f"{len(models)} passed, 0 failed")


if __name__ == "__main__":
    main()
