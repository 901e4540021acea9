"""OrtValue and OrtDevice over cameo.Value."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy

from .. import _core
from .._session import SparseTensor
from ..errors import InvalidArgument

# ONNX's TensorProto.DataType: the names that cameo.Value has, and numpy's or ml_dtypes' where they differ
_NAMES = (
    "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 "
    "bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2 "
    "float6e2m3 float6e3m2"
).split()
_NUMPY = {"float": "float32", "double": "float64", "string": "object"}
_ML = {
    **{name: name for name in ("bfloat16", "uint4", "int4", "uint2", "int2")},
    **{f"float8{kind}": f"float8_{kind}" for kind in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")},
    "float4e2m1": "float4_e2m1fn", "float8e8m0": "float8_e8m0fnu", "float6e2m3": "float6_e2m3fn", "float6e3m2": "float6_e3m2fn",
}  # fmt: skip
_PACKED = {"uint4", "int4", "uint2", "int2", "float4e2m1"}


def numpy_type(element_type: Any) -> numpy.dtype[Any]:
    """numpy's type for a number of ONNX's, a name of cameo's, or what numpy itself takes."""
    if isinstance(element_type, int) and not 0 < element_type < len(_NAMES):
        raise InvalidArgument(f"{element_type} is not an element type; ONNX's numbers are 1 to {len(_NAMES) - 1}")
    name = _NAMES[element_type] if isinstance(element_type, int) else element_type
    if isinstance(name, str) and name in _ML:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, _ML[name]))
    return numpy.dtype(_NUMPY.get(name, name) if isinstance(name, str) else name)


def of_address(address: int, element_type: Any, shape: Sequence[int]) -> numpy.ndarray[Any, Any]:
    """An array over memory that the caller keeps."""
    dtype = numpy_type(element_type)
    if _core.Value(numpy.zeros(0, dtype)).dtype in _PACKED:
        raise InvalidArgument(f"elements of {dtype} are packed in memory; bind an array or an OrtValue of them")
    count = math.prod(shape)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(memory, dtype, count).reshape(tuple(shape))


class OrtDevice:
    """A place of memory; there is the host's. Numbers are onnxruntime's."""

    def __init__(self, device_type: int = 0, mem_type: int = 0, vendor_id: int = 0, device_id: int = 0) -> None:
        self._numbers = device_type, mem_type, vendor_id, device_id

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> OrtDevice:
        check_device(ort_device_name)
        return OrtDevice(0, 0, max(vendor_id, 0), device_id)

    @staticmethod
    def cpu() -> int:
        return 0

    def device_type(self) -> int:
        return self._numbers[0]

    def device_mem_type(self) -> int:
        return self._numbers[1]

    def device_vendor_id(self) -> int:
        return self._numbers[2]

    def device_id(self) -> int:
        return self._numbers[3]


def check_device(device_type: str) -> None:
    if device_type.lower() not in ("cpu", "cpu_pinned"):
        raise InvalidArgument(f"device {device_type!r}: values of cameo.onnxruntime lie in host memory, 'cpu'")


class OrtValue:
    """A value of onnxruntime's: a tensor in host memory, a sequence, a map, a sparse tensor, or nothing."""

    def __init__(self, held: Any) -> None:
        self._held = held  # numpy.ndarray, list, dict, SparseTensor, None, or cameo.Value for other types

    @staticmethod
    def ortvalue_from_numpy(array: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """Refers to the array's elements, and keeps it."""
        check_device(device_type)
        return OrtValue(numpy.ascontiguousarray(array).reshape(numpy.shape(array)))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: Any, onnx_element_type: int) -> OrtValue:
        """The array's bytes as elements of another type of the same size."""
        return OrtValue(numpy.ascontiguousarray(data).view(numpy_type(onnx_element_type)))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """New memory; its elements are zero."""
        check_device(device_type)
        return OrtValue(numpy.zeros(tuple(shape), numpy_type(element_type)))

    @staticmethod
    def ort_value_from_sparse_tensor(sparse_tensor: SparseTensor) -> OrtValue:
        return OrtValue(sparse_tensor)

    @staticmethod
    def from_dlpack(tensor: Any, is_bool_tensor: bool = False) -> OrtValue:
        """A tensor of another framework, without a copy."""
        array = _core.Value(tensor).numpy()
        return OrtValue(array.view(bool) if is_bool_tensor else array)

    def numpy(self) -> numpy.ndarray[Any, Any]:
        """The tensor as an array, without a copy."""
        if not self.is_tensor():
            raise InvalidArgument(f"an OrtValue that is {self.data_type()} has no numpy array")
        return self._held

    def shape(self) -> list[int]:
        return list(self._held.shape)

    def data_type(self) -> str:
        """'tensor(float)', 'seq(tensor(float))'."""
        if isinstance(self._held, (numpy.ndarray, _core.Value)):
            return f"tensor({self._value().dtype})"
        if isinstance(self._held, SparseTensor):
            return f"sparse_tensor({_core.Value(self._held.values).dtype})"
        if isinstance(self._held, list):
            return f"seq({OrtValue(self._held[0]).data_type()})" if self._held else "seq(tensor(float))"
        if isinstance(self._held, dict):
            key = "string" if all(isinstance(each, str) for each in self._held) else "int64"
            return f"map({key},tensor(float))"
        return "none"

    def element_type(self) -> int:
        """ONNX's number of the element type."""
        return _NAMES.index(self._value().dtype)

    def _value(self) -> _core.Value:
        return self._held if isinstance(self._held, _core.Value) else _core.Value(self._held)

    def data_ptr(self) -> int:
        """Where the elements begin. InvalidArgument for those of less than a byte, which numpy does not pack."""
        if self._value().dtype in _PACKED and not isinstance(self._held, _core.Value):
            raise InvalidArgument(f"elements of {self.data_type()} have no address")
        return self._value().address

    def tensor_size_in_bytes(self) -> int:
        return self._value().nbytes

    def device_name(self) -> str:
        return "cpu"

    def has_value(self) -> bool:
        return self._held is not None

    def is_tensor(self) -> bool:
        return isinstance(self._held, (numpy.ndarray, _core.Value))

    def is_sparse_tensor(self) -> bool:
        return isinstance(self._held, SparseTensor)

    def is_tensor_sequence(self) -> bool:
        return isinstance(self._held, list)

    def as_sparse_tensor(self) -> SparseTensor:
        return self._held

    def update_inplace(self, data: Any) -> None:
        """Writes other elements, of the same type and shape."""
        given = numpy.asarray(data)
        if given.shape != self._held.shape or given.dtype != self._held.dtype:
            raise InvalidArgument(
                f"update_inplace of {self._held.dtype}{list(self._held.shape)} with {given.dtype}{list(given.shape)}"
            )
        numpy.copyto(self._held, given)

    def to_dlpack(self) -> Any:
        return self._value().__dlpack__()

    def __dlpack__(self, **how: Any) -> Any:
        return self._value().__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Any = None) -> None:
    """Copies elements between values of the same types and shapes."""
    if stream is not None:
        raise InvalidArgument("copy_tensors takes no stream: values lie in host memory")
    for one, other in zip(src, dst, strict=True):
        other.update_inplace(one.numpy())
