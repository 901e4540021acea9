"""Bases for type_cells.py: nodes of all of ONNX's operators with inputs, which are then converted to other versions and
element types. They are from onnx's backend tests and from the families of the differential scripts; some are written by
hand for operators that neither has."""
import collections
import dataclasses
import functools
import importlib
import warnings

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper

import differential as d

CASES_OF_A_FAMILY = 60


@dataclasses.dataclass
class base:
    domain: str
    op: str
    version: int  # opset of the operator's domain
    attributes: dict  # name to AttributeProto
    inputs: list  # arrays, lists of them, maps; None for one that is left out
    outputs: list  # names, "" for one that is left out
    constant: set  # indexes of the inputs that are initializers
    recorded: list = None  # expected outputs, if the source has them
    source: int = 0  # the order of preference: 0 by hand, 1 backend tests, 2 families

    def size(self):
        """The number of elements, by which bases are sorted. Bases without elements come last."""
        sizes = [np.size(v) if isinstance(v, np.ndarray) else 8 for v in self.inputs if v is not None]
        return sum(sizes) if all(sizes) else 1 << 30

    def is_random(self):
        training = self.inputs[2:] and bool(np.all(self.inputs[2]))
        return self.op == "Dropout" and training and not (self.inputs[1] is not None and np.all(self.inputs[1] == 0))

    def schema(self):
        return onnx.defs.get_schema(self.op, self.version, self.domain)


def base_of(model, feeds, recorded=None):
    """The base for a model of one node; None if it is not suitable."""
    if len(model.graph.node) != 1:
        return None
    node = model.graph.node[0]
    if any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for a in node.attribute):
        return None
    fixed = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    known = {**fixed, **feeds}
    if any(name and name not in known for name in node.input) or any(isinstance(v, d.sparse) for v in known.values()):
        return None
    domain = "" if node.domain == "ai.onnx" else node.domain
    versions = {("" if i.domain == "ai.onnx" else i.domain): i.version for i in model.opset_import}
    return base(domain, node.op_type, versions[domain], {a.name: a for a in node.attribute},
                [known[n] if n else None for n in node.input], list(node.output),
                {i for i, n in enumerate(node.input) if n in fixed}, recorded)


def as_value(value):
    """An input of a backend test, in the form of the differential scripts."""
    if isinstance(value, (list, dict)):
        return value
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value)


def of_backend_tests():
    from onnx.backend.test.case.node import collect_testcases
    np.random.seed(0)  # the backend tests use numpy's global generator
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    for each in found:
        feeds = dict(zip((i.name for i in each.model.graph.input), each.data_sets[0][0]))
        if all(v is not None for v in feeds.values()):
            yield base_of(each.model, {name: as_value(v) for name, v in feeds.items()}, each.data_sets[0][1])


def of_families():
    for script in d.SCRIPTS:
        for name, (make, count) in importlib.import_module(script).FAMILIES.items():
            for number in range(min(count, CASES_OF_A_FAMILY)):
                each = d.made_case(name, 1, make, number)
                yield base_of(each.model, each.feeds)


X = np.array([[0, 1, 2], [3, 2, 1]], np.float32)
# Numbers with fractions that give the same integer whether they are truncated or rounded: onnxruntime prints integers without
# a point.
QUARTERS = np.array([[0.25, 1.25, 1.25], [1.25, 0.25, 0.25]], np.float32)
PICTURE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) % 4
TWICE = np.array([1, 1, 2, 2], np.float32)  # scales for PICTURE


def node(*arguments, **keys):
    each = d.one_node(*arguments, **keys)
    return base_of(each.model, each.feeds)


def of_sequences():
    yield node("SequenceConstruct", [X, X + 1], opset=11)
    yield node("SequenceAt", [[X, X + 1], np.int64(1)], opset=11)
    yield node("SequenceErase", [[X, X + 1], np.int64(0)], opset=11)
    yield node("SequenceInsert", [[X, X + 1], X * 2, np.int64(1)], opset=11)
    yield node("SequenceLength", [[X, X + 1]], opset=11)
    yield node("ConcatFromSequence", [[X, X + 1]], opset=11, axis=0)


