"""PyPI's onnxruntime as the reference for files: functions for the scripts that compare it with cameo.

Values of every element type can be inputs and outputs; types that numpy lacks are arrays of ml_dtypes.
"""
import ctypes
import functools
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
ORT_LEVELS = {"none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
              "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
              "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
              "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}
LEVELS = tuple(ORT_LEVELS)
# The element types that numpy lacks: onnxruntime's name, and the number of ONNX's DataType.
WITHOUT_NUMPY = {"bfloat16": 16, "float8e4m3fn": 17, "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20,
                 "uint4": 21, "int4": 22, "float4e2m1": 23, "float8e8m0": 24, "uint2": 25, "int2": 26}


def cameo(*args, check=True, timeout=300):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=timeout)
    if check and done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit status {done.returncode}")
    return done


def read_value(path, type_name):
    """The name and value in a .pb file: a tensor, a sequence, or an optional of these (None: empty). The file does not
    contain which of these it is, so the type decides."""
    data = path.read_bytes()
    if type_name.startswith("optional("):
        made = onnx.OptionalProto()
        made.ParseFromString(data)
        return made.name, numpy_helper.to_optional(made)
    made, to = ((onnx.SequenceProto(), numpy_helper.to_list) if type_name.startswith("seq(") else
                (onnx.TensorProto(), numpy_helper.to_array))
    made.ParseFromString(data)
    return made.name, to(made)


def same(got, want, rtol, atol):
    if want is None or got is None:
        return got is want
    if isinstance(want, dict):
        want = {k.decode() if isinstance(k, bytes) else k: v for k, v in want.items()}
        return isinstance(got, dict) and got.keys() == want.keys() and all(same(got[k], want[k], rtol, atol)
                                                                           for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(same(g, w, rtol, atol)
                                                                       for g, w in zip(got, want))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return False
    if want.dtype.kind in "OSU" or got.dtype.kind in "OSU":
        return [str(g) for g in got.ravel()] == [w.decode() if isinstance(w, bytes) else str(w) for w in want.ravel()]
    wide = np.complex128 if "c" in (want.dtype.kind, got.dtype.kind) else np.float64
    return np.allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=atol, equal_nan=True)


def ort_options(level="none", **keys):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ORT_LEVELS[level]
    options.add_session_config_entry("session.allow_released_opsets_only", "0")
    for key, value in keys.items():
        options.add_session_config_entry("session." + key, value)
    return options


def ort_session(path, options=None):
    return ort.InferenceSession(str(path), options or ort_options(), providers=["CPUExecutionProvider"])


def ort_writes(model, to, level="none"):
    """Writes the model as an .ort file with onnxruntime, without layouts for this processor, which others cannot
    run."""
    options = ort_options(level, save_model_format="ORT")
    options.optimized_model_filepath = str(to)
    ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"],
                         disabled_optimizers=["NchwcTransformer"])


@functools.cache
def ort_channel_block():
    """The number of channels in a block of the weights that onnxruntime packs on this processor: 16 with AVX-512, 8 on
    other x86-64, 1 if it does not pack. Measured with a convolution whose 24 outputs it pads to whole blocks."""
    value = onnx.helper.make_tensor_value_info
    weights = numpy_helper.from_array(np.ones((24, 16, 1, 1), np.float32), "w")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Conv", ["x", "w"], ["y"])], "block",
                                   [value("x", onnx.TensorProto.FLOAT, [1, 16, 4, 4])],
                                   [value("y", onnx.TensorProto.FLOAT, [1, 24, 4, 4])], [weights])
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = (os.path.join(folder, name) for name in ("plain.onnx", "packed.onnx"))
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8), plain)
        options = ort_options("all")
        options.optimized_model_filepath = packed
        ort_session(plain, options)
        written = onnx.load(packed).graph
    if all(node.domain != "com.microsoft.nchwc" for node in written.node):
        return 1
    return {32: 16, 24: 8}[written.initializer[0].dims[0]]


def element_of(type_name):
    return type_name.removeprefix("optional(").removeprefix("tensor(").rstrip(")")


def without_numpy(type_name):
    return type_name.startswith("sparse_tensor(") or (type_name.startswith("tensor(")
                                                      and element_of(type_name) in WITHOUT_NUMPY)


