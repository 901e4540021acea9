"""Converts a base of type_bases.py to a case for another version of its operator, with another type for one type
variable.

Inputs and attributes that the version does not have are left out, and an input that was an attribute in the version
becomes one. Values become small integers if the element type has only those.
"""
import copy
import re

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper

import differential as d
from type_bases import element_in, number_of, numpy_type

# Attributes with the type of an output.
SAYS_TYPE = ("to", "dtype", "output_dtype", "output_datatype")
# If the type that a base gives to a type variable is not allowed, the first allowed type of this list replaces it.
RATHER = [f"tensor({t})" for t in ("float", "int64", "double", "float16", "int32", "uint8", "int8", "string", "bool")]
FLOATS = ("float", "double", "float16", "bfloat16")


class unfit(Exception):
    """Raised if a base cannot be converted as requested."""


def type_words(value):
    """The ONNX type of a value as text."""
    return words_of(d.type_of(value))


def words_of(proto):
    which = proto.WhichOneof("value")
    if which == "tensor_type":
        return f"tensor({element_words(proto.tensor_type.elem_type)})"
    if which == "sequence_type":
        return f"seq({words_of(proto.sequence_type.elem_type)})"
    if which == "map_type":
        return f"map({element_words(proto.map_type.key_type)}, {element_in(words_of(proto.map_type.value_type))})"
    return f"optional({words_of(proto.optional_type.elem_type)})"


def element_words(number):
    return onnx.TensorProto.DataType.Name(number).lower()


def small(array):
    """Integers from 0 to 3, made of numbers of any kind."""
    with np.errstate(all="ignore"):
        rounded = np.round(np.abs(array if array.dtype.kind == "c" else array.astype(np.float64)))
        return np.fmod(np.nan_to_num(rounded, nan=1, posinf=2), 4).astype(np.int64)


def is_whole(dtype):
    return dtype.kind in "iu" or dtype.name in ("int4", "uint4", "int2", "uint2")


def numbers_of(array):
    """Texts as numbers: the number in a text, or else the text's length modulo 4."""
    def one(text):
        try:
            return float(text)
        except ValueError:
            return len(text) % 4
    return np.array([one(t.decode() if isinstance(t, bytes) else str(t)) for t in array.ravel()]).reshape(array.shape)


def keeps(array, to):
    """True for small integers that the type can represent: sizes and indices, which must not change."""
    wide = array.astype(np.float64)
    if not np.all(np.abs(wide) <= 16) or (to.kind == "u" and np.any(wide < 0)):
        return False
    whole = wide.astype(np.int64)
    return np.array_equal(whole, wide) and np.array_equal(whole.astype(to).astype(np.int64), whole)


def cast(value, element):
    """The value, converted to an element type."""
    if isinstance(value, list):
        return [cast(each, element) for each in value]
    if isinstance(value, dict):
        return {key: of_map(held, element) for key, held in value.items()}
    array, to = np.asarray(value), numpy_type(element)
    if array.dtype == to or (array.dtype.kind in "OSU" and element == "string"):
        return array
    if array.dtype.kind in "OSU":
        array = numbers_of(array)
    if element == "string":
        return small(array).astype("U").astype(object)
    if element == "bool":
        return small(array) % 2 == 1
    if array.dtype.kind == "c":
        array = array.real
    if is_whole(to):
        return (array if keeps(array, to) else small(array)).astype(np.int64).astype(to)
    if to.itemsize == 1 or to.name.startswith("float4"):
        return np.maximum(small(array), 1 if to.name == "float8_e8m0fnu" else 0).astype(np.float32).astype(to)
    with np.errstate(all="ignore"):
        return array.astype(np.float32 if to.kind == "V" else array.dtype).astype(to)


def of_map(held, element):
    made = np.asarray(cast(np.asarray(held), element))[()]
    return {"int64": int, "string": str}.get(element, lambda v: v)(made)


