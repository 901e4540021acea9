"""The names of onnxruntime that cameo.onnxruntime does not have, with reasons. Using one raises an error with the
reason."""

from __future__ import annotations

from typing import Any

from ..errors import NotImplemented  # noqa: A004

_ADAPTERS = "adapters of weights are inputs of the model here"
_DEVICES = "cameo.devices lists devices; name a provider, or set a policy"
_MEMORY = "memory is planned by cameo, and values lie in host memory"
_LIBRARIES = "providers are a part of the build"
_CONTEXTS = "contexts of compiled models are in the model or in files beside it"
_KERNELS = "no kernel has such weights"
_REGISTRY = "`cameo ops` and docs/operators.md list operators and kernels"

ABSENT: dict[str, dict[str, str]] = {
    "onnxruntime": {
        "AdapterFormat": _ADAPTERS,
        "LoraAdapter": _ADAPTERS,
        "OrtEpContextData": _CONTEXTS,
        "OrtEpContextDataBuffer": _CONTEXTS,
        "OrtSyncStream": _DEVICES,
        "register_execution_provider_library": _LIBRARIES,
        "unregister_execution_provider_library": _LIBRARIES,
    },
    # Names that only onnxruntime.capi has, not onnxruntime itself.
    "capi": {
        "DeviceReset": _DEVICES,
        "SessionObjectInitializer": "it is internal to onnxruntime",
        "get_all_operator_schema": _REGISTRY,
        "get_all_opkernel_def": _REGISTRY,
        "get_registered_ep_kernel_defs": _REGISTRY,
        "get_session_initializer": "it is internal to onnxruntime",
        "opkernel": _REGISTRY,
        "pack_fp4_weights_for_cuda_moe_gemm": _KERNELS,
        "quantize_qdq_matmul_2bits": _KERNELS,
        "schemadef": _REGISTRY,
    },
    "SessionOptions": {
        "clear_ep_context_data_read_func": _CONTEXTS,
        "register_custom_ops_library": "custom operators are written in C++ in a provider of the build",
        "set_ep_context_data_read_func": _CONTEXTS,
        "set_provider_selection_policy_delegate": "set_provider_selection_policy takes one of the policies",
    },
    "RunOptions": {"add_active_adapter": _ADAPTERS},
    "OrtEpDevice": {"create_sync_stream": _DEVICES},
    "ModelCompiler": {"set_ep_context_data_write_func": _CONTEXTS, "clear_ep_context_data_write_func": _CONTEXTS},
    "InferenceSession": {
        "set_ep_dynamic_options": "a provider's options are set when the session is loaded",
    },
}


class AbsentAttribute(NotImplemented, AttributeError):
    """A name of onnxruntime that cameo.onnxruntime does not have; the message has the alternative."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return NotImplemented.name

    @name.setter
    def name(self, attribute: object) -> None:
        """Does nothing: Python sets an AttributeError's name to the attribute's, but here it is the name of the
        code."""


def of_capi(name: str) -> Any:
    """The result for a missing attribute of capi: raises AbsentAttribute. For functions that quantize weights it
    returns a function that raises NotImplemented, because onnxruntime's packages in pure Python import them by name."""
    reason = ABSENT["capi"].get(name)
    if reason is None:
        raise no_attribute("onnxruntime", name)
    words = f"onnxruntime.capi.{name} is not in cameo.onnxruntime: {reason} (docs/python.md)"
    if reason is not _KERNELS:
        raise AbsentAttribute(words)

    def refused(*_: Any, **__: Any) -> None:
        raise NotImplemented(words)

    return refused


def no_attribute(owner: str, name: str) -> AttributeError:
    """The error for a missing attribute."""
    if name in ABSENT[owner]:
        return AbsentAttribute(f"{owner}.{name} is not in cameo.onnxruntime: {ABSENT[owner][name]} (docs/python.md)")
    return AttributeError(f"cameo's {owner} has no attribute {name!r}")
