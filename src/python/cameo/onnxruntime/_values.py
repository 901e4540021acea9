"""OrtValue, vectors of them, and sparse tensors, implemented with numpy's arrays and cameo.Value."""

from __future__ import annotations

import ctypes
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy

from .. import _core
from .. import _session as _own
from ..errors import InvalidArgument
from ._devices import OrtDevice, OrtMemoryInfo, check_device, check_memory
from ._enums import OrtSparseFormat

# The names of ONNX's TensorProto.DataType in cameo.Value, in the order of their numbers; then those of numpy and
# ml_dtypes that differ.
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
    """numpy's type for a number of ONNX's DataType, a name of cameo's, or anything that numpy.dtype() takes."""
    if isinstance(element_type, int) and not 0 < element_type < len(_NAMES):
        raise InvalidArgument(f"{element_type} is not an element type; ONNX's numbers are 1 to {len(_NAMES) - 1}")
    name = _NAMES[element_type] if isinstance(element_type, int) else element_type
    if isinstance(name, str) and name in _ML:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, _ML[name]))
    return numpy.dtype(_NUMPY.get(name, name) if isinstance(name, str) else name)


def of_address(address: int, element_type: Any, shape: Sequence[int]) -> numpy.ndarray[Any, Any]:
    """An array that refers to memory at an address, which the caller keeps alive."""
    dtype = numpy_type(element_type)
    if dtype.kind in "OUSTV" and not dtype.isbuiltin == 2:
        raise InvalidArgument("Only binding non-string Tensors is currently supported: strings are not contiguous in memory")
    if _core.Value(numpy.zeros(0, dtype)).dtype in _PACKED:
        raise InvalidArgument(f"elements of {dtype} are packed in memory; bind an array or an OrtValue of them")
    count = math.prod(shape)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(memory, dtype, count).reshape(tuple(shape))


