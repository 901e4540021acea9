"""The parts of the models of tests/scripts/stale_shapes.py: makers of a value `r` whose shape depends on data, and
readers of it. The models declare a wrong shape for `r`, as exporters do that record the shape of one run."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
OPSET = 18


def numbers(*shape):
    """Small integers as floats, whose sums are exact."""
    return ((np.arange(np.prod(shape, dtype=int)) * 7 % 11) - 4).astype(np.float32).reshape(shape)


def ints(*values):
    return np.array(values, np.int64)


def value(name, dims, element=FLOAT):
    return helper.make_tensor_value_info(name, element, dims)


class Part:
    """Nodes with their constants, and their inputs with declared dims."""

    def __init__(self):
        self.nodes, self.constants, self.feeds, self.dims, self.functions, self.hints = [], [], {}, {}, [], []

    def constant(self, array):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def input(self, name, array, dims=None):
        """Adds an input. Unless `dims` are given, each dim is symbolic with its own name."""
        self.feeds[name] = array = np.asarray(array)
        self.dims[name] = [f"{name}_{i}" for i in range(array.ndim)] if dims is None else dims
        return name

    def node(self, op, *inputs, out=None, outputs=None, domain="", **attributes):
        """Adds a node and returns its first output. Arrays among its inputs become constants."""
        names = [self.constant(each) if isinstance(each, (np.ndarray, np.generic)) else each for each in inputs]
        outputs = outputs or [out or f"value{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, names, outputs, domain=domain, **attributes))
        return outputs[0]


# --- makers of `r`: its shape is [a,b] in this run, and may be another one in other runs ---

MAKERS = {}


def maker(f):
    MAKERS[f.__name__] = f
    return f


@maker
def relu(p, a, b):
    p.node("Relu", p.input("x", numbers(a, b)), out="r")


@maker
def reshape(p, a, b):
    p.node("Reshape", p.input("x", numbers(a * b)), p.input("s", ints(a, b), [2]), out="r")


@maker
def reshape_of_unknown_rank(p, a, b):
    p.node("Reshape", p.input("x", numbers(a * b)), p.input("s", ints(a, b)), out="r")


@maker
def reshape_by_a_size(p, a, b):
    """The shape is computed from that of another input, of which only the first element is used."""
    shape = p.node("Shape", p.input("like", numbers(a, 2)))
    first = p.node("Slice", shape, ints(0), ints(1))
    p.node("Reshape", p.input("x", numbers(a * b)), p.node("Concat", first, ints(-1), axis=0), out="r")


@maker
def expand(p, a, b):
    p.node("Expand", p.input("x", numbers(1, b)), p.input("s", ints(a, b), [2]), out="r")


@maker
def gather(p, a, b):
    p.node("Gather", p.input("x", numbers(5, b)), p.input("i", ints(*(i % 5 for i in range(a)))), out="r")


@maker
def slice_(p, a, b):
    p.node("Slice", p.input("x", numbers(6, b)), p.input("from", ints(0), [1]), p.input("to", ints(a), [1]), ints(0),
           out="r")


@maker
def tile(p, a, b):
    p.node("Tile", p.input("x", numbers(1, b)), p.input("n", ints(a, 1), [2]), out="r")


@maker
def pad(p, a, b):
    p.node("Pad", p.input("x", numbers(1, b)), p.input("by", ints(a - 1, 0, 0, 0), [4]), out="r")


@maker
def constant_of_shape(p, a, b):
    p.node("ConstantOfShape", p.input("s", ints(a, b), [2]), out="r",
           value=numpy_helper.from_array(np.array([2], np.float32)))


@maker
def compress(p, a, b):
    p.node("Compress", p.input("x", numbers(6, b)), p.input("c", np.arange(6) < a), out="r", axis=0)


@maker
def non_zero(p, a, b):
    if a != 1:
        return
    p.node("Cast", p.node("NonZero", p.input("x", np.arange(1, b + 1, dtype=np.float32))), out="r", to=FLOAT)


@maker
def unique(p, a, b):
    if a != 1:
        return
    p.node("Unsqueeze", p.node("Unique", p.input("x", np.arange(b, dtype=np.float32))), ints(0), out="r")


@maker
def top_k(p, a, b):
    p.node("TopK", p.input("x", numbers(7, b)), p.input("k", ints(a), [1]), outputs=["r", "i"], axis=0)


@maker
def one_hot(p, a, b):
    p.node("OneHot", p.input("i", ints(*range(a))), p.input("n", np.int64(b), []), np.array([0, 1], np.float32), out="r")


@maker
def range_(p, a, b):
    if a != 1:
        return
    limits = [p.input(name, np.float32(each), []) for name, each in (("from", 0), ("to", b), ("by", 1))]
    p.node("Unsqueeze", p.node("Range", *limits), ints(0), out="r")


@maker
def resize(p, a, b):
    p.node("Resize", p.input("x", numbers(2, b)), "", "", p.input("s", ints(a, b), [2]), out="r", mode="nearest")


@maker
def sequence(p, a, b):
    parts = p.node("SplitToSequence", p.input("x", numbers(a, b)), np.int64(1), axis=0)
    p.node("ConcatFromSequence", parts, out="r", axis=0)


@maker
def sequence_at(p, a, b):
    both = p.node("SequenceConstruct", p.input("x", numbers(a, b)), p.input("z", numbers(7, 2)))
    p.node("SequenceAt", both, p.input("i", np.int64(0), []), out="r")


def body(name, nodes, inputs, outputs, hints=()):
    return helper.make_graph(nodes, name, inputs, outputs, value_info=list(hints))


@maker
def loop_carried(p, a, b):
    """A loop that adds a row in each iteration. Its body declares the shape of the first iteration."""
    one = [value("round", [], INT64), value("on", [], BOOL), value("v", [1, b])]
    nodes = [helper.make_node("Abs", ["v"], ["u"]), helper.make_node("Concat", ["u", "x"], ["w"], axis=0),
             helper.make_node("Identity", ["on"], ["goes_on"])]
    inner = body("grow", nodes, one, [value("goes_on", [], BOOL), value("w", [1, b])], [value("u", [1, b])])
    p.input("x", np.abs(numbers(1, b)))
    p.node("Loop", p.input("n", np.int64(a - 1), []), p.constant(np.array(True)), "x", out="r", body=inner)


@maker
def loop_rows(p, a, b):
    inner = body("row", [helper.make_node("Identity", ["x"], ["row"]), helper.make_node("Identity", ["on"], ["goes_on"])],
                 [value("round", [], INT64), value("on", [], BOOL)],
                 [value("goes_on", [], BOOL), value("row", [7])])
    p.input("x", numbers(b))
    p.node("Loop", p.input("n", np.int64(a), []), p.constant(np.array(True)), out="r", body=inner)


@maker
def branches(p, a, b):
    p.input("x", numbers(a, b)), p.input("z", numbers(7, 2))
    made = [body(op, [helper.make_node(op, [of], [f"made_{op}"])], [], [value(f"made_{op}", [1, 3])])
            for op, of in (("Neg", "x"), ("Abs", "z"))]
    p.node("If", p.input("c", np.array(True), []), out="r", then_branch=made[0], else_branch=made[1])


@maker
def where(p, a, b):
    p.node("Where", p.input("c", np.ones((a, 1), bool)), p.input("x", numbers(1, b)), np.zeros((1, 1), np.float32),
           out="r")


@maker
def squeeze(p, a, b):
    p.node("Squeeze", p.input("x", numbers(1, a, b)), p.input("axes", ints(0), [1]), out="r")


@maker
def unsqueeze(p, a, b):
    if a != 1:
        return
    p.node("Unsqueeze", p.input("x", numbers(b)), p.input("axes", ints(0)), out="r")


@maker
def in_a_function(p, a, b):
    """A local function, which declares a wrong shape for a value of its body, too."""
    nodes = [helper.make_node("Reshape", ["x", "s"], ["q"]), helper.make_node("Abs", ["q"], ["r"])]
    made = helper.make_function("local", "F", ["x", "s"], ["r"], nodes, [helper.make_opsetid("", OPSET)])
    made.value_info.append(value("q", [1, 3]))
    p.functions.append(made)
    p.node("F", p.input("x", numbers(a * b)), p.input("s", ints(a, b)), out="r", domain="local")


@maker
def split(p, a, b):
    p.node("Split", p.input("x", numbers(7, b)), p.input("n", ints(a, 7 - a), [2]), outputs=["r", "rest"], axis=0)


@maker
def reduce(p, a, b):
    p.node("ReduceSum", p.input("x", numbers(a, b, 2)), p.input("axes", ints(2), [1]), out="r", keepdims=0)


@maker
def crop(p, a, b):
    p.node("CenterCropPad", p.input("x", numbers(6, b)), p.input("s", ints(a, b), [2]), out="r")


@maker
def concat(p, a, b):
    if a < 2:
        return
    p.node("Concat", p.input("x", numbers(a - 1, b)), p.input("z", numbers(1, b)), out="r", axis=0)


@maker
def product(p, a, b):
    p.node("MatMul", p.input("x", numbers(a, 2)), p.input("w", numbers(2, b)), out="r")


@maker
def optional(p, a, b):
    p.node("OptionalGetElement", p.node("Optional", p.input("x", numbers(a, b))), out="r")


@maker
def eye(p, a, b):
    p.node("EyeLike", p.input("x", numbers(a, b)), out="r")


@maker
def random_like(p, a, b):
    p.node("Mul", p.node("RandomUniformLike", p.input("x", numbers(a, b))), np.zeros((1, 1), np.float32), out="r")


# --- readers of `r`, which compute `y` ---

READERS = {}


def reader(f):
    READERS[f.__name__] = f
    return f


def readers(**variants):
    """Adds a reader for each variant of an argument, a function of the shape [a,b] and the declared shape d."""
    def add(f):
        for name, argument in variants.items():
            READERS[f"{f.__name__}_{name}"] = lambda p, a, b, d, argument=argument: f(p, argument(a, b, d))
        return f
    return add


def size_of(p, axis):
    return p.node("Gather", p.node("Shape", "r"), np.int64(axis))


@reader
def shape(p, a, b, d):
    p.node("Cast", p.node("Shape", "r"), out="y", to=FLOAT)


@reader
def some_of_shape(p, a, b, d):
    p.node("Cast", p.node("Shape", "r", start=1), out="y", to=FLOAT)


@reader
def size(p, a, b, d):
    p.node("Cast", p.node("Size", "r"), out="y", to=FLOAT)


@reader
def range_of_size(p, a, b, d):
    p.node("Cast", p.node("Range", np.int64(0), size_of(p, 0), np.int64(1)), out="y", to=FLOAT)


@reader
def filled(p, a, b, d):
    p.node("ConstantOfShape", p.node("Shape", "r"), out="y", value=numpy_helper.from_array(np.array([2], np.float32)))


@reader
def condition_on_size(p, a, b, d):
    """A branch: with the wrong shape, the optimizer would always take the other one."""
    bodies = [body(op, [helper.make_node(op, ["r"], [f"by_{op}"])], [], [value(f"by_{op}", [None, None])])
              for op in ("Neg", "Abs")]
    p.node("If", p.node("Equal", size_of(p, 0), np.int64(a)), out="y", then_branch=bodies[0], else_branch=bodies[1])


@reader
def first_axis_stays(p, a, b, d):
    first = p.node("Slice", p.node("Shape", "r"), ints(0), ints(1))
    p.node("Relu", p.node("Reshape", "r", p.node("Concat", first, ints(-1), axis=0)), out="y")


@reader
def heads(p, a, b, d):
    """Reshapes as in attention, with the value's own sizes."""
    parts = [p.node("Unsqueeze", size_of(p, i), ints(0)) for i in (0, 1)]
    split = p.node("Reshape", "r", p.node("Concat", *parts, ints(1), axis=0))
    transposed = p.node("Transpose", split, perm=[0, 2, 1])
    p.node("Reshape", p.node("Softmax", transposed), p.node("Concat", *parts, axis=0), out="y")