def ends_open(parameters):
    """True if the last parameter is variadic."""
    return bool(parameters) and parameters[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic


def formals(values, of):
    """The schema's parameter for each value."""
    of = list(of)
    if not of:
        return []
    if len(values) > len(of) and not ends_open(of):
        raise unfit("more values than parameters")
    return [of[min(i, len(of) - 1)] for i in range(len(values))]


def allowed_of(schema):
    return {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}


def as_attribute(name, value, schema):
    """An input of a later version as the attribute that it was in this version."""
    kind = schema.attributes[name].type.name
    array = np.asarray(value)
    made = {"INTS": lambda: [int(v) for v in array.ravel()], "INT": lambda: int(array.ravel()[0]),
            "FLOATS": lambda: [float(v) for v in array.ravel()], "FLOAT": lambda: float(array.ravel()[0])}
    if kind not in made or not array.size or array.dtype.kind in "OSU":
        raise unfit(f"{name} is not an attribute of that kind")
    return helper.make_attribute(name, made[kind]())


# Names of attributes that became inputs with another name.
ONCE_CALLED = {("Pad", "constant_value"): "value", ("Pad", "pads"): "paddings", ("TopK", "K"): "k"}


def in_order(base, schema):
    """The inputs in the order in which this version has the inputs with their names."""
    inputs, own, there = list(base.inputs), list(base.schema().inputs), [i.name for i in schema.inputs]
    names = [i.name for i in own][:len(inputs)]
    if len(inputs) > len(own) or not set(names) <= set(there) or names == there[:len(names)]:
        return inputs
    made = [None] * (1 + max(there.index(n) for n in names))
    for name, value in zip(names, inputs):
        made[there.index(name)] = value
    return made


def fitting_inputs(base, schema):
    """(inputs, attributes) for this version; the attributes are those that are inputs in the base."""
    inputs, attributes = in_order(base, schema), {}
    if len(inputs) > len(schema.inputs) and not ends_open(schema.inputs):
        own = list(base.schema().inputs)
        for i in range(len(schema.inputs), len(inputs)):
            names = [n for n in (own[i].name, ONCE_CALLED.get((base.op, own[i].name))) if n in schema.attributes]
            if inputs[i] is not None and names:
                attributes[names[0]] = as_attribute(names[0], inputs[i], schema)
            elif inputs[i] is not None and own[i].option != onnx.defs.OpSchema.FormalParameterOption.Optional:
                raise unfit(f"no input {own[i].name} there")
        inputs = inputs[:len(schema.inputs)]
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs, attributes


def fitting_attributes(base, schema):
    """The base's attributes that this version has. An attribute that it lacks must have its default value."""
    made = {}
    for name, attribute in base.attributes.items():
        if name in schema.attributes:
            made[name] = of_kind(attribute, schema.attributes[name].type.name)
        elif attribute != base.schema().attributes[name].default_value:
            raise unfit(f"no attribute {name} there")
    return made


def fitted(base, schema):
    """(inputs, attributes, outputs) for this version."""
    inputs, attributes = fitting_inputs(base, schema)
    attributes.update(fitting_attributes(base, schema))
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in attributes:
            attributes[name] = required(schema, name)
    if "broadcast" in schema.attributes and "broadcast" not in attributes:
        if base.op == "Gemm":
            attributes["broadcast"] = helper.make_attribute("broadcast", 1)
        elif len({np.shape(v) for v in inputs[:3]}) > 1:
            raise unfit("this version broadcasts only on request")
    return inputs, attributes, base.outputs if ends_open(schema.outputs) else base.outputs[:len(schema.outputs)]


def required(schema, name):
    """Attributes that only old versions require."""
    if name == "consumed_inputs":
        return helper.make_attribute(name, [0] * 3 + [1] * 2)
    if name in SAYS_TYPE:
        return of_kind(helper.make_attribute(name, 1), schema.attributes[name].type.name)
    raise unfit(f"no {name}")


def of_kind(attribute, kind):
    """The attribute, converted to another kind: Cast-1 has its type as a text."""
    have = AttributeProto.AttributeType.Name(attribute.type)
    if have == kind:
        return attribute
    if have == "INT" and kind == "STRING":
        return helper.make_attribute(attribute.name, onnx.TensorProto.DataType.Name(attribute.i))
    if have == "STRING" and kind == "INT":
        return helper.make_attribute(attribute.name, onnx.TensorProto.DataType.Value(attribute.s.decode()))
    raise unfit(f"{attribute.name} is of another kind there")


def chosen_types(schema, inputs, wanted):
    """{variable: type} for the variables of inputs: the wanted type, else that of the base, else another that is
    allowed."""
    allowed, chosen = allowed_of(schema), dict(wanted)
    for value, formal in zip(inputs, formals(inputs, schema.inputs)):
        variable = formal.type_str
        if value is None or variable in chosen or variable not in allowed:
            continue
        have = type_words(value)
        if have not in allowed[variable]:
            # Floats are replaced by floats, if they are allowed.
            order = RATHER if element_in(have) in FLOATS else RATHER[1:] + RATHER[:1]
            have = next((t for t in order if t in allowed[variable]), None)
            if have is None:
                raise unfit(f"no type for {variable}")
        chosen[variable] = have
    return chosen


def typed(value, text):
    """The value, converted to a type, which must have the same containers."""
    have = type_words(value)
    if have == text:
        return value
    if have.removesuffix(element_in(have) + ")" * have.count("(")) != \
            text.removesuffix(element_in(text) + ")" * text.count("(")):
        raise unfit(f"{have} does not become {text}")
    return cast(value, element_in(text))


def saying_types(schema, attributes, elements, before):
    """The attributes. Those with the type of the first output, or of an intermediate result, get the type of
    `elements`."""
    made, variable = dict(attributes), schema.outputs[0].type_str
    for name in SAYS_TYPE:
        if name in schema.attributes and variable in elements and (name in made or variable not in before):
            attribute = helper.make_attribute(name, number_of(elements[variable]))
            made[name] = of_kind(attribute, schema.attributes[name].type.name)
        elif name in made and variable not in before:
            made[name] = allowed_attribute(schema, made[name], variable)
    if "stash_type" in schema.attributes and "U" in elements:
        made["stash_type"] = helper.make_attribute("stash_type", number_of(elements["U"]))
    return made


def of_tensors(schema, attributes, elements, before):
    """The attributes. Tensors that had a variable's type (`before`) get its type in `elements`."""
    made, output = dict(attributes), schema.outputs[0].type_str
    for name, attribute in attributes.items():
        if attribute.type != AttributeProto.TENSOR:
            continue
        array = numpy_helper.to_array(attribute.t)
        have = type_words(array)
        for variable, element in elements.items():
            of_output = variable == output and variable not in before and have not in before.values()
            if have == before.get(variable) or of_output:
                made[name] = helper.make_attribute(name, numpy_helper.from_array(cast(array, element)))
                break
    return made


def allowed_attribute(schema, attribute, variable):
    """The attribute, or one with the type float if this version does not have the attribute's type."""
    number = of_kind(attribute, "INT").i
    if number and f"tensor({element_words(number)})" not in allowed_of(schema).get(variable, {"tensor(float)"}):
        return of_kind(helper.make_attribute(attribute.name, 1), AttributeProto.AttributeType.Name(attribute.type))
    return attribute


def imports_of(domain, version):
    own = [helper.make_opsetid("", version if not domain else 21)]
    return own if not domain else own + [helper.make_opsetid(domain, version)]


def retyped(base, schema, wanted, wide=None):
    """The base as a case for this version, with the wanted types of variables. `wide`: a wider element type, to which
    the values are converted after they were converted to the wanted one."""
    inputs, attributes, outputs = fitted(base, schema)
    if not any(outputs):
        raise unfit("no outputs")
    types = chosen_types(schema, inputs, wanted)
    of_inputs = formals(inputs, schema.inputs)
    before = {f.type_str: type_words(v) for v, f in zip(inputs, of_inputs) if v is not None}
    made = []
    for value, formal in zip(inputs, of_inputs):
        if value is not None and formal.type_str in types:
            value = typed(value, types[formal.type_str])
            if wide and formal.type_str in wanted:
                value = cast(value, wide)
        made.append(value)
    told = {v: widened(t, wide) for v, t in wanted.items()}
    elements = {v: element_in(t) for v, t in told.items()}
    attributes = saying_types(schema, attributes, elements, before)
    case = assembled(base, schema, made, of_tensors(schema, attributes, elements, before), outputs)
    case.types = {v: told.get(v, t) for v, t in types.items()}
    case.same = base.version == schema.since_version and all(case.types.get(v, t) == t for v, t in before.items())
    return case


def without_zeros(value):
    """Replaces numbers in arrays of texts by empty texts: the reference evaluator pads texts with the number 0."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return np.array([v if isinstance(v, (str, bytes)) else "" for v in value.ravel()], object).reshape(value.shape)
    return value


def given_types(case, schema, outputs):
    """The outputs, converted to the types of the schema's variables, which the reference evaluator does not keep."""
    node, made = case.model.graph.node[0], {name: without_zeros(value) for name, value in outputs.items()}
    inferred = {o.name: o.type for o in onnx.shape_inference.infer_shapes(case.model).graph.output}
    for name, formal in zip(node.output, formals(node.output, schema.outputs)):
        text = case.types.get(formal.type_str, formal.type_str)
        if not name or not re.fullmatch(r"tensor\(\w+\)", text):
            continue
        if inferred[name].tensor_type.elem_type and words_of(inferred[name]) != text:
            raise unfit(f"{name} is not {text}")
        if type_words(made[name]) != text:
            made[name] = narrow(made[name], element_in(text))
    return made


def narrow(value, element):
    """Converts a value that was computed in a wider element type back to this one."""
    if isinstance(value, list):
        return [narrow(each, element) for each in value]
    array, to = np.asarray(value), numpy_type(element)
    if element == "string":
        return array.astype(np.int64).astype("U").astype(object)
    if array.dtype.kind in "OSU":
        raise unfit("a text does not become a number again")
    with np.errstate(all="ignore"):
        return array.astype(np.float32).astype(to) if to.kind == "V" and array.dtype.kind == "f" else array.astype(to)


def infers(case):
    """True if ONNX's shape inference accepts the model."""
    try:
        onnx.shape_inference.infer_shapes(case.model, check_type=True, strict_mode=True)
        return True
    except Exception:  # noqa: BLE001 - any exception means that it does not
        return False


def widened(text, wide):
    if not wide:
        return text
    at = text.rindex(element_in(text))
    return text[:at] + wide + text[at + len(element_in(text)):]


def assembled(base, schema, inputs, attributes, outputs):
    names = [f"in_{i}" if v is not None else "" for i, v in enumerate(inputs)]
    node = helper.make_node(base.op, names, outputs, domain=base.domain)
    node.attribute.extend(attributes[name] for name in sorted(attributes))
    constant = [i for i in base.constant if i < len(inputs) and isinstance(inputs[i], np.ndarray)]
    fixed = [numpy_helper.from_array(inputs[i], names[i]) for i in constant]
    feeds = {n: v for i, (n, v) in enumerate(zip(names, inputs)) if n and i not in constant}
    infos = [helper.make_value_info(n, d.type_of(v)) for n, v in feeds.items()]
    graph = helper.make_graph([node], "cell", infos, [onnx.ValueInfoProto(name=o) for o in outputs if o], fixed)
    model = helper.make_model(graph, opset_imports=imports_of(base.domain, schema.since_version), ir_version=10)
    check(node, model)
    return d.case(model, copy.deepcopy(feeds))


def check(node, model):
    context = onnx.checker.C.CheckerContext()
    context.ir_version = model.ir_version
    context.opset_imports = {i.domain: i.version for i in model.opset_import}
    try:
        onnx.checker.check_node(node, context)
    except onnx.checker.ValidationError as e:
        raise unfit(f"checker: {str(e).splitlines()[0]}") from e
