"""onnxruntime's options, and its functions that do not need a session."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from ..errors import Fail, InvalidArgument
from ._absent import no_attribute
from ._devices import OrtEpDevice
from ._enums import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, OrtExecutionProviderDevicePolicy
from ._values import OrtValue

API_VERSION = "1.31.1"
"""The version of onnxruntime that this interface follows."""

_logger_severity = 2
_global_threads: int | None = None


class NodeArg(NamedTuple):
    """An input or an output of a model."""

    name: str
    type: str
    shape: list[int | str | None]


class ModelMetadata(NamedTuple):
    """The metadata of a model."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


class SessionOptions:
    """onnxruntime's session options, with its defaults. Those about memory have no effect: cameo plans memory
    itself."""

    __slots__ = (
        "graph_optimization_level", "intra_op_num_threads", "inter_op_num_threads", "execution_mode", "execution_order",
        "enable_profiling", "profile_file_prefix", "optimized_model_filepath", "enable_mem_pattern", "enable_mem_reuse",
        "enable_cpu_mem_arena", "logid", "log_severity_level", "log_verbosity_level", "use_deterministic_compute",
        "use_per_session_threads", "_config", "_free_dims", "_free_dims_by_denotation", "_providers", "_policy", "_stop",
        "_initializers", "_external_files",
    )  # fmt: skip

    def __init__(self) -> None:
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.enable_profiling = False
        self.profile_file_prefix = "onnxruntime_profile_"
        self.optimized_model_filepath = ""
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_cpu_mem_arena = True
        self.logid = ""
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.use_deterministic_compute = False
        self.use_per_session_threads = True
        self._config: dict[str, str] = {}
        self._free_dims: dict[str, int] = {}
        self._free_dims_by_denotation: dict[str, int] = {}
        self._providers: list[tuple[str, dict[str, Any]]] = []
        self._policy: str | None = None
        self._initializers: dict[str, Any] = {}
        self._external_files: dict[str, Any] = {}
        self._stop = _core.Stop()

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Sets an entry of the configuration; docs/session_keys.md lists the keys that cameo supports."""
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """Returns an entry that was set; raises RuntimeError for others, as onnxruntime does."""
        if key not in self._config:
            raise RuntimeError(f"SessionOptions does not have configuration with key: {key}")
        return self._config[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Sets the size of the model's symbolic dim with this name."""
        self._free_dims[name] = size

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Sets the size of the model's symbolic dims with this denotation, such as DATA_BATCH."""
        self._free_dims_by_denotation[denotation] = size

    def add_initializer(self, name: str, value: OrtValue) -> None:
        """Replaces the model's initializer of this name by a tensor of the same type and shape. Sessions with these
        options share the tensor and keep it alive."""
        if not isinstance(value, OrtValue):
            raise InvalidArgument(f"the initializer {name!r} is a {type(value).__name__}, and has to be an OrtValue")
        self._initializers[name] = value._held

    def add_external_initializers(self, names: Sequence[str], values: Sequence[OrtValue]) -> None:
        """Replaces several initializers. Files of their external data are then not needed."""
        if len(names) != len(values):
            raise InvalidArgument(f"there are {len(names)} names, and {len(values)} values")
        for name, value in zip(names, values, strict=True):
            self.add_initializer(name, value)

    def add_external_initializers_from_files_in_memory(
        self, names: Sequence[str], buffers: Sequence[Any], lengths: Sequence[int]
    ) -> None:
        """Replaces files of external data by buffers in memory: the files' locations in the model, the buffers, and the
        numbers of bytes."""
        if not len(names) == len(buffers) == len(lengths):
            raise InvalidArgument(f"there are {len(names)} names, {len(buffers)} buffers and {len(lengths)} lengths")
        for name, buffer, length in zip(names, buffers, lengths, strict=True):
            view = memoryview(buffer).cast("B")
            if length > view.nbytes:
                raise InvalidArgument(f"the file {name!r} has {view.nbytes} bytes, and is to have {length}")
            self._external_files[name] = view[:length]

    def add_provider(self, name: str, options: Mapping[str, Any]) -> None:
        """Adds a provider with options, after those added before. A list passed to InferenceSession overrides them
        all."""
        self._providers.append((name, dict(options)))

    def add_provider_for_devices(self, devices: Sequence[OrtEpDevice], options: Mapping[str, Any]) -> None:
        """Adds the provider of some devices from get_ep_devices(), which must belong to one provider."""
        names = {each.ep_name for each in devices}
        if len(names) != 1:
            raise InvalidArgument("give devices, all of one provider")
        self.add_provider(names.pop(), options)

    def has_providers(self) -> bool:
        """True if these options have providers or a policy."""
        return bool(self._providers) or self._policy is not None

    def set_provider_selection_policy(self, policy: OrtExecutionProviderDevicePolicy) -> None:
        """Sets a policy that chooses providers."""
        name = OrtExecutionProviderDevicePolicy(policy).name.lower()
        self._policy = name

    def set_load_cancellation_flag(self, cancel: bool) -> None:
        """Ends loading with these options, now and later; False permits loading again."""
        if cancel:
            self._stop.request()
        else:
            self._stop = _core.Stop()

    if not TYPE_CHECKING:  # with __getattr__, a type checker would accept any name

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("SessionOptions", name)

    def _keywords(self) -> dict[str, Any]:
        """These options as keyword arguments of cameo.Session."""
        severity = self.log_severity_level if self.log_severity_level >= 0 else _logger_severity
        config = dict(self._config)
        if self.optimized_model_filepath:
            config["session.optimized_model_filepath"] = os.fspath(self.optimized_model_filepath)
        if _global_threads is not None and self.use_per_session_threads:
            raise InvalidArgument("use_per_session_threads must be false when using a global thread pool")
        threads = self.intra_op_num_threads if _global_threads is None else _global_threads
        quiet: Any = (lambda severity, words: None) if severity > 2 else None
        return {
            "threads": max(threads, 0),  # negative numbers mean the default, as in onnxruntime
            "optimize": int(self.graph_optimization_level),
            "parallel": self.execution_mode == ExecutionMode.ORT_PARALLEL,
            "config": config,
            "free_dims": self._free_dims,
            "free_dims_by_denotation": self._free_dims_by_denotation,
            "log_level": min(severity, 2),
            "log": quiet,
            "policy": self._policy,
            "initializers": self._initializers,
            "external_files": self._external_files,
            "stop": self._stop,
        }