@reader
def to_own_shape(p, a, b, d):
    p.node("Reshape", p.node("Neg", "r"), p.node("Shape", "r"), out="y")


@reader
def flat_and_back(p, a, b, d):
    p.node("Reshape", p.node("Neg", p.node("Reshape", "r", ints(-1))), p.node("Shape", "r"), out="y")


@reader
def flat_and_back_to_constant(p, a, b, d):
    p.node("Reshape", p.node("Reshape", "r", ints(-1)), ints(-1, b), out="y")


@readers(same=lambda a, b, d: [a, b], declared=lambda a, b, d: d, columns=lambda a, b, d: [-1, b],
         rows=lambda a, b, d: [a, -1], zeros=lambda a, b, d: [0, -1], flat=lambda a, b, d: [a * b],
         more=lambda a, b, d: [1, a, -1])
def reshaped_to(p, shape):
    p.node("Abs", p.node("Reshape", "r", ints(*shape)), out="y")


@readers(axis0=lambda a, b, d: 0, axis1=lambda a, b, d: 1, axis2=lambda a, b, d: 2)
def flattened(p, axis):
    p.node("Relu", p.node("Flatten", "r", axis=axis), out="y")


@readers(same=lambda a, b, d: [a, b], declared=lambda a, b, d: d, ones=lambda a, b, d: [1, 1],
         row=lambda a, b, d: [b], more=lambda a, b, d: [2, 1, 1])
