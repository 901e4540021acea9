#!/usr/bin/env python3
"""Nodes that break one rule of their operator's contract are refused, always in the same words.

For each version of each operator that cpu runs, a valid node is changed to break one rule: an attribute is out of its
range, of another kind, missing or unknown; an input is missing, is one too many or has another element type; a shape
does not fit the pattern of its input. tests/program/contracts.py decides whether a change breaks a rule; one that is
legal is left out. Each node is loaded in a model with known shapes and in one with open shapes.

- With known shapes, loading refuses the node, with INVALID_GRAPH, its name and the attribute or input.
- What the extents of inputs cannot mend is refused at loading with open shapes, too, in the same words. For ranks, the
  words differ in the extents that are open.
- If the shapes may fit, the model loads, and the run refuses the inputs in the same words. So does a run of a model that
  does not declare ranks.
- Nodes that are valid load and run, with known and with open shapes.

  --long       all nodes; by default a tenth of them
  --tenth N    another tenth, from 0 on
  --seed N     other tenths, and other random shapes
  --only OP    all nodes of this operator
  --words      prints one message for each kind of rule and each kind of words
  --list       prints all violations, not ten for each kind
  --keep DIR   keeps the models and data of violations
"""
import argparse
import collections
import dataclasses
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zlib

import numpy as np
from onnx import AttributeProto, helper

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(root / "tests" / "program"), str(root / "tests" / "scripts")]
import contracts  # noqa: E402
import differential as d  # noqa: E402
import node_samples as nodes  # noqa: E402
import retype  # noqa: E402
import type_bases  # noqa: E402

LEAST = 3000  # nodes of a whole run
SHOWN = 10  # violations of one kind that are printed without --list
PATTERN_SAMPLES = 3  # random shapes per version
# Operators whose shape functions demand more than a pattern can say, in the words of patterns: sizes of an axis that the
# rank or `spatial` names, and the shape that data and indices give to updates.
DEMAND_MORE = {"BatchNormalization", "ScatterND"}


@dataclasses.dataclass
class broken:
    """A node that breaks one rule."""
    of: contracts.contract
    rule: str  # the kind of the rule
    what: str  # the change, in words
    sample: nodes.sample
    about: str  # the attribute or formal input that the message must name; "" if the message names none
    types: dict = None  # input name to a declared type
    patterns: bool = False  # a rule about shapes
    by_extents: bool = False  # other extents would mend it

    def name(self):
        return f"{self.of.name()}: {self.rule}: {self.what}"


# Attributes ------------------------------------------------------------------------------------------------------------

EXAMPLES = {"i": 1, "f": 1.0, "s": "text", "ints": [1], "floats": [1.0], "strings": ["text"]}
NUMBERS = {name: number for number, name in tables.items()} if (tables := contracts.tables.KIND_OF) else {}


def attribute(name, kind, value):
    """An attribute of a kind; helper.make_attribute() would derive the kind from the value."""
    made = AttributeProto(name=name, type=NUMBERS[kind])
    if kind in ("i", "f"):
        setattr(made, kind, value)
    elif kind == "s":
        made.s = value.encode()
    elif kind == "strings":
        made.strings.extend(each.encode() for each in value)
    elif kind in ("ints", "floats"):
        getattr(made, kind).extend(value)
    elif kind == "t":
        made.t.CopyFrom(helper.make_tensor("t", 1, [], [1.0]))
    return made


def with_attribute(sample, made):
    changed = sample.copy()
    rest = [a for a in changed.node.attribute if a.name != made.name]
    del changed.node.attribute[:]
    changed.node.attribute.extend([*rest, made])
    return changed


def without_attribute(sample, name):
    changed = sample.copy()
    rest = [a for a in changed.node.attribute if a.name != name]
    del changed.node.attribute[:]
    changed.node.attribute.extend(rest)
    return changed


def given_list(sample, rule):
    """A legal value of an attribute that is a list: that of the node if it has one."""
    for a in sample.node.attribute:
        if a.name == rule.name:
            value = helper.get_attribute_value(a)
            return [v.decode() if isinstance(v, bytes) else v for v in value]
    length, text = contracts.parsed_values(rule.values)
    legal = [v for v in contracts.border_values(rule) if contracts.is_legal_element(text, v)] or EXAMPLES[rule.kind]
    return [legal[0]] * (length or 1)