def of_chance():
    """Random operators with parameters that leave only one result."""
    ones, twos = {"low": 1.0, "high": 1.0}, {"mean": 2.0, "scale": 1e-30}
    for version in (1, 22):
        yield node("RandomUniform", [], opset=version, shape=[2, 3], **ones)
        yield node("RandomNormal", [], opset=version, shape=[2, 3], **twos)
        yield node("RandomUniformLike", [X], opset=version, dtype=1, **ones)
        yield node("RandomNormalLike", [X], opset=version, dtype=1, **twos)
    yield node("Bernoulli", [np.array([0, 1, 1, 0], np.float32)], opset=15)
    yield node("Multinomial", [np.array([[0.5], [1.5]], np.float32)], opset=7, sample_size=3)
    yield node("Dropout", [X], opset=6, is_test=1)
    yield node("Dropout", [X], opset=10)
    yield node("Dropout", [X], outputs=2, opset=10)


def of_pictures():
    """Operators on images, in mode nearest, because not all types can be interpolated."""
    places = np.array([[[[-1, -1], [0, 0.5]], [[1, 0], [0.5, 1]]]], np.float32)
    yield node("GridSample", [PICTURE, places], opset=16, mode="nearest", padding_mode="border")
    yield node("Upsample", [PICTURE], opset=1, height_scale=2.0, width_scale=2.0, mode="nearest")
    yield node("Upsample", [PICTURE], opset=7, scales=TWICE.tolist(), mode="nearest")
    yield node("Upsample", [PICTURE, TWICE], opset=9, mode="nearest")
    yield node("Resize", [PICTURE, TWICE], opset=10, mode="nearest")
    for version in (11, 13):
        yield node("Resize", [PICTURE, np.zeros(0, np.float32), TWICE], opset=version)


def of_types():
    """Operators that convert types."""
    values = np.array([0, 1, 3], np.uint8)
    yield node("Cast", [QUARTERS], opset=6, to=1)
    yield node("CastLike", [QUARTERS, X], opset=15)
    yield node("DequantizeLinear", [values, np.float32(2), np.uint8(0)], opset=23, output_dtype=1)
    # With this size, no weight is close to an integer, so that integer types do not depend on rounding.
    for window in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield node(window, [np.array(9, np.int32)], opset=17)
    yield node("CastMap", [{0: "1", 1: "2"}], opset=1, domain="ai.onnx.ml", cast_to="TO_STRING")
    classes = {"domain": "ai.onnx.ml", "opset": 1, "classes_strings": ["0", "1", "2"]}
    yield node("LabelEncoder", [np.array([0, 2, 1], np.int64)], default_string="none", **classes)
    yield node("LabelEncoder", [np.array(["0", "2", "5"], object)], default_int64=-1, **classes)


def of_others():
    yield node("Tile", [X, np.array(2, np.float32), np.array(1, np.float32)], opset=1)
    yield node("Scatter", [X, np.array([[1, 0, 1]], np.int64), X[:1] + 1], opset=9)
    yield node("ScatterND", [X, np.array([[1]]), X[:1] + 1], opset=16)
    yield node("Gemm", [X, X.T, X @ X.T], opset=7)
    # The inputs of the backend tests would all become zero as small integers.
    yield node("MatMul", [X, X.T], opset=9)
    yield node("BitwiseXor", [X.astype("i4"), X.astype("i4")[::-1] * 2], opset=18)
    yield node("Compress", [X, np.array([True, False])], opset=9, axis=0)
    yield node("ConstantOfShape", [np.array([2, 3])], opset=9, value=numpy_helper.from_array(np.ones(1, np.float32)))
    yield node("MaxRoiPool", [PICTURE, np.array([[0, 0, 0, 3, 3]], np.float32)], opset=1, pooled_shape=[2, 2])
    yield node("ReduceLogSum", [X + 1, np.array([1])], opset=18)


def by_hand():
    for source in (of_sequences, of_chance, of_pictures, of_types, of_others):
        yield from source()


@functools.cache
def bases():
    """{(domain, operator): bases, sorted by size}."""
    found = collections.defaultdict(list)
    for number, source in enumerate((by_hand, of_backend_tests, of_families)):
        for each in source():
            if each and onnx.defs.has(each.op, each.version, each.domain) and not each.is_random():
                each.source = number
                found[each.domain, each.op].append(each)
    return {op: sorted(each, key=base.size) for op, each in found.items()}


def tile_once(inputs, attributes):
    x, tiles, axis = inputs
    return [np.concatenate([x] * int(tiles.astype(np.float32)), int(axis.astype(np.float32)))]


def upsample_once(inputs, attributes):
    tall, wide = (int(attributes[name]) for name in ("height_scale", "width_scale"))
    return [inputs[0].repeat(tall, 2).repeat(wide, 3)]