class OrtValue:
    """A value: a tensor in host memory, a sequence, a map, a sparse tensor, or nothing. onnxruntime has two classes of
    this name, one in its compiled part and one that wraps it; this class has the methods of both."""

    # The contents: numpy.ndarray, list, dict, SparseTensor, None, or cameo.Value for types that numpy lacks.
    _held: Any

    def __init__(self, ortvalue: OrtValue, numpy_obj: Any = None, session: Any = None) -> None:
        if not isinstance(ortvalue, OrtValue):
            raise InvalidArgument("OrtValue() takes another OrtValue; use OrtValue.ortvalue_from_numpy for an array")
        self._held = ortvalue._held

    @classmethod
    def _of(cls, held: Any) -> OrtValue:
        made = cls.__new__(cls)
        made._held = held
        return made

    @property
    def _ortvalue(self) -> OrtValue:
        """The value of onnxruntime's compiled part: this object itself."""
        return self

    def _get_c_value(self) -> OrtValue:
        return self

    @staticmethod
    def ortvalue_from_numpy(array: Any, device_type: Any = "cpu", device_id: int = 0) -> OrtValue:
        """Refers to the array's elements, and keeps it alive. `device_type` is a name, or an OrtDevice."""
        check_device(device_type)
        return OrtValue._of(numpy.ascontiguousarray(array).reshape(numpy.shape(array)))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: Any, onnx_element_type: int) -> OrtValue:
        """The array's bytes as elements of another type of the same size."""
        return OrtValue._of(numpy.ascontiguousarray(data).view(numpy_type(onnx_element_type)))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int],
        element_type: Any,
        device_type: Any = "cpu",
        device_id: int = 0,
        vendor_id: int = -1,
        memory_info: OrtMemoryInfo | None = None,
    ) -> OrtValue:
        """A tensor in new memory, with all elements zero. With `memory_info`, the device's name and numbers are
        ignored."""
        if memory_info is None:
            check_device(device_type)
        else:
            if (device_type, device_id, vendor_id) != ("cpu", 0, -1):
                warnings.warn("device_type, device_id, and vendor_id are ignored when memory_info is provided.", stacklevel=2)
            check_memory(memory_info)
        return OrtValue._of(numpy.zeros(tuple(shape), numpy_type(element_type)))

    ortvalue_from_shape_and_onnx_type = ortvalue_from_shape_and_type

    @staticmethod
    def ort_value_from_sparse_tensor(sparse_tensor: SparseTensor) -> OrtValue:
        return OrtValue._of(sparse_tensor)

    @staticmethod
    def from_dlpack(data: Any, is_bool_tensor: bool = False) -> OrtValue:
        """A tensor of another framework, without a copy: an object with __dlpack__, or the capsule that it returns,
        which is consumed."""
        if not hasattr(data, "__dlpack__") and type(data).__name__ != "PyCapsule":
            raise TypeError(f"from_dlpack takes an object with __dlpack__, or a DLPack capsule; this is {type(data).__name__}")
        array = _core.from_dlpack(data).numpy()
        return OrtValue._of(array.view(bool) if is_bool_tensor else array)

    def numpy(self) -> numpy.ndarray[Any, Any]:
        """The tensor as an array, without a copy."""
        if not self.is_tensor():
            raise InvalidArgument(f"an OrtValue that is {self.data_type()} has no numpy array")
        return self._held

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """The tensor as an array, without a copy unless another element type or a copy is requested."""
        array = numpy.asarray(self.numpy())
        if dtype is not None and numpy.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"an array of {numpy.dtype(dtype)} needs a copy: the elements are {array.dtype}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def shape(self) -> list[int]:
        if isinstance(self._held, SparseTensor):
            return self._held.dense_shape()
        if not self.is_tensor():
            raise InvalidArgument(f"an OrtValue that is {self.data_type()} has no shape")
        return list(self._held.shape)

    def data_type(self) -> str:
        """The type, such as 'tensor(float)' or 'seq(tensor(float))'."""
        if self.is_tensor():
            return f"tensor({self._value().dtype})"
        if isinstance(self._held, SparseTensor):
            return self._held.data_type()
        if isinstance(self._held, list):
            return f"seq({OrtValue._of(self._held[0]).data_type()})" if self._held else "seq(tensor(float))"
        if isinstance(self._held, dict):
            key = "string" if all(isinstance(each, str) for each in self._held) else "int64"
            return f"map({key},tensor(float))"
        return "none"

    def element_type(self) -> int:
        """The number of ONNX's DataType for the elements of a tensor or of a sequence's tensors."""
        if isinstance(self._held, list):
            return OrtValue._of(self._held[0]).element_type() if self._held else _NAMES.index("float")
        if isinstance(self._held, SparseTensor):
            return _NAMES.index(_core.Value(self._held.values()).dtype)
        return _NAMES.index(self._value().dtype)

    def _value(self) -> _core.Value:
        return self._held if isinstance(self._held, _core.Value) else _core.Value(self._held)

    def data_ptr(self) -> int:
        """The address of the first element. InvalidArgument for elements of less than a byte, which numpy does not
        pack."""
        if isinstance(self._held, numpy.ndarray) and self._held.dtype.kind == "O":
            return self._held.ctypes.data
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
        return isinstance(self._held, list) and all(isinstance(each, (numpy.ndarray, _core.Value)) for each in self._held)

    def as_sparse_tensor(self) -> SparseTensor:
        if not isinstance(self._held, SparseTensor):
            raise InvalidArgument(f"an OrtValue that is {self.data_type()} is not a sparse tensor")
        return self._held

    def update_inplace(self, data: Any) -> None:
        """Overwrites the elements by those of an array or another OrtValue of the same type and shape."""
        if not isinstance(data, (numpy.ndarray, OrtValue)):
            raise TypeError("data must be a numpy.ndarray or an OrtValue.")
        given = data.numpy() if isinstance(data, OrtValue) else data
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


