"""Serializes small ONNX files and .npy files without the packages onnx and numpy, so that tests need only Python."""
import struct

FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, COMPLEX64, COMPLEX128, BFLOAT16 = (
    1, 2, 3, 6, 7, 8, 9, 10, 11, 14, 15, 16)


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def integer(field, number):
    return varint(field << 3) + varint(number)


def text(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(name, dtype, dims, raw=None, strings=None):
    """TensorProto."""
    out = b"".join(integer(1, d) for d in dims) + integer(2, dtype)
    if strings is not None:
        out += b"".join(text(6, s) for s in strings)
    else:
        out += text(9, raw)
    return out + (text(8, name) if name else b"")


def floats(name, dims, numbers):
    return tensor(name, FLOAT, dims, struct.pack("<%df" % len(numbers), *numbers))


def sequence(name, tensors):
    """SequenceProto of tensors."""
    return text(1, name) + integer(2, 1) + b"".join(text(3, t) for t in tensors)


def tensor_type(dtype, dims):
    """TypeProto; a dim is a number or a symbol."""
    shape = b"".join(text(1, text(2, d) if isinstance(d, str) else integer(1, d)) for d in dims)
    return text(1, integer(1, dtype) + text(2, shape))


def sequence_type(of):
    return text(4, text(1, of))


def value_info(name, type_proto):
    return text(1, name) + text(2, type_proto)


def node(op, inputs, outputs, name="", graphs=(), domain=""):
    out = b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs)
    out += text(3, name) + text(4, op)
    for attribute, body in graphs:
        out += text(5, text(1, attribute) + text(6, body) + integer(20, 5))
    return out + (text(7, domain) if domain else b"")


def graph(nodes, inputs, outputs, initializers=()):
    out = b"".join(text(1, n) for n in nodes) + text(2, "g")
    out += b"".join(text(5, i) for i in initializers)
    out += b"".join(text(11, value_info(*i)) for i in inputs)
    return out + b"".join(text(12, value_info(*o)) for o in outputs)


def model(graph_proto, opset=17, domains=()):
    out = integer(1, 8) + text(2, "cameo tests") + text(7, graph_proto) + text(8, text(1, "") + integer(2, opset))
    return out + b"".join(text(8, text(1, d) + integer(2, 1)) for d in domains)


def one_node(op, dtype, dims, count=1, **more):
    """A model y = op(x0, x1, ...)."""
    names = ["x%d" % i for i in range(count)]
    kind = tensor_type(dtype, dims)
    return model(graph([node(op, names, ["y"], "n", **more)], [(n, kind) for n in names], [("y", kind)]))


def npy(descr, shape, data, fortran=False, version=1):
    dims = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    header = ("{'descr': %r, 'fortran_order': %r, 'shape': %s, }" % (descr, fortran, dims)).encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def read_npy(content):
    """(descr, shape, data)"""
    import ast
    assert content[:6] == b"\x93NUMPY" and content[6] == 1, content[:10]
    length, = struct.unpack("<H", content[8:10])
    assert (10 + length) % 64 == 0
    header = ast.literal_eval(content[10:10 + length].decode())
    assert header["fortran_order"] is False
    return header["descr"], header["shape"], content[10 + length:]
