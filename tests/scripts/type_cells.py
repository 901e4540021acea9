#!/usr/bin/env python3
"""Every type that ONNX's schemas allow is run. For each operator and version, one type variable at a time (a cell), a
model of one node runs, and its outputs are compared with those of an oracle.

The model is made from a base (tests/program/type_bases.py), which is changed to this version and type
(tests/program/retype.py). The oracle is onnxruntime; where it has no kernel of that version and type, onnx's reference
evaluator, or a definition in numpy; where none of these exists, onnxruntime or the evaluator with the same small
numbers in a wider element type, or with another version of the operator. Cells without any oracle are listed with the
reason in tests/data/type_cells_unjudged.txt, which may only shrink.

Where cameo differs from the reference evaluator, onnxruntime is run with another version or type, too; where cameo
differs from onnxruntime but not from the evaluator, judgments.py must have the sentence of the specification that
decides.

A run takes a tenth of the cells, chosen by the seed; --long takes all. --only WORD takes those with WORD in their name.
"""
import argparse
import collections
import copy
import dataclasses
import json
import os
import pathlib
import random
import re
import sys
import tempfile
import warnings

import numpy as np
import onnx

TESTS = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "tests"
sys.path[:0] = [str(TESTS / folder) for folder in ("program", "scripts")]
import differential as d  # noqa: E402
import judgments  # noqa: E402
import ort_judge  # noqa: E402
import retype  # noqa: E402
import shrinking_list  # noqa: E402
import type_bases  # noqa: E402

HEAD = """# Types that ONNX allows in an operator's version, and that no oracle can judge: domain, operator, version,
# variable, type; why. tests/scripts/type_cells.py reads this list, which may only shrink.
"""
TRIES = 12  # the most cases to try per cell
TOLERANCES = {"float16": 1e-2, "bfloat16": 4e-2, "float8e4m3fn": 0.13, "float8e4m3fnuz": 0.13, "float8e5m2": 0.26,
              "float8e5m2fnuz": 0.26}
# Fills memory that cameo does not initialize with a nonzero byte: zeros could be correct by chance.
os.environ.setdefault("MALLOC_PERTURB_", "165")
HISTORY = collections.defaultdict(list)
for each_schema in onnx.defs.get_all_schemas_with_history():
    if not each_schema.deprecated:
        HISTORY[each_schema.domain, each_schema.name].append(each_schema)


@dataclasses.dataclass(frozen=True)
class cell:
    domain: str
    op: str
    version: int
    variable: str
    text: str  # the name of the type

    def schema(self):
        return onnx.defs.get_schema(self.op, self.version, self.domain)

    def name(self):
        return f"{self.domain or 'ai.onnx'} {self.op} {self.version} {self.variable} {self.text}"


def all_cells():
    for schema in onnx.defs.get_all_schemas_with_history():
        used = {formal.type_str for formal in [*schema.inputs, *schema.outputs]}
        for constraint in [] if schema.deprecated else schema.type_constraints:
            for text in constraint.allowed_type_strs:
                if constraint.type_param_str in used:  # Tile-1 has a type variable that no parameter uses
                    yield cell(schema.domain, schema.name, schema.since_version, constraint.type_param_str, text)


def wanted_types(of, schema):
    """The type of the cell's variable alone, and the same element type in all variables that allow it."""
    yield {of.variable: of.text}
    element, together = type_bases.element_in(of.text), {}
    for variable, allowed in retype.allowed_of(schema).items():
        texts = sorted(t for t in allowed if type_bases.element_in(t) == element)
        if variable != of.variable and texts:
            together[variable] = texts
    if together:
        yield {of.variable: of.text, **{v: texts[-1] for v, texts in together.items()}}
        if any(len(texts) > 1 for texts in together.values()):
            yield {of.variable: of.text, **{v: texts[0] for v, texts in together.items()}}


def relevance(of, base):
    """The order of bases: first those that have the type already, then those with a type of the same kind."""
    try:
        inputs = base.inputs
        formals = retype.formals(inputs, base.schema().inputs)
    except retype.unfit:
        return 3
    have = [retype.type_words(v) for v, f in zip(inputs, formals) if v is not None and f.type_str == of.variable]
    if of.text in have:
        return 0
    floats = of.text.removeprefix("tensor(").rstrip(")") in retype.FLOATS
    return 1 if have and (type_bases.element_in(have[0]) in retype.FLOATS) == floats else 2


def rank(of, base):
    """The key by which bases are sorted."""
    near = relevance(of, base)
    has_attributes_by_type = of.domain == "ai.onnx.ml" or of.op == "TfIdfVectorizer"
    return near == 3, near if has_attributes_by_type else 0, base.source, near, base.size()


