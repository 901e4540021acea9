"""Models for the tests of pages and traces."""
import random
import struct

import onnx_bytes as ob

# Names that could end a string in JSON, HTML or JavaScript, reverse the direction of text, or are not valid UTF-8.
HOSTILE = ["</script><script>window.hacked=1</script>", '"><img src=x onerror="window.hacked=1">', "<!--<script>",
           "';window.hacked=1//", "`${window.hacked=1}`", "\\\"\\u0000\n\r\t\x01\x7f\u2028", "\u202egnol",
           "]]>&lt;&amp;", b"\xff\xfe\x80 no UTF-8", "<svg onload=window.hacked=1>"]


def ints_attribute(name, numbers):
    return ob.text(5, ob.text(1, name) + b"".join(ob.integer(8, n) for n in numbers) + ob.integer(20, 7))


def tensor_attribute(name, content):
    return ob.text(5, ob.text(1, name) + ob.text(5, content) + ob.integer(20, 4))


def int_tensor(name, dims, numbers):
    return ob.tensor(name, ob.INT64, dims, struct.pack("<%dq" % len(numbers), *numbers))


class Builder:
    def __init__(self):
        self.nodes, self.weights = [], []

    def add(self, op, inputs, name, *attributes):
        self.nodes.append(ob.node(op, inputs, [name + ".out"], name) + b"".join(attributes))
        return name + ".out"

    def weight(self, name, dims):
        count = 1
        for d in dims:
            count *= d
        # The numbers differ between weights, because equal constants would be merged.
        numbers = [((i * 7919 + len(self.weights)) % 13 - 6) / (6 * count ** 0.5) for i in range(count)]
        self.weights.append(ob.floats(name, dims, numbers))
        return name

    def conv(self, x, inside, out, name, size=3):
        half = size // 2
        w = self.weight(name + ".weight", [out, inside, size, size])
        return self.add("Conv", [x, w, self.weight(name + ".bias", [out])], name, ints_attribute("pads", [half] * 4))


def small_cnn():
    """A CNN in which convolutions, sums and other operators alternate, so that three providers get nodes."""
    b = Builder()
    x = b.add("Relu", [b.conv("image", 3, 16, "stem")], "stem.relu")
    x = b.add("MaxPool", [x], "stem.pool", ints_attribute("kernel_shape", [2, 2]), ints_attribute("strides", [2, 2]))
    for i in range(2):
        name = "mixed%d." % i
        left = b.conv(x, 16, 16, name + "left")
        middle = b.conv(b.conv(x, 16, 8, name + "middle1", 1), 8, 16, name + "middle2")
        y = b.add("Relu", [b.add("Add", [b.add("Add", [left, middle], name + "sum"), x], name + "skip")], name + "relu")
        gate = b.add("Sigmoid", [b.conv(b.add("GlobalAveragePool", [y], name + "squeeze"), 16, 16, name + "excite", 1)],
                     name + "gate")
        x = b.add("Mul", [y, gate], name + "scale")
    x = b.add("Flatten", [b.add("GlobalAveragePool", [x], "pool")], "flatten")
    x = b.add("Gemm", [x, b.weight("head.weight", [16, 10]), b.weight("head.bias", [10])], "head")
    b.nodes.append(ob.node("Softmax", [x], ["scores"], "softmax"))
    return ob.model(ob.graph(b.nodes, [("image", ob.tensor_type(ob.FLOAT, [1, 3, 32, 32]))],
                             [("scores", ob.tensor_type(ob.FLOAT, [1, 10]))], b.weights))


def tangle(count):
    """A graph of `count` nodes with branches that join again, and long skip connections."""
    chance = random.Random(5)
    values, nodes = ["x"], []
    for i in range(count):
        near = values[-1] if chance.random() < 0.6 else chance.choice(values[-12:])
        if chance.random() < 0.35:
            nodes.append(ob.node("Add", [near, chance.choice(values[-30:])], ["v%d" % i], "add_%d" % i))
        else:
            nodes.append(ob.node(chance.choice(["Relu", "Sigmoid", "Tanh"]), [near], ["v%d" % i], "unary_%d" % i))
        values.append("v%d" % i)
    kind = ob.tensor_type(ob.FLOAT, [1, 64])
    return ob.model(ob.graph(nodes, [("x", kind)], [(values[-1], kind)]))


def hostile():
    """A model in which every name and every text of attributes and metadata is hostile."""
    kind = ob.tensor_type(ob.FLOAT, [2, 3])
    nodes, at = [], HOSTILE[0]
    for i, name in enumerate(HOSTILE):
        name = name.encode() if isinstance(name, str) else name
        out = name + b" value"
        nodes.append(ob.node("Neg", [at], [out], name))
        at = out
    nodes.append(ob.node("LabelEncoder", ["words"], ["label"], "encoder", domain="ai.onnx.ml") +
                 ob.text(5, ob.text(1, "keys_strings") + b"".join(ob.text(9, h) for h in HOSTILE) + ob.integer(20, 8)) +
                 ints_attribute("values_int64s", range(len(HOSTILE))))
    words = ob.tensor_type(ob.STRING, [2])
    graph = ob.graph(nodes, [(HOSTILE[0], kind), ("words", words)],
                     [(at, kind), ("label", ob.tensor_type(ob.INT64, [2]))])
    metadata = b"".join(ob.text(14, ob.text(1, h) + ob.text(2, h)) for h in HOSTILE)
    ml = ob.text(8, ob.text(1, "ai.onnx.ml") + ob.integer(2, 2))
    return ob.model(graph.replace(ob.text(2, "g"), ob.text(2, HOSTILE[0]), 1)) + ml + metadata


def looping():
    """A Loop whose body contains an If, with nodes without names and nodes with equal names."""
    kind, flag = ob.tensor_type(ob.FLOAT, [2, 3]), ob.tensor_type(ob.BOOL, [])
    then = ob.graph([ob.node("Neg", ["a"], ["t"], "twin")], [], [("t", kind)])
    other = ob.graph([ob.node("Relu", ["a"], ["e0"], "twin"), ob.node("Exp", ["e0"], ["e"])], [], [("e", kind)])
    body = ob.graph([ob.node("Add", ["carried", "x"], ["a"]),
                     ob.node("If", ["go_in"], ["b"], "choice", [("then_branch", then), ("else_branch", other)]),
                     ob.node("Identity", ["go_in"], ["go_out"])],
                    [("i", ob.tensor_type(ob.INT64, [])), ("go_in", flag), ("carried", kind)],
                    [("go_out", flag), ("b", kind)])
    nodes = [ob.node("Relu", ["x"], ["start"]),
             ob.node("Loop", ["count", "", "start"], ["end"], "loop", [("body", body)]),
             ob.node("Neg", ["end"], ["y"], "twin")]
    return ob.model(ob.graph(nodes, [("x", kind)], [("y", kind)], [int_tensor("count", [], [5])]))
