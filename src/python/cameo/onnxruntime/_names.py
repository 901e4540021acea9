"""onnxruntime's options, numbers and functions that need no session."""

from __future__ import annotations

import enum
import os
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import _core
from ..errors import InvalidArgument
from ._absent import no_attribute

API_VERSION = "1.31.1"
"""The version of onnxruntime whose names these are."""

_logger_severity = 2


class GraphOptimizationLevel(enum.IntEnum):
    """How far a graph is rewritten."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Nodes one after the other, or those that are independent at once."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Accepted; the order of nodes is cameo's own."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class OrtAllocatorType(enum.IntEnum):
    """onnxruntime's kinds of allocators."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    """onnxruntime's kinds of memory."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtExecutionProviderDevicePolicy(enum.IntEnum):
    """Policies that choose providers by their devices."""

    DEFAULT = 0
    PREFER_CPU = 1
    PREFER_NPU = 2
    PREFER_GPU = 3
    MAX_PERFORMANCE = 4
    MAX_EFFICIENCY = 5
    MIN_OVERALL_POWER = 6


class NodeArg(NamedTuple):
    """An input or an output of a model."""

    name: str
    type: str
    shape: list[int | str | None]


class ModelMetadata(NamedTuple):
    """What a model says about itself."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


class SessionOptions:
    """onnxruntime's session options, with its defaults. Those about its memory are accepted: cameo plans memory itself."""

    __slots__ = (
        "graph_optimization_level", "intra_op_num_threads", "inter_op_num_threads", "execution_mode", "execution_order",
        "enable_profiling", "profile_file_prefix", "optimized_model_filepath", "enable_mem_pattern", "enable_mem_reuse",
        "enable_cpu_mem_arena", "logid", "log_severity_level", "log_verbosity_level", "use_deterministic_compute",
        "use_per_session_threads", "_config", "_free_dims", "_free_dims_by_denotation", "_providers", "_policy", "_stop",
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
        self._stop = _core.Stop()

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Sets an entry of the configuration; docs/session_keys.md has those that cameo knows."""
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """An entry that was set; RuntimeError for others, as in onnxruntime."""
        if key not in self._config:
            raise RuntimeError(f"SessionOptions does not have configuration with key: {key}")
        return self._config[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """The size of a dim that the model leaves open."""
        self._free_dims[name] = size

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """The same by what the model says the dim is."""
        self._free_dims_by_denotation[denotation] = size

    def add_provider(self, name: str, options: Mapping[str, Any]) -> None:
        """A provider with options, by priority; InferenceSession's own list comes before it."""
        self._providers.append((name, dict(options)))

    def has_providers(self) -> bool:
        """Whether there are providers in these options."""
        return bool(self._providers) or self._policy is not None

    def set_provider_selection_policy(self, policy: OrtExecutionProviderDevicePolicy) -> None:
        """A policy that chooses providers."""
        name = OrtExecutionProviderDevicePolicy(policy).name.lower()
        self._policy = name

    def set_load_cancellation_flag(self, cancel: bool) -> None:
        """Ends loading with these options, now and later; False: lets it go on."""
        if cancel:
            self._stop.request()
        else:
            self._stop = _core.Stop()

    def __getattr__(self, name: str) -> Any:
        raise no_attribute("SessionOptions", name)

    def _keywords(self) -> dict[str, Any]:
        """The same as options of cameo.Session."""
        severity = self.log_severity_level if self.log_severity_level >= 0 else _logger_severity
        config = dict(self._config)
        if self.optimized_model_filepath:
            config["session.optimized_model_filepath"] = os.fspath(self.optimized_model_filepath)
        quiet: Any = (lambda severity, words: None) if severity > 2 else None
        return {
            "threads": max(self.intra_op_num_threads, 0),  # less than 0: onnxruntime's default, too
            "optimize": int(self.graph_optimization_level),
            "parallel": self.execution_mode == ExecutionMode.ORT_PARALLEL,
            "config": config,
            "free_dims": self._free_dims,
            "free_dims_by_denotation": self._free_dims_by_denotation,
            "log_level": min(severity, 2),
            "log": quiet,
            "policy": self._policy,
            "stop": self._stop,
        }


class RunOptions:
    """onnxruntime's options of a run. `terminate` ends the runs that have them."""

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
        """Kept, and without effect: no entry of a run changes what cameo computes."""
        self._config[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """An entry that was set; RuntimeError for others, as in onnxruntime."""
        if key not in self._config:
            raise RuntimeError(f"RunOptions does not have configuration with key: {key}")
        return self._config[key]

    def __getattr__(self, name: str) -> Any:
        raise no_attribute("RunOptions", name)


def get_available_providers() -> list[str]:
    """Long names of the providers of this build, by priority."""
    return [long for _, long in _core.providers()]


def get_all_providers() -> list[str]:
    """The same: a build has what it has."""
    return get_available_providers()


def get_device() -> str:
    """ "CPU"."""
    return "CPU"


def get_version_string() -> str:
    """The version of onnxruntime whose names these are."""
    return API_VERSION


def get_build_info() -> str:
    """What computes."""
    return f"cameo {_core.__version__} with the names of onnxruntime {API_VERSION}"


def set_default_logger_severity(severity: int) -> None:
    """The severity from which on sessions log that do not say otherwise: 0 to 4."""
    global _logger_severity
    if severity not in range(5):
        raise InvalidArgument(f"Invalid logging severity. {severity} is not in [0,4]")
    _logger_severity = severity


def set_default_logger_verbosity(verbosity: int) -> None:
    """Without effect: messages have severities only."""


def set_seed(seed: int) -> None:
    """Refused where it would matter: a random operator takes its seed from the model."""
    warnings.warn("cameo.onnxruntime.set_seed has no effect: random operators take their seeds from the model", stacklevel=2)


def enable_telemetry_events() -> None:
    """Nothing is ever sent."""


def disable_telemetry_events() -> None:
    """Nothing is ever sent."""
