"""InferenceSession and IOBinding over cameo.Session."""

from __future__ import annotations

import concurrent.futures
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from .. import _core
from .._session import Session
from ..errors import InvalidArgument
from ._absent import no_attribute
from ._names import ModelMetadata, NodeArg, RunOptions, SessionOptions, get_available_providers
from ._values import OrtValue, check_device, numpy_type, of_address

_pool: concurrent.futures.ThreadPoolExecutor | None = None


def _chosen(providers: Sequence[Any] | None, options: Sequence[Mapping[str, Any]] | None) -> list[tuple[str, dict[str, Any]]]:
    """Providers with their options, without those that this build does not have: as onnxruntime, with a warning."""
    known, chosen = get_available_providers(), []
    for number, each in enumerate(providers or ()):
        pair = isinstance(each, (tuple, list)) and len(each) == 2
        name, own = each if pair else (each, {})
        if not isinstance(name, str) or not isinstance(own, Mapping):
            raise InvalidArgument(f"providers has {each!r}; each is a name, or a pair of a name and a dictionary")
        if options and number < len(options):
            own = {**own, **options[number]}
        if name in (before for before, _ in chosen):
            warnings.warn(f"Duplicate provider '{name}' encountered, ignoring.", stacklevel=4)
        elif name == known[-1]:  # the fallback has no options, and onnxruntime reads none of those that are written for it
            chosen.append((name, {}))
        elif name in known:
            chosen.append((name, {key: value for key, value in own.items() if value is not None}))
        else:
            warnings.warn(
                f"Specified provider '{name}' is not in available provider names. Available providers: '{', '.join(known)}'",
                stacklevel=4,
            )
    return chosen


class InferenceSession:
    """A loaded model, with onnxruntime's methods. `cameo_session` is the cameo.Session behind it."""

    def __init__(
        self,
        path_or_bytes: str | bytes | os.PathLike[str],
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        self._options = sess_options or SessionOptions()
        self._model, self._more = path_or_bytes, kwargs
        # Packages that were written for onnxruntime look for a model's folder here.
        self._model_path = os.fspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else None
        self._profile: Any = None
        self._load(providers, provider_options)

    def _load(self, providers: Sequence[Any] | None, provider_options: Sequence[Mapping[str, Any]] | None) -> None:
        if isinstance(providers, str):
            providers = [providers]
        self._chosen = _chosen(providers, provider_options) + self._options._providers
        keywords = self._options._keywords()
        disabled = self._more.get("disabled_optimizers")
        if disabled:
            keywords["config"]["optimization.disable_specified_optimizers"] = ";".join(disabled)
        if self._chosen:
            keywords["policy"] = None
        names = [name for name, _ in self._chosen]
        self.cameo_session = Session(self._model, names, provider_options=dict(self._chosen), **keywords)
        self._run = self.cameo_session.run_list
        self._inputs = [each for each in self.cameo_session.inputs if not self._is_default(each)]
        if self._options.enable_profiling:
            self._begin = time.time_ns()
            self._profile = self.cameo_session.profile().__enter__()

    @staticmethod
    def _is_default(info: Any) -> bool:
        return info.optional and not info.type.startswith("optional(")

    # --- what the model is ---

    def get_inputs(self) -> list[NodeArg]:
        """Inputs that a run needs, in the model's order."""
        return [NodeArg(each.name, each.type, list(each.shape or ())) for each in self._inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(each.name, each.type, list(each.shape or ())) for each in self.cameo_session.outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Inputs that have a default."""
        return [
            NodeArg(each.name, each.type, list(each.shape or ()))
            for each in self.cameo_session.inputs
            if self._is_default(each)
        ]

    def get_modelmeta(self) -> ModelMetadata:
        known = self.cameo_session.metadata
        return ModelMetadata(
            known["producer_name"], known["graph_name"], known["domain"], known["description"], "", known["version"],
            known["custom_metadata_map"],
        )  # fmt: skip

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_providers(self) -> list[str]:
        """Long names of the providers in use."""
        long_names = dict(_core.providers())
        return [long_names[name] for name in self.cameo_session.providers]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        given = dict(self._chosen)
        return {name: {key: str(value) for key, value in given.get(name, {}).items()} for name in self.get_providers()}

    def set_providers(
        self, providers: Sequence[Any] | None = None, provider_options: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Loads the model again, for these."""
        self._load(providers, provider_options)

    def enable_fallback(self) -> None:
        """Without effect: a session has one list of providers."""

    def disable_fallback(self) -> None:
        """Without effect: a session has one list of providers."""

    # --- runs ---

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: RunOptions | None = None
    ) -> list[Any]:
        """One run: outputs of these names, or all, as numpy arrays, lists of them, or dictionaries."""
        feed = input_feed if type(input_feed) is dict else dict(input_feed)
        return self._run(output_names or None, feed, None, run_options._stop if run_options is not None else None)

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], object],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """The same in a thread, which calls back with outputs, user_data and the error's words, "" without one."""
        global _pool
        _pool = _pool or concurrent.futures.ThreadPoolExecutor(thread_name_prefix="cameo")

        def work() -> None:
            try:
                made, words = self.run(output_names, input_feed, run_options), ""
            except Exception as error:  # noqa: BLE001 - it is handed over in words, as onnxruntime does
                made, words = [], str(error)
            callback(made, user_data, words)

        _pool.submit(work)

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        feed = {name: each._held for name, each in input_dict_ort_values.items()}
        return [OrtValue(each) for each in self.run(output_names, feed, run_options)]

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        if iobinding._session is not self.cameo_session:
            raise InvalidArgument("the binding is of another session; a session runs what its io_binding made")
        iobinding._run(run_options._stop if run_options is not None else None)

    # --- profiles ---

    def end_profiling(self) -> str:
        """Writes what was recorded since the session was loaded; the file's name."""
        if self._profile is None:
            return ""
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        path = f"{self._options.profile_file_prefix}{'' if self._options.profile_file_prefix.endswith('_') else '_'}{stamp}.json"
        self._profile.write(path)
        self._profile.__exit__(None, None, None)
        self._profile = None
        return path

    def get_profiling_start_time_ns(self) -> int:
        return self._begin if self._options.enable_profiling else 0

    def __getattr__(self, name: str) -> Any:
        raise no_attribute("InferenceSession", name)