def qlinear_matmul(inputs, attributes):
    """QLinearMatMul for quantized values that are floats of 8 bits; the reference evaluator has the integers."""
    if np.asarray(inputs[7]).dtype.kind in "iu":
        return None
    a, b, y = ([np.asarray(v).astype(np.float32) for v in inputs[i:j]] for i, j in ((0, 3), (3, 6), (6, 8)))
    product = ((a[0] - a[2]) * a[1]) @ ((b[0] - b[2]) * b[1])
    return [(product / y[0] + y[1]).astype(inputs[7].dtype)]


def dict_vectorizer(inputs, attributes):
    keys = [k.decode() if isinstance(k, bytes) else k for k in next(iter(attributes.values()))]
    held = inputs[0]
    any_one = next(iter(held.values()))
    none = "" if isinstance(any_one, str) else 0
    return [np.array([[held.get(key, none) for key in keys]], np.asarray(any_one).dtype)]


def cast_map(inputs, attributes):
    """CastMap in the map_form DENSE."""
    if attributes.get("map_form", b"DENSE") != b"DENSE":
        return None
    held = np.array([value for _, value in sorted(inputs[0].items())])
    to = {b"TO_FLOAT": np.float32, b"TO_INT64": np.int64, b"TO_STRING": object}[attributes.get("cast_to", b"TO_FLOAT")]
    if to is object and held.dtype.kind not in "OU":
        return None
    return [(held.astype(np.float64) if to is np.int64 else held).astype(to)[None]]


