"""Nodes with inputs for each version of each operator that cpu runs, and models of them with known and with open shapes.

The nodes come from onnx's backend tests and from the families of the differential scripts. `candidates()` converts them
to a version; which of them load and run is up to the program: `answers()` runs many models in a few processes.
"""
import collections
import copy
import dataclasses
import itertools
import json
import pathlib
import re
import subprocess

import numpy as np
import onnx
from onnx import helper, numpy_helper

import absent_inputs
import contracts
import differential as d
import ort_judge
import retype
import type_bases

PER_VERSION = 4  # the most candidates per version
BASES = 40  # the most bases that are tried for them


@dataclasses.dataclass
class sample:
    node: onnx.NodeProto
    feeds: dict  # name of a graph input to its value
    fixed: dict  # name of an initializer to its value
    imports: dict  # domain to opset

    def values(self):
        """The inputs of the node; None for one that is left out."""
        known = {**self.fixed, **self.feeds}
        return [known.get(name) if name else None for name in self.node.input]

    def attributes(self):
        """The attributes with one integer."""
        return {a.name: a.i for a in self.node.attribute if a.type == onnx.AttributeProto.INT}

    def presence(self):
        return tuple(bool(n) for n in self.node.input), tuple(sorted(a.name for a in self.node.attribute))

    def copy(self):
        node = onnx.NodeProto()
        node.CopyFrom(self.node)
        return sample(node, dict(self.feeds), dict(self.fixed), dict(self.imports))


def shape_of(value):
    """The shape of a tensor; None for other values."""
    return None if value is None or isinstance(value, (list, dict, d.sparse, d.optional)) else list(np.shape(value))


def opened(made, name):
    """Replaces the sizes of a type by symbols, each with another name."""
    if made.WhichOneof("value") in ("tensor_type", "sparse_tensor_type"):
        of = getattr(made, made.WhichOneof("value"))
        for axis, dim in enumerate(of.shape.dim):
            dim.dim_param = f"{name}_{axis}"
    elif made.HasField("optional_type"):
        opened(made.optional_type.elem_type, name)
    return made


def without_shape(made):
    if made.HasField("tensor_type"):
        made.tensor_type.ClearField("shape")
    return made


SHAPES = {"static": lambda made, name: made, "open": opened, "no rank": lambda made, name: without_shape(made)}


