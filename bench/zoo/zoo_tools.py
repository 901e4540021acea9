"""Functions that all families use: exporting, running the reference, writing a model's folder."""
import contextlib
import dataclasses
import inspect
import json
import logging
import os
import pathlib
import sys
import typing
import warnings

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy as np
import onnx


@dataclasses.dataclass
class Entry:
    name: str
    family: str
    make: typing.Callable  # (folder) -> feeds: writes folder/model.onnx
    rtol: float = 1e-3
    atol_of_max: float = 1e-4


def reference(path, feeds):
    """Returns the outputs of ONNX Runtime without optimizations."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return {o.name: v for o, v in zip(session.get_outputs(), session.run(None, feeds))}


def write(folder, entry):
    folder = pathlib.Path(folder) / entry.name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    feeds = entry.make(folder)
    np.savez(folder / "input.npz", **feeds)
    outputs = {k: v for k, v in reference(folder / "model.onnx", feeds).items() if isinstance(v, np.ndarray)}
    np.savez(folder / "output.npz", **outputs)
    graph = onnx.load(folder / "model.onnx", load_external_data=False)
    (folder / "meta.json").write_text(json.dumps(
        {"name": entry.name, "family": entry.family, "rtol": entry.rtol, "atol_of_max": entry.atol_of_max,
         "onnx": onnx.__version__, "producer": f"{graph.producer_name} {graph.producer_version}",
         "opsets": {o.domain or "ai.onnx": o.version for o in graph.opset_import}, "nodes": len(graph.graph.node)},
        indent=1))
    return graph


@contextlib.contextmanager
def quietly():
    """Discards messages of exporters, which print whole graphs on failure, also from C++. The exception suffices."""
    logging.disable(logging.WARNING)
    sys.stdout.flush()
    saved, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(saved, 1)
            os.close(saved)
            os.close(nothing)
            logging.disable(logging.NOTSET)


def export(made, folder, dynamo, opset):
    """Exports a model to folder/model.onnx and returns its inputs by name. `made` is the tuple (module, inputs, names
    of inputs, names of outputs, dynamic axes by input)."""
    import torch
    module, inputs, names, outputs, axes = made
    path = str(pathlib.Path(folder) / "model.onnx")
    with torch.no_grad(), quietly():
        if dynamo:
            shapes = None
            if axes:
                shapes = tuple({a: torch.export.Dim.DYNAMIC for a in axes.get(n, {})} for n in names)
                fixed = [p for p in inspect.signature(module.forward).parameters.values()
                         if p.kind is not p.VAR_POSITIONAL]
                if len(fixed) < len(names):  # the remaining inputs are the parameter *past
                    shapes = (*shapes[:len(fixed)], shapes[len(fixed):])
            torch.onnx.export(module, tuple(inputs), path, input_names=names, output_names=outputs,
                              dynamic_shapes=shapes, opset_version=opset, dynamo=True, external_data=False,
                              verbose=False)
        else:
            torch.onnx.export(module, tuple(inputs), path, input_names=names, output_names=outputs,
                              dynamic_axes=axes or None, opset_version=opset, dynamo=False)
    wanted = {i.name for i in onnx.load(path, load_external_data=False).graph.input}
    return {n: v.numpy() for n, v in zip(names, inputs) if n in wanted}


def make_weights_lively(model):
    """Gives batch normalizations random statistics: with the 0 and 1 of a new network, errors would not be noticed."""
    import torch
    r = torch.Generator().manual_seed(6)
    for module in model.modules():
        if isinstance(module, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d)):
            module.running_mean.copy_(0.1 * torch.randn(module.running_mean.shape, generator=r))
            module.running_var.copy_(0.5 + torch.rand(module.running_var.shape, generator=r))
    return model


def both_exporters(name, family, make, script_opset=17, dynamo_opset=18, **more):
    import torch

    def one(folder, dynamo, opset):
        torch.manual_seed(5)
        return export(make(), folder, dynamo, opset)

    return [Entry(f"{name}_script{script_opset}", family, lambda f: one(f, False, script_opset), **more),
            Entry(f"{name}_dynamo{dynamo_opset}", family, lambda f: one(f, True, dynamo_opset), **more)]
