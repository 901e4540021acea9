"""Runs models of one node with cameo and with PyPI's onnxruntime, and compares the outputs. The differential scripts
share this module.

A script has families. A family is a function that makes a case with a random generator: `one_node(...)`.
`main(families)` runs a campaign:

    def relu(rng):
        return one_node("Relu", [rng.standard_normal((2, 3)).astype("f4")], opset=14)

    sys.exit(main({"Relu": (relu, 400)}, always=[one_node(...), ...]))

The number is the number of the family's cases in the long campaign (`--long`). Without that option, every tenth of them
is run, and all of `always`, which are cases that were wrong once. A case depends only on the seed, its family and its
number: `--only Relu.70` runs one, and `--keep FOLDER` keeps the folders of cases that differ, for `cameo conformance`.

The expected outputs come from an oracle: onnxruntime without optimizations; if it has no kernel, onnx's reference
evaluator; or the case's own `oracle`, a definition in numpy, where that evaluator lacks a part of the operator. Cases
that all of them refuse are counted, but not compared; a family fails if less than half of its cases are compared,
because its generator is then wrong. Where cameo differs from onnxruntime, the other oracle is run, too: if it agrees
with cameo, the text of the specification decides, and judgments.py must have the sentence. The oracles run in a
separate process, so that a case that crashes one does not end the campaign.
"""
import argparse
import collections
import dataclasses
import json
import multiprocessing
import pathlib
import shutil
import tempfile
import zlib

import numpy as np
import onnx
import onnx.reference
from onnx import helper, numpy_helper

import judgments
import ort_judge


# The scripts that define families of cases.
SCRIPTS = ["differential_standard", "differential_containers", "differential_older", "image_operators",
           "differential_attention", "differential_contrib", "differential_ml", "differential_packed", "differential_pictures",
           "differential_quantized", "differential_recurrent", "differential_search", "differential_signal"]


@dataclasses.dataclass
class case:
    model: onnx.ModelProto
    feeds: dict  # input name to array, list of arrays (a sequence), dict (a map)
    rtol: float | None = None  # None: the default of `cameo conformance`, for floats only
    atol: float | None = None
    name: str = ""
    shared: dict = dataclasses.field(default_factory=dict)  # output name to the input into which onnxruntime writes it
    settle: object = None  # a function of onnxruntime's outputs by name, which sets their uninitialized elements
    oracle: object = None  # a function without arguments that returns the outputs by name, instead of the evaluator


@dataclasses.dataclass
class sparse:
    """A sparse tensor as an input: elements [nnz], and their indices [nnz, rank]."""
    elements: np.ndarray
    indices: np.ndarray
    shape: list


@dataclasses.dataclass
class optional:
    """An optional that holds a tensor or a list of arrays, as an input or output."""
    held: object


def one_node(op, inputs, outputs=1, *, opset, domain="", constant=(), shapes=True, rtol=None, atol=None, name="",
             oracle=None, **attributes):
    """A case with one node. `inputs`: arrays, lists of arrays, or None for one that is left out; those whose indexes
    are in `constant` are initializers. `outputs`: their number, or names ("" for one that is left out). `shapes=False`
    declares the inputs' ranks without sizes. Attributes that are None are left out. Tolerances as in tolerance.json."""
    inputs = [np.asarray(value) if isinstance(value, np.generic) else value for value in inputs]
    names = [f"in_{i}" if value is not None else "" for i, value in enumerate(inputs)]
    outs = [f"out_{i}" for i in range(outputs)] if isinstance(outputs, int) else list(outputs)
    given = {key: value for key, value in attributes.items() if value is not None}
    node = helper.make_node(op, names, outs, domain=domain, **given)
    fixed = [numpy_helper.from_array(inputs[i], names[i]) for i in constant
             if i < len(inputs) and inputs[i] is not None]
    feeds = {n: v for i, (n, v) in enumerate(zip(names, inputs)) if n and i not in constant}
    infos = [helper.make_value_info(n, type_of(v, shapes)) for n, v in feeds.items()]
    graph = helper.make_graph([node], "one_node", infos, [onnx.ValueInfoProto(name=o) for o in outs if o], fixed)
    imports = [helper.make_opsetid("", opset)] if not domain else [helper.make_opsetid("", 21),
                                                                   helper.make_opsetid(domain, opset)]
    return case(helper.make_model(graph, opset_imports=imports, ir_version=10), feeds, rtol, atol, name, oracle=oracle)


def with_type(case, output, array):
    """The case, with the element type of an array declared for an output whose type cannot be inferred."""
    next(o for o in case.model.graph.output if o.name == output).type.tensor_type.elem_type = element_type(array)
    return case


def element_type(array):
    return onnx.TensorProto.STRING if array.dtype.kind in "OSU" else helper.np_dtype_to_tensor_dtype(array.dtype)