def candidate_values(sample, rule):
    """Values of the attribute, legal or not."""
    borders = contracts.border_values(rule)
    if rule.kind not in ("ints", "floats", "strings"):
        yield from borders
        return
    given = given_list(sample, rule)
    if not given:
        return
    for value in borders:
        yield [*given[:-1], value]
        yield [value, *given[1:]]
    if contracts.parsed_values(rule.values)[0] is not None:
        yield from (given[:-1], [*given, given[-1]], [])


def in_words(value):
    return "NaN" if isinstance(value, float) and math.isnan(value) else repr(value)


def broken_values(of, sample):
    for rule in of.attributes.values():
        seen = set()
        for value in candidate_values(sample, rule) if rule.values else ():
            if not contracts.is_legal(rule, value) and in_words(value) not in seen:
                seen.add(in_words(value))
                yield broken(of, "value of an attribute", f"{rule.name} = {in_words(value)}",
                             with_attribute(sample, attribute(rule.name, rule.kind, value)), rule.name)


def broken_attributes(of, sample):
    if of.op == "Constant" and not of.domain:
        return  # what its attributes may be is in docs/oddities.md: they are its value, whatever their names
    yield from broken_values(of, sample)
    for rule in of.attributes.values():
        others = [kind for kind in ("i", "f", "s", "ints", "floats", "strings", "t") if kind != rule.kind]
        start = zlib.crc32(rule.name.encode()) % len(others)
        for kind in (others[start], others[(start + 3) % len(others)]):
            yield broken(of, "kind of an attribute", f"{rule.name} is of kind {kind}",
                         with_attribute(sample, attribute(rule.name, kind, EXAMPLES.get(kind))), rule.name)
        if rule.required:
            yield broken(of, "missing attribute", rule.name, without_attribute(sample, rule.name), rule.name)
    if of.takes_any_attribute:
        return
    of_others = {name: rule for other in contracts.contracts()[of.domain, of.op] for name, rule in other.attributes.items()
                 if name not in of.attributes and rule.kind in EXAMPLES}
    unknown = {"no_such_attribute": contracts.attribute_rule("no_such_attribute", "i", False, None, None), **of_others}
    for name, rule in unknown.items():
        value = attribute(name, rule.kind, EXAMPLES[rule.kind])
        yield broken(of, "unknown attribute", name, with_attribute(sample, value), name)
    for a in sample.node.attribute[:1]:
        changed = sample.copy()
        changed.node.attribute.append(a)
        yield broken(of, "attribute twice", a.name, changed, a.name)


# Inputs and outputs ----------------------------------------------------------------------------------------------------


def with_inputs(sample, names):
    changed = sample.copy()
    changed.node.input[:] = names
    return changed


def with_outputs(sample, names):
    changed = sample.copy()
    changed.node.output[:] = names
    return changed


def broken_inputs(of, sample):
    given = list(sample.node.input)
    for i, p in enumerate(of.inputs):
        if p.option == "single" and i < len(given):
            yield broken(of, "missing input", f"{p.name} is named ''", with_inputs(sample, given[:i] + [""] + given[i + 1:]),
                         p.name)
            yield broken(of, "missing input", f"all from {p.name} on", with_inputs(sample, given[:i]), "")
    variadic = bool(of.inputs) and of.inputs[-1].option == "variadic"
    if not variadic:
        extra = next((name for name in given if name), None)
        changed = with_inputs(sample, given + [""] * (len(of.inputs) - len(given)) + [extra or "one_more"])
        if not extra:
            changed.feeds["one_more"] = np.zeros(2, np.float32)
        yield broken(of, "too many inputs", "one more", changed, "")
    elif len(given) >= len(of.inputs):
        first, least = len(of.inputs) - 1, of.inputs[-1].min_arity
        yield broken(of, "missing input", "a variadic one is named ''", with_inputs(sample, given[:-1] + ["", given[-1]]),
                     of.inputs[-1].name)
        if least > 0:
            yield broken(of, "missing input", "too few variadic ones", with_inputs(sample, given[:first + least - 1]), "")
    if not (of.outputs and of.outputs[-1].option == "variadic"):
        made = list(sample.node.output)
        names = made + [""] * (len(of.outputs) - len(made)) + ["one_more_output"]
        yield broken(of, "too many outputs", "one more", with_outputs(sample, names), "")


