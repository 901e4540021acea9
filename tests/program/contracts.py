"""The contracts of operators, and an oracle for them that shares no code with the library.

`contracts()` reads the tables of src/op/generate_tables.py: the inputs, types and attributes of each version of an
operator, the legal values of attributes and the patterns of the shapes of inputs. `is_legal()` decides about the value
of an attribute, and `fits()` about the shapes of inputs. The library compares shapes with patterns from the first input
to the last and gives a name the first size that it finds; `fits()` searches sizes for all names instead, so that it
also finds what that order would refuse wrongly.
"""
import dataclasses
import functools
import math
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(ROOT / "src" / "op"))
import generate_tables as tables  # noqa: E402


@dataclasses.dataclass
class attribute_rule:
    name: str
    kind: str  # "i", "floats", ... as in generate_tables.KINDS
    required: bool
    values: str  # the text of its legal values, or None if any value is legal
    default: object


@dataclasses.dataclass
class contract:
    """A version of an operator."""
    domain: str
    op: str
    since: int
    last: int  # the last opset with this version; a large number for the newest version
    deprecated: bool
    inputs: list  # generate_tables.Parameter
    outputs: list
    types: dict  # type string to the set of types that it allows
    attributes: dict  # name to attribute_rule
    least_inputs: int
    least_outputs: int
    shapes: str  # the patterns of the inputs, or None
    takes_any_attribute: bool

    def name(self):
        return f"{self.domain or 'ai.onnx'}.{self.op}-{self.since}"

    def input_at(self, i):
        """The formal input of the i-th argument, or None."""
        if i < len(self.inputs):
            return self.inputs[i]
        return self.inputs[-1] if self.inputs and self.inputs[-1].option == "variadic" else None


def unchecked_operators():
    """The operators with which ONNX Runtime accepts any attribute, as cameo does."""
    names = [name.rpartition(".") for name in tables.ROLES["takes_any_attribute"].split()]
    return {(domain, op) for domain, _, op in names}


def default_of(a, from_onnx):
    made = tables.schema_default(a, from_onnx)
    return {1: made.f, 2: made.i, 3: made.s.decode()}.get(made.type)


def attributes_of(s, from_onnx):
    needed = tables.NEEDED.get((s.domain, s.name), [])
    rules = {name: attribute_rule(name, tables.KIND_OF[int(a.type.value)], a.required or name in needed,
                                  tables.values_of(s, name), default_of(a, from_onnx))
             for name, a in s.attributes.items()}
    for name, kind in tables.OWN_ATTRIBUTES.get((s.domain, s.name), {}).items():
        rules[name] = attribute_rule(name, kind, False, None, None)
    return rules


def types_of(s, parameters):
    made = {c.type_param_str: set(c.allowed_type_strs) for c in s.type_constraints}
    for p in parameters:
        made.setdefault(p.type, {p.type})
    return made


@functools.cache
def contracts():
    """{(domain, operator): its versions, oldest first}."""
    unchecked, found = unchecked_operators(), {}
    all_operators = tables.all_operators()
    for (domain, op), schemas in all_operators.items():
        if not domain and (tables.CONTRIB, op) in all_operators:
            continue
        from_onnx, of = tables.DOMAINS[domain][2], tables.real(domain)
        made = found[of, op] = []
        for i, s in enumerate(schemas):
            inputs = [tables.Parameter(p, from_onnx, s.min_input - k) for k, p in enumerate(s.inputs)]
            outputs = [tables.Parameter(p, from_onnx, s.min_output - k) for k, p in enumerate(s.outputs)]
            last = schemas[i + 1].since_version - 1 if i + 1 < len(schemas) else 10**6
            made.append(contract(of, op, s.since_version, last, s.deprecated, inputs, outputs,
                                 types_of(s, inputs + outputs), attributes_of(s, from_onnx), s.min_input, s.min_output,
                                 tables.shapes_of(s), (of, op) in unchecked))
    return found


