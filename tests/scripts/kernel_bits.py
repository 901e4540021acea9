#!/usr/bin/env python3
"""cpu's kernels return the same bits on every instruction set with fused multiply-add, and for any number of threads.
The cases are ONNX's, cases that the differential scripts draw, and sums that are longer than a register or a tile;
every operator for which cpu has a kernel is among them. Each instruction set of this processor is compared with the
others and with
tests/data/case_hashes.txt, and thereby with the machine that wrote this file.

  --write   writes tests/data/case_hashes.txt anew
  --only N  cases with this in their name
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

import ml_dtypes
import numpy as np
import onnx

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(root / "tests" / "program"), str(root / "tests" / "scripts")]
import absent_inputs  # noqa: E402
import differential as d  # noqa: E402
import differential_attention  # noqa: E402
import differential_contrib  # noqa: E402
import differential_ml  # noqa: E402
import differential_quantized  # noqa: E402
import differential_recurrent  # noqa: E402
import differential_search  # noqa: E402
import differential_signal  # noqa: E402
import image_operators  # noqa: E402
import ort_judge as judge  # noqa: E402

RECORD = root / "tests" / "data" / "case_hashes.txt"
FUSED = ["AVX3", "AVX2"]  # the instruction sets of x86-64, best first
PRELOADED = pathlib.Path(os.environ.get("CAMEO_BINARY_DIR", root / "build" / "release")) / "tests" / "libbest_target.so"
DRAWN = 8  # the number of cases of each family of the differential scripts
KINDS = ["node", "simple", "pytorch-converted", "pytorch-operator"]
DRAWS = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
FLOATS = {"f4": "f4", "f2": "f2", "f8": "f8", "bf16": ml_dtypes.bfloat16}


RNG = np.random.default_rng(16)


def x(*shape, kind="f4"):
    return RNG.uniform(-1, 1, shape).astype(FLOATS[kind])


def codes(*shape, kind="u1"):
    return RNG.integers(np.iinfo(kind).min + 1, np.iinfo(kind).max, shape).astype(kind)


def products(kind):
    """Sums that are longer than registers, tiles and blocks, and not a multiple of any; as in the functions below."""
    for m, k, n in ((1, 601, 37), (5, 1031, 1), (39, 517, 75), (131, 300, 19)):
        for constant in ((), (1,)):
            yield d.one_node("MatMul", [x(m, k, kind=kind), x(k, n, kind=kind)], opset=13, constant=constant)
    yield d.one_node("Gemm", [x(517, 39, kind=kind), x(75, 517, kind=kind), x(75, kind=kind)], opset=13, alpha=0.3, beta=0.7,
                     transA=1, transB=1)
    yield d.one_node("Einsum", [x(3, 7, 301, kind=kind), x(3, 301, 11, kind=kind)], opset=12, equation="bij,bjk->bk")
    heads = [x(2, 4, 71, 64, kind=kind), x(2, 2, 133, 64, kind=kind), x(2, 2, 133, 48, kind=kind)]
    yield d.one_node("Attention", heads, opset=23, is_causal=1)
    for op, gates in (("RNN", 75), ("GRU", 3 * 75), ("LSTM", 4 * 75)):
        for batch in (1, 7):
            inputs = [x(9, batch, 67, kind=kind), x(1, gates, 67, kind=kind), x(1, gates, 75, kind=kind)]
            yield d.one_node(op, inputs, 2, opset=22, hidden_size=75, constant=(1, 2))


def reductions(kind):
    for op in ("Sum", "Mean", "L1", "L2", "SumSquare", "Prod", "LogSum", "LogSumExp", "Max", "Min"):
        for axes in ([1], [0], [0, 1], [0, 2]):
            yield d.one_node("Reduce" + op, [x(7, 1031, 3, kind=kind), np.array(axes, "i8")], constant=(1,),
                             opset=20 if op in ("Max", "Min") else 18)
    for axis in (0, 1, -1):
        for op in ("Softmax", "LogSoftmax"):
            yield d.one_node(op, [x(7, 1031, 3, kind=kind) * 9], opset=13, axis=axis)
        row = (7, 31, 133)[axis:]
        yield d.one_node("LayerNormalization", [x(7, 31, 133, kind=kind), x(*row, kind=kind), x(*row, kind=kind)],
                         opset=17, axis=axis)
        yield d.one_node("CumSum", [x(7, 131, 3, kind=kind), np.array(axis, "i8")], opset=14)
    image, of_channels = x(2, 12, 37, 11, kind=kind), [x(12, kind=kind), x(12, kind=kind)]
    yield d.one_node("InstanceNormalization", [image, *of_channels], opset=22)
    yield d.one_node("GroupNormalization", [image, *of_channels], opset=21, num_groups=3)
    yield d.one_node("BatchNormalization", [image, *of_channels, x(12, kind=kind), np.abs(x(12, kind=kind))], opset=15)
    yield d.one_node("RMSNormalization", [x(7, 1031, kind=kind), x(1031, kind=kind)], opset=23)
    yield d.one_node("LpNormalization", [x(7, 1031, kind=kind)], opset=22)
    yield d.one_node("LRN", [x(2, 37, 9, 9, kind=kind)], opset=13, size=5)
    yield d.one_node("MeanVarianceNormalization", [x(2, 5, 37, 31, kind=kind)], opset=13)
    for op in ("Sum", "Mean", "Max"):
        yield d.one_node(op, [x(7, 131, kind=kind), x(131, kind=kind), x(7, 1, kind=kind)], opset=13)


def windows(kind):
    for shape, weights, keys in (((2, 19, 17, 23), (21, 19, 3, 3), {"pads": [1] * 4}),
                                 ((1, 67, 9, 9), (5, 67, 1, 1), {}),
                                 ((1, 37, 20, 20), (37, 1, 5, 5), {"group": 37, "strides": [2, 2]}),
                                 ((1, 19, 400), (11, 19, 9), {"dilations": [2]}),
                                 ((1, 32, 15, 15), (48, 32, 3, 3), {"auto_pad": "SAME_UPPER"}),
                                 ((1, 5, 9, 9, 9), (7, 5, 3, 3, 3), {})):
        for constant in ((1, 2), ()):
            inputs = [x(*shape, kind=kind), x(*weights, kind=kind), x(weights[0], kind=kind)]
            yield d.one_node("Conv", inputs, opset=22, constant=constant, **keys)
    yield d.one_node("ConvTranspose", [x(1, 19, 9, 11, kind=kind), x(19, 21, 3, 3, kind=kind)], opset=22, strides=[2, 2])
    for op in ("AveragePool", "MaxPool", "LpPool"):
        yield d.one_node(op, [x(1, 19, 37, 41, kind=kind)], opset=22, kernel_shape=[9, 7], strides=[2, 3])
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield d.one_node(op, [x(2, 19, 37, 41, kind=kind)], opset=22)


def one_type_cases():
    for filters, group in ((48, 1), (32, 32)):
        yield d.one_node("Conv", [x(1, 32, 15, 17), x(filters, 32 // group, 3, 3), x(filters)], opset=1, group=group,
                         domain="com.microsoft.nchwc", constant=(1, 2), plain_weights=1, kernel_shape=[3, 3])
    for kind in ("f4", "f8"):
        for length in (1000, 1013):
            yield d.one_node("DFT", [x(3, length, 1, kind=kind), None, np.array(1, "i8")], opset=20)
        yield d.one_node("Det", [x(3, 19, 19, kind=kind)], opset=22)
    for mode in ("nearest", "linear", "cubic"):
        yield d.one_node("Resize", [x(1, 3, 37, 41), None, None, np.array([1, 3, 61, 27], "i8")], opset=19, mode=mode,
                         antialias=int(mode != "nearest"), constant=(3,))


def quantized():
    step, small = np.float32(.3), np.float32(.02)
    for left, right in itertools.product(("u1", "i1"), repeat=2):
        for m, k, n in ((1, 601, 37), (39, 517, 75)):
            a, b = codes(m, k, kind=left), codes(k, n, kind=right)
            yield d.one_node("MatMulInteger", [a, b], opset=10)
            yield d.one_node("QLinearMatMul", [a, small, codes(kind=left), b, small, codes(kind=right), step,
                                               codes(kind=left)], opset=10, constant=(3, 4, 5))
    for group, depth in ((1, 19), (57, 1)):
        weights = [codes(57, depth, 3, 3, kind="i1"), x(57) ** 2, np.zeros(57, "i1")]
        yield d.one_node("QLinearConv", [codes(1, group * depth, 17, 23), small, codes(), *weights, step, codes(),
                                         RNG.integers(-999, 999, 57).astype("i4")], opset=10, group=group,
                         constant=range(1, 9))
    yield d.one_node("DynamicQuantizeLinear", [x(37, 131)], 3, opset=11)
    for bits in (4, 8):
        yield d.one_node("MatMulNBits", [x(3, 96), codes(37, 3, 4 * bits), np.abs(x(37 * 3))], opset=1,
                         domain="com.microsoft", constant=(1, 2), K=96, N=37, bits=bits, block_size=32)
    for bits, level in ((2, 0), (2, 4), (4, 4), (8, 4)):
        for m in (1, 19):
            yield d.one_node("MatMulNBits", [x(m, 601), codes(37, 10, 8 * bits), np.abs(x(37 * 10))], opset=1,
                             domain="com.microsoft", constant=(1, 2), K=601, N=37, bits=bits, block_size=64,
                             accuracy_level=level)
    yield d.one_node("DynamicQuantizeMatMul", [x(19, 601), codes(601, 37, kind="i1"), np.abs(x(37)), np.zeros(37, "i1"),
                                               x(37)], opset=1, domain="com.microsoft", constant=(1, 2, 3, 4))


def long_cases():
    for kind in FLOATS:
        yield from itertools.chain(products(kind), reductions(kind), windows(kind))
    yield from one_type_cases()
    yield from quantized()


def own_cases():
    number = collections.Counter()
    for kind, cases in (("long", long_cases()), ("small", absent_inputs.cases_of_other_domains())):
        for each in cases:
            name = f"{each.model.graph.node[0].op_type}.{kind}"
            each.name = f"{name}.{number[name]}"
            number[name] += 1
            yield each
    for families in (differential_attention.FAMILIES, differential_contrib.OF_ONE_NODE, differential_ml.FAMILIES,
                     differential_quantized.FAMILIES, differential_recurrent.FAMILIES, differential_signal.FAMILIES,
                     differential_search.FAMILIES, image_operators.FAMILIES):
        for name, (make, _) in families.items():
            for i in range(DRAWN):
                each = d.made_case(name, 16, make, i)
                if families is differential_contrib.OF_ONE_NODE:  # some have the same names as ONNX's operators
                    each.name = f"contrib.{each.name}"
                yield each


def output_of(program, target, *arguments):
    """The output of the program when it may use no better instruction set than this one."""
    held = {"CAMEO_BEST_TARGET": target, "LD_PRELOAD": str(PRELOADED)} if target and PRELOADED.exists() else {}
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=os.environ | held).stdout


def instruction_set(target=None):
    told = json.loads(output_of(judge.PROGRAM, target, "devices", "--json"))
    return next(device["metadata"]["instruction_set"] for provider in told["providers"] if provider["name"] == "cpu"
                for device in provider["devices"])


def hashes(folders, report, target, threads, only):
    """The name of each case that runs, and the hash of its outputs."""
    arguments = ["--filter", only] if only else []
    output_of(judge.PROGRAM, target, "conformance", *folders, "--json", report, "--quiet", "--threads", threads, *arguments)
    return {told["name"]: told["hash"][:8] for told in json.loads(report.read_text()) if "hash" in told}


def hash_of_inputs(folder):
    files = [folder / "model.onnx", *sorted(folder.glob("test_data_set_*/input_*"))]
    made = 0
    for file in files:
        made = zlib.crc32(file.read_bytes(), made)
    return f"{made:08x}"


def operators_in(graph):
    for node in graph.node:
        yield node.domain or "ai.onnx", node.op_type
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from operators_in(inner)


def operators_of(folder):
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    return {op for graph in (model.graph, *model.functions) for op in operators_in(graph)}


def recorded():
    lines = (line.split() for line in RECORD.read_text().splitlines()) if RECORD.exists() else ()
    return {name: (inputs, outputs) for name, inputs, outputs in lines}


def what_differs(runs, operators):
    """(case, description) for all cases whose bits are not the same in all runs."""
    (first, wanted), *others = runs.items()
    for run, got in others:
        for name in sorted(wanted.keys() | got.keys()):
            if wanted.get(name) != got.get(name) and not DRAWS & {op for _, op in operators[name]}:
                yield name, f"other bits with {run} than with {first}"


def main():
    say = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    say.add_argument("--write", action="store_true")
    say.add_argument("--only")
    o = say.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for each in own_cases():
            absent_inputs.write(scratch / "own" / each.name, each)
        folders = [judge.cases_of_onnx(root, scratch) / kind for kind in KINDS] + [scratch / "own"]
        best = instruction_set()
        sets = list(dict.fromkeys([best, *(instruction_set(target) for target in FUSED if best in FUSED)]))
        runs = {f"{target}, 1 thread": hashes(folders, scratch / "report.json", target, 1, o.only) for target in sets}
        runs[f"{best}, 3 threads"] = hashes(folders, scratch / "report.json", best, 3, o.only)
        found = {case.name: case for folder in folders for case in folder.iterdir()}
        operators = {name: operators_of(folder) for name, folder in found.items()}
        made = {name: (hash_of_inputs(found[name]), outputs) for name, outputs in runs[f"{best}, 1 thread"].items()
                if not DRAWS & {op for _, op in operators[name]}}
    problems = list(what_differs(runs, operators))
    if o.write:
        RECORD.write_text("".join(f"{name} {' '.join(made[name])}\n" for name in sorted(made)))
    of, other_inputs = recorded() if best in FUSED else {}, 0
    for name in sorted(made.keys() & of.keys()):
        other_inputs += made[name][0] != of[name][0]
        if made[name][0] == of[name][0] and made[name][1] != of[name][1]:
            problems.append((name, "other bits than recorded"))
    for name, words in problems:
        print(f"{name} ({', '.join(sorted(op for _, op in operators[name]))}): {words}")
    print(f"{len(made)} cases, run with {'; '.join(runs)}: {len(problems)} differ; "
          f"{other_inputs} have other inputs than those of the record and were not held against it")
    wrong = bool(problems)
    if not o.only:
        run = set().union(*(operators[name] for name in runs[f"{best}, 1 thread"]))
        without = sorted("::".join(op) for op in absent_inputs.operators() - run)
        print(f"operators without a case: {', '.join(without) or 'none'}")
        lacking = sorted(of.keys() ^ made.keys()) if best in FUSED else []
        print(f"cases that were recorded and not run, or run and not recorded: {', '.join(lacking) or 'none'}"[:2000])
        wrong |= bool(without or lacking) or 20 * other_inputs > len(made)
    return 1 if wrong or not made else 0


if __name__ == "__main__":
    sys.exit(main())