def expanded_to(p, shape):
    p.node("Relu", p.node("Expand", "r", ints(*shape)), out="y")


@reader
def expanded_by_shape(p, a, b, d):
    p.node("Neg", p.node("Expand", np.full((1, b), 2, np.float32), p.node("Shape", "r")), out="y")


@reader
def expanded_before_sum(p, a, b, d):
    p.node("Add", p.node("Expand", p.input("t", numbers(1, b)), p.node("Shape", "r")), "r", out="y")


@reader
def expanded_where_minus_one(p, a, b, d):
    """PyTorch's export of expand(-1, n)."""
    wanted = ints(-1, b)
    ones = p.node("ConstantOfShape", p.node("Shape", wanted), value=numpy_helper.from_array(ints(1)))
    to = p.node("Where", p.node("Equal", wanted, p.node("Mul", ones, ints(-1))), ones, wanted)
    p.node("Expand", "r", to, out="y")


@readers(declared=lambda a, b, d: (d or [1])[:1], same=lambda a, b, d: [a], all=lambda a, b, d: [2 ** 63 - 1],
         whole=lambda a, b, d: d, less=lambda a, b, d: [-1])
def sliced_to(p, ends):
    p.node("Relu", p.node("Slice", "r", ints(*[0] * len(ends)), ints(*ends), ints(*range(len(ends)))), out="y")