# Attributes ------------------------------------------------------------------------------------------------------------


def parsed_values(text):
    """(the number of elements that a list must have or None, the text of the values of each element)."""
    length, colon, rest = text.partition(":")
    return (int(length), rest) if colon else (None, text)


def is_legal_element(text, value):
    """True if a number or string is among the legal values."""
    if not text:
        return True
    if isinstance(value, str):
        return value in text.split("|")
    if value != value:
        return False
    if ".." not in text:
        return value in [int(each) for each in text.split("|")]
    least, most = text.split("..")
    if most and value > int(most):
        return False
    return value > int(least[:-1]) if least.endswith("<") else value >= int(least)


def is_legal(rule, value):
    """True if the value, which has the rule's kind, is legal."""
    if not rule.values:
        return True
    length, each = parsed_values(rule.values)
    if rule.kind not in ("ints", "floats", "strings"):
        return is_legal_element(each, value)
    return (length is None or len(value) == length) and all(is_legal_element(each, v) for v in value)


def border_values(rule):
    """Values at the ends of what is legal and beyond, for one element: legal and illegal ones."""
    _, text = parsed_values(rule.values)
    if not text:
        return []
    if rule.kind in ("s", "strings"):
        names = text.split("|")
        return [*names, "no_such_choice", "", names[0].swapcase(), names[-1] + "x", text]
    if ".." in text:
        least, most = text.split("..")
        least = int(least.rstrip("<"))
        made = [least, least - 1, -(2**31) + 1]
        made += [int(most), int(most) + 1] if most else []
    else:
        numbers = [int(each) for each in text.split("|")]
        made = [*numbers, min(numbers) - 1, max(numbers) + 1, *(n + 1 for n in numbers)]
    return [*map(float, made), math.nan, least_below(text)] if rule.kind in ("f", "floats") else made


def least_below(text):
    """The largest simple fraction that is too small."""
    least = int(re.match(r"-?\d+", text)[0])
    return least - 0.25


# Shapes ----------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class element:
    """An element of a pattern: the size of an axis."""
    operands: tuple  # names and numbers; none for any size
    adds: bool
    may_be_one: bool
    text: str


@dataclasses.dataclass(frozen=True)
class axes:
    """A pattern for a rank: `before` are the first elements and `after` the last ones; more axes may be between them if
    `is_open`."""
    before: tuple
    after: tuple
    is_open: bool

    def fits_rank(self, rank):
        least = len(self.before) + len(self.after)
        return rank >= least if self.is_open else rank == least


ANY, ONE = "any shape", "one element"


def parsed_element(text):
    may_be_one = text.endswith("?")
    body = text.removesuffix("?")
    if body == "_":
        return element((), False, may_be_one, text)
    adds = "+" in body
    operands = tuple(int(each) if each.isdigit() else each for each in re.split(r"[+*]", body))
    return element(operands, adds, may_be_one, text)


def parsed_alternative(text):
    if text in ("*", "1"):
        return ANY if text == "*" else ONE
    parts = [each for each in text[1:-1].split(",") if each]
    if "..." not in parts:
        return axes(tuple(map(parsed_element, parts)), (), False)
    at = parts.index("...")
    return axes(tuple(map(parsed_element, parts[:at])), tuple(map(parsed_element, parts[at + 1:])), True)


@functools.cache
def parsed(patterns):
    """For each input a list of alternatives: ANY, ONE or axes."""
    return [[parsed_alternative(each) for each in of_input.split("|")] for of_input in patterns.split()]


def names_in(patterns):
    return {operand for of_input in parsed(patterns) for each in of_input if isinstance(each, axes)
            for part in each.before + each.after for operand in part.operands if isinstance(operand, str)}


