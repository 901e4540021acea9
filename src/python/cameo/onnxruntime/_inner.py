"""The session and binding classes of onnxruntime's compiled part, implemented with cameo.Session. Programs use them as
InferenceSession._sess and IOBinding._iobinding."""

from __future__ import annotations

import concurrent.futures
import copy
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy

from .. import _core
from .._session import Session
from ..errors import Fail, InvalidArgument, InvalidGraph
from ._devices import OrtDevice, OrtEpDevice, OrtMemoryInfo, check_device, get_ep_devices
from ._enums import ExecutionMode, GraphOptimizationLevel, OrtAllocatorType, OrtMemType
from ._explain import explained, explained_graph, map_fault
from ._names import ModelMetadata, NodeArg, RunOptions, SessionOptions
from ._profile import write_profile
from ._values import OrtValue, OrtValueVector, SparseTensor, as_cameo, from_cameo, of_address

_WRAPPED = (OrtValue, SparseTensor)
_RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"

_pool: concurrent.futures.ThreadPoolExecutor | None = None


def fallback_provider() -> str:
    """The long name of the fallback provider, which has a kernel for every node."""
    return _core.providers()[-1][1]


def check_and_normalize_provider_args(
    providers: Sequence[Any] | None,
    provider_options: Sequence[Mapping[Any, Any]] | None,
    available_provider_names: Sequence[str],
) -> tuple[list[str], list[dict[str, str]]]:
    """Returns the names of providers without duplicates, and the options of each as texts. `providers` has names, or
    pairs of a name and options. Warns of names that are not available; raises InvalidArgument for anything else."""
    if providers is None:
        return [], []
    if isinstance(providers, str):
        providers = [providers]
    if not isinstance(providers, Sequence):
        raise InvalidArgument(f"providers is {providers!r}, which is not a list")
    if provider_options is not None:
        if not isinstance(provider_options, Sequence) or not all(isinstance(each, Mapping) for each in provider_options):
            raise InvalidArgument(f"provider_options is {provider_options!r}; it needs a list of dictionaries")
        if len(providers) != len(provider_options):
            raise InvalidArgument(f"there are {len(providers)} providers, and options for {len(provider_options)}")
        if not all(isinstance(each, str) for each in providers):
            raise InvalidArgument("options of providers are in pairs or in provider_options, but not in both")
        providers = list(zip(providers, provider_options, strict=True))
    chosen: dict[str, dict[str, str]] = {}
    for each in providers:
        name, options = each if isinstance(each, (tuple, list)) and len(each) == 2 else (each, {})
        if not isinstance(name, str) or not isinstance(options, Mapping):
            raise InvalidArgument(f"providers has {each!r}; each is a name, or a pair of a name and a dictionary")
        if name not in available_provider_names:
            warnings.warn(
                f"Specified provider '{name}' is not in available provider names."
                f"Available providers: '{', '.join(available_provider_names)}'",
                stacklevel=5,
            )
        if name in chosen:
            warnings.warn(f"Duplicate provider '{name}' encountered, ignoring.", stacklevel=5)
        else:
            chosen[name] = {str(key): str(value) for key, value in options.items() if value is not None}
    return list(chosen), list(chosen.values())


class OrtEpAssignedNode(NamedTuple):
    """A node that a provider runs."""

    name: str
    domain: str
    op_type: str


class OrtEpAssignedSubgraph:
    """Nodes that a provider runs together."""

    def __init__(self, ep_name: str, nodes: list[OrtEpAssignedNode]) -> None:
        self.ep_name, self._nodes = ep_name, nodes

    def get_nodes(self) -> list[OrtEpAssignedNode]:
        return list(self._nodes)


def _arg(info: Any) -> NodeArg:
    return NodeArg(info.name, info.type, list(info.shape or ()))


def _has_default(info: Any) -> bool:
    return info.optional and not info.type.startswith("optional(")


