#!/usr/bin/env python3
"""Random valid nodes answer the same with known and with open shapes, and near onnxruntime.

Half of the cases come from the families of the differential scripts. The others are nodes of tests/program/node_samples.py
for a random version of an operator, with random legal attributes, with random shapes that fit the patterns of the
operator, and with random numbers. Each is run in a model that declares the sizes of its inputs and in one that declares
symbols: the outputs are equal bit for bit, or both are refused. Where onnxruntime runs a case, too, the outputs are near
its own, as in tests/program/differential.py.

A generated case may break a rule that no table states, as how two attributes go together; such cases are counted, and
those that are refused in other words with open shapes are printed, but they are not violations.

  --long       20,000 cases; by default 400
  --cases N    this many
  --seed N     other cases
  --only OP    only nodes of this operator
  --keep DIR   keeps the cases that differ from onnxruntime
"""
import argparse
import collections
import importlib
import os
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(root / "tests" / "program"), str(root / "tests" / "scripts")]
import contracts  # noqa: E402
import differential as d  # noqa: E402
import invalid_nodes  # noqa: E402
import judgments  # noqa: E402
import node_samples as nodes  # noqa: E402

USUAL, LONG, AT_ONCE = 400, 20_000, 2_000
TOLERANCES = {"float16": 1e-2, "bfloat16": 4e-2}
# Operators whose outputs are random.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Dropout",
          "BiasDropout", "BitmaskDropout", "BitmaskBiasDropout", "Sampling"}
CHANGED = 0.25  # the share of the attributes with listed values that get another one


