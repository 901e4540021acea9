"""What onnxruntime has and cameo.onnxruntime does not, with the reason: asking for one is an error that says so."""

from __future__ import annotations

from typing import Any

from ..errors import NotImplemented  # noqa: A004

_ADAPTERS = "adapters of weights are inputs of the model here"
_COMPILING = "cameo.compile compiles models"
_DEVICES = "cameo.devices lists devices; name a provider, or set a policy"
_MEMORY = "memory is planned by cameo, and values lie in host memory"
_LIBRARIES = "providers are a part of the build"
_WEIGHTS = "weights are read from the model and its files, and packed when it is loaded"
_CONTEXTS = "contexts of compiled models are in the model or in files beside it"
_KERNELS = "weights are packed when a model is loaded; onnx's tools and numpy quantize them"
_COMPATIBLE = "a compiled model says when it is loaded whether it runs here"
_REGISTRY = "`cameo ops` and docs/operators.md list operators and kernels"
_ASSIGNED = "InferenceSession.cameo_session.assignments says where nodes run"

ABSENT: dict[str, dict[str, str]] = {
    "onnxruntime": {
        "AdapterFormat": _ADAPTERS,
        "LoraAdapter": _ADAPTERS,
        "ModelCompiler": _COMPILING,
        "OrtCompileApiFlags": _COMPILING,
        "OrtArenaCfg": _MEMORY,
        "OrtDeviceMemoryType": _DEVICES,
        "OrtDeviceVendorId": _DEVICES,
        "OrtEpAssignedNode": _ASSIGNED,
        "OrtEpAssignedSubgraph": _ASSIGNED,
        "OrtEpContextData": _CONTEXTS,
        "OrtEpContextDataBuffer": _CONTEXTS,
        "OrtEpDevice": _DEVICES,
        "OrtExternalInitializerInfo": _WEIGHTS,
        "OrtHardwareDevice": _DEVICES,
        "OrtHardwareDeviceType": _DEVICES,
        "OrtMemoryInfo": _MEMORY,
        "OrtMemoryInfoDeviceType": _MEMORY,
        "OrtSparseFormat": "a SparseTensor has values, indices and shape",
        "OrtSyncStream": _DEVICES,
        "create_and_register_allocator": _MEMORY,
        "create_and_register_allocator_v2": _MEMORY,
        "get_ep_devices": _DEVICES,
        "has_collective_ops": "a process computes for itself",
        "preload_dlls": _LIBRARIES,
        "print_debug_info": "get_build_info says what computes",
        "register_execution_provider_library": _LIBRARIES,
        "set_global_thread_pool_sizes": "each session has its threads: SessionOptions.intra_op_num_threads",
        "unregister_execution_provider_library": _LIBRARIES,
    },
    # of capi, beside those of onnxruntime
    "capi": {
        "ArenaExtendStrategy": _MEMORY,
        "DeviceReset": _DEVICES,
        "OrtCompiledModelCompatibility": _COMPATIBLE,
        "OrtDeviceEpIncompatibilityReason": _COMPATIBLE,
        "OrtValueVector": "run_with_ort_values takes and gives values by name",
        "SessionObjectInitializer": "onnxruntime's inner part",
        "SparseBlockSparseView": "a SparseTensor has values, indices and shape",
        "SparseCooView": "a SparseTensor has values, indices and shape",
        "SparseCsrView": "a SparseTensor has values, indices and shape",
        "get_all_operator_schema": _REGISTRY,
        "get_all_opkernel_def": _REGISTRY,
        "get_compatibility_info_from_model": _COMPATIBLE,
        "get_compatibility_info_from_model_bytes": _COMPATIBLE,
        "get_default_session_options": "SessionOptions() has the defaults",
        "get_hardware_device_ep_incompatibility_details": _COMPATIBLE,
        "get_hardware_devices": _DEVICES,
        "get_model_compatibility_for_ep_devices": _COMPATIBLE,
        "get_registered_ep_kernel_defs": _REGISTRY,
        "get_session_initializer": "onnxruntime's inner part",
        "is_dlpack_uint8_tensor": "OrtValue.from_dlpack takes is_bool_tensor",
        "kNextPowerOfTwo": _MEMORY,
        "kSameAsRequested": _MEMORY,
        "opkernel": _REGISTRY,
        "pack_fp4_weights_for_cuda_moe_gemm": _KERNELS,
        "quantize_matmul_2bits": _KERNELS,
        "quantize_matmul_4bits": _KERNELS,
        "quantize_matmul_8bits": _KERNELS,
        "quantize_matmul_bnb4": _KERNELS,
        "quantize_qdq_matmul_2bits": _KERNELS,
        "quantize_qdq_matmul_4bits": _KERNELS,
        "schemadef": _REGISTRY,
    },
    "SessionOptions": {
        "add_external_initializers": _WEIGHTS,
        "add_external_initializers_from_files_in_memory": _WEIGHTS,
        "add_initializer": _WEIGHTS,
        "add_provider_for_devices": _DEVICES,
        "clear_ep_context_data_read_func": _CONTEXTS,
        "register_custom_ops_library": "an operator of one's own is C++ in a provider of the build",
        "set_ep_context_data_read_func": _CONTEXTS,
        "set_provider_selection_policy_delegate": "set_provider_selection_policy takes one of the policies",
    },
    "RunOptions": {"add_active_adapter": _ADAPTERS},
    "InferenceSession": {
        "create_ortvalue_from_shape_and_type": "OrtValue.ortvalue_from_shape_and_type makes values",
        "get_input_epdevices": _DEVICES,
        "get_input_memory_infos": _MEMORY,
        "get_output_memory_infos": _MEMORY,
        "get_provider_graph_assignment_info": _ASSIGNED,
        "get_tuning_results": "no provider tunes itself while it runs",
        "release_captured_graph": "runs are planned, and nothing is captured",
        "run_with_ortvaluevector": "run_with_ort_values takes and gives values by name",
        "set_ep_dynamic_options": "a provider's options are those that the session was loaded with",
        "set_tuning_results": "no provider tunes itself while it runs",
    },
}


class AbsentAttribute(NotImplemented, AttributeError):
    """A name of onnxruntime's that cameo.onnxruntime does not have; the words say what there is instead."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return NotImplemented.name

    @name.setter
    def name(self, attribute: object) -> None:
        """Python writes the attribute's name into an AttributeError; here it is that of the code."""


def of_capi(name: str) -> Any:
    """An attribute of capi that is not there. onnxruntime's packages in plain Python import the functions that quantize
    weights by name, and stay importable: those raise NotImplemented when they are called."""
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
    """The error for an attribute that is not there."""
    if name in ABSENT[owner]:
        return AbsentAttribute(f"{owner}.{name} is not in cameo.onnxruntime: {ABSENT[owner][name]} (docs/python.md)")
    return AttributeError(f"cameo's {owner} has no attribute {name!r}")