# The names of types in schemas, for types that inputs are declared with.
ELEMENTS = ("float", "int64", "string", "bool", "uint8", "double", "complex64", "int2", "float16")
CONTAINERS = ("tensor({})", "seq(tensor({}))", "optional(tensor({}))", "sparse_tensor({})")


def type_proto(text, shape):
    """An ONNX type from its text; `shape` is that of a tensor."""
    element = type_bases.number_of(type_bases.element_in(text))
    if text.startswith("tensor("):
        return helper.make_tensor_type_proto(element, shape)
    if text.startswith("sparse_tensor("):
        return helper.make_sparse_tensor_type_proto(element, shape if shape is not None else [2])
    plain = helper.make_tensor_type_proto(element, None)
    return helper.make_sequence_type_proto(plain) if text.startswith("seq(") else helper.make_optional_type_proto(plain)


def type_text(value):
    """The ONNX type of a value as text; None for sparse tensors and empty containers."""
    is_empty = isinstance(value, (list, dict)) and not value
    return None if is_empty or isinstance(value, d.sparse) else retype.type_words(value)


def declared(sample, name, text):
    """(sample, types): the sample with another declared type for an input, which is one of the graph."""
    changed = sample.copy()
    if name in changed.fixed:
        changed.feeds[name] = changed.fixed.pop(name)
    return changed, {name: type_proto(text, nodes.shape_of(changed.feeds[name]))}


def broken_types(of, sample):
    values = sample.values()
    if len({*sample.node.input}) < len(sample.node.input):
        return  # one value as two inputs: its type would change for both
    bound = collections.defaultdict(list)
    for i, (name, value) in enumerate(zip(sample.node.input, values)):
        p = of.input_at(i)
        if not name or p is None or value is None:
            continue
        allowed = of.types[p.type]
        words = [text.format(e) for text in CONTAINERS for e in ELEMENTS]
        wrong = [text for text in words if text not in allowed]
        tensors = [text for text in wrong if text.startswith("tensor(")]
        for text in dict.fromkeys([*tensors[:2], *(each for each in wrong if each not in tensors)][:3]):
            changed, types = declared(sample, name, text)
            yield broken(of, "type of an input", f"{p.name} is {text}", changed, p.name, types)
        if p.option != "variadic" or p.homogeneous:
            bound[p.type].append((i, name, p, value))
    for type_string, inputs in bound.items():
        have = type_text(inputs[0][3])
        other = next((t for t in sorted(of.types[type_string]) if t != have and re.fullmatch(r"tensor\(\w+\)", t)), None)
        if have is None or other is None or type_string.startswith(("tensor(", "seq(")):
            continue
        for i, name, p, _ in inputs[1:3]:
            changed, types = declared(sample, name, other)
            yield broken(of, "types that must be equal", f"{p.name} is {other}", changed, p.name, types)


def broken_versions(of, sample):
    """The operator before its first version and where it is deprecated."""
    versions = contracts.contracts()[of.domain, of.op]
    wanted = [(f"opset {of.since - 1}", of.since - 1)] if of is versions[0] and of.since > 1 else []
    wanted += [(f"deprecated in opset {each.since}", each.since) for each in versions
               if each.deprecated and each.since == of.last + 1]
    for what, opset in wanted:
        changed = sample.copy()
        changed.imports[of.domain] = opset
        yield broken(of, "no such operator", what, changed, "")


# Shapes ----------------------------------------------------------------------------------------------------------------


def resized(value, shape):
    """A value of another shape with the elements of this one."""
    array = np.asarray(value)
    return np.zeros(shape, array.dtype) if array.size == 0 else np.resize(array, shape)


def with_value(sample, name, value):
    changed = sample.copy()
    (changed.fixed if name in changed.fixed else changed.feeds)[name] = value
    return changed


def element_type_for(of, sample, p):
    """The element type of an input that the node does not have: that to which its type string is bound, or an allowed
    one."""
    for i, value in enumerate(sample.values()):
        other = of.input_at(i)
        if value is not None and other and other.type == p.type and nodes.shape_of(value) is not None:
            return np.asarray(value).dtype
    texts = [t for t in sorted(of.types[p.type]) if re.fullmatch(r"tensor\(\w+\)", t)]
    order = [t for t in retype.RATHER if t in texts] + texts
    return type_bases.numpy_type(type_bases.element_in(order[0])) if order else None


