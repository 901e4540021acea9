#!/usr/bin/env python3
"""Tests cameo in one Python process with onnx and onnxruntime, loaded before or after them: a model has the same results.

Usage: beside.py SHIM.so cameo-first|cameo-last FOLDER
"""
import ctypes
import pathlib
import sys


def load_cameo(shim):
    library = ctypes.CDLL(shim)
    library.run_model.restype = ctypes.c_long
    return library


def load_others():
    import numpy
    import onnx
    import onnxruntime
    return numpy, onnx, onnxruntime


def make_model(numpy, onnx):
    """A model of Conv, BatchNormalization, Relu, GlobalAveragePool, Gemm and Softmax."""
    from onnx import TensorProto, helper, numpy_helper
    random = numpy.random.default_rng(5)

    def weight(name, *shape, positive=False):
        data = random.standard_normal(shape).astype(numpy.float32)
        return numpy_helper.from_array(numpy.abs(data) if positive else data, name)

    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "g", "h"], ["m"]),
        helper.make_node("Softmax", ["m"], ["y"]),
    ]
    weights = [weight("w", 8, 3, 3, 3), weight("b", 8), weight("scale", 8), weight("bias", 8), weight("mean", 8),
               weight("var", 8, positive=True), weight("g", 8, 5), weight("h", 5)]
    graph = helper.make_graph(nodes, "beside", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 12, 12])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 5])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def run_cameo(numpy, library, path, x):
    y, error = numpy.zeros((2, 5), numpy.float32), ctypes.create_string_buffer(500)
    dims = (ctypes.c_long * x.ndim)(*x.shape)
    count = library.run_model(str(path).encode(), x.ctypes.data_as(ctypes.c_void_p), dims, x.ndim,
                              y.ctypes.data_as(ctypes.c_void_p), y.size, error, len(error))
    return (y, None) if count == y.size else (None, error.value.decode())


def main():
    shim, order, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if order == "cameo-first":
        library, (numpy, onnx, onnxruntime) = load_cameo(shim), load_others()
    else:
        (numpy, onnx, onnxruntime), library = load_others(), load_cameo(shim)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{order}.onnx"
    model = make_model(numpy, onnx)
    onnx.save(model, path)
    x = numpy.random.default_rng(7).standard_normal((2, 3, 12, 12)).astype(numpy.float32)
    expected, = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    for _ in range(2):
        y, error = run_cameo(numpy, library, path, x)
        assert y is not None, error
        assert numpy.allclose(y, expected, rtol=1e-4, atol=1e-6), (y, expected)
    # Both libraries still work after an error, each with its own protobuf.
    path.with_suffix(".bad").write_bytes(path.read_bytes()[:100])
    y, error = run_cameo(numpy, library, path.with_suffix(".bad"), x)
    assert y is None and error.startswith("INVALID_PROTOBUF"), error
    onnx.checker.check_model(onnx.load(path), full_check=True)
    again, = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    assert numpy.array_equal(again, expected)
    y, error = run_cameo(numpy, library, path, x)
    assert y is not None and numpy.allclose(y, expected, rtol=1e-4, atol=1e-6), error
    print("ok")


if __name__ == "__main__":
    main()