def equations(alternative, shape):
    """The pairs (element, size) that make a shape fit an alternative; None if no sizes do. A size may be None: open."""
    if alternative == ANY:
        return []
    if alternative == ONE:
        return None if any(n not in (None, 1) for n in shape) else []
    if not alternative.fits_rank(len(shape)):
        return None
    tail = shape[len(shape) - len(alternative.after):]
    pairs = [*zip(alternative.before, shape), *zip(alternative.after, tail)]
    return [(part, n) for part, n in pairs if n is not None and part.operands and not (part.may_be_one and n == 1)]


def divided(part, sizes):
    """(the value of a product or sum without its names of unknown size, those names)."""
    value, unknown = 0 if part.adds else 1, []
    for operand in part.operands:
        size = operand if isinstance(operand, int) else sizes.get(operand)
        if size is None:
            unknown.append(operand)
        else:
            value = value + size if part.adds else value * size
    return value, unknown


def solutions(part, n, sizes):
    """The sizes of the first unknown name of an element with which its value can be n; None if it has no such name."""
    value, unknown = divided(part, sizes)
    if not unknown:
        return None
    if part.adds:
        return range(0, n - value + 1) if len(unknown) > 1 else [n - value] if n >= value else []
    if value == 0 or n == 0:  # either any size will do, or one of the names must be 0
        return ([0, 1, 2, 3] if len(unknown) > 1 or value == 0 else [0]) if n == 0 else []
    if n % value:
        return []
    n //= value
    return [each for each in range(1, n + 1) if n % each == 0] if len(unknown) > 1 else [n]


def can_be_solved(pairs, sizes):
    """True if the names that are not in `sizes` can have sizes with which each element has its value."""
    rest = []
    for part, n in pairs:
        value, unknown = divided(part, sizes)
        if unknown:
            rest.append((part, n))
        elif value != n:
            return False
    if not rest:
        return True
    rest.sort(key=lambda pair: len(divided(pair[0], sizes)[1]))  # what leaves no choice comes first
    part, n = rest[0]
    name = divided(part, sizes)[1][0]
    if part.operands.count(name) > 1:
        candidates = range(0, n + 1)
    else:
        candidates = solutions(part, n, sizes)
    return any(can_be_solved(rest, {**sizes, name: each}) for each in candidates)


def fits(patterns, shapes, known):
    """True if the shapes of inputs fit the patterns. A shape is None for an absent input or one of unknown rank, and a
    size is None if it is open. `known`: the sizes of names."""
    def search(i, pairs):
        while i < len(shapes) and (shapes[i] is None or i >= len(rows)):
            i += 1
        if i >= min(len(shapes), len(rows)):
            return can_be_solved(pairs, known)
        for alternative in rows[i]:
            more = equations(alternative, shapes[i])
            if more is not None and search(i + 1, pairs + more):
                return True
        return False
    rows = parsed(patterns)
    return search(0, [])


def known_sizes(of, attributes):
    """The sizes that attributes give to names of the patterns: {attribute: size}, for those that are above 0."""
    made = {}
    for name in names_in(of.shapes) if of.shapes else ():
        rule = of.attributes.get(name)
        if rule and rule.kind == "i":
            size = attributes.get(name, rule.default if not rule.required else None)
            if isinstance(size, int) and size > 0:
                made[name] = size
    return made


def made_shape(alternative, sizes, rng, like=None):
    """A shape that fits an alternative; names without a size get one."""
    if alternative in (ANY, ONE):
        if alternative == ONE:
            return [1] * int(rng.integers(0, 2))
        return list(like) if like is not None else [int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4)))]

    def size_of(part):
        if not part.operands:
            return int(rng.integers(1, 5))
        if part.may_be_one and rng.random() < 0.3:
            return 1
        for operand in part.operands:
            if isinstance(operand, str):
                sizes.setdefault(operand, int(rng.integers(1, 5)))
        return divided(part, sizes)[0]
    between = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))] if alternative.is_open else []
    return [size_of(p) for p in alternative.before] + between + [size_of(p) for p in alternative.after]