def pattern_samples(of, sample, rng, adds=True):
    """The sample with random shapes that fit the patterns. With `adds`, inputs that have a pattern and are absent are
    added."""
    rows = contracts.parsed(of.shapes)
    attributes = contracts.known_sizes(of, sample.attributes())
    everything = sample
    for i in range(len(sample.node.input), min(len(rows), len(of.inputs)) if adds else 0):
        everything = with_inputs(everything, [*everything.node.input, ""])
    for _ in range(PATTERN_SAMPLES):
        sizes = dict(attributes)
        made = everything.copy()
        for i, name in enumerate(everything.node.input):
            p, value = of.input_at(i), everything.values()[i]
            if i >= len(rows) or (name and nodes.shape_of(value) is None):
                continue
            like = nodes.shape_of(value)
            if not name and (not adds or rows[i] == [contracts.ANY]):
                continue
            choice = rows[i][int(rng.integers(0, len(rows[i])))]
            shape = contracts.made_shape(choice, sizes, rng, like)
            if not name:
                element = element_type_for(of, sample, p)
                if element is None:
                    continue
                name = made.node.input[i] = f"added_{i}"
                value = np.full([1], "text", object) if element == object else np.ones([1]).astype(element)
            made = with_value(made, name, resized(value, shape))
        while made.node.input and not made.node.input[-1]:
            made.node.input.pop()
        yield made


def shapes_of(sample, is_open=False):
    """The shapes of the inputs; with open extents, those of the graph's inputs have no sizes."""
    made = []
    for name, value in zip(sample.node.input, sample.values()):
        shape = nodes.shape_of(value)
        made.append([None] * len(shape) if shape is not None and is_open and name in sample.feeds else shape)
    return made


def fits(of, sample, is_open=False):
    return contracts.fits(of.shapes, shapes_of(sample, is_open)[:len(of.inputs)],
                          contracts.known_sizes(of, sample.attributes()))


def other_shapes(shape):
    """Shapes that differ from a shape in one size, or in the rank."""
    yield "an axis more at the end", [*shape, 1]
    yield "an axis more at the start", [2, *shape]
    if shape:
        yield "an axis less at the end", shape[:-1]
        yield "an axis less at the start", shape[1:]
    for axis, n in enumerate(shape):
        for size in dict.fromkeys((n + 1, max(n - 1, 0), 2 * n + 1, 1)):
            if size != n:
                yield f"axis {axis} has size {size} and not {n}", [*shape[:axis], size, *shape[axis + 1:]]
    if not shape or math.prod(shape) == 1:
        yield "two elements", [2]


def broken_shapes(of, sample, is_chosen):
    rows = contracts.parsed(of.shapes)
    names = list(sample.node.input)
    for i, (name, shape) in enumerate(zip(names, shapes_of(sample))):
        if shape is None or i >= min(len(rows), len(of.inputs)) or names.count(name) > 1:
            continue
        for what, other in other_shapes(shape):
            if math.prod(other) > 1 << 16 or not is_chosen(f"{name} {what}"):
                continue
            changed = with_value(sample, name, resized(sample.values()[i], other))
            if not fits(of, changed):
                rank = "rank of an input" if len(other) != len(shape) else "size of an axis"
                yield broken(of, rank, f"{of.inputs[i].name}: {what}", changed, "", patterns=True,
                             by_extents=fits(of, changed, True))


# The run ---------------------------------------------------------------------------------------------------------------