@reader
def padded_by_nothing(p, a, b, d):
    p.node("Neg", p.node("Pad", "r", ints(0, 0, 0, 0)), out="y")


@readers(once=lambda a, b, d: [1, 1], twice=lambda a, b, d: [2, 1])
def tiled(p, times):
    p.node("Neg", p.node("Tile", "r", ints(*times)), out="y")


OPERANDS = dict(same=lambda a, b, d: [a, b], declared=lambda a, b, d: d, ones=lambda a, b, d: [1, 1],
                row=lambda a, b, d: [b], column=lambda a, b, d: [a, 1], last=lambda a, b, d: d[-1:],
                four=lambda a, b, d: [4, 1])


@readers(**OPERANDS)
def plus_zeros(p, shape):
    p.node("Abs", p.node("Add", "r", np.zeros(shape, np.float32)), out="y")


@readers(**OPERANDS)
def times_ones(p, shape):
    p.node("Abs", p.node("Mul", np.ones(shape, np.float32), "r"), out="y")


@readers(**OPERANDS)
def minus_zeros(p, shape):
    p.node("Abs", p.node("Sub", "r", np.zeros(shape, np.float32)), out="y")


@readers(**OPERANDS)
def divided_by_ones(p, shape):
    p.node("Abs", p.node("Div", "r", np.ones(shape, np.float32)), out="y")


