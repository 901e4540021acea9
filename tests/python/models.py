"""Small models for the tests of the Python package."""
import numpy
from onnx import TensorProto, helper, numpy_helper

F = TensorProto.FLOAT


def info(name, kind=F, *shape):
    return helper.make_tensor_value_info(name, kind, list(shape))


def made(nodes, inputs, outputs, opset=20, initializers=(), **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10, **more)


def unary(op="Neg", kind=F, *shape, opset=20):
    """y = op(x)."""
    dims = shape or ("n",)
    return made([helper.make_node(op, ["x"], ["y"])], [info("x", kind, *dims)], [info("y", kind, *dims)], opset)


def chain(nodes=10, width=4):
    """y = sin(sin(...x)): a model in which the overhead of calls is larger than the computation."""
    names = ["x", *(f"t{i}" for i in range(1, nodes)), "y"]
    steps = [helper.make_node("Sin", [names[i]], [names[i + 1]]) for i in range(nodes)]
    return made(steps, [info("x", F, 1, width)], [info("y", F, 1, width)])


def endless():
    """A loop with m iterations."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Sin", ["v"], ["w"])], "body",
        [info("i", TensorProto.INT64), info("c", TensorProto.BOOL), info("v", F, 1000)],
        [info("d", TensorProto.BOOL), info("w", F, 1000)])
    return made([helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)],
                [info("m", TensorProto.INT64), info("x", F, 1000)], [info("y", F, 1000)])


def with_default():
    """y = x + w, where w has a default."""
    weight = numpy_helper.from_array(numpy.array([1, 2, 3], numpy.float32), "w")
    return made([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", F, "n", 3), info("w", F, 3)],
                [info("y", F, "n", 3)], initializers=[weight], producer_name="tests")