class campaign:
    def __init__(self, o, scratch):
        self.o, self.scratch, self.problems = o, scratch, collections.defaultdict(list)
        self.valid, self.words, self.kept = 0, collections.defaultdict(dict), 0

    def problem(self, of, rule, what, models=()):
        self.problems[rule, f"{of.domain or 'ai.onnx'}.{of.op}"].append(f"{of.name()}: {what}")
        if self.o.keep:
            for folder in models:
                self.kept += 1
                shutil.copytree(folder, self.o.keep / f"{self.kept}_{folder.name}", dirs_exist_ok=True)

    def folder(self, name):
        made = self.scratch / name
        made.mkdir()
        return made

    # Valid nodes

    def answers_both_ways(self, samples, name):
        """{key: (answer with known shapes, with open shapes)}."""
        models = {}
        for key, sample in samples.items():
            for how in ("static", "open"):
                models[f"{key}_{how}"] = nodes.model_of(sample, how), sample.feeds
        told = nodes.answers(models, self.folder(name))
        return {key: (told[f"{key}_static"], told[f"{key}_open"]) for key in samples}

    def valid_samples(self, versions, cases):
        """{index of a version: samples that load, those that run first}."""
        samples = {f"{v}_{i}": each for v, of in enumerate(versions) for i, each in enumerate(nodes.candidates(of, cases))}
        told = self.answers_both_ways(samples, "candidates")
        found, doubts = collections.defaultdict(list), collections.defaultdict(list)
        for key, (known, is_open) in told.items():
            v = int(key.split("_")[0])
            stages = known.stage, is_open.stage
            if "broken" in stages or len({*stages}) > 1:
                doubts[v].append(f"valid, {known.says()} with known shapes, but {is_open.says()} with open ones")
            if "loading" not in stages and "broken" not in stages:
                found[v].append((stages != ("ran", "ran"), samples[key]))
        for v, of in enumerate(versions):
            found[v].sort(key=lambda pair: pair[0])
            if not found[v]:
                self.problem(of, "no valid node", next((a.says() for k, (a, _) in told.items()
                                                         if k.startswith(f"{v}_")), "no source has one"))
            elif found[v][0][0]:
                self.problem(of, "no valid node runs", "all are refused while running")
            for words in doubts[v] if len(doubts[v]) == len([k for k in told if k.startswith(f"{v}_")]) else ():
                self.problem(of, "valid nodes", words)
            for _, sample in found[v]:
                if of.shapes and not fits(of, sample):
                    self.problem(of, "valid nodes", f"runs with shapes {shapes_of(sample)}, which do not fit {of.shapes}")
        self.valid = sum(not bad for each in found.values() for bad, _ in each)
        return {v: self.distinct(sample for _, sample in each) for v, each in found.items()}

    @staticmethod
    def distinct(samples):
        """Without those that have the same inputs and attributes as one before."""
        return list({each.presence(): each for each in reversed([*samples])}.values())[::-1]

    def samples_of_patterns(self, versions, valid):
        """{index of a version: samples with shapes made of the patterns, which load}."""
        made = {}
        for v, of in enumerate(versions):
            rng = np.random.default_rng([self.o.seed, zlib.crc32(of.name().encode())])
            for s, sample in enumerate(valid[v][:2] if of.shapes else ()):
                for i, each in enumerate(pattern_samples(of, sample, rng)):
                    assert fits(of, each), (of.name(), of.shapes, shapes_of(each))
                    made[f"{v}_{s}_{i}"] = each
        told = self.answers_both_ways(made, "patterns")
        found = collections.defaultdict(list)
        for key, answers in told.items():
            of = versions[int(key.split("_")[0])]
            for each in answers:
                is_of_pattern = each.stage == "loading" and SHAPE.fullmatch(each.words) and of.op not in DEMAND_MORE
                if is_of_pattern or each.stage == "broken":
                    self.problem(of, "valid shapes", f"{shapes_of(made[key])} fit {of.shapes}, but {each.says()}")
            if all(each.stage in ("ran", "running") for each in answers):
                found[int(key.split("_")[0])].append(made[key])
        return found

    # Broken nodes

    def is_chosen(self, words):
        """True for the nodes of the wanted tenth, by a description of the node."""
        return self.o.long or self.o.only or zlib.crc32(f"{self.o.seed} {words}".encode()) % 10 == self.o.tenth % 10

    def broken_nodes(self, versions, valid, of_patterns):
        for v, of in enumerate(versions):
            if not valid[v]:
                continue
            for make in (broken_attributes, broken_inputs, broken_types, broken_versions):
                yield from (each for each in make(of, valid[v][0]) if self.is_chosen(each.name()))
            for i, sample in enumerate((valid[v] + of_patterns[v]) if of.shapes else ()):
                yield from broken_shapes(of, sample, lambda words, i=i: self.is_chosen(f"{of.name()} {i} {words}"))

    def check(self, chosen):
        models = {}
        for i, each in enumerate(chosen):
            for how in ("static", "open") + (("no rank",) if each.patterns and not each.by_extents else ()):
                feeds = each.sample.feeds if each.patterns else None
                models[f"{i}_{how.replace(' ', '_')}"] = nodes.model_of(each.sample, how, each.types), feeds
        folder = self.folder("broken")
        told = nodes.answers(models, folder)
        for i, each in enumerate(chosen):
            known, is_open, no_rank = (told.get(f"{i}_{how}") for how in ("static", "open", "no_rank"))
            wrong = list(self.faults(each, known, is_open, no_rank))
            kept = [folder / f"{i}_{how}" for how in ("static", "open", "no_rank") if f"{i}_{how}" in told]
            for kind, words in wrong:
                self.problem(each.of, f"{each.rule}: {kind}", f"{each.what}: {words}{self.about(each)}", kept)
            if known.stage != "ran":
                self.words[each.rule].setdefault(kind_of_words(known.words), f"{each.of.name()}: {known.words}")

    @staticmethod
    def about(each):
        return f" (shapes {shapes_of(each.sample)}, patterns {each.of.shapes})" if each.patterns else ""

    def faults(self, each, known, is_open, no_rank):
        """(kind of the violation, words) of what the program does wrong with a broken node."""
        if known.stage != "loading":
            yield "not refused at loading", known.says()
            return
        if known.code != "INVALID_GRAPH":
            yield "another code", known.says()
        if not names_it(each, known.words):
            yield "other words", known.says()
        if not each.patterns or not each.by_extents:
            if is_open.stage != "loading":
                yield "not refused at loading with open shapes", is_open.says()
            elif is_open.code != known.code:
                yield "another code with open shapes", is_open.says()
            elif not (same_but_extents if each.patterns else str.__eq__)(known.words, is_open.words):
                yield "other words with open shapes", f"{known.words} / {is_open.words}"
        elif is_open.stage == "loading" and each.rule == "rank of an input" and re.search(r"\branks? \d", is_open.words):
            pass  # the ranks break another rule as well, which shape functions check
        elif is_open.stage != "running":
            yield "refused at loading with open shapes" if is_open.stage == "loading" else "not refused while running", \
                is_open.says()
        if no_rank or (each.patterns and each.by_extents and is_open.stage != "loading"):
            yield from self.faults_of_run(known, no_rank or is_open)

    @staticmethod
    def faults_of_run(known, run):
        if run.stage == "running" and run.code != "INVALID_ARGUMENT":
            yield "another code while running", run.says()
        if run.stage == "running" and run.words != known.words:
            yield "other words while running", f"{known.words} / {run.words}"
        if run.stage in ("ran", "broken"):
            yield "not refused while running", run.says()

    # The report

    def report(self):
        for (rule, op), lines in sorted(self.problems.items()):
            print(f"{rule}: {op}: {len(lines)}")
            for line in lines if self.o.list else lines[:SHOWN if self.o.only else 2]:
                print(f"    {line}"[:700])
        by_rule = collections.Counter()
        for (rule, _), lines in self.problems.items():
            by_rule[rule] += len(lines)
        for rule, number in sorted(by_rule.items()):
            print(f"{number} violations: {rule}")
        if self.o.words:
            for rule, kinds in self.words.items():
                for kind, example in kinds.items():
                    print(f"words of {rule}: {kind}: {example}"[:400])
        return sum(by_rule.values())