def to_ort_value(array, type_name):
    if type_name.startswith("sparse_tensor("):
        made = ort.SparseTensor.sparse_coo_from_numpy(np.array(array.shape, np.int64), array.elements, array.indices,
                                                      ort.OrtDevice.make("cpu", 0))
        return ort.OrtValue.ort_value_from_sparse_tensor(made)
    element = element_of(type_name)
    if element not in WITHOUT_NUMPY:
        return ort.OrtValue.ortvalue_from_numpy(np.asarray(array, order="C"))
    packed = numpy_helper.from_array(array).raw_data
    value = ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), WITHOUT_NUMPY[element])
    ctypes.memmove(value.data_ptr(), packed, len(packed))
    return value


def from_ort_value(value):
    number = value.element_type()
    if number not in WITHOUT_NUMPY.values():
        return value.numpy()
    tensor = onnx.TensorProto(data_type=number, dims=value.shape(),
                              raw_data=ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes()))
    return numpy_helper.to_array(tensor)


def ort_runs_in_place(session, feeds, shared):
    """The outputs by name. Outputs in `shared` are written to the memory of an input."""
    binding = session.io_binding()
    values = {name: ort.OrtValue.ortvalue_from_numpy(np.array(v)) for name, v in feeds.items()}
    names = [o.name for o in session.get_outputs()]
    for name, v in values.items():
        binding.bind_ortvalue_input(name, v)
    for name in names:
        if name in shared:
            binding.bind_ortvalue_output(name, values[shared[name]])
        else:
            binding.bind_output(name)
    session.run_with_iobinding(binding)
    return dict(zip(names, (np.array(v.numpy()) for v in binding.get_outputs())))


def ort_runs(session, feeds, shared=None):
    """The outputs by name. Types that numpy lacks are passed as OrtValues."""
    if shared:
        return ort_runs_in_place(session, feeds, shared)
    types = {i.name: i.type for i in session.get_inputs() + session.get_overridable_initializers()}
    outputs = session.get_outputs()
    names = [o.name for o in outputs]
    if not any(without_numpy(t) for t in [types[name] for name in feeds] + [o.type for o in outputs]):
        return dict(zip(names, session.run(names, feeds)))
    values = session.run_with_ort_values(names, {name: to_ort_value(v, types[name]) for name, v in feeds.items()})
    return dict(zip(names, map(from_ort_value, values)))


def ort_answers(session, case, order=None):
    """[(folder, outputs by name)] for the case's data sets. Inputs are found by name, else by position."""
    inputs = {i.name: i.type for i in session.get_inputs() + session.get_overridable_initializers()}
    names = order or list(inputs)
    answers = []
    for folder in sorted(case.glob("test_data_set_*")):
        feeds = {}
        for file in folder.glob("input_*.pb"):
            by_place = names[int(file.stem.split("_")[1])]
            name, value = read_value(file, inputs[by_place])
            feeds[name if name in names else by_place] = value
        answers.append((folder, ort_runs(session, feeds)))
    return answers


def what_differs(session, answers, rtol, atol):
    """The first output that differs from the data sets, or None."""
    outputs = session.get_outputs()
    for folder, got in answers:
        for file in sorted(folder.glob("output_*.pb")):
            output = outputs[int(file.stem.split("_")[1])]
            if not same(got[output.name], read_value(file, output.type)[1], rtol, atol):
                return f"output '{output.name}' of {folder.name} differs"
    return None


def ort_agrees(path, case, tolerance, order=None):
    """What differs between onnxruntime's outputs and the case's data sets, or None."""
    session = ort_session(path)
    return what_differs(session, ort_answers(session, case, order), *tolerance)


def cases_of_onnx(root, scratch):
    """The folder with ONNX's cases (tests/conformance/make_cases.py): that of the build, or a new one."""
    made = pathlib.Path(root) / "build" / "cases"
    if (made / "stamp").exists():
        return made
    import sys
    subprocess.run([sys.executable, str(pathlib.Path(root) / "tests" / "conformance" / "make_cases.py"),
                    str(scratch / "cases")], check=True, capture_output=True)
    return scratch / "cases"