class OrtValueVector:
    """A list of values, to which values can be appended."""

    def __init__(self) -> None:
        self._all: list[OrtValue] = []

    @classmethod
    def _of(cls, values: Sequence[OrtValue]) -> OrtValueVector:
        made = cls()
        made._all = list(values)
        return made

    def push_back(self, value: Any, is_bool_tensor: bool = False) -> None:
        """Appends an OrtValue, or a tensor that from_dlpack() takes."""
        self._all.append(value if isinstance(value, OrtValue) else OrtValue.from_dlpack(value, is_bool_tensor))

    def push_back_batch(
        self,
        torch_tensors: Sequence[Any],
        data_ptrs: Sequence[int],
        element_types: Sequence[Any],
        shapes: Sequence[Sequence[int]],
        devices: Sequence[OrtDevice],
    ) -> None:
        """Appends tensors by their addresses; the caller keeps their memory alive."""
        for address, element_type, shape, device in zip(data_ptrs, element_types, shapes, devices, strict=True):
            check_device(device)
            self._all.append(OrtValue._of(of_address(address, element_type, shape)))

    def reserve(self, count: int) -> None:
        """Without effect: a list grows by itself."""

    def shrink_to_fit(self) -> None:
        """Without effect."""

    def element_type_at(self, idx: int) -> int:
        return self._all[idx].element_type()

    def bool_tensor_indices(self) -> list[int]:
        return [i for i, each in enumerate(self._all) if each.data_type() == "tensor(bool)"]

    def dlpack_at(self, idx: int) -> Any:
        return self._all[idx].to_dlpack()

    def to_dlpacks(self, to_tensor: Callable[[Any], Any] | None = None) -> list[Any]:
        """The tensors as DLPack capsules, or the results of a function that is called with each capsule."""
        capsules = [each.to_dlpack() for each in self._all]
        return capsules if to_tensor is None else [to_tensor(each) for each in capsules]

    def __getitem__(self, idx: int) -> OrtValue:
        return self._all[idx]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[OrtValue]:
        return iter(self._all)


def _read_only(array: Any) -> numpy.ndarray[Any, Any]:
    shown = numpy.asarray(array).view()
    shown.flags.writeable = False
    return shown


class SparseCooView:
    """The indices of a sparse tensor in COO format: flat [count], or one for each axis [count, rank]."""

    def __init__(self, indices: Any) -> None:
        self._indices = indices

    def indices(self) -> numpy.ndarray[Any, Any]:
        return _read_only(self._indices)


class SparseCsrView:
    """The indices of a sparse matrix in CSR format: the column of each element (inner), and the position of each row's
    first element (outer)."""

    def __init__(self, inner: Any, outer: Any) -> None:
        self._inner, self._outer = inner, outer

    def inner(self) -> numpy.ndarray[Any, Any]:
        return _read_only(self._inner)

    def outer(self) -> numpy.ndarray[Any, Any]:
        return _read_only(self._outer)


class SparseBlockSparseView:
    """The indices of a block sparse tensor's blocks."""

    def __init__(self, indices: Any) -> None:
        self._indices = indices

    def indices(self) -> numpy.ndarray[Any, Any]:
        return _read_only(self._indices)


