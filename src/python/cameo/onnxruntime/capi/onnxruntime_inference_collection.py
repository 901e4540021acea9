"""The classes of sessions and values, which onnxruntime also has in this module."""

from .._compiling import ModelCompiler
from .._devices import OrtDevice
from .._enums import OrtDeviceVendorId
from .._inner import check_and_normalize_provider_args
from .._names import ModelMetadata, NodeArg, RunOptions, SessionOptions
from .._session import InferenceSession, IOBinding, Session
from .._values import OrtValue, SparseTensor, copy_tensors

__all__ = [
    "IOBinding",
    "InferenceSession",
    "ModelCompiler",
    "ModelMetadata",
    "NodeArg",
    "OrtDevice",
    "OrtDeviceVendorId",
    "OrtValue",
    "RunOptions",
    "Session",
    "SessionOptions",
    "SparseTensor",
    "check_and_normalize_provider_args",
    "copy_tensors",
]