def kind_of_words(words):
    """A message without names and numbers."""
    words = re.sub(r"'[^']*'", "'_'", words)
    words = re.sub(r"(?<=; it takes )'_'(, '_')*", "...", words)
    words = re.sub(r"must be (?!of ).*", "must be ...", words)
    words = re.sub(r"'_' allows .*", "'_' allows ...", words)
    words = re.sub(r"^attribute \w+", "attribute _", words)
    words = re.sub(r"^\w+ has shape \[[^]]*\]", "_ has shape [...]", words)
    words = re.sub(r"-?\d+(\.\d+)?", "1", words)
    return re.sub(r"(?:seq|optional|sparse_tensor|tensor|map)\(\S+\)|\((?:\w+)\)|(?<=of type )\w+", "_", words)[:120]


# What the message about a rule is like; {} is the attribute or input.
FORMS = {
    "value of an attribute": r"attribute '?{}'? (is|has) .*, must (be|have) .+",
    "kind of an attribute": r"attribute '?{}'? is of type \w+, must be \w+",
    "missing attribute": r"attribute '?{}'? .*is missing",
    "unknown attribute": r"has no attribute '{}'; it takes .+",
    "attribute twice": r"has attribute '{}' twice",
    "missing input": r"input .*(is missing|is left out).*|has \d+ inputs, takes .+",
    "too many inputs": r"has \d+ inputs, takes .+",
    "too many outputs": r"has \d+ outputs, takes .+",
    "type of an input": r"input '{}' .* is .+; '.*' allows .+",
    "types that must be equal": r"input '.*' .* is .+, but '.*' is .+ already, by '.*': they must be the same",
    "no such operator": r"there is no operator .*|operator .* is deprecated since opset \d+.*",
}
SHAPE = re.compile(r"(\w+) has shape (\[[^]]*\]), must be (.+)")