class IOBinding:
    """onnxruntime's binding: inputs and outputs that runs read and write where they lie."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session.cameo_session
        self._types = {each.name: each for each in self._session.outputs}
        self._binding = self._session.bind()
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}  # None: memory of the binding's own
        self._made: dict[str, Any] | None = None  # of the last run, where the binding of it is gone
        self._has_run = False

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """The array is kept; a strided one is copied."""
        self._bind_input(name, arr_on_cpu)

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Memory that the caller keeps, by its address."""
        check_device(device_type)
        self._bind_input(name, of_address(buffer_ptr, element_type, shape))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._bind_input(name, ortvalue._held)

    def _bind_input(self, name: str, value: Any) -> None:
        self._binding.bind_input(name, value)
        self._inputs[name] = value

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Memory that the caller keeps, by its address; without one, memory of the binding's own."""
        check_device(device_type)
        if name not in self._types:
            raise InvalidArgument(f"{name}: the model has no output of this name; it has {', '.join(self._types)}")
        array = None
        if buffer_ptr is not None:
            array = of_address(buffer_ptr, element_type if element_type is not None else numpy_type("float"), shape or ())
        self._bind_output(name, array)

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

    def get_outputs(self) -> list[OrtValue]:
        """Of the outputs that were bound, in the order of binding."""
        made = self._results()
        return [OrtValue(made[name]) for name in self._outputs]

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        return self.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The same as numpy arrays."""
        made = self._results()
        return [numpy.array(made[name]) if self._outputs[name] is not None else made[name] for name in self._outputs]

    def synchronize_inputs(self) -> None:
        """Without effect: values lie in host memory."""

    def synchronize_outputs(self) -> None:
        """Without effect: values lie in host memory."""

    def clear_binding_inputs(self) -> None:
        """Outputs of the last run stay."""
        if self._has_run:
            self._made = self._results()
        self._binding = self._session.bind()
        self._inputs = {}
        for name, array in self._outputs.items():
            self._binding.bind_output(name, array)

    def clear_binding_outputs(self) -> None:
        for name in self._outputs:
            self._binding.bind_output(name, None)
        self._outputs = {}