class SparseTensor:
    """A sparse tensor: its nonzero elements, and their indices in COO, CSR or block format. Runs take COO and CSR."""

    def __init__(self, sparse_tensor: SparseTensor) -> None:
        if not isinstance(sparse_tensor, SparseTensor):
            raise InvalidArgument("SparseTensor() takes another SparseTensor; use sparse_coo_from_numpy for arrays")
        self._shape, self._values = sparse_tensor._shape, sparse_tensor._values
        self._format, self._places = sparse_tensor._format, sparse_tensor._places

    @classmethod
    def _of(cls, shape: Sequence[int], values: Any, how: OrtSparseFormat, places: tuple[Any, ...]) -> SparseTensor:
        made = cls.__new__(cls)
        made._shape = [int(dim) for dim in shape]
        made._values = numpy.asarray(values)
        made._format, made._places = how, tuple(numpy.asarray(each) for each in places)
        return made

    @classmethod
    def _of_cameo(cls, given: _own.SparseTensor) -> SparseTensor:
        return cls._of(given.shape, given.values, OrtSparseFormat.ORT_SPARSE_COO, (given.indices,))

    def _as_cameo(self) -> _own.SparseTensor:
        """The tensor as cameo's runs take it."""
        if self._format == OrtSparseFormat.ORT_SPARSE_COO:
            return _own.SparseTensor(self._values, self._places[0], tuple(self._shape))
        if self._format != OrtSparseFormat.ORT_SPARSE_CSRC:
            raise InvalidArgument(f"runs do not take sparse tensors in the format {self._format}")
        inner, outer = self._places
        rows = numpy.repeat(numpy.arange(len(outer) - 1, dtype=numpy.int64), numpy.diff(outer))
        return _own.SparseTensor(self._values, rows * self._shape[1] + inner, tuple(self._shape))

    def _get_c_tensor(self) -> SparseTensor:
        return self

    @staticmethod
    def sparse_coo_from_numpy(
        dense_shape: Sequence[int], values: Any, coo_indices: Any, ort_device: OrtDevice
    ) -> SparseTensor:
        """A sparse tensor of elements and their indices: flat ([count]), or by axis ([count, rank])."""
        check_device(ort_device)
        count, places = numpy.size(values), numpy.shape(coo_indices)
        if places not in ((count,), (count, len(dense_shape))):
            raise InvalidArgument(
                f"{count} elements of rank {len(dense_shape)} have indices of shape [{count}] or [{count}, "
                f"{len(dense_shape)}]; these have {list(places)}"
            )
        return SparseTensor._of(dense_shape, values, OrtSparseFormat.ORT_SPARSE_COO, (coo_indices,))

    @staticmethod
    def sparse_csr_from_numpy(
        dense_shape: Sequence[int], values: Any, inner_indices: Any, outer_indices: Any, ort_device: OrtDevice
    ) -> SparseTensor:
        """A sparse matrix of elements row by row, the column of each, and the position of each row's first element."""
        check_device(ort_device)
        if len(dense_shape) != 2 or len(inner_indices) != numpy.size(values) or len(outer_indices) != dense_shape[0] + 1:
            raise InvalidArgument(
                f"a matrix has a column for each of its elements, and one place more than rows; {list(dense_shape)} with "
                f"{numpy.size(values)} elements has {len(inner_indices)} columns and {len(outer_indices)} places"
            )
        return SparseTensor._of(dense_shape, values, OrtSparseFormat.ORT_SPARSE_CSRC, (inner_indices, outer_indices))

    @staticmethod
    def blocksparse_from_numpy(
        dense_shape: Sequence[int], values: Any, block_indices: Any, ort_device: OrtDevice
    ) -> SparseTensor:
        """A sparse tensor of blocks and their indices. Runs do not take such tensors."""
        check_device(ort_device)
        return SparseTensor._of(dense_shape, values, OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE, (block_indices,))

    def values(self) -> numpy.ndarray[Any, Any]:
        """The elements, as a read-only array."""
        return _read_only(self._values)

    def format(self) -> OrtSparseFormat:
        return self._format

    def dense_shape(self) -> list[int]:
        return list(self._shape)

    def data_type(self) -> str:
        return f"sparse_tensor({_core.Value(self._values).dtype})"

    def device_name(self) -> str:
        return "cpu"

    def _require(self, how: OrtSparseFormat) -> None:
        if self._format != how:
            raise InvalidArgument(f"the sparse tensor has the format {self._format}, and no view as {how}")

    def as_coo_view(self) -> SparseCooView:
        self._require(OrtSparseFormat.ORT_SPARSE_COO)
        return SparseCooView(*self._places)

    get_coo_data = as_coo_view

    def as_csrc_view(self) -> SparseCsrView:
        self._require(OrtSparseFormat.ORT_SPARSE_CSRC)
        return SparseCsrView(*self._places)

    get_csrc_data = as_csrc_view

    def as_blocksparse_view(self) -> SparseBlockSparseView:
        self._require(OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE)
        return SparseBlockSparseView(*self._places)

    get_blocksparse_data = as_blocksparse_view

    def to_cuda(self, ort_device: OrtDevice) -> NoReturn:
        """Raises InvalidArgument: values are in host memory."""
        raise InvalidArgument("values of cameo.onnxruntime are in host memory, 'cpu'")


def as_cameo(value: Any) -> Any:
    """A value as cameo's runs take it, for an OrtValue, a SparseTensor or any other object."""
    held = value._held if isinstance(value, OrtValue) else value
    return held._as_cameo() if isinstance(held, SparseTensor) else held


def from_cameo(value: Any) -> Any:
    """A value as onnxruntime's runs return it, for one that cameo's run returned."""
    return SparseTensor._of_cameo(value) if isinstance(value, _own.SparseTensor) else value


def is_dlpack_uint8_tensor(capsule: Any) -> bool:
    """True if a DLPack capsule has a tensor of uint8. onnxruntime also exports bool tensors as uint8."""
    return _core.dlpack_is_uint8(capsule)


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Any = None) -> None:
    """Copies the elements of each value in `src` to the value of the same type and shape in `dst`."""
    if stream is not None:
        raise InvalidArgument("copy_tensors takes no stream: values are in host memory")
    for one, other in zip(src, dst, strict=True):
        other.update_inplace(one.numpy())