def names_it(each, words):
    """True if a message at loading is about the rule that the node breaks."""
    if not each.patterns:
        return re.fullmatch(FORMS[each.rule].format(re.escape(each.about)), words) is not None
    found = SHAPE.fullmatch(words)
    given = {p.name: shape for p, shape in zip(each.of.inputs, shapes_of(each.sample))}
    if not found or found[2] != str(given.get(found[1])).replace(" ", ""):
        return False
    return not could_be(found[3], given[found[1]])


def alternatives_in(must):
    """The patterns in the words after "must be". "1 or 3" is an element; "] or [" separates patterns."""
    return re.split(r"(?<=\]) or (?=\[)|(?<=element) or |(?<=\]) or (?=one element)", must)


def could_be(must, shape):
    """True if a shape fits the words after "must be", where names stand for any size."""
    def fits_one(text):
        if text == "one element":
            return math.prod(shape) == 1
        wanted = text[1:-1].split(",") if text != "[]" else []
        if "..." in wanted:
            at = wanted.index("...")
            head, tail = wanted[:at], wanted[at + 1:]
            pairs = [*zip(head, shape), *zip(tail, shape[len(shape) - len(tail):])]
            right = len(shape) >= len(head) + len(tail)
        else:
            pairs, right = zip(wanted, shape), len(wanted) == len(shape)
        return right and all(not each.isdigit() or int(each) == n for each, n in pairs)
    texts = alternatives_in(must)
    has_names = re.search(r"[a-zA-Z_]\w*(?<!any)(?<!or)(?<!one)(?<!element)", must.replace("one element", "").replace("any", ""))
    return not has_names and any(fits_one(each) for each in texts if " or " not in each)


def same_but_extents(known, is_open):
    """True if messages about shapes differ only in extents that are open."""
    a, b = SHAPE.fullmatch(known), SHAPE.fullmatch(is_open)
    if not a or not b or a[1] != b[1]:
        return False

    def parts(words):
        return [re.split(",", each) for each in re.split(r"[\[\]]", words)]
    left, right = parts(f"{a[2]} {a[3]}"), parts(f"{b[2]} {b[3]}")
    if [len(each) for each in left] != [len(each) for each in right]:
        return False
    pairs = [pair for x, y in zip(left, right) for pair in zip(x, y)]
    return all(x == y or not re.fullmatch(r"\d+", y) for x, y in pairs)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--tenth", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="OP")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    return parser.parse_args()


def main():
    o = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        run = campaign(o, pathlib.Path(scratch))
        versions = [of for of in nodes.versions_of_cpu() if o.only in (None, of.op)]
        valid = run.valid_samples(versions, nodes.whole_cases(run.scratch))
        chosen = list(run.broken_nodes(versions, valid, run.samples_of_patterns(versions, valid)))
        run.check(chosen)
        wrong = run.report()
    print(f"{len({(of.domain, of.op) for of in versions})} operators, {len(versions)} versions, {run.valid} valid nodes ran; "
          f"{len(chosen)} invalid nodes, {wrong} violations")
    return 1 if wrong or not chosen or (not o.only and len(chosen) < (LEAST if o.long else LEAST // 10)) else 0


if __name__ == "__main__":
    sys.exit(main())
