"""onnxruntime's descriptions of devices and of their memory. Values of cameo.onnxruntime are in host memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from ..errors import InvalidArgument, NoSuchFile
from ._absent import no_attribute
from ._enums import (
    OrtAllocatorType,
    OrtCompiledModelCompatibility,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtHardwareDeviceType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
)

# onnxruntime's numbers of kinds of devices, and the vendors that names of kinds imply.
_DEVICE_NUMBERS = {"cpu": 0, "cuda": 1, "cann": 3, "dml": 4, "webgpu": 1, "gpu": 1, "npu": 3, "fpga": 2}
_VENDORS = {
    "cuda": OrtDeviceVendorId.NVIDIA,
    "cann": OrtDeviceVendorId.HUAWEI,
    "dml": OrtDeviceVendorId.MICROSOFT,
    "webgpu": OrtDeviceVendorId.NONE,
}


class OrtDevice:
    """A device with memory. Values of cameo.onnxruntime can only be in that of the host. The numbers are onnxruntime's:
    the kind of device, the kind of memory, then either the vendor and the device's number, or only the device's
    number."""

    def __init__(self, device: int | OrtDevice, mem_type: int = 0, *vendor_and_id: int) -> None:
        if isinstance(device, OrtDevice):
            self._numbers: tuple[int, int, int, int] = device._numbers
        elif len(vendor_and_id) > 2:
            raise TypeError("an OrtDevice has four numbers at most")
        else:
            vendor, number = vendor_and_id if len(vendor_and_id) == 2 else (0, *(vendor_and_id or (0,)))
            kind = _DEVICE_NUMBERS["gpu"] if device == _DEVICE_NUMBERS["dml"] else int(device)  # as onnxruntime counts them
            self._numbers = kind, int(mem_type), int(vendor), int(number)

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> OrtDevice:
        if ort_device_name not in _DEVICE_NUMBERS or ort_device_name == "fpga":
            raise InvalidArgument(f"Unsupported device type: {ort_device_name}")
        vendor = int(vendor_id) if vendor_id >= 0 else int(_VENDORS.get(ort_device_name, OrtDeviceVendorId.NONE))
        return OrtDevice(_DEVICE_NUMBERS[ort_device_name], 0, vendor, device_id)

    @staticmethod
    def cpu() -> int:
        return _DEVICE_NUMBERS["cpu"]

    @staticmethod
    def cuda() -> int:
        return _DEVICE_NUMBERS["cuda"]

    @staticmethod
    def cann() -> int:
        return _DEVICE_NUMBERS["cann"]

    @staticmethod
    def dml() -> int:
        return _DEVICE_NUMBERS["dml"]

    @staticmethod
    def fpga() -> int:
        return _DEVICE_NUMBERS["fpga"]

    @staticmethod
    def gpu() -> int:
        return _DEVICE_NUMBERS["gpu"]

    @staticmethod
    def npu() -> int:
        return _DEVICE_NUMBERS["npu"]

    @staticmethod
    def webgpu() -> int:
        return _DEVICE_NUMBERS["webgpu"]

    @staticmethod
    def default_memory() -> int:
        return 0

    def device_type(self) -> int:
        return self._numbers[0]

    def device_mem_type(self) -> int:
        return self._numbers[1]

    mem_type = device_mem_type

    def device_vendor_id(self) -> int:
        return self._numbers[2]

    vendor_id = device_vendor_id

    def device_id(self) -> int:
        return self._numbers[3]

    def _get_c_device(self) -> OrtDevice:
        return self


def check_device(device: Any) -> None:
    """Raises InvalidArgument for a device, or the name of one, other than the host."""
    if isinstance(device, OrtDevice):
        is_host = device.device_type() == OrtDevice.cpu()
    else:
        is_host = str(device).lower() in ("cpu", "cpu_pinned")
    if not is_host:
        name = f"number {device.device_type()}" if isinstance(device, OrtDevice) else repr(device)
        raise InvalidArgument(f"device {name}: values of cameo.onnxruntime are in host memory, 'cpu'")


class OrtMemoryInfo:
    """A description of memory."""

    def __init__(self, name: str, allocator_type: OrtAllocatorType, device_id: int, mem_type: OrtMemType) -> None:
        self.name = name
        self.allocator_type = allocator_type
        self.device_id = device_id
        self.mem_type = mem_type
        self.device_mem_type = OrtDeviceMemoryType.DEFAULT
        self.device_vendor_id = 0
        self._is_host = name == "Cpu"

    @staticmethod
    def create_v2(
        name: str,
        device_type: OrtMemoryInfoDeviceType,
        vendor_id: int,
        device_id: int,
        device_mem_type: OrtDeviceMemoryType,
        alignment: int,
        allocator_type: OrtAllocatorType,
    ) -> OrtMemoryInfo:
        made = OrtMemoryInfo(name, allocator_type, device_id, OrtMemType.DEFAULT)
        made.device_mem_type, made.device_vendor_id = device_mem_type, vendor_id
        made._is_host = device_type == OrtMemoryInfoDeviceType.CPU
        return made


def check_memory(info: OrtMemoryInfo) -> None:
    """Raises InvalidArgument, with onnxruntime's words, for memory other than the host's."""
    if not info._is_host:
        raise InvalidArgument(
            f"No shared allocator found for: OrtMemoryInfo '{info.name}', device {info.device_id} of vendor "
            f"{info.device_vendor_id}: values of cameo.onnxruntime are in host memory, 'Cpu'"
        )


class OrtArenaCfg:
    """Settings of onnxruntime's arena. They are stored, but have no effect: cameo plans memory itself."""

    _NAMES = (
        "max_mem", "arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk",
        "initial_growth_chunk_size_bytes", "max_power_of_two_extend_bytes",
    )  # fmt: skip

    def __init__(self, *settings: Any) -> None:
        given = settings[0] if len(settings) == 1 and isinstance(settings[0], Mapping) else None
        if given is None:
            if len(settings) != 4:
                raise TypeError(f"OrtArenaCfg takes a dictionary, or {', '.join(self._NAMES[:4])}")
            given = dict(zip(self._NAMES, settings, strict=False))
        for name in given:
            if name not in self._NAMES:
                raise InvalidArgument(f"Invalid OrtArenaCfg option: {name}; there are {', '.join(self._NAMES)}")
        self.max_mem = int(given.get("max_mem", 0))
        self.arena_extend_strategy = int(given.get("arena_extend_strategy", -1))
        self.initial_chunk_size_bytes = int(given.get("initial_chunk_size_bytes", -1))
        self.max_dead_bytes_per_chunk = int(given.get("max_dead_bytes_per_chunk", -1))
        self.initial_growth_chunk_size_bytes = int(given.get("initial_growth_chunk_size_bytes", -1))
        self.max_power_of_two_extend_bytes = int(given.get("max_power_of_two_extend_bytes", -1))