def bases_for(of):
    found = type_bases.bases().get((of.domain, of.op), [])
    return sorted(found, key=lambda base: rank(of, base))


def is_in(of, case, schema):
    """True if an input or output of the node has the type of the cell's variable."""
    node = case.model.graph.node[0]
    pairs = [*zip(node.input, retype.formals(node.input, schema.inputs)),
             *zip(node.output, retype.formals(node.output, schema.outputs))]
    return any(name and formal.type_str == of.variable for name, formal in pairs)


def attempts(of):
    """(case, base or None, wanted types), for bases that can be changed to the cell."""
    schema = of.schema()
    made = type_bases.sketched(schema, of.variable, of.text)
    if made:
        yield made, None, {}
        return
    count = 0
    for base in bases_for(of):
        for wanted in wanted_types(of, schema):
            try:
                case = retype.retyped(base, schema, wanted)
            except retype.unfit:
                continue
            if is_in(of, case, schema):
                count += 1
                yield case, base, wanted
        if count >= TRIES:
            return


def has_type(of, case, outputs):
    """True if outputs whose type is the cell's variable have its type, which matters if no input determines it."""
    if case.oracle:
        return True
    schema, node = of.schema(), case.model.graph.node[0]
    for name, formal in zip(node.output, retype.formals(node.output, schema.outputs)):
        if name and formal.type_str == of.variable and retype.type_words(outputs[name]) != of.text:
            return False
    return True


def ort_says(case):
    """Outputs by name; else None, whether onnxruntime has no such kernel, and its message."""
    try:
        session = ort_judge.ort.InferenceSession(case.model.SerializeToString(), ort_judge.ort_options(),
                                                 providers=["CPUExecutionProvider"])
        return ort_judge.ort_runs(session, case.feeds), False, ""
    except Exception as e:  # noqa: BLE001 - after any error another oracle is used
        return None, any(known in str(e) for known in d.UNKNOWN_TO_ORT), str(e)