@readers(**OPERANDS)
def to_the_power_of_one(p, shape):
    p.node("Abs", p.node("Pow", "r", np.ones(shape, np.float32)), out="y")


@readers(**OPERANDS)
def chosen_by_constant(p, shape):
    p.node("Abs", p.node("Where", np.ones(shape, bool), "r", np.zeros([1, 1], np.float32)), out="y")


@readers(**OPERANDS)
def factors_in_turn(p, shape):
    p.node("Mul", p.node("Mul", "r", np.full(shape, 2, np.float32)), np.full(shape, 3, np.float32), out="y")


@readers(**OPERANDS)
def gelu(p, shape):
    inner = p.node("Add", p.node("Erf", p.node("Div", "r", np.full(shape, 2 ** 0.5, np.float32))),
                   np.ones(shape, np.float32))
    p.node("Mul", p.node("Mul", "r", inner), np.full(shape, 0.5, np.float32), out="y")


@readers(same=lambda a, b, d: (b, [a, 4]), vector=lambda a, b, d: (b, [4]), row=lambda a, b, d: (b, [1, 4]),
         column=lambda a, b, d: (b, [a, 1]), declared=lambda a, b, d: (b, [*(d or [1])[:1], 4]),
         more=lambda a, b, d: (b, [2, 1, 4]))
def product_and_bias(p, how):
    b, bias = how
    p.node("Add", p.node("MatMul", "r", numbers(b, 4)), numbers(*bias), out="y")


@reader
def product_of_reshaped(p, a, b, d):
    """A product of reshaped rows and a bias, and a reshape of the result."""
    product = p.node("MatMul", p.node("Reshape", "r", ints(-1, b)), numbers(b, 4))
    p.node("Reshape", p.node("Add", product, numbers(4)), ints(a, 4), out="y")


@reader
def product_and_gelu(p, a, b, d):
    product = p.node("Add", p.node("MatMul", "r", numbers(b, 4)), numbers(4))
    inner = p.node("Add", p.node("Erf", p.node("Div", product, np.array(2 ** 0.5, np.float32))),
                   np.array(1, np.float32))
    p.node("Mul", p.node("Mul", product, inner), np.array(0.5, np.float32), out="y")


@reader
def gemm(p, a, b, d):
    p.node("Relu", p.node("Gemm", "r", numbers(b, 4), numbers(1, 4)), out="y")


@reader
def mean_by_size(p, a, b, d):
    p.node("Div", p.node("ReduceSum", "r", keepdims=0), p.node("Cast", p.node("Size", "r"), to=FLOAT), out="y")


@reader
def mean_of_rows_by_size(p, a, b, d):
    total = p.node("ReduceSum", "r", ints(0), keepdims=0)
    p.node("Div", total, p.node("Cast", size_of(p, 0), to=FLOAT), out="y")


@readers(axis0=lambda a, b, d: [0], axis1=lambda a, b, d: [-1], both=lambda a, b, d: [0, 1])
def reduced(p, axes):
    p.node("Neg", p.node("ReduceMean", "r", ints(*axes), keepdims=1), out="y")


@reader
def transposed_twice(p, a, b, d):
    p.node("Transpose", p.node("Relu", p.node("Transpose", "r", perm=[1, 0])), perm=[1, 0], out="y")


@reader
def transposed_and_flat(p, a, b, d):
    p.node("Reshape", p.node("Transpose", "r", perm=[1, 0]), ints(-1), out="y")


@reader
def squeezed(p, a, b, d):
    p.node("Neg", p.node("Squeeze", "r"), out="y")