def model_of(of, shapes="static", types=None):
    """The model of a sample. `shapes`: a key of SHAPES. `types`: the declared types of inputs whose values have others."""
    infos = []
    for i, (name, value) in enumerate(of.feeds.items()):
        declared = copy.deepcopy(types[name]) if types and name in types else d.type_of(value)
        infos.append(helper.make_value_info(name, SHAPES[shapes](declared, f"d{i}")))
    fixed = [numpy_helper.from_array(np.asarray(value), name) for name, value in of.fixed.items()]
    outputs = [onnx.ValueInfoProto(name=o) for o in of.node.output if o]
    graph = helper.make_graph([of.node], "one_node", infos, outputs, fixed)
    imports = [helper.make_opsetid(domain, version) for domain, version in of.imports.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


# Samples ---------------------------------------------------------------------------------------------------------------


def sample_of(model, feeds):
    """The sample of a model of one node; None if it has more or needs more."""
    graph = model.graph
    if len(graph.node) != 1 or graph.sparse_initializer or model.functions:
        return None
    fixed = {t.name: numpy_helper.to_array(t) for t in graph.initializer if t.name not in feeds}
    node = onnx.NodeProto()
    node.CopyFrom(graph.node[0])
    node.name = "tested"
    node.domain = "" if node.domain == "ai.onnx" else node.domain
    imports = {("" if i.domain == "ai.onnx" else i.domain): i.version for i in model.opset_import}
    if any(name and name not in feeds and name not in fixed for name in node.input):
        return None
    return sample(node, dict(feeds), fixed, imports)


def small(of):
    return all(np.size(v) <= absent_inputs.SMALL for v in {**of.feeds, **of.fixed}.values()
               if not isinstance(v, (list, dict, d.sparse, d.optional)))


def whole_cases(scratch):
    """{(domain, operator): samples with distinct inputs and attributes}, of operators with subgraphs and of those that
    are not in ONNX, too."""
    found = collections.defaultdict(list)
    cases = absent_inputs.nodes_to_change(scratch).values()
    for each in itertools.chain(by_hand(), *cases):
        made = sample_of(each.model, each.feeds)
        if made:
            found[made.node.domain, made.node.op_type].append(made)
    return found


def by_hand():
    """Samples that the sources lack: with the opset of the version that they are for."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = helper.make_tensor_value_info
    body = helper.make_graph([helper.make_node("Identity", ["more"], ["goes_on"]), helper.make_node("Neg", ["old"], ["new"])],
                             "body", [made("round", 7, []), made("more", 9, []), made("old", 1, None)],
                             [made("goes_on", 9, []), made("new", 1, None)])
    yield d.one_node("Loop", [np.array(2), np.array(True), x], opset=11, body=body)
    yield d.one_node("OptionalHasElement", [d.optional(x)], opset=15)
    yield d.one_node("OptionalGetElement", [d.optional(x)], opset=15)
    yield d.one_node("Pad", [x], opset=1, paddings=[0, 1, 1, 0])
    yield d.one_node("Pad", [x], opset=2, pads=[0, 1, 1, 0])
    scale, zero = np.array(0.1, "f4"), np.array(128, "u1")
    softmax = d.one_node("QLinearSoftmax", [x.astype("u1"), scale, zero, scale, zero], opset=1, domain="com.microsoft")
    softmax.model.graph.node[0].attribute.append(helper.make_attribute("opset", 13))
    yield softmax


def retyped_bases(of):
    """Samples of this version of an operator of ONNX, made of those of other versions."""
    if not onnx.defs.has(of.op, of.since, of.domain):
        return
    schema = onnx.defs.get_schema(of.op, of.since, of.domain)
    if schema.since_version != of.since:
        return
    bases = type_bases.bases().get((of.domain, of.op), [])
    near = sorted(bases, key=lambda b: (b.schema().since_version != of.since, b.source, b.size()))
    for base in near[:BASES]:
        try:
            case = retype.retyped(base, schema, {})
        except (retype.unfit, onnx.checker.ValidationError, KeyError, ValueError, TypeError):
            continue
        made = sample_of(case.model, case.feeds)
        if made and small(made):
            yield made


def at_version(cases, of):
    """Samples with the version of a contract."""
    for each in cases:
        made = each.copy()
        opset = made.imports.get(of.domain, of.since)
        made.imports[of.domain] = opset if of.since <= opset <= of.last else of.since
        yield made


def candidates(of, cases):
    """At most PER_VERSION samples without inputs and attributes that the version lacks: those with the most inputs first,
    each with other inputs or attributes. One with constants comes as one without them, too."""
    found = {}
    for each in itertools.chain(retyped_bases(of), at_version(cases.get((of.domain, of.op), []), of)):
        has_inputs = not each.node.input or of.input_at(len(each.node.input) - 1)
        if has_inputs and (of.takes_any_attribute or all(a.name in of.attributes for a in each.node.attribute)):
            found.setdefault(each.presence(), each)
    chosen = sorted(found.values(), key=lambda s: (-sum(s.presence()[0]), -len(s.presence()[1])))
    for each in chosen[:PER_VERSION]:
        if each.fixed:
            free = each.copy()
            free.feeds = {**each.feeds, **each.fixed}
            free.fixed = {}
            yield free
        yield each


def versions_of_cpu():
    """The contracts of the versions that cpu runs, with a kernel or by the function's body."""
    told = subprocess.run([ort_judge.PROGRAM, "ops", "--ep", "cpu", "--json"], capture_output=True, text=True, check=True)
    by_name = contracts.contracts()
    for op in json.loads(told.stdout)["ops"]:
        domain = "" if op["domain"] == "ai.onnx" else op["domain"]
        for of in by_name.get((domain, op["op"]), []):
            spans = [(span["first"], span["last"] or 10**6) for span in op["versions"]]
            if not of.deprecated and (op.get("function_body") or any(a <= of.since <= b for a, b in spans)):
                yield of


# Running ---------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class answer:
    """What the program said to a model."""
    stage: str  # "ran", "loading" (it was refused there), "running", or "broken" (a crash or a timeout)
    code: str
    words: str  # from the node's name on, without the name
    hash: str

    def says(self):
        return f"{self.stage}: {self.code}: {self.words}" if self.stage != "ran" else "it ran"


BROKEN = ("crashed", "timeout", "ended", "no result", "no process")
NODE = re.compile(r"node 'tested' \([^)]*\)(?::| ?)\s*")


def write_feeds(folder, feeds, known):
    """Writes a data set, and an empty one: of two, the program says which was refused, and so that the model was loaded.
    `known` has the bytes of values that were written before, by their identity."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "test_data_set_1").mkdir()
    for i, (name, value) in enumerate(feeds.items()):
        key = id(value), name
        if key not in known:
            d.write_value(data / f"input_{i}.pb", name, value)
            known[key] = value, (data / f"input_{i}.pb").read_bytes()  # the value is kept, and with it its identity
        else:
            (data / f"input_{i}.pb").write_bytes(known[key][1])


def parsed_answer(row, path):
    reason = row["reason"]
    if reason.startswith(BROKEN):
        return answer("broken", "", reason, "")
    data_set, _, of_set = reason.partition(": ")
    is_loaded = data_set.startswith("test_data_set_")
    if row["status"] == "pass" or data_set == "test_data_set_1" or of_set.startswith("no output_"):
        return answer("ran", "", "", row.get("hash", ""))
    code, _, words = (of_set if is_loaded else reason).partition(": ")
    words = words.replace(f"{path}: ", "")
    found = NODE.search(words)
    return answer("running" if is_loaded else "loading", code, words[found.end():] if found else words, "")


def answers(models, folder, *arguments):
    """{name: answer} for {name: (model, feeds)}. Without feeds (None) a model that loads is refused while running, unless
    it has no inputs."""
    folder, known = pathlib.Path(folder), {}
    if not models:
        return {}
    for name, (model, feeds) in models.items():
        write_feeds(folder / name, feeds or {}, known)
        (folder / name / "model.onnx").write_bytes(model.SerializeToString())
    report = folder / "report.json"
    ort_judge.cameo("conformance", folder, "--json", report, "--quiet", "--timeout", 20, *arguments, check=False,
                    timeout=3600)
    rows = {r["name"]: r for r in json.loads(report.read_text())}
    nothing = {"status": "fail", "reason": "no result"}
    return {name: parsed_answer(rows.get(name, nothing), folder / name / "model.onnx") for name in models}
