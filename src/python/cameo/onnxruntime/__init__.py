"""onnxruntime's Python names, over cameo.

    import cameo.onnxruntime as ort
    session = ort.InferenceSession("model.onnx", providers=ort.get_available_providers())

cameo.onnxruntime.install() makes `import onnxruntime` mean this, so that packages that were written for it run on cameo.
docs/python.md lists what there is not. Needs numpy.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
from typing import Any

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
from ._names import (
    API_VERSION as __version__,
)
from ._names import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    ModelMetadata,
    NodeArg,
    OrtAllocatorType,
    OrtExecutionProviderDevicePolicy,
    OrtMemType,
    RunOptions,
    SessionOptions,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_version_string,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_seed,
)
from ._session import InferenceSession, IOBinding
from ._values import OrtDevice, OrtValue, SparseTensor, copy_tensors

SessionIOBinding = IOBinding


def install() -> types.ModuleType:
    """Makes `import onnxruntime` mean this module, for the rest of the process. Where the real onnxruntime is installed, its
    packages in plain Python (quantization, tools, transformers) stay importable. Call it before what imports onnxruntime:
    RuntimeError once the real one is loaded."""
    before = sys.modules.get("onnxruntime")
    if before is not None and getattr(before, "InferenceSession", None) is not InferenceSession:
        raise RuntimeError("the real onnxruntime is loaded already; call cameo.onnxruntime.install() before it is imported")
    if before is not None:
        return before
    real = importlib.machinery.PathFinder.find_spec("onnxruntime")
    module = types.ModuleType("onnxruntime", __doc__)
    module.__dict__.update({name: each for name, each in globals().items() if not name.startswith("__")})
    module.__getattr__ = __getattr__  # type: ignore[method-assign]
    module.__version__ = __version__  # type: ignore[attr-defined]
    module.__path__ = [*__path__, *(real.submodule_search_locations or () if real else ())]
    module.__spec__ = importlib.machinery.ModuleSpec("onnxruntime", None, is_package=True)
    module.__spec__.submodule_search_locations = module.__path__
    sys.modules["onnxruntime"] = module
    for name in ("capi", *(f"capi.{each}" for each in capi.__all__)):
        sys.modules[f"onnxruntime.{name}"] = sys.modules[f"{__name__}.{name}"]
    return module


def __getattr__(name: str) -> Any:
    raise no_attribute("onnxruntime", name)


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
    "ModelLoaded",
    "ModelMetadata",
    "NoModel",
    "NoSuchFile",
    "NodeArg",
    "NotImplemented",
    "OrtAllocatorType",
    "OrtDevice",
    "OrtExecutionProviderDevicePolicy",
    "OrtMemType",
    "OrtValue",
    "RunOptions",
    "RuntimeException",
    "SessionIOBinding",
    "SessionOptions",
    "SparseTensor",
    "__version__",
    "capi",
    "copy_tensors",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_version_string",
    "install",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_seed",
]