def opened(model):
    """The model with symbols as the sizes of its inputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for i, given in enumerate(made.graph.input):
        nodes.opened(given.type, f"d{i}")
    return made


# Generated cases -------------------------------------------------------------------------------------------------------


def legal_value(rule, rng):
    """A random legal value of one element."""
    _, text = contracts.parsed_values(rule.values)
    near = [v + i for v in contracts.border_values(rule) if not isinstance(v, str) for i in (0, 1, 2)]
    values = near or contracts.border_values(rule)
    legal = [v for v in values if contracts.is_legal_element(text, v) and (isinstance(v, str) or abs(v) < 100)]
    return legal[int(rng.integers(0, len(legal)))] if legal else None


def with_random_attributes(of, sample, rng):
    for rule in of.attributes.values():
        if not rule.values or rng.random() > CHANGED:
            continue
        if rule.kind in ("i", "f", "s"):
            value = legal_value(rule, rng)
        elif any(a.name == rule.name for a in sample.node.attribute):
            value = [legal_value(rule, rng) for _ in invalid_nodes.given_list(sample, rule)]
            value = None if None in value else value
        else:
            value = None
        if value is not None and contracts.is_legal(rule, value):
            sample = invalid_nodes.with_attribute(sample, invalid_nodes.attribute(rule.name, rule.kind, value))
    return sample


def with_random_numbers(sample, rng):
    """Other floats; integers are often sizes and indices, which stay."""
    made = sample.copy()
    least = 0 if sample.node.op_type == "Cast" else -2  # "Casting negative values to FLOAT8E8M0 gives undefined behavior"
    for name, value in sample.feeds.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 1:
            made.feeds[name] = np.asarray(rng.uniform(least, 2, value.shape)).astype(value.dtype)
    return made


def generated(of, sample, rng):
    made = with_random_attributes(of, sample, rng)
    if of.shapes and rng.random() < 0.7:
        try:
            made = next(iter(invalid_nodes.pattern_samples(of, made, rng, rng.random() < 0.3)))
        except StopIteration:
            pass
    if not of.domain.startswith("ai.onnx.ml") and rng.random() < 0.7:
        made = with_random_numbers(made, rng)
    elements = {np.asarray(v).dtype.name for v in made.feeds.values() if nodes.shape_of(v) is not None}
    tolerance = max([TOLERANCES.get(e, 1e-3) for e in elements], default=1e-3)
    return d.case(nodes.model_of(made), made.feeds, tolerance, tolerance)


class source:
    """Makes the cases of a seed, by their numbers; some numbers have none."""

    def __init__(self, o):
        self.o, self.families = o, {}
        for script in d.SCRIPTS:
            self.families.update({f"{script}.{name}": made[0]
                                  for name, made in importlib.import_module(script).FAMILIES.items()})
        self.names = sorted(self.families)
        with tempfile.TemporaryDirectory() as scratch:
            cases = nodes.whole_cases(pathlib.Path(scratch))
        self.samples = []
        for of in nodes.versions_of_cpu():
            if of.op not in RANDOM and o.only in (None, of.op):
                found = list(nodes.candidates(of, cases))
                self.samples += [(of, found)] if found else []

    def case(self, number):
        rng = np.random.default_rng([self.o.seed, 39, number])
        if number % 2 and not self.o.only:
            name = self.names[int(rng.integers(0, len(self.names)))]
            each = self.families[name](rng)
            each.name = f"{number}.{name}"
            # What is fused in a model of several nodes depends on the shapes that are known.
            is_one_node = len(each.model.graph.node) == 1 and not each.model.functions
            return each if is_one_node and each.model.graph.node[0].op_type not in RANDOM else None
        of, found = self.samples[int(rng.integers(0, len(self.samples)))]
        each = generated(of, found[int(rng.integers(0, len(found)))], rng)
        each.name = f"{number}.generated.{of.name()}"
        return each


# The run ---------------------------------------------------------------------------------------------------------------


def same_words(known, is_open):
    """True if messages are equal, or differ in extents that are open."""
    plain = [re.sub(r"\[[^]]*\]", "[]", each) for each in (known, is_open)]
    return known == is_open or plain[0] == plain[1] or invalid_nodes.same_but_extents(known, is_open)


def differs_both_ways(known, is_open):
    """What differs between the answers with known and with open shapes, or None."""
    if "broken" in (known.stage, is_open.stage):
        return f"{known.says()} / {is_open.says()}"
    if (known.stage == "ran") != (is_open.stage == "ran"):
        return f"{known.says()} with known shapes, {is_open.says()} with open ones"
    if known.stage == "ran":
        return None if known.hash == is_open.hash else "the outputs differ in bits"
    return None


def is_empty(value):
    return value is None or (isinstance(value, (list, dict)) and not value)


def oracle(each):
    """d.answers(), without empty containers, whose types cannot be written. Only onnxruntime is the oracle of generated
    cases: the reference evaluator ignores attributes and inputs of old versions."""
    who, told = d.answers(each)
    if ".generated." in each.name:
        node = each.model.graph.node[0]
        if who != "onnxruntime" or node.op_type == "Optional":  # the type of whose output would be that of its content
            return "refused", "onnxruntime does not run it"
        if judgments.row_of([node]):
            return "refused", "onnxruntime contradicts the text"
        if node.op_type == "NonMaxSuppression" and any(np.size(each.feeds.get(name, 1)) == 0 for name in node.input[2:]):
            return "refused", "onnxruntime reads a limit from a tensor without elements"
    if who in d.JUDGES and any(map(is_empty, told.values())):
        return "refused", "an output is an empty container"
    return who, told


def run(cases, folder, counts):
    """{kind of difference: lines} of cases."""
    wrong = collections.defaultdict(list)
    models = {f"{each.name}_{how}": (model, each.feeds) for each in cases
              for how, model in (("static", each.model), ("open", opened(each.model)))}
    told = nodes.answers(models, folder / "both")
    ran = []
    for each in cases:
        known, is_open = told[f"{each.name}_static"], told[f"{each.name}_open"]
        words = differs_both_ways(known, is_open)
        if words:
            wrong["known and open shapes"].append(f"{each.name}: {d.in_words(each)}: {words}")
        if known.stage == "ran":
            ran.append(each)
        elif not words and not same_words(known.words, is_open.words):
            counts["refused in other words"] += 1
            print(f"{each.name}: {known.says()} / {is_open.says()}"[:600])
    counts["cases"] += len(cases)
    counts["ran"] += len(ran)
    found, judged = d.differences(ran, folder / "judged", oracle)
    by_text = d.judged_by_text(ran, found, judged, folder)
    for each in ran:
        counts["compared" if judged[each.name] in d.JUDGES else "without an oracle"] += 1
        if each.name in found and each.name not in by_text:
            wrong[judged[each.name]].append(f"{each.name}: {d.in_words(each)}: {found[each.name]}")
    return wrong


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="OP")
    parser.add_argument("--keep", type=pathlib.Path)
    return parser.parse_args()


def main():
    o = arguments()
    number = o.cases or (LONG if o.long else USUAL)
    made, counts, wrong = source(o), collections.Counter(), collections.defaultdict(list)
    for first in range(0, number, AT_ONCE):
        cases = [each for each in map(made.case, range(first, min(first + AT_ONCE, number))) if each]
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) if not o.keep else o.keep / str(first)
            for kind, lines in run(cases, folder, counts).items():
                wrong[kind] += lines
                print("".join(f"{kind}: {line}"[:900] + "\n" for line in lines), end="", flush=True)
    print(f"{counts['cases']} cases, {counts['ran']} ran both ways, {counts['compared']} compared with an oracle, "
          f"{counts['refused in other words']} refused in other words; {sum(map(len, wrong.values()))} violations "
          f"(seed {o.seed})")
    return 1 if wrong or counts["ran"] * 2 < counts["cases"] or not counts["cases"] else 0


if __name__ == "__main__":
    sys.exit(main())
