#!/usr/bin/env python3
"""Robustness of every operator for which cpu has a kernel: each input in turn is left out (with an empty name, or
together with all inputs after it), is empty (no elements), has another rank or another type, as an input of the run and
as a constant; and each output in turn is left out. The program must answer each with a status or a result, never with a
signal or a sanitizer's report.

The nodes that are changed come from ONNX's own test cases and, for operators without one, from the differential
scripts.

  --long       all changes; by default those that leave something out of one node of each operator or replace an input with
               a scalar, and every twentieth of the others (other ones for another --seed)
  --op NAME    only the operator with this name
  --only WORDS all changes whose description ends with these words
  --keep DIR   keeps the cases that failed in this folder
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(root / "tests" / "program"), str(root / "tests" / "scripts")]
import differential as d  # noqa: E402
import differential_attention  # noqa: E402
import differential_contrib  # noqa: E402
import differential_ml  # noqa: E402
import differential_search  # noqa: E402
import ort_judge as judge  # noqa: E402

OTHER_TYPES = ["f4", "f2", "i8", "i4", "u1", "?", "S"]
PER_OPERATOR = 3  # nodes that differ in which inputs or attributes are present
SMALL = 1 << 12  # most elements of an input: larger cases would find nothing more


def operators():
    told = subprocess.run([judge.PROGRAM, "ops", "--ep", "cpu", "--json"], capture_output=True, text=True, check=True)
    return {(op["domain"], op["op"]) for op in json.loads(told.stdout)["ops"] if not op.get("function_body")}


def onnx_case(folder):
    """The case in a test folder; None if its model has more than one node or an input that is not a tensor."""
    model = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"
    if len(model.graph.node) != 1 or any(not i.type.HasField("tensor_type") for i in model.graph.input):
        return None
    feeds = {i.name: judge.read_value(data / f"input_{n}.pb", "tensor(float)")[1]
             for n, i in enumerate(model.graph.input) if (data / f"input_{n}.pb").exists()}
    return d.case(model, feeds, name=folder.name)


def cases_of_other_domains():
    """Cases for operators of which ONNX has no case with a single node."""
    rng = np.random.default_rng(3)

    def x(*shape):
        return rng.uniform(-1, 1, shape).astype("f4")

    def codes(*shape):
        return rng.integers(0, 255, shape).astype("u1")

    scale, zero = np.array(0.1, "f4"), np.array(128, "u1")
    quantized = [codes(2, 3), scale, zero]
    image = [codes(1, 2, 4, 4), scale, zero]

    def microsoft(op, inputs, outputs=1, **more):
        return d.one_node(op, inputs, outputs, opset=1, domain="com.microsoft", **more)

    def blocked(op, inputs, outputs=1, **more):
        return d.one_node(op, inputs, outputs, opset=1, domain="com.microsoft.nchwc", **more)

    square = {"kernel_shape": [2, 2]}
    yield from (microsoft(op, [x(2, 3), x(3)]) for op in ("BiasGelu", "FastGelu"))
    yield from (microsoft(op, [x(2, 3)]) for op in ("Gelu", "QuickGelu"))
    yield microsoft("FusedConv", [x(1, 2, 4, 4), x(3, 2, 2, 2), x(3), x(1, 3, 3, 3)], activation="Relu")
    yield microsoft("FusedGemm", [x(2, 3), x(3, 4), x(4)], activation="Relu")
    yield microsoft("FusedMatMul", [x(2, 3), x(3, 4)], alpha=0.5)
    yield microsoft("NhwcMaxPool", [codes(1, 4, 4, 2)], **square)
    yield microsoft("QGemm", [codes(2, 3), scale, zero, codes(3, 4), scale, zero, np.ones(4, "i4"), scale, zero])
    yield from (microsoft(op, quantized + quantized + [scale, zero]) for op in ("QLinearAdd", "QLinearMul"))
    yield from (microsoft(op, quantized + [scale, zero]) for op in ("QLinearLeakyRelu", "QLinearSigmoid"))
    yield microsoft("QLinearSoftmax", quantized + [scale, zero], axis=-1)
    yield microsoft("QLinearGlobalAveragePool", image + [scale, zero], channels_last=0)
    yield microsoft("QLinearAveragePool", image + [scale, zero], **square)
    yield microsoft("QLinearConcat", [scale, zero] + quantized + quantized, axis=0)
    yield microsoft("QLinearWhere", [np.ones((2, 3), "?")] + quantized + quantized + [scale, zero])
    yield microsoft("QLinearConv", image + [codes(3, 2, 2, 2), scale, zero, scale, zero, np.ones(3, "i4")])
    yield microsoft("QuantizeLinear", [x(2, 3), scale, zero])
    yield microsoft("DequantizeLinear", quantized)
    yield microsoft("DynamicQuantizeMatMul", [x(2, 3), codes(3, 4), scale, zero, x(4)])
    yield microsoft("MatMulIntegerToFloat", [codes(2, 3), codes(3, 4), scale, scale, zero, zero, x(4)])
    yield microsoft("MatMulInteger16", [rng.integers(-99, 99, shape).astype("i2") for shape in ((2, 3), (3, 4))])
    few_bits = {"bits": 4, "block_size": 16}
    yield microsoft("MatMulNBits", [x(2, 32), codes(4, 2, 8), x(4, 2), codes(4, 1), rng.integers(0, 2, 32).astype("i4"), x(4)],
                    K=32, N=4, **few_bits)
    yield microsoft("GatherBlockQuantized", [codes(4, 16), np.array([2, 0], "i8"), x(4, 2), codes(4, 1)],
                    quantize_axis=1, **few_bits)
    yield microsoft("DynamicQuantizeLSTM", [
        x(3, 2, 4), codes(1, 4, 20), codes(1, 5, 20), x(1, 40), np.array([2, 3], "i4"), x(1, 2, 5), x(1, 2, 5), x(1, 15),
        x(1), codes(1), x(1), codes(1)], 3, hidden_size=5)
    yield blocked("Conv", [x(1, 16, 4, 4), x(16, 16, 2, 2), x(16), x(1, 16, 3, 3)], plain_weights=1, **square)
    yield blocked("ReorderInput", [x(1, 16, 4, 4)])
    yield blocked("ReorderOutput", [x(1, 16, 4, 4)], channels=16)
    yield from (blocked(op, [x(1, 16, 4, 4)], **square) for op in ("MaxPool", "AveragePool"))
    yield from (blocked(op, [x(1, 16, 4, 4)]) for op in ("GlobalMaxPool", "GlobalAveragePool"))
    yield blocked("Upsample", [x(1, 16, 4, 4)], scales=[1, 1, 2, 2])
    yield d.one_node("GlobalLpPool", [x(1, 2, 3, 3)], opset=2)
    yield d.one_node("Mish", [x(2, 3)], opset=18)
    yield d.one_node("Upsample", [x(1, 1, 2, 2), np.array([1, 1, 2, 2], "f4")], opset=9)
    yield d.one_node("Scatter", [x(3, 3), np.zeros((1, 3), "i8"), x(1, 3)], opset=9)
    yield d.one_node("Multinomial", [x(2, 3)], opset=7, sample_size=2)
    yield from (d.one_node(op, [], opset=1, shape=[2, 3]) for op in ("RandomNormal", "RandomUniform"))
    yield from (d.one_node(op, [x(2, 3)], opset=1) for op in ("RandomNormalLike", "RandomUniformLike"))
    parts, place = [x(2, 3), x(1, 3)], np.array(1, "i8")
    yield d.one_node("SequenceConstruct", parts, opset=11)
    yield d.one_node("SequenceEmpty", [], opset=11)
    yield d.one_node("SequenceInsert", [parts, x(2, 2), place], opset=11)
    yield from (d.one_node(op, [parts, place], opset=11) for op in ("SequenceAt", "SequenceErase"))
    yield d.one_node("SequenceLength", [parts], opset=11)
    yield d.one_node("ConcatFromSequence", [parts], opset=11, axis=0)
    yield d.one_node("Optional", [x(2, 3)], opset=15)
    yield from (d.one_node(op, [x(2, 3)], opset=18) for op in ("OptionalHasElement", "OptionalGetElement"))
    body = helper.make_graph([helper.make_node("Neg", ["p"], ["q"])], "body",
                             [helper.make_tensor_value_info("p", 1, None)], [helper.make_tensor_value_info("q", 1, None)])
    yield d.one_node("SequenceMap", [parts], opset=17, body=body)
    yield from (d.one_node(op, [x(2, 3)], opset=8, alpha=0.5, beta=0.25) for op in ("Affine", "ParametricSoftplus", "ScaledTanh"))
    yield d.one_node("Scale", [x(2, 3)], opset=8, scale=2.0)
    yield d.one_node("Crop", [x(1, 2, 4, 4)], opset=8, border=[1, 0, 1, 2])
    yield d.one_node("ImageScaler", [x(1, 2, 3, 3)], opset=8, scale=0.5, bias=[0.5, 1.0])
    yield d.one_node("DynamicSlice", [x(3, 4), *(np.array(n, "i8") for n in ([1, 0], [3, 2], [0, 1]))], opset=8)


def cases_of_scripts():
    families = differential_attention.FAMILIES | differential_contrib.OF_ONE_NODE | differential_ml.FAMILIES
    families |= differential_search.FAMILIES
    for name, (make, _) in families.items():
        for i in range(PER_OPERATOR):
            yield d.made_case(name, 7, make, i)


def nodes_to_change(scratch):
    """The cases of each (domain, operator): those with most inputs first, each with a different set of inputs
    present."""
    found = collections.defaultdict(dict)
    folders = sorted((judge.cases_of_onnx(root, scratch) / "node").iterdir())
    for each in itertools.chain(filter(None, map(onnx_case, folders)), cases_of_other_domains(), cases_of_scripts()):
        if any(np.size(v) > SMALL for v in each.feeds.values() if not isinstance(v, (list, dict))):
            continue
        node = each.model.graph.node[0]
        pattern = tuple(bool(name) for name in node.input), tuple(sorted(a.name for a in node.attribute))
        found[node.domain or "ai.onnx", node.op_type].setdefault(pattern, each)
    return {op: [of[p] for p in sorted(of, key=lambda p: (-sum(p[0]), -len(p[1]), p))[:PER_OPERATOR]]
            for op, of in found.items()}


def with_feed(each, name, value, as_constant):
    made = d.case(onnx.ModelProto(), dict(each.feeds))
    made.model.CopyFrom(each.model)
    graph = made.model.graph
    for i in range(len(graph.input) - 1, -1, -1):
        if graph.input[i].name == name:
            del graph.input[i]
    if as_constant:
        graph.initializer.append(numpy_helper.from_array(value, name))
        made.feeds.pop(name)
    else:
        graph.input.append(onnx.ValueInfoProto(name=name, type=helper.make_tensor_type_proto(d.element_type(value), None)))
        made.feeds[name] = value
    for declared in graph.output:  # its type may have changed
        declared.ClearField("type")
    return made


def with_names(each, inputs=None, outputs=None):
    made = d.case(onnx.ModelProto(), dict(each.feeds))
    made.model.CopyFrom(each.model)
    graph, node = made.model.graph, made.model.graph.node[0]
    for names, new in ((node.input, inputs), (node.output, outputs)):
        if new is not None:
            names[:] = new
    for i in range(len(graph.output) - 1, -1, -1):
        if graph.output[i].name not in node.output:
            del graph.output[i]
        else:
            graph.output[i].ClearField("type")
    return made


def other_values(value):
    """Replacements for an input: empty tensors, and tensors of other ranks and other types."""
    np.seterr(all="ignore")
    array = np.asarray(value)
    array = array.astype(object) if array.dtype.kind in "SU" else array
    for axis in range(array.ndim):
        yield f"empty along {axis}", np.zeros([0 if i == axis else n for i, n in enumerate(array.shape)], array.dtype)
    yield "no elements", np.zeros([0], array.dtype)
    if array.size:
        yield "a scalar", array.ravel()[:1].reshape(())
    yield "an axis more", array[None]
    yield "negative", -array if array.dtype.kind in "if" else array
    for kind in OTHER_TYPES:
        if np.dtype(kind).kind != array.dtype.kind or (kind != "S" and np.dtype(kind) != array.dtype):
            yield f"of {kind}", (np.full(array.shape, "1", object) if kind == "S" else
                                 np.ones(array.shape, kind) if array.dtype.kind in "OSU" else array.astype(kind))


def changes(each):
    node = each.model.graph.node[0]
    given, made = list(node.input), list(node.output)
    for i, name in enumerate(given):
        if not name:
            continue
        if (node.op_type, i) != ("Loop", 0):  # without its trip count a Loop may never end
            yield f"input {i} left out", with_names(each, given[:i] + [""] + given[i + 1:])
        yield f"inputs from {i} on left out", with_names(each, given[:i])
        if isinstance(each.feeds.get(name), (dict, list)):
            yield f"input {i} empty", d.case(each.model, each.feeds | {name: type(each.feeds[name])()})
        if isinstance(each.feeds.get(name), d.sparse):
            of = each.feeds[name]
            for what, value in (("with places outside", d.sparse(of.elements, of.indices + 100, of.shape)),
                                ("with places below 0", d.sparse(of.elements, -1 - of.indices, of.shape)),
                                ("of another shape", d.sparse(of.elements, of.indices, [n + 1 for n in of.shape])),
                                ("without elements", d.sparse(of.elements[:0], of.indices[:0], of.shape))):
                yield f"input {i} {what}", d.case(each.model, each.feeds | {name: value})
        if name not in each.feeds or isinstance(each.feeds[name], (dict, list, d.sparse)):
            continue
        for what, value in other_values(each.feeds[name]):
            for as_constant in (False, True):
                yield f"input {i} {what}{', constant' * as_constant}", with_feed(each, name, value, as_constant)
        yield f"input {i} constant", with_feed(each, name, np.asarray(each.feeds[name]), True)
    yield "one input more, left out", with_names(each, given + [""])
    yield "two inputs more", with_names(each, given + ["", given[0]] if given else [])
    for i in range(len(made)):
        if any(o for j, o in enumerate(made) if j != i):
            yield f"output {i} left out", with_names(each, None, made[:i] + [""] + made[i + 1:])
    yield "one output more, left out", with_names(each, None, made + [""])


def write(folder, each):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(each.model.SerializeToString())
    for i, (name, value) in enumerate(each.feeds.items()):
        if isinstance(value, list) and not value:
            (data / f"input_{i}.pb").write_bytes(onnx.SequenceProto(name=name, elem_type=1).SerializeToString())
        elif not isinstance(value, dict) or value:
            d.write_value(data / f"input_{i}.pb", name, value)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--op")
    parser.add_argument("--only")
    parser.add_argument("--keep", type=pathlib.Path)
    o = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch, words, number = pathlib.Path(scratch), {}, 0
        nodes = nodes_to_change(scratch)
        without = sorted("::".join(op) for op in operators() - nodes.keys())
        for (domain, op), each in ((k, e) for k in sorted(nodes) for e in nodes[k] if o.op in (None, k[1])):
            for what, changed in changes(each):
                number += 1
                often_wrong = "left out" in what or what.endswith("a scalar")
                always = o.long or o.op or (often_wrong and each is nodes[domain, op][0])
                if what.endswith(o.only) if o.only else always or (number + o.seed) % 20 == 0:
                    name = f"case_{number}"
                    words[name] = f"{op} of {each.name}: {what}"
                    write(scratch / "changed" / name, changed)
        report = scratch / "report.json"
        judge.cameo("conformance", scratch / "changed", "--json", report, "--quiet", "--timeout", 20, check=False,
                    timeout=3600)
        for told in json.loads(report.read_text()):
            if any(told["reason"].startswith(bad) for bad in ("crashed", "timeout", "ended", "no result")):
                failures.append(f"{words[told['name']]}: {told['reason']}")
                if o.keep:
                    shutil.copytree(scratch / "changed" / told["name"], o.keep / told["name"], dirs_exist_ok=True)
    for line in failures[:200]:
        print(line)
    if not o.op:
        print(f"no node to change for: {', '.join(without) or 'none'}")
    print(f"{len(words)} changed nodes of {len(nodes)} operators, {len(failures)} ended otherwise than they may")
    return 1 if failures or not words or (without and not o.op) else 0


if __name__ == "__main__":
    sys.exit(main())