def type_of(value, shapes=True):
    """The ONNX type of a value; sequences and maps are never empty here."""
    if isinstance(value, list):
        return helper.make_sequence_type_proto(type_of(value[0], shapes=False))
    if isinstance(value, dict):
        key, held = next(iter(value.items()))
        held = np.float32(held) if type(held) is float else held
        return helper.make_map_type_proto(element_type(np.asarray(key)), type_of(np.asarray(held), shapes=False))
    if isinstance(value, sparse):
        return helper.make_sparse_tensor_type_proto(element_type(value.elements), value.shape)
    if isinstance(value, optional):
        return helper.make_optional_type_proto(type_of(value.held, shapes))
    array = np.asarray(value)
    return helper.make_tensor_type_proto(element_type(array), array.shape if shapes else [None] * array.ndim)


def map_message(value, name=""):
    """A MapProto. numpy_helper.from_dict does not take texts as keys. Python floats become float32, as in
    onnxruntime."""
    keys, held = list(value), [np.float32(v) if type(v) is float else v for v in value.values()]
    made = onnx.MapProto(name=name, key_type=element_type(np.asarray(keys)),
                         values=numpy_helper.from_list([np.asarray(v) for v in held]))
    if isinstance(keys[0], str):
        made.string_keys.extend(k.encode() for k in keys)
    else:
        made.keys.extend(keys)
    return made


def write_value(path, name, value):
    if isinstance(value, list) and value and isinstance(value[0], dict):
        made = onnx.SequenceProto(name=name, elem_type=onnx.SequenceProto.MAP,
                                  map_values=[map_message(each) for each in value])
    elif isinstance(value, list):
        made = numpy_helper.from_list(value, name)
    elif isinstance(value, dict):
        made = map_message(value, name)
    elif isinstance(value, optional):
        made = numpy_helper.from_optional(value.held, name)
    elif isinstance(value, sparse):
        made = helper.make_sparse_tensor(numpy_helper.from_array(value.elements, name),
                                         numpy_helper.from_array(value.indices, name + "_indices"), value.shape)
    else:
        made = numpy_helper.from_array(np.asarray(value), name)
    path.write_bytes(made.SerializeToString())


JUDGES = ("onnxruntime", "reference", "numpy")
# Parts of onnxruntime's messages about operators, versions and domains that it has no kernel for.
UNKNOWN_TO_ORT = ("NOT_IMPLEMENTED", "is not a registered function/op", "ValidateOpsetForDomain",
                  "Unsupported data type", "is not currently registered or supported")


def answers(each):
    """(one of JUDGES, outputs by name), or ("refused", the error's message)."""
    bytes_of_model = each.model.SerializeToString()
    try:
        session = ort_judge.ort.InferenceSession(bytes_of_model, ort_judge.ort_options(),
                                                 providers=["CPUExecutionProvider"])
        return "onnxruntime", ort_judge.ort_runs(session, each.feeds, each.shared)
    except Exception as e:  # noqa: BLE001 - any exception means that the case cannot be run
        words = str(e)
    if not any(known in words for known in UNKNOWN_TO_ORT):
        return "refused", words
    return reference_answers(each, words)


def reference_answers(each, words=""):
    """answers() of the case's own oracle, or else of the reference evaluator, without onnxruntime."""
    try:
        with np.errstate(all="ignore"):
            if each.oracle:
                return "numpy", each.oracle()
            found = onnx.reference.ReferenceEvaluator(each.model).run(None, each.feeds)
        inferred = onnx.shape_inference.infer_shapes(each.model).graph.output
        types = {o.name: o.type.tensor_type.elem_type for o in inferred if o.type.HasField("tensor_type")}
    except Exception as e:  # noqa: BLE001
        return "refused", f"{words}; reference evaluator: {e}"
    return "reference", {name: of_declared_type(value, types.get(name)) for name, value in
                         zip((o.name for o in each.model.graph.output), found)}


def of_declared_type(value, number):
    """Converts a value to its declared type: the reference evaluator returns int64 for some sums of int32."""
    is_number = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iuf"
    wanted = helper.tensor_dtype_to_np_dtype(number) if number and is_number else None
    return value if wanted is None or wanted.kind not in "iuf" else np.asarray(value).astype(wanted)


def judge(cases, ask=answers):
    """The result of `ask` for each case; ("crashed", ...) if it ends the process."""
    def work(first, pipe):
        for each in cases[first:]:
            pipe.send(ask(each))

    context, told = multiprocessing.get_context("fork"), []
    while len(told) < len(cases):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(len(told), sender))
        process.start()
        sender.close()
        try:
            while len(told) < len(cases):
                told.append(receiver.recv())
        except EOFError:
            told.append(("crashed", "the oracle's process ended"))
        process.join()
    return told