def _options_of_model(options: SessionOptions, config: str) -> SessionOptions:
    """A copy of the options, overwritten by those in the model's metadata (ort_config)."""
    try:
        wanted = json.loads(config)["session_options"]
        made = copy.copy(options)
        for name, value in wanted.items():
            if name == "execution_mode":
                made.execution_mode = ExecutionMode(value)
            elif name == "graph_optimization_level":
                made.graph_optimization_level = GraphOptimizationLevel(value)
            elif name == "enable_profiling":
                made.enable_profiling = bool(value)
            elif name in ("inter_op_num_threads", "intra_op_num_threads"):
                setattr(made, name, int(value))
            else:
                raise ValueError(f"unknown option {name}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidArgument(f"the model's ort_config is not what ONNX Runtime writes: {error}") from None
    return made


class InnerSession:
    """onnxruntime's compiled session. initialize_session() loads the model."""

    def __init__(self, options: SessionOptions, model: Any, is_path: bool = True, read_config: bool = False) -> None:
        self.session_options, self._model, self._reads_config = options, model, read_config
        self._profile: Any = None
        self._begin = 0

    def initialize_session(
        self,
        providers: Sequence[str] = (),
        provider_options: Sequence[Mapping[str, str]] = (),
        disabled_optimizers: Sequence[str] | set[str] = (),
    ) -> None:
        known = [long for _, long in _core.providers()]
        for name in providers:
            if name not in known:
                raise InvalidArgument(f"Unknown Provider Type: {name}; this build has {', '.join(known)}")
        self._begin = time.time_ns()
        fallback = fallback_provider()
        # The fallback takes every remaining node, so providers after it would get none. It has no options; onnxruntime
        # ignores options for it, too.
        chosen = {name: dict(own) for name, own in zip(providers, provider_options, strict=True)}
        if fallback in chosen:
            names = list(chosen)
            chosen = {name: chosen[name] for name in names[: names.index(fallback)]} | {fallback: {}}
        self._chosen = list(chosen.items()) + ([] if chosen else self.session_options._providers)
        self._load(disabled_optimizers)
        if self._reads_config and (config := self.cameo_session.metadata["custom_metadata_map"].get("ort_config")):
            self.session_options = _options_of_model(self.session_options, config)
            self._load(disabled_optimizers)
        self._loaded = time.time_ns()
        if self.session_options.enable_profiling:
            self._profile = self.cameo_session.profile().__enter__()
            self._runs: list[tuple[int, int]] = []

    def _load(self, disabled_optimizers: Sequence[str] | set[str]) -> None:
        keywords = self.session_options._keywords()
        if disabled_optimizers:
            keywords["config"]["optimization.disable_specified_optimizers"] = ";".join(disabled_optimizers)
        if self._chosen:
            keywords["policy"] = None
        names = [name for name, _ in self._chosen]
        try:
            self.cameo_session = Session(self._model, names, provider_options=dict(self._chosen), **keywords)
        except InvalidGraph as error:
            raise explained_graph(error) from None
        self._run = self.cameo_session.run_list
        self._needed = [each for each in self.cameo_session.inputs if not _has_default(each)]
        self._maps = [each for each in self.cameo_session.inputs if each.type.startswith("map(")]
        self._gives_sparse = any(each.type.startswith("sparse_tensor(") for each in self.cameo_session.outputs)

    # --- the model ---

    @property
    def inputs_meta(self) -> list[NodeArg]:
        return [_arg(each) for each in self._needed]

    @property
    def outputs_meta(self) -> list[NodeArg]:
        return [_arg(each) for each in self.cameo_session.outputs]

    @property
    def overridable_initializers(self) -> list[NodeArg]:
        return [_arg(each) for each in self.cameo_session.inputs if _has_default(each)]

    @property
    def model_meta(self) -> ModelMetadata:
        known = self.cameo_session.metadata
        return ModelMetadata(
            known["producer_name"], known["graph_name"], known["domain"], known["description"], "", known["version"],
            known["custom_metadata_map"],
        )  # fmt: skip

    @staticmethod
    def _memory_infos(infos: Sequence[Any]) -> list[OrtMemoryInfo]:
        return [OrtMemoryInfo("Cpu", OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, OrtMemType.DEFAULT) for _ in infos]

    @property
    def input_meminfos(self) -> list[OrtMemoryInfo]:
        return self._memory_infos(self._needed)

    @property
    def output_meminfos(self) -> list[OrtMemoryInfo]:
        return self._memory_infos(self.cameo_session.outputs)

    @property
    def input_epdevices(self) -> list[OrtEpDevice | None]:
        used = self.get_providers()
        device = next((each for each in get_ep_devices() if each.ep_name in used), None)
        return [device for _ in self._needed]

    def get_providers(self) -> list[str]:
        """Long names of the providers in use."""
        long_names = dict(_core.providers())
        return [long_names[name] for name in self.cameo_session.providers]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        given = dict(self._chosen)
        return {name: {key: str(value) for key, value in given.get(name, {}).items()} for name in self.get_providers()}

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """The nodes that run, with their providers. Raises Fail unless the configuration requests the record."""
        if self.session_options._config.get(_RECORD_ASSIGNMENT) != "1":
            raise Fail(
                f"Session configuration entry '{_RECORD_ASSIGNMENT}' must be set to \"1\" to retrieve EP graph assignment "
                "information."
            )
        long_names = dict(_core.providers())
        return [
            OrtEpAssignedSubgraph(long_names.get(each.provider, each.provider), [OrtEpAssignedNode(each.node, each.domain, each.op_type)])
            for each in self.cameo_session.assignments
        ]  # fmt: skip

    def get_tuning_results(self) -> list[Any]:
        """Empty: no provider tunes itself while it runs."""
        return []

    def set_tuning_results(self, results: Sequence[Any], error_on_invalid: bool = False) -> None:
        """Raises InvalidArgument for results if `error_on_invalid`: no provider tunes itself while it runs."""
        if results and error_on_invalid:
            raise InvalidArgument(f"Cannot find execution provider {results[0].get('ep')}: none here has tuning results")

    def is_webgpu_graph_capture_enabled(self) -> bool:
        return False

    def release_captured_graph(self, graph_annotation_id: int = 0) -> None:
        """Without effect: runs are planned, and nothing is captured."""

    # --- runs ---

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: RunOptions | None = None
    ) -> list[Any]:
        """Runs the model once; returns the outputs with these names, or all."""
        feed = input_feed if type(input_feed) is dict else dict(input_feed)
        for each in feed.values():
            if type(each) in _WRAPPED:
                feed = {name: as_cameo(value) for name, value in feed.items()}
                break
        for info in self._maps:
            if fault := map_fault(info, feed.get(info.name)):
                raise fault
        begin = time.time_ns() if self._profile is not None else 0
        try:
            made = self._run(output_names or None, feed, None, run_options._stop if run_options is not None else None)
        except InvalidArgument as error:
            raise explained(error, self, output_names, feed) from None
        if begin:
            self._runs.append((begin, time.time_ns()))
        return [from_cameo(each) for each in made] if self._gives_sparse else made

    def run_with_ort_values(
        self, input_feed: Mapping[str, OrtValue], output_names: Sequence[str] | None, run_options: RunOptions | None = None
    ) -> OrtValueVector:
        return OrtValueVector._of([OrtValue._of(each) for each in self.run(output_names, input_feed, run_options)])

    def run_with_ortvaluevector(
        self,
        run_options: RunOptions,
        feed_names: Sequence[str],
        feeds: Sequence[OrtValue],
        fetch_names: Sequence[str],
        fetches: OrtValueVector,
        fetch_devices: Sequence[OrtDevice],
    ) -> None:
        """Runs the model once. Outputs are appended to `fetches` if it is empty, else written into its values."""
        for device in fetch_devices:
            check_device(device)
        made = self.run_with_ort_values(dict(zip(feed_names, feeds, strict=True)), fetch_names, run_options)
        for i, each in enumerate(made):
            if i >= len(fetches):
                fetches.push_back(each)
            elif fetches[i].has_value():
                fetches[i].update_inplace(each)
            else:
                fetches._all[i] = each

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], object],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Runs the model in another thread, which calls `callback` with the outputs, user_data and the error's message,
        "" if there is none. Exceptions of the callback are passed to sys.unraisablehook, as in onnxruntime."""
        global _pool
        _pool = _pool or concurrent.futures.ThreadPoolExecutor(thread_name_prefix="cameo")

        def work() -> None:
            try:
                made, words = self.run(output_names, input_feed, run_options), ""
            except Exception as error:  # noqa: BLE001 - its message is passed to the callback, as in onnxruntime
                made, words = [], str(error)
            try:
                callback(made, user_data, words)
            except BaseException as error:  # noqa: BLE001 - no caller can catch it
                sys.unraisablehook(_Unraisable(error))

        _pool.submit(work)

    def run_with_iobinding(self, binding: SessionIOBinding, run_options: RunOptions | None = None) -> None:
        begin = time.time_ns() if self._profile is not None else 0
        binding._run(run_options._stop if run_options is not None else None)
        if begin:
            self._runs.append((begin, time.time_ns()))

    def create_ortvalue_from_shape_and_type(self, shape: Sequence[int], element_type: Any, device: Any) -> OrtValue:
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device)

    create_ortvalue_from_shape_and_onnx_type = create_ortvalue_from_shape_and_type

    # --- profiles ---

    def end_profiling(self) -> str:
        """Writes the profile since the session was loaded. Returns the file's path, "" if profiling is off."""
        if self._profile is None:
            return ""
        prefix = self.session_options.profile_file_prefix
        now = time.time_ns()
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(now // 10**9))
        path = f"{prefix}{'' if prefix.endswith('_') else '_'}{stamp}_{now // 10**6 % 1000}.json"
        write_profile(self._profile, path, self._begin, self._loaded, self._runs, isinstance(self._model, (str, os.PathLike)))
        self._profile.__exit__(None, None, None)
        self._profile = None
        return path

    @property
    def get_profiling_start_time_ns(self) -> int:
        return self._begin if self.session_options.enable_profiling else 0


class _Unraisable:
    """The argument of sys.unraisablehook."""

    def __init__(self, error: BaseException) -> None:
        self.exc_type, self.exc_value, self.exc_traceback = type(error), error, error.__traceback__
        self.err_msg = None
        self.object = "cameo.onnxruntime.InferenceSession.run_async callback"


class SessionIOBinding:
    """onnxruntime's compiled binding: inputs and outputs that runs read and write in place."""

    def __init__(self, session: InnerSession) -> None:
        self._session = session
        self._names = [each.name for each in session.cameo_session.outputs]
        self._binding = session.cameo_session.bind()
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}  # None: memory of the binding
        self._made: dict[str, Any] | None = None  # outputs of the last run, if its binding was replaced
        self._has_run = False

    def bind_input(
        self, name: str, value: Any, element_type: Any = None, shape: Sequence[int] | None = None, address: int | None = None
    ) -> None:
        """Binds an array; or, if `value` is a device, memory at an address, which the caller keeps alive."""
        if address is None:
            held = value
        else:
            check_device(value)
            held = of_address(address, element_type, shape or ())
        self._bind_input(name, held)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._bind_input(name, as_cameo(ortvalue))

    def _bind_input(self, name: str, value: Any) -> None:
        self._binding.bind_input(name, value)
        self._inputs[name] = value

    def bind_output(
        self,
        name: str,
        device: Any = "cpu",
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        address: int | None = None,
    ) -> None:
        """Binds memory at an address, which the caller keeps alive; without an address, memory of the binding."""
        check_device(device)
        if name not in self._names:
            raise InvalidArgument(f"{name}: the model has no output of this name; it has {', '.join(self._names)}")
        if address is not None and (element_type is None or shape is None):
            raise InvalidArgument("`element_type` and `shape` are to be provided if pre-allocated memory is provided")
        self._bind_output(name, None if address is None else of_address(address, element_type, shape or ()))

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._bind_output(name, ortvalue._held)

    def _bind_output(self, name: str, array: Any) -> None:
        self._binding.bind_output(name, array)
        self._outputs[name] = array

    def _run(self, stop: Any) -> None:
        self._made, self._has_run = None, False
        self._binding.run(None, stop)
        self._has_run = True

    def _results(self) -> dict[str, Any]:
        return self._binding.outputs() if self._made is None else self._made

    def get_outputs(self) -> OrtValueVector:
        """The outputs that were bound, in the order of binding."""
        made = self._results()
        return OrtValueVector._of([OrtValue._of(from_cameo(made[name])) for name in self._outputs])

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs that were bound, as numpy arrays."""
        made = self._results()
        return [numpy.array(made[name]) if self._outputs[name] is not None else from_cameo(made[name]) for name in self._outputs]

    def synchronize_inputs(self) -> None:
        """Without effect: values are in host memory."""

    def synchronize_outputs(self) -> None:
        """Without effect: values are in host memory."""

    def clear_binding_inputs(self) -> None:
        """Removes all inputs. The outputs of the last run remain available."""
        if self._has_run:
            self._made = self._results()
        self._binding = self._session.cameo_session.bind()
        self._inputs = {}
        for name, array in self._outputs.items():
            self._binding.bind_output(name, array)

    def clear_binding_outputs(self) -> None:
        for name in self._outputs:
            self._binding.bind_output(name, None)
        self._outputs = {}