@reader
def unsqueezed_and_squeezed(p, a, b, d):
    p.node("Neg", p.node("Squeeze", p.node("Unsqueeze", "r", ints(0)), ints(0)), out="y")


@reader
def joined(p, a, b, d):
    p.node("Concat", "r", "r", out="y", axis=0)


@reader
def parted(p, a, b, d):
    p.node("Split", "r", outputs=["y", "z"], num_outputs=2, axis=0)


@reader
def joined_parts(p, a, b, d):
    p.node("Split", "r", outputs=["u", "v"], num_outputs=2, axis=1)
    p.node("Concat", "v", "u", out="y", axis=1)


@reader
def last_row(p, a, b, d):
    p.node("Gather", "r", p.node("Sub", size_of(p, 0), np.int64(1)), out="y", axis=0)


@reader
def rows_by_size(p, a, b, d):
    p.node("Slice", "r", ints(1), p.node("Unsqueeze", size_of(p, 0), ints(0)), ints(0), out="y")


@reader
def largest_by_size(p, a, b, d):
    p.node("TopK", "r", p.node("Unsqueeze", size_of(p, 1), ints(0)), outputs=["y", "which"], axis=1)


@reader
def normalized(p, a, b, d):
    p.node("LayerNormalization", "r", np.ones(b, np.float32), np.zeros(b, np.float32), out="y")


@readers(same=lambda a, b, d: (b, [a, b]), row=lambda a, b, d: (b, [1, b]), vector=lambda a, b, d: (b, [b]),
         declared=lambda a, b, d: (b, d))
def sum_normalized(p, how):
    b, shape = how
    total = p.node("Add", "r", numbers(*shape))
    p.node("LayerNormalization", total, np.ones(b, np.float32), np.zeros(b, np.float32), out="y")


@reader
def normalized_in_parts(p, a, b, d):
    apart = p.node("Sub", "r", p.node("ReduceMean", "r", ints(-1)))
    square = p.node("ReduceMean", p.node("Pow", apart, np.array(2, np.float32)), ints(-1))
    root = p.node("Sqrt", p.node("Add", square, np.array(1e-5, np.float32)))
    scaled = p.node("Mul", p.node("Div", apart, root), np.full(b, 2, np.float32))
    p.node("Add", scaled, np.ones(b, np.float32), out="y")


@reader
def einsum(p, a, b, d):
    p.node("Einsum", "r", numbers(b, 4), out="y", equation="ij,jk->ik")


def image(p):
    return p.node("Unsqueeze", "r", ints(0, 1))


@reader
def pooled(p, a, b, d):
    p.node("GlobalAveragePool", image(p), out="y")


@readers(same=lambda a, b, d: [1, 2, a, b], channel=lambda a, b, d: [1, 2, 1, 1], declared=lambda a, b, d: [1, 2, *d[-2:]])
def convolution_and_sum(p, shape):
    made = p.node("Conv", image(p), numbers(2, 1, 1, 1), numbers(2))
    p.node("Relu", p.node("Add", made, numbers(*shape)), out="y")


@reader
def convolution_of_channels(p, a, b, d):
    channels = p.node("Unsqueeze", p.node("Transpose", "r", perm=[1, 0]), ints(0, 3))
    p.node("Conv", channels, numbers(16, b, 1, 1), out="y")


@reader
def enlarged(p, a, b, d):
    p.node("Resize", image(p), "", np.array([1, 1, 2, 2], np.float32), out="y", mode="nearest")


@reader
def counted(p, a, b, d):
    inner = body("add", [helper.make_node("Add", ["v", "one"], ["w"]), helper.make_node("Identity", ["on"], ["goes_on"])],
                 [value("round", [], INT64), value("on", [], BOOL), value("v", [1])],
                 [value("goes_on", [], BOOL), value("w", [1])])
    p.constants.append(numpy_helper.from_array(np.array([1], np.float32), "one"))
    p.node("Loop", size_of(p, 0), p.constant(np.array(True)), np.array([0], np.float32), out="y", body=inner)