def write_case(folder, each, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    model = onnx.ModelProto()
    model.CopyFrom(each.model)
    for declared in model.graph.output:
        declared.type.CopyFrom(type_of(outputs[declared.name], shapes=False))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, (name, value) in enumerate(each.feeds.items()):
        write_value(data / f"input_{i}.pb", name, value)
    for i, declared in enumerate(model.graph.output):
        write_value(data / f"output_{i}.pb", declared.name, outputs[declared.name])
    allowed = {key: getattr(each, key) for key in ("rtol", "atol") if getattr(each, key) is not None}
    if allowed:
        (folder / "tolerance.json").write_text(json.dumps(allowed))


def differences(cases, folder, ask=answers):
    """Runs cases of distinct names with an oracle and with cameo. Returns ({name: what differs}, {name: the oracle, or
    why there was none}). Test folders and report are written to `folder`."""
    folder = pathlib.Path(folder)
    judged = {}
    for each, (who, told) in zip(cases, judge(cases, ask)):
        if who in JUDGES:
            told = each.settle(told) if each.settle else told
            write_case(folder / each.name, each, told)
            judged[each.name] = who
        else:
            judged[each.name] = f"{who}: {told}"
    report = folder / "report.json"
    if any(folder.glob("*/model.onnx")):
        ort_judge.cameo("conformance", folder, "--json", report, "--quiet", check=False, timeout=3600)
    told = json.loads(report.read_text()) if report.exists() else []
    by_name = {r["name"]: None if r["status"] == "pass" else r["reason"] or r["status"] for r in told}
    wanted = [n for n, who in judged.items() if who in JUDGES]
    return {n: by_name.get(n, "not run") for n in wanted if by_name.get(n, "not run")}, judged


def judged_by_text(cases, found, judged, folder):
    """The cases that differ from onnxruntime, but not from the other oracle, and whose difference is explained by a row
    of judgments: {name: row}."""
    in_dispute = [each for each in cases if each.name in found and judged[each.name] == "onnxruntime"]
    if not in_dispute:
        return {}
    differ, asked = differences(in_dispute, pathlib.Path(folder) / "in_dispute", reference_answers)
    agreed = [each for each in in_dispute if asked[each.name] in JUDGES and each.name not in differ]
    rows = ((each.name, judgments.row_of(each.model.graph.node)) for each in agreed)
    return {name: row for name, row in rows if row}


def made_case(name, seed, make, number):
    each = make(np.random.default_rng([seed, zlib.crc32(name.encode()), number]))
    each.name = f"{name}.{number}"
    return each


def wanted_cases(families, always, o):
    if o.only:
        name, number = o.only.rsplit(".", 1)
        return [made_case(name, o.seed, families[name][0], int(number))]
    cases = []
    for i, each in enumerate(always):
        each.name = f"always.{i}.{each.name or each.model.graph.node[0].op_type}"
        cases.append(each)
    for name, (make, count) in families.items():
        if not o.family or any(f in name for f in o.family):
            cases += [made_case(name, o.seed, make, i) for i in range(0, count, 1 if o.long else 10)]
    return [each for each in cases if not o.family or any(f in each.name for f in o.family)]


def in_words(each):
    node = each.model.graph.node[0]
    attributes = {a.name: numpy_helper.to_array(a.t).tolist() if a.HasField("t") else helper.get_attribute_value(a)
                  for a in node.attribute}
    shapes = [f"{np.asarray(v).dtype}{list(np.shape(v))}" for v in each.feeds.values()
              if not isinstance(v, (list, dict, sparse))]
    return f"{node.op_type} of {', '.join(shapes)} with {attributes}"


def main(families, always=(), arguments=None):
    """Runs a campaign, as described above, and prints what differs. Returns 0 if nothing does."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true", help="runs all cases, not a tenth of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", action="append", metavar="WORD", help="only cases with this in their name")
    parser.add_argument("--only", metavar="FAMILY.NUMBER", help="one case")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="keeps the folders of cases that differ")
    parser.add_argument("--refused", action="store_true", help="prints why cases were not compared")
    o = parser.parse_args(arguments)
    cases = wanted_cases(families, always, o)
    with tempfile.TemporaryDirectory() as scratch:
        found, judged = differences(cases, o.keep or scratch)
        by_text = judged_by_text(cases, found, judged, scratch)
    for name in by_text:
        del found[name]
    return report(cases, found, judged, by_text, o)


def report(cases, found, judged, by_text, o):
    """Prints the results of a campaign. Returns 0 if nothing is wrong."""
    by_family, thin = collections.defaultdict(collections.Counter), 0
    for each in cases:
        by_family[each.name.split(".")[0]][judged[each.name].split(":")[0]] += 1
        if each.name in found:
            print(f"{each.name}: {in_words(each)}: {found[each.name]}"[:900])
        elif o.keep:
            shutil.rmtree(o.keep / each.name, ignore_errors=True)
        if o.refused and ":" in judged[each.name]:
            print(f"{each.name}: {judged[each.name]}"[:400])
    for name, of in by_family.items():
        compared = sum(of[judge] for judge in JUDGES)
        if compared < of.total() * (1 if name == "always" else 0.5):
            thin += 1
            print(f"{name}: only {compared} of {of.total()} cases were compared")
    for row, count in collections.Counter(by_text.values()).items():
        print(f"{count} by the text, against onnxruntime: {row.op}: {row.sentence}")
    counts = sum(by_family.values(), collections.Counter())
    print(", ".join(f"{count} {who}" for who, count in sorted(counts.items())) + f"; {len(found)} differ (seed {o.seed})")
    return 1 if found or thin or not cases else 0