def reference_says(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The evaluator overwrites its inputs.
        who, told = d.reference_answers(dataclasses.replace(case, feeds=copy.deepcopy(case.feeds)))
    return (told, "") if who in d.JUDGES else (None, told)


# Wider element types that can represent the same small numbers. Strings are replaced by their indices, which suffices for
# operators that only move elements.
WIDER = {"bool": ("uint8", "int32", "int64"), "string": ("int64", "int32"),
         **{f"{sign}int{bits}": ("int64", "int32", "float", "double") for sign in ("", "u")
            for bits in (2, 4, 8, 16, 32, 64)},
         **{t: ("float", "double") for t in ("complex64", "complex128", *retype.FLOATS, "float8e8m0", "float4e2m1")},
         **{f"float8{t}": ("float", "double") for t in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")}}


def narrowed(of, case, wanted, outputs):
    """The outputs in a wider element type, with those of the wanted variables converted back to their type."""
    schema, node = of.schema(), case.model.graph.node[0]
    made = dict(outputs)
    for name, formal in zip(node.output, retype.formals(node.output, schema.outputs)):
        if name and formal.type_str in wanted:
            made[name] = retype.narrow(outputs[name], type_bases.element_in(wanted[formal.type_str]))
    return made


def schemas_from(of):
    """The schemas of the cell's version, then of later versions, then of earlier ones, latest first."""
    versions = sorted(s.since_version for s in HISTORY[of.domain, of.op])
    order = [v for v in versions if v >= of.version] + [v for v in reversed(versions) if v < of.version]
    return [onnx.defs.get_schema(of.op, v, of.domain) for v in order]


def others(of, case, base, wanted):
    """(description, case, wider type or None) of cases whose outputs can replace those of the cell."""
    element = type_bases.element_in(of.text)
    for schema in schemas_from(of):
        for wide in (None, *WIDER.get(element, ())):
            if wide == element or (wide is None and schema.since_version == of.version):
                continue
            try:
                made = retype.retyped(base, schema, wanted, wide)
            except retype.unfit:
                continue
            how = ("" if schema.since_version == of.version else "other version") + (" wide" if wide else "")
            yield how.strip(), made, wide


def judged_by_others(of, case, base, wanted, judges):
    if base is None:
        return None
    for how, made, wide in others(of, case, base, wanted):
        for who, ask in judges:
            told = ask(made)[0]
            if told is None or set(told) != {o.name for o in case.model.graph.output}:
                continue
            try:
                told = narrowed(of, case, wanted, told) if wide else told
                told = retype.given_types(case, of.schema(), told)
                if has_type(of, case, told):
                    return f"{who}, {how}", told
            except (ValueError, TypeError, retype.unfit):
                continue
    return None


def onnxruntime_answer(of, tried, why):
    for number, (case, _, _) in enumerate(tried):
        told, unknown, words = ort_says(case)
        if told is not None and has_type(of, case, told):
            return "onnxruntime", (number, told)
        why.append(f"onnxruntime: {words}")
        if unknown:
            return None
    return None


def recorded(case, base):
    """The expected outputs of the backend test, for which the reference evaluator needs another package."""
    if case.same and base.recorded and base.op == "ImageDecoder":
        return dict(zip(base.outputs, base.recorded))
    return None


def reference_answer(of, tried, why):
    for number, (case, base, _) in enumerate(tried):
        told = (type_bases.by_definition(case) or recorded(case, base)) if base else None
        who = "numpy" if told or case.oracle else "reference"
        if not told and not case.oracle and not retype.infers(case):
            why.append("reference: types do not fit")
            continue
        told, words = (told, "") if told else reference_says(case)
        try:
            if told is not None and base:
                told = retype.given_types(case, of.schema(), told)
            if told is not None and has_type(of, case, told):
                return who, (number, told)
        except (ValueError, TypeError, retype.unfit) as e:
            words = str(e)
        why.append(f"reference: {words}")
    return None


def other_answer(of, tried, judges):
    for number, (case, base, wanted) in enumerate(tried):
        found = judged_by_others(of, case, base, wanted, judges)
        if found:
            return found[0], (number, found[1])
    return None


ORT, REFERENCE = ("onnxruntime", lambda case: ort_says(case)), ("reference", lambda case: reference_says(case))


def answers(of, with_ort=True):
    """("judge", (number of the attempt, outputs)) or ("refused", why)."""
    tried, why = list(attempts(of)), []
    if not tried:
        return "refused", ("no model", "")
    found = (onnxruntime_answer(of, tried, why) if with_ort else None) or reference_answer(of, tried, why) or \
        other_answer(of, tried, (ORT, REFERENCE) if with_ort else (REFERENCE,))
    return found or ("refused", ("no oracle", "; ".join(why)[:3000]))


def answers_without_ort(of):
    """The answers for a cell on which onnxruntime crashes."""
    return answers(of, with_ort=False)


def answers_of_reference(of):
    """The reference evaluator's answer, for cells where onnxruntime's may contradict the specification."""
    return reference_answer(of, list(attempts(of)), []) or ("refused", ("no second oracle", ""))


def answers_of_another(of):
    """onnxruntime's answer in another version or type, for cells where the reference evaluator may be wrong."""
    return other_answer(of, list(attempts(of)), (ORT,)) or ("refused", ("no second oracle", ""))


def case_of(of, number):
    return list(attempts(of))[number][0]


def tolerant(case, outputs):
    """The case with tolerances for the rounding of floats of 16 and 8 bits."""
    of_outputs = {type_bases.element_in(retype.type_words(v)) for v in outputs.values()}
    if not of_outputs & {*retype.FLOATS, *TOLERANCES, "complex64", "complex128"}:
        return case
    elements = of_outputs | {type_bases.element_in(retype.type_words(v)) for v in case.feeds.values()}
    # The errors of a Fourier transform are proportional to its largest result.
    absolute = 1e-3 if case.model.graph.node[0].op_type in ("DFT", "STFT") else 1e-5
    widest = max(TOLERANCES.get(e, 0) for e in elements)
    case.rtol, case.atol = max(widest, 1e-3), max(widest, absolute)
    return case


def folder_name(of):
    return re.sub(r"[^\w.]+", "_", of.name())


def judged_cells(cells, ask=answers):
    """{cell: answer of an oracle}; cells on which onnxruntime crashes are tried again without it."""
    told = dict(zip(cells, d.judge(cells, ask)))
    crashed = [of for of in cells if told[of][0] == "crashed"]
    if ask is answers:
        told.update(zip(crashed, d.judge(crashed, answers_without_ort)))
    return told


def run_cells(cells, folder, ask=answers):
    """({cell: difference}, {cell: (oracle, reason if there is none)})."""
    type_bases.bases()  # here once, and not in each process of the oracles
    judged, named = {}, {}
    for of, (who, told) in judged_cells(cells, ask).items():
        judged[of] = (who, told if who in ("refused", "crashed") else "")
        if who in ("refused", "crashed"):
            continue
        case = tolerant(case_of(of, told[0]), told[1])
        named[folder_name(of)] = of
        try:
            d.write_case(folder / folder_name(of), case, told[1])
        except Exception as e:  # noqa: BLE001
            judged[of] = ("refused", ("not written", repr(e)))
            del named[folder_name(of)]
    return differing(folder, named), judged


def run_twice(cells, folder):
    """Where only the reference evaluator differs from cameo, onnxruntime with another version or type decides. Where
    cameo and the evaluator agree and onnxruntime differs, a sentence of the specification must decide."""
    found, judged = run_cells(cells, folder / "first")
    by_doubt = overruled(found, judged, "reference", folder / "second", answers_of_another)
    by_text = overruled(found, judged, "onnxruntime", folder / "third", answers_of_reference)
    for of in [of for of in by_text if not judgments.row_of(case_of(of, 0).model.graph.node)]:
        del by_text[of]
    for of, who in {**by_doubt, **by_text}.items():
        del found[of]
        judged[of] = (who, "")
    return found, judged


def overruled(found, judged, first, folder, ask):
    """{cell: oracle} for cells that differ from the first oracle but not from another."""
    doubted = [of for of in found if judged[of][0].startswith(first)]
    again, by = run_cells(doubted, folder, ask) if doubted else ({}, {})
    return {of: by[of][0] + (", by the text" if first == "onnxruntime" else "") for of in doubted
            if by[of][0] not in ("refused", "crashed") and of not in again}


def differing(folder, named):
    if not named:
        return {}
    report = folder / "report.json"
    ort_judge.cameo("conformance", folder, "--json", report, "--quiet", "--jobs", "1", check=False, timeout=3600)
    told = {r["name"]: r for r in json.loads(report.read_text())}
    found = {}
    for name, of in named.items():
        row = told.get(name, {"status": "not run", "reason": ""})
        if row["status"] != "pass":
            found[of] = row["reason"] or row["status"]
    return found


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true", help="all cells, not a tenth of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", metavar="WORD", help="only cells with this in their name")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="keeps the cases there")
    parser.add_argument("--judges", action="store_true", help="prints the oracle of each cell, or why it has none")
    parser.add_argument("--write", action="store_true", help="writes the list; with --long")
    return parser.parse_args()


def wanted_cells(cells, o):
    if o.only:
        return [of for of in cells if any(word in of.name() for word in o.only)]
    if not o.long:
        random.Random(o.seed).shuffle(cells)
    return cells if o.long else cells[::10]


def without_kernel():
    """The names of the cells that operator_types.py lists."""
    text = (TESTS / "data" / "operator_types_missing.txt").read_text()
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {" ".join([*words[:4], f"tensor({words[4]})"]) for words in lines}


def report(cells, found, judged, o):
    for of, words in found.items():
        print(f"{of.name()}: differs from {judged[of][0]}: {words}"[:600])
    if o.judges:
        for of, (who, why) in judged.items():
            print(f"{of.name()}: {who} {why}"[:1500])
    unjudged = {f"{of.name()}: {UNJUDGED.get(why[0], why)}" for of, (who, why) in judged.items() if who == "refused"}
    unjudged |= {f"{of.name()}: no oracle survives it" for of, (who, _) in judged.items() if who == "crashed"}
    asked = {of.name() for of in cells}
    failed = shrinking_list.hold("type_cells_unjudged.txt", HEAD, unjudged, "has no oracle",
                                 lambda line: line.split(":")[0] in asked)
    by = collections.Counter(who for who, _ in judged.values())
    print(", ".join(f"{count} by {who}" for who, count in sorted(by.items()) if who not in ("refused", "crashed")))
    run = len(judged) - len(unjudged)
    print(f"{run} run, {run - len(found)} agreed, {len(unjudged)} without an oracle, {len(found)} wrong")
    return failed + len(found)


UNJUDGED = {"no model": "no base can become it", "no oracle": "neither onnxruntime nor the reference evaluator runs it",
            "not written": "its outputs cannot be written to a file"}


def main():
    o = arguments()
    cells = list(all_cells())
    missing = without_kernel() & {of.name() for of in cells}
    count = len(cells)
    asked = [of for of in wanted_cells(cells, o) if of.name() not in missing]
    with tempfile.TemporaryDirectory() as scratch:
        found, judged = run_twice(asked, pathlib.Path(o.keep or scratch))
    print(f"{count} cells, {len(missing)} of them without a kernel; {len(asked)} chosen")
    failed = report(asked, found, judged, o)
    return 1 if failed or count < 8000 or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