def col2im_of_texts(inputs, attributes):
    """Col2Im of texts, which are added by joining them. numpy does that only for types with a fixed, sufficient
    length."""
    x, image, block = inputs
    if x.dtype != object:
        return None
    rank = len(image)
    strides, dilations = attributes.get("strides", [1] * rank), attributes.get("dilations", [1] * rank)
    pads = attributes.get("pads", [0] * (2 * rank))
    places = [(image[i] + pads[i] + pads[i + rank] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1
              for i in range(rank)]
    y = np.full((x.shape[0], x.shape[1] // int(np.prod(block)), *image), "", object)
    grid = x.reshape(*y.shape[:2], *block, *places)
    for n, c in np.ndindex(*y.shape[:2]):
        for tap in np.ndindex(*block):
            for b in np.ndindex(*places):
                at = tuple(b[i] * strides[i] - pads[i] + tap[i] * dilations[i] for i in range(rank))
                if all(0 <= at[i] < image[i] for i in range(rank)):
                    y[(n, c, *at)] += grid[(n, c, *tap, *b)]
    return [y]


# Definitions of operators that neither onnxruntime nor the reference evaluator has: functions of inputs and attributes.
DEFINITIONS = {("Tile", 1): tile_once, ("Upsample", 1): upsample_once, ("QLinearMatMul", 21): qlinear_matmul,
               ("DictVectorizer", 1): dict_vectorizer, ("CastMap", 1): cast_map, ("Col2Im", 18): col2im_of_texts}


def by_definition(case):
    """The outputs by name, computed by DEFINITIONS; None if they do not have the operator."""
    node = case.model.graph.node[0]
    versions = {i.domain: i.version for i in case.model.opset_import}
    define = DEFINITIONS.get((node.op_type, versions[node.domain]))
    if not define:
        return None
    known = {**case.feeds, **{t.name: numpy_helper.to_array(t) for t in case.model.graph.initializer}}
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    made = define([known[n] for n in node.input], attributes)
    return made and dict(zip(node.output, made))


# Models of operators with containers or subgraphs. Each is a function of an ONNX type as text, the element type of its
# tensors, and the version, and returns a case with an oracle.


def values_of(element):
    """Two arrays of an element type. A row has at least one byte, even in types of 2 bits."""
    made = (np.array([[0, 1, 1, 0], [1, 0, 1, 1]]), np.array([[1, 1, 0, 1]]))
    if element == "string":
        return tuple(m.astype("U").astype(object) for m in made)
    return tuple(m.astype(numpy_type(element)) for m in made)


def number_of(element):
    return onnx.TensorProto.DataType.Value({"float": "FLOAT", "double": "DOUBLE"}.get(element, element.upper()))


def numpy_type(element):
    return np.dtype(object) if element == "string" else helper.tensor_dtype_to_np_dtype(number_of(element))


def element_in(text):
    """The element type in a type; for a map, that of its values."""
    return text[text.rindex("(") + 1:].rstrip(")").split(", ")[-1]


TRAINING = "ai.onnx.preview.training"


class sketch:
    """A graph whose inputs have one element type. `value` adds an input of a type, `plain` returns a value that can be
    an output and compared."""

    def __init__(self, element, version):
        self.version, self.nodes, self.feeds, self.made = version, [], {}, 0
        self.first, self.second = values_of(element)

    def name(self):
        self.made += 1
        return f"value_{self.made}"

    def add(self, op, inputs, outputs=1, domain="", **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def feed(self, value):
        name = self.name()
        self.feeds[name] = value
        return name

    def value(self, text, second=False):
        """Adds a value of a type; returns (its name, its contents)."""
        if text.startswith("optional("):
            inside = text.removeprefix("optional(")[:-1]
            if not self.takes("Optional", "V", inside):
                held = self.value(inside, second)[1]
                del self.feeds[f"value_{self.made}"]
                return self.feed(d.optional(held)), d.optional(held)
            name, held = self.value(inside, second)
            return self.add("Optional", [name]), held
        held = self.second if second else self.first
        if text.startswith("seq("):
            held = [held, self.first]
        return self.feed(held), held

    def takes(self, op, variable, text):
        return takes(op, self.version, variable, text)

    def plain(self, name, text):
        """The element of an optional, if this version has OptionalGetElement for the type, else the value itself."""
        can = text.startswith("optional(") and self.takes("Optional", "V", text.removeprefix("optional(")[:-1])
        return self.add("OptionalGetElement", [name]) if can else name

    def case(self, **outputs):
        """The case with these outputs: name to expected contents."""
        infos = [helper.make_value_info(n, d.type_of(v)) for n, v in self.feeds.items()]
        graph = helper.make_graph(self.nodes, "sketch", infos, [onnx.ValueInfoProto(name=n) for n in outputs])
        imports = [helper.make_opsetid("", self.version), helper.make_opsetid(TRAINING, 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=10)
        return d.case(model, self.feeds, oracle=lambda: outputs)


def takes(op, version, variable, text):
    """True if this version of the operator allows the type for the variable."""
    return onnx.defs.has(op, version, "") and any(c.type_param_str == variable and text in c.allowed_type_strs
                                                  for c in onnx.defs.get_schema(op, version, "").type_constraints)


def copied(name, to, text, version):
    """Nodes that copy the value `name` to `to`. If Identity of this version does not have the type, sequences are
    copied by sequence operators, and other types by a Loop that passes the value on."""
    if takes("Identity", version, "V" if version >= 14 else "T", text):
        return [helper.make_node("Identity", [name], [to])]
    if takes("SequenceErase", version, "S", text):
        return [helper.make_node("Constant", [], [to + "_at"], value=numpy_helper.from_array(np.array(0), to)),
                helper.make_node("SequenceAt", [name, to + "_at"], [to + "_held"]),
                helper.make_node("SequenceErase", [name, to + "_at"], [to + "_rest"]),
                helper.make_node("SequenceInsert", [to + "_rest", to + "_held", to + "_at"], [to])]
    inside = body([(to + "_i", "tensor(int64)"), (to + "_go", "tensor(bool)"), (to + "_v", text)],
                  [(to + "_go", to + "_goes", "tensor(bool)"), (to + "_v", to + "_v", text)], version)
    return [helper.make_node("Constant", [], [to + "_count"], value=numpy_helper.from_array(np.array(1), to)),
            helper.make_node("Loop", [to + "_count", "", name], [to], body=inside)]


def type_proto(text):
    if text.startswith("optional("):
        return helper.make_optional_type_proto(type_proto(text.removeprefix("optional(")[:-1]))
    if text.startswith("seq("):
        return helper.make_sequence_type_proto(type_proto(text.removeprefix("seq(")[:-1]))
    return helper.make_tensor_type_proto(number_of(element_in(text)), None)


def body(inputs, pairs, version):
    """A graph that copies values: `inputs` are (name, type), `pairs` are (from, to, type). A pair of equal names needs
    no node."""
    nodes = [node for name, to, text in pairs if name != to for node in copied(name, to, text, version)]
    value_info = helper.make_value_info
    return helper.make_graph(nodes, "body", [value_info(n, type_proto(t)) for n, t in inputs],
                             [value_info(to, type_proto(t)) for _, to, t in pairs])


def identity(text, element, version):
    s = sketch(element, version)
    name, held = s.value(text)
    return s.case(**{s.plain(s.add("Identity", [name]), text): held})


def if_else(text, element, version):
    s = sketch(element, version)
    (a, held), (b, _) = s.value(text), s.value(text, second=True)
    branches = {f"{which}_branch": body([], [(name, f"{which}_out", text)], version)
                for which, name in (("then", a), ("else", b))}
    y = s.add("If", [s.feed(np.array(True))], **branches)
    return s.case(**{s.plain(y, text): held})


def loop(text, element, version):
    s = sketch(element, version)
    name, held = s.value(text)
    stacked = text.startswith("tensor(")
    pairs = [("go", "goes", "tensor(bool)"), ("v", "v_out", text)] + [("v", "each", text)] * stacked
    inside = body([("i", "tensor(int64)"), ("go", "tensor(bool)"), ("v", text)], pairs, version)
    outs = s.add("Loop", [s.feed(np.array(2)), s.feed(np.array(True)), name], outputs=1 + stacked, body=inside)
    if stacked:
        return s.case(**{outs[0]: held, outs[1]: np.stack([held, held])})
    return s.case(**{s.plain(outs, text): held})


def scan(text, element, version):
    s = sketch(element, version)
    pairs = [("state", "state_out", text), ("row", "row_out", text)]
    inside = body([("state", text), ("row", text)], pairs, version)
    if version < 9:
        rows, state = np.stack([s.first, s.first]), np.stack([s.second[0], s.second[0]])
        inputs = [s.feed(np.array([2, 2])), s.feed(state), s.feed(rows)]
    else:
        rows, state = s.first, s.second[0]
        inputs = [s.feed(state), s.feed(rows)]
    last, all_rows = s.add("Scan", inputs, outputs=2, num_scan_inputs=1, body=inside)
    return s.case(**{last: state, all_rows: rows})


def sequence_map(text, element, version):
    """SequenceMap over a sequence and another value of the type."""
    s = sketch(element, version)
    first, held = s.value(f"seq(tensor({element}))")
    other, also = s.value(text)
    seen = f"tensor({element})"  # in the body: an element of the sequence, or the tensor
    inside = body([("a", seen), ("b", seen)], [("a", "a_out", seen), ("b", "b_out", seen)], version)
    a, b = s.add("SequenceMap", [first, other], outputs=2, body=inside)
    return s.case(**{a: held, b: also if isinstance(also, list) else [also] * len(held)})


def sequence_empty(text, element, version):
    s = sketch(element, version)
    name, held = s.value(f"tensor({element})")
    empty = s.add("SequenceEmpty", [], dtype=number_of(element))
    return s.case(**{s.add("SequenceInsert", [empty, name]): [held]})


def optional(text, element, version):
    s = sketch(element, version)
    name, held = s.value(text.removeprefix("optional(")[:-1] if text.startswith("optional(") else text)
    return s.case(**{s.add("OptionalGetElement", [s.add("Optional", [name])]): held})


def optional_get(text, element, version):
    s = sketch(element, version)
    if not text.startswith("optional(") and version < 18:  # then the text is the type of the output
        text = f"optional({text})"
    name, held = s.value(text)
    return s.case(**{s.add("OptionalGetElement", [name]): held})


def optional_has(text, element, version):
    s = sketch(element, version)
    name, _ = s.value(text)
    return s.case(**{s.add("OptionalHasElement", [name]): np.array(True)})


def gradient(text, element, version):
    """The gradient of x * x. If the type is not a float, that of x times the number of elements of another input, which
    has the type."""
    if element in ("float", "double", "float16"):
        s = sketch(element, 21)
        x = s.feed(s.first)
        y = s.add("Mul", [x, x])
        return s.case(**{s.add("Gradient", [x], domain=TRAINING, xs=[x], y=y): s.first + s.first})
    s = sketch("float", 21)
    x, other = s.feed(s.first), s.feed(values_of(element)[0])
    y = s.add("Mul", [x, s.add("Cast", [s.add("Size", [other])], to=onnx.TensorProto.FLOAT)])
    by_x = s.add("Gradient", [x, other], domain=TRAINING, xs=[x], zs=[other], y=y)
    return s.case(**{by_x: np.full_like(s.first, s.first.size)})


SKETCHES = {"Identity": identity, "If": if_else, "Loop": loop, "Scan": scan, "SequenceMap": sequence_map,
            "SequenceEmpty": sequence_empty, "Optional": optional, "OptionalGetElement": optional_get,
            "OptionalHasElement": optional_has, "Gradient": gradient}
# Type variables of SKETCHES for conditions and counts, which do not depend on the type of the model.
PLAIN_VARIABLES = {("If", "B"), ("Loop", "B"), ("Loop", "I"), ("Scan", "I"), ("OptionalHasElement", "B")}


def sketched(schema, variable, text):
    """The case of SKETCHES for this type; None if they do not have the operator."""
    if schema.name not in SKETCHES:
        return None
    if (schema.name, variable) in PLAIN_VARIABLES:
        text = "optional(tensor(float))" if schema.name == "OptionalHasElement" else "tensor(float)"
    return SKETCHES[schema.name](text, element_in(text), schema.since_version)
