"""An interface to cameo with the names of onnxruntime's Python package.

    import cameo.onnxruntime as ort
    session = ort.InferenceSession("model.onnx", providers=ort.get_available_providers())

After cameo.onnxruntime.install(), `import onnxruntime` imports this module, so that packages that use onnxruntime run
on cameo. docs/python.md lists what is missing. Needs numpy.
"""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import sys
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..errors import (
    EngineError,
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoaded,
    NoModel,
    NoSuchFile,
    NotImplemented,  # noqa: A004
    RuntimeException,
)
from . import capi
from ._absent import no_attribute
from ._compiling import ModelCompiler, OrtExternalInitializerInfo
from ._devices import (
    OrtArenaCfg,
    OrtDevice,
    OrtEpDevice,
    OrtHardwareDevice,
    OrtMemoryInfo,
    create_and_register_allocator,
    create_and_register_allocator_v2,
    get_ep_devices,
)
from ._enums import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    OrtAllocatorType,
    OrtCompileApiFlags,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtExecutionProviderDevicePolicy,
    OrtHardwareDeviceType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    OrtSparseFormat,
)
from ._inner import OrtEpAssignedNode, OrtEpAssignedSubgraph, SessionIOBinding
from ._names import (
    API_VERSION as __version__,
)
from ._names import (
    ModelMetadata,
    NodeArg,
    RunOptions,
    SessionOptions,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_version_string,
    has_collective_ops,
    preload_dlls,
    print_debug_info,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
)
from ._session import InferenceSession, IOBinding
from ._values import OrtValue, SparseTensor, copy_tensors


class _Distribution(importlib.metadata.Distribution):
    """The metadata of onnxruntime for importlib.metadata, if the real package is not installed."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: onnxruntime\nVersion: {__version__}\nSummary: cameo with onnxruntime's names\n"

    def locate_file(self, path: Any) -> Any:
        return importlib.metadata.distribution("cameo").locate_file(path)


class _Distributions(importlib.metadata.DistributionFinder):
    """Finds _Distribution. It is the last finder, so that installed packages are found first."""

    def find_spec(self, *_: Any) -> None:
        """Finds no modules."""

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context = importlib.metadata.DistributionFinder.Context()  # noqa: B008
    ) -> Iterable[importlib.metadata.Distribution]:
        if context.name not in (None, "onnxruntime"):
            return []
        wanted = importlib.metadata.DistributionFinder.Context(name="onnxruntime", path=context.path)
        is_installed = any(importlib.metadata.MetadataPathFinder.find_distributions(wanted))
        return [] if is_installed else [_Distribution()]


def install() -> types.ModuleType:
    """Makes `import onnxruntime` import this module, for the rest of the process. If the real onnxruntime is installed,
    its packages in pure Python (quantization, tools, transformers) remain importable. Raises RuntimeError if the real
    one was imported before."""
    before = sys.modules.get("onnxruntime")
    if before is not None and getattr(before, "InferenceSession", None) is not InferenceSession:
        raise RuntimeError("the real onnxruntime is loaded already; call cameo.onnxruntime.install() before it is imported")
    if before is not None:
        return before
    real = importlib.machinery.PathFinder.find_spec("onnxruntime")
    module = types.ModuleType("onnxruntime", __doc__)
    module.__dict__.update({name: each for name, each in globals().items() if not name.startswith("__")})
    module.__getattr__ = _no_name  # type: ignore[method-assign]
    module.__version__ = __version__  # type: ignore[attr-defined]
    module.__file__ = __file__
    module.__path__ = [*__path__, *(real.submodule_search_locations or () if real else ())]
    module.__spec__ = importlib.machinery.ModuleSpec("onnxruntime", None, origin=__file__, is_package=True)
    module.__spec__.submodule_search_locations = module.__path__
    sys.modules["onnxruntime"] = module
    for name in ("capi", *(f"capi.{each}" for each in capi.__all__)):
        sys.modules[f"onnxruntime.{name}"] = sys.modules[f"{__name__}.{name}"]
    sys.meta_path.append(_Distributions())
    return module


def _no_name(name: str) -> Any:
    raise no_attribute("onnxruntime", name)


if not TYPE_CHECKING:  # with __getattr__, a type checker would accept any name
    __getattr__ = _no_name

__all__ = [
    "EPFail",
    "EngineError",
    "ExecutionMode",
    "ExecutionOrder",
    "Fail",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "ModelCompiler",
    "ModelLoaded",
    "ModelMetadata",
    "NoModel",
    "NoSuchFile",
    "NodeArg",
    "NotImplemented",
    "OrtAllocatorType",
    "OrtArenaCfg",
    "OrtCompileApiFlags",
    "OrtDevice",
    "OrtDeviceMemoryType",
    "OrtDeviceVendorId",
    "OrtEpAssignedNode",
    "OrtEpAssignedSubgraph",
    "OrtEpDevice",
    "OrtExecutionProviderDevicePolicy",
    "OrtExternalInitializerInfo",
    "OrtHardwareDevice",
    "OrtHardwareDeviceType",
    "OrtMemType",
    "OrtMemoryInfo",
    "OrtMemoryInfoDeviceType",
    "OrtSparseFormat",
    "OrtValue",
    "RunOptions",
    "RuntimeException",
    "SessionIOBinding",
    "SessionOptions",
    "SparseTensor",
    "__version__",
    "capi",
    "copy_tensors",
    "create_and_register_allocator",
    "create_and_register_allocator_v2",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_ep_devices",
    "get_version_string",
    "has_collective_ops",
    "install",
    "preload_dlls",
    "print_debug_info",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_global_thread_pool_sizes",
    "set_seed",
]