def create_and_register_allocator(mem_info: OrtMemoryInfo, arena_cfg: OrtArenaCfg | None = None) -> None:
    """Without effect: cameo plans memory itself."""


def create_and_register_allocator_v2(
    provider_type: str, mem_info: OrtMemoryInfo, options: Mapping[str, str], arena_cfg: OrtArenaCfg | None = None
) -> None:
    """Without effect: cameo plans memory itself."""


class OrtHardwareDevice:
    """A device of this machine."""

    def __init__(self, kind: str, vendor: str) -> None:
        self.type = OrtHardwareDeviceType[kind.upper()]
        self.vendor = vendor
        self.vendor_id = 0
        self.device_id = 0
        self.metadata: dict[str, str] = {}


class OrtEpDevice:
    """A device that a provider can use here."""

    def __init__(self, ep_name: str, kind: str, name: str, vendor: str) -> None:
        self.ep_name = ep_name
        self.ep_vendor = "cameo"
        self.ep_metadata = {"version": _core.__version__, "name": name}
        self.ep_options: dict[str, str] = {}
        self.device = OrtHardwareDevice(kind, vendor)

    def memory_info(self, memory_type: OrtDeviceMemoryType) -> None:
        """Returns None: values are in host memory, whatever device computes."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("OrtEpDevice", name)


def get_ep_devices() -> list[OrtEpDevice]:
    """The devices of the providers on this machine."""
    return [OrtEpDevice(long, kind, name, vendor) for _, long, kind, name, vendor in _core.devices()]


def get_hardware_devices() -> list[OrtHardwareDevice]:
    """The devices of this machine that a provider can use."""
    found: list[OrtHardwareDevice] = []
    for each in get_ep_devices():
        if not any((other.type, other.vendor) == (each.device.type, each.device.vendor) for other in found):
            found.append(each.device)
    return found


def get_hardware_device_ep_incompatibility_details(ep_name: str, device: OrtHardwareDevice) -> dict[str, Any]:
    """Why a provider can't use a device: a bit mask of OrtDeviceEpIncompatibilityReason, and a text."""
    of_provider = [each.device for each in get_ep_devices() if each.ep_name == ep_name]
    if not of_provider and ep_name not in (long for _, long in _core.providers()):
        raise InvalidArgument(f"this build has no provider {ep_name!r}")
    if any(each.type == device.type for each in of_provider):
        return {"reasons_bitmask": 0, "notes": None, "error_code": 0}
    return {"reasons_bitmask": 2, "notes": f"{ep_name} finds no {device.type.name} here that it can use", "error_code": 0}


def get_model_compatibility_for_ep_devices(devices: Sequence[OrtEpDevice], text: str) -> OrtCompiledModelCompatibility:
    """Whether a provider can run a compiled model with the compatibility string `text`."""
    if not isinstance(text, str):
        raise TypeError(f"a compatibility string is a text, and this is {type(text).__name__}")
    names = {each.ep_name for each in devices}
    if len(names) != 1:
        raise InvalidArgument("give devices, all of one provider")
    return OrtCompiledModelCompatibility(_core.fit(names.pop(), text))


def get_compatibility_info_from_model(model_path: str | os.PathLike[str], ep_type: str) -> str | None:
    """The compatibility string for a provider in a compiled model; None if there is none."""
    path = os.fspath(model_path)
    if not path or not ep_type:
        raise InvalidArgument("a path of a model and a name of a provider are needed")
    if not os.path.exists(path):
        raise NoSuchFile(f"{path}: no such file")
    return _core.compatibility(path, ep_type)


def get_compatibility_info_from_model_bytes(model_data: Any, ep_type: str) -> str | None:
    """get_compatibility_info_from_model() for a model in memory."""
    if not memoryview(model_data).nbytes or not ep_type:
        raise InvalidArgument("the bytes of a model and a name of a provider are needed")
    return _core.compatibility(model_data, ep_type)