@reader
def read_in_a_loop(p, a, b, d):
    """A loop body that captures `r` and declares other shapes."""
    nodes = [helper.make_node("Add", ["r", "v"], ["w"]), helper.make_node("Identity", ["on"], ["goes_on"])]
    inner = body("add", nodes, [value("round", [], INT64), value("on", [], BOOL), value("v", [1, 1])],
                 [value("goes_on", [], BOOL), value("w", [1, 1])])
    p.node("Loop", np.int64(2), p.constant(np.array(True)), np.zeros([1, 1], np.float32), out="y", body=inner)


@reader
def product_of_sizes(p, a, b, d):
    whole = p.node("Mul", size_of(p, 0), size_of(p, 1))
    p.node("Reshape", "r", p.node("Unsqueeze", whole, ints(0)), out="y")


@reader
def quantized(p, a, b, d):
    scale, zero = np.array(0.5, np.float32), np.array(128, np.uint8)
    codes = p.node("QuantizeLinear", "r", scale, zero)
    weights = p.node("DequantizeLinear", np.arange(b * 4, dtype=np.uint8).reshape(b, 4), scale, zero)
    product = p.node("MatMul", p.node("DequantizeLinear", codes, scale, zero), weights)
    p.node("Add", product, numbers(4), out="y")


@reader
def same_shape_as_other(p, a, b, d):
    """Two values whose declared dims have the same name, but different sizes."""
    p.node("Concat", p.node("Shape", p.input("other", numbers(5, 2), ["m", "n"])), p.node("Shape", "r"), axis=0, out="both")
    p.node("Cast", "both", out="y", to=FLOAT)


# --- sequences whose elements have different sizes ---

def elements_of_a_sequence():
    """A body that runs for each element, which has another size each time."""
    inner = body("positive", [helper.make_node("NonZero", ["e"], ["found"])], [value("e", ["len"])],
                 [value("found", None, INT64)])
    made = Part()
    both = made.node("SequenceConstruct", made.input("x", numbers(7)), made.input("z", numbers(3)))
    found = made.node("SequenceMap", both, body=inner)
    shapes = [made.node("Shape", made.node("SequenceAt", found, np.int64(i))) for i in (0, 1)]
    made.node("Cast", made.node("Concat", *shapes, axis=0), out="y", to=FLOAT)
    return made


def loop_without_rounds():
    """A loop without iterations: the sizes of its rows are known only from the body's declaration."""
    inner = body("row", [helper.make_node("Reshape", ["x", "s"], ["row"]), helper.make_node("Identity", ["on"], ["goes_on"])],
                 [value("round", [], INT64), value("on", [], BOOL)], [value("goes_on", [], BOOL), value("row", [2, 3])])
    made = Part()
    made.input("x", numbers(6)), made.input("s", ints(2, 3))
    made.node("Loop", made.input("n", np.int64(0), []), made.constant(np.array(True)), out="y", body=inner)
    return made


def scan_without_rounds():
    """A Scan without iterations: the sizes of its slices are known only from the body's declaration."""
    inner = body("slice", [helper.make_node("Reshape", ["x", "s"], ["slice"])], [value("e", [])],
                 [value("slice", [2, 3])])
    made = Part()
    made.input("x", numbers(6)), made.input("s", ints(2, 3))
    made.node("Scan", made.input("q", numbers(0)), out="y", body=inner, num_scan_inputs=1, scan_output_axes=[1])
    return made


def elements_of_an_input():
    """An input sequence whose elements have the symbolic dim of another input."""
    made = Part()
    shapes = [made.node("Shape", made.node("SequenceAt", "q", np.int64(i))) for i in (0, 1)]
    shapes.append(made.node("Shape", made.input("x", numbers(5, 3), ["n", 3])))
    made.node("Cast", made.node("Concat", *shapes, axis=0), out="y", to=FLOAT)
    made.feeds["q"], made.dims["q"] = [numbers(4, 3), numbers(2, 3)], ["n", 3]
    return made
