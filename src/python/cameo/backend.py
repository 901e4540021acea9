"""ONNX's backend interface, for onnx.backend.test.BackendTest and other users of backends. Needs the package onnx.

    import cameo.backend
    outputs = cameo.backend.prepare(model).run([x, y])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from ._session import Session


class CameoBackendRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the model. Inputs are in the model's order, or by name; returns a named tuple in the order of
        outputs."""
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            if not isinstance(inputs, (list, tuple)):
                inputs = [inputs]
            given = {info.name: each for info, each in zip(self._session.inputs, inputs, strict=False)}
        made = self._session.run_list(None, given)
        return namedtupledict("Outputs", [each.name for each in self._session.outputs])(*made)


class CameoBackend(Backend):
    """The backend. Keyword arguments of prepare are options of cameo.Session."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> CameoBackendRep:
        return CameoBackendRep(model if isinstance(model, Session) else Session(model, **kwargs))

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        import numpy

        def described(names: Sequence[str], values: Sequence[tuple[Any, Any]]) -> list[onnx.ValueInfoProto]:
            return [
                onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), shape)
                for name, (dtype, shape) in zip(names, values, strict=False)
            ]

        arrays = [numpy.asarray(each) for each in inputs]
        taken = described(node.input, [(each.dtype, each.shape) for each in arrays])
        given = described(node.output, outputs_info) if outputs_info else [onnx.ValueInfoProto(name=n) for n in node.output]
        opsets = [onnx.helper.make_opsetid(node.domain, kwargs.pop("opset_version", onnx.defs.onnx_opset_version()))]
        graph = onnx.helper.make_graph([node], "node", taken, given)
        return cls.run_model(onnx.helper.make_model(graph, opset_imports=opsets), arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"


prepare = CameoBackend.prepare
run_model = CameoBackend.run_model
run_node = CameoBackend.run_node
supports_device = CameoBackend.supports_device
is_compatible = CameoBackend.is_compatible
