"""The classes of sessions and values, where onnxruntime has them a second time."""

from .._names import ModelMetadata, NodeArg, RunOptions, SessionOptions
from .._session import InferenceSession, IOBinding
from .._values import OrtDevice, OrtValue, SparseTensor, copy_tensors

__all__ = [
    "IOBinding",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "OrtDevice",
    "OrtValue",
    "RunOptions",
    "SessionOptions",
    "SparseTensor",
    "copy_tensors",
]