class RunOptions:
    """onnxruntime's options of a run. Setting `terminate` ends the runs with these options."""

    __slots__ = (
        "log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "training_mode", "_stop", "_config",
    )  # fmt: skip

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.training_mode = False
        self._stop = _core.Stop()
        self._config: dict[str, str] = {}

    @property
    def terminate(self) -> bool:
        return self._stop.requested

    @terminate.setter
    def terminate(self, value: bool) -> None:
        if value:
            self._stop.request()
        elif self._stop.requested:
            self._stop = _core.Stop()

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Stores an entry, which has no effect: no entry changes what cameo computes."""
        self._config[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """Returns an entry that was set; raises RuntimeError for others, as onnxruntime does."""
        if key not in self._config:
            raise RuntimeError(f"RunOptions does not have configuration with key: {key}")
        return self._config[key]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("RunOptions", name)


def get_available_providers() -> list[str]:
    """Long names of this build's providers: those with an accelerator on this machine, then the fallback, then the
    others. The fallback takes every node, so that a session with the whole list uses providers up to the fallback
    only."""
    names = [long for _, long in _core.providers()]
    accelerated = [long for _, long, kind, _, _ in _core.devices() if kind != "cpu"]
    first = [name for name in names[:-1] if name in accelerated]
    return [*first, names[-1], *(name for name in names[:-1] if name not in first)]


def get_all_providers() -> list[str]:
    """Long names of this build's providers in order of priority, as sessions try them: the fallback is the last."""
    return [long for _, long in _core.providers()]


def get_device() -> str:
    """Returns "CPU"."""
    return "CPU"


def get_version_string() -> str:
    """The version of onnxruntime that this interface follows."""
    return API_VERSION


def get_build_info() -> str:
    """The versions of cameo and of this interface."""
    return f"cameo {_core.__version__} with the names of onnxruntime {API_VERSION}, Build Info: build type=Release"


def set_default_logger_severity(severity: int) -> None:
    """Sets the lowest severity, 0 to 4, that is logged by sessions whose options do not set one."""
    global _logger_severity
    if severity not in range(5):
        raise InvalidArgument(f"Invalid logging severity. {severity} is not in [0,4]")
    _logger_severity = severity


def set_default_logger_verbosity(verbosity: int) -> None:
    """Without effect: messages have severities only."""


def set_seed(seed: int) -> None:
    """Without effect, and warns of that: a random operator takes its seed from the model."""
    warnings.warn("cameo.onnxruntime.set_seed has no effect: random operators take their seeds from the model", stacklevel=2)


def set_global_thread_pool_sizes(intra_op_num_threads: int = 0, inter_op_num_threads: int = 0) -> None:
    """Sets the number of threads of each session whose options have use_per_session_threads off. From now on, options
    that have it on are refused, as in onnxruntime. Raises Fail in a second call."""
    global _global_threads
    if _global_threads is not None:
        raise Fail("Global thread pools have already been created, cannot replace them")
    _global_threads = max(intra_op_num_threads, 0)


def has_collective_ops() -> bool:
    """False: cameo has no collective operators."""
    return False


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """Without effect: providers are a part of the build."""


def print_debug_info() -> None:
    """Prints the version, the path of the compiled part, and the providers."""
    print(f"{get_build_info()}\nmodule: {_core.__file__}\nproviders: {', '.join(get_available_providers())}")


def get_default_session_options() -> SessionOptions:
    return SessionOptions()


def enable_telemetry_events() -> None:
    """Nothing is ever sent."""


def disable_telemetry_events() -> None:
    """Nothing is ever sent."""
