"""InferenceSession and IOBinding, with onnxruntime's methods."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._session import Session as CameoSession
from ..errors import InvalidArgument
from ._absent import no_attribute
from ._devices import OrtDevice, OrtEpDevice, OrtMemoryInfo
from ._explain import missing_inputs
from ._inner import InnerSession, OrtEpAssignedSubgraph, SessionIOBinding, check_and_normalize_provider_args, fallback_provider
from ._names import ModelMetadata, NodeArg, RunOptions, SessionOptions, get_available_providers
from ._values import OrtValue, OrtValueVector


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
        # Packages that use onnxruntime read the model, its options and its folder from attributes with these names.
        self._model_path = os.fspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else None
        self._model_bytes = path_or_bytes if self._model_path is None else None
        self._sess_options_initial = sess_options
        self._enable_fallback = int(kwargs.get("enable_fallback", 1)) == 1
        self._fallback_providers = [fallback_provider()]
        self._disabled_optimizers = kwargs.get("disabled_optimizers") or ()
        reads_config = kwargs.get("read_config_from_model", os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") == "1")
        self._read_config_from_model = int(reads_config) == 1
        self._load(providers, provider_options, self._enable_fallback)

    def _load(
        self, providers: Sequence[Any] | None, options: Sequence[Mapping[str, Any]] | None, leaves_out_unknown: bool
    ) -> None:
        known = get_available_providers()
        names, own = check_and_normalize_provider_args(providers, options, known)
        if leaves_out_unknown:
            own = [each for name, each in zip(names, own, strict=True) if name in known]
            names = [name for name in names if name in known]
        model = self._model_bytes if self._model_path is None else self._model_path
        sess = InnerSession(
            self._sess_options_initial or SessionOptions(), model, self._model_path is not None, self._read_config_from_model
        )
        sess.initialize_session(names, own, self._disabled_optimizers)
        self._sess = sess
        self._sess_options = sess.session_options

    @property
    def cameo_session(self) -> CameoSession:
        return self._sess.cameo_session

    # --- the model ---

    @property
    def _inputs_meta(self) -> list[NodeArg]:
        return self._sess.inputs_meta

    @property
    def _outputs_meta(self) -> list[NodeArg]:
        return self._sess.outputs_meta

    @property
    def _overridable_initializers(self) -> list[NodeArg]:
        return self._sess.overridable_initializers

    @property
    def _model_meta(self) -> ModelMetadata:
        return self._sess.model_meta

    @property
    def _providers(self) -> list[str]:
        return self._sess.get_providers()

    @property
    def _provider_options(self) -> dict[str, dict[str, str]]:
        return self._sess.get_provider_options()

    @property
    def _profiling_start_time_ns(self) -> int:
        return self._sess.get_profiling_start_time_ns

    def get_inputs(self) -> list[NodeArg]:
        """The inputs without a default, in the model's order."""
        return self._sess.inputs_meta

    def get_outputs(self) -> list[NodeArg]:
        return self._sess.outputs_meta

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs with a default."""
        return self._sess.overridable_initializers

    def get_modelmeta(self) -> ModelMetadata:
        return self._sess.model_meta

    def get_session_options(self) -> SessionOptions:
        return self._sess_options

    def get_providers(self) -> list[str]:
        """Long names of the providers in use."""
        return self._sess.get_providers()

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return self._sess.get_provider_options()

    def get_input_memory_infos(self) -> list[OrtMemoryInfo]:
        return self._sess.input_meminfos

    def get_output_memory_infos(self) -> list[OrtMemoryInfo]:
        return self._sess.output_meminfos

    def get_input_epdevices(self) -> list[OrtEpDevice | None]:
        return self._sess.input_epdevices

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """The nodes that run, with their providers. Raises Fail unless session.record_ep_graph_assignment_info is "1"
        in the options."""
        return self._sess.get_provider_graph_assignment_info()

    def get_tuning_results(self) -> list[Any]:
        """Empty: no provider tunes itself while it runs."""
        return self._sess.get_tuning_results()

    def set_tuning_results(self, results: Sequence[Any], *, error_on_invalid: bool = False) -> None:
        self._sess.set_tuning_results(results, error_on_invalid)

    def set_providers(
        self, providers: Sequence[Any] | None = None, provider_options: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Loads the model again for these providers. Raises InvalidArgument for one that this build does not have; the
        session is then not changed."""
        self._load(providers, provider_options, leaves_out_unknown=False)

    def enable_fallback(self) -> None:
        """Sets that providers which this build does not have are ignored with a warning when the session is created."""
        self._enable_fallback = True

    def disable_fallback(self) -> None:
        self._enable_fallback = False

    # --- runs ---

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: RunOptions | None = None
    ) -> list[Any]:
        """Runs the model once. Returns the outputs with these names, or all, as numpy arrays, lists of them, or
        dictionaries."""
        return self._sess.run(output_names, input_feed, run_options)

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], object],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Runs the model in another thread, which calls `callback` with the outputs, user_data and the error's message,
        "" if there is none. Exceptions of the callback are passed to sys.unraisablehook. Raises InvalidArgument at once
        for a missing input."""
        if missing := missing_inputs(self._sess, input_feed):
            raise missing
        self._sess.run_async(output_names, input_feed, callback, user_data, run_options)

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        return list(self._sess.run_with_ort_values(input_dict_ort_values, output_names, run_options))

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
        self._sess.run_with_ortvaluevector(run_options, feed_names, feeds, fetch_names, fetches, fetch_devices)

    def create_ortvalue_from_shape_and_type(
        self, shape: Sequence[int], element_type: Any, device_type: str, device_id: int = 0, vendor_id: int = -1
    ) -> OrtValue:
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device_type, device_id)

    def release_captured_graph(self, graph_annotation_id: int = 0) -> None:
        """Without effect: runs are planned, and nothing is captured."""

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        if iobinding._session is not self._sess:
            raise InvalidArgument("the binding belongs to another session; use one that this session's io_binding() returned")
        self._sess.run_with_iobinding(iobinding._iobinding, run_options)

    # --- profiles ---

    def end_profiling(self) -> str:
        """Writes the profile since the session was loaded, in onnxruntime's format; returns the file's path."""
        return self._sess.end_profiling()

    def get_profiling_start_time_ns(self) -> int:
        return self._sess.get_profiling_start_time_ns

    if not TYPE_CHECKING:  # with __getattr__, a type checker would accept any name

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("InferenceSession", name)


Session = InferenceSession


class IOBinding:
    """onnxruntime's binding: inputs and outputs that runs read and write in place."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session._sess
        self._iobinding = SessionIOBinding(session._sess)

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """Binds an array, and keeps it alive; a strided array is copied."""
        self._iobinding.bind_input(name, arr_on_cpu)

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Binds memory at an address, which the caller keeps alive."""
        self._iobinding.bind_input(name, device_type, element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._iobinding.bind_ortvalue_input(name, ortvalue)

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Binds memory at an address, which the caller keeps alive; without an address, memory of the binding."""
        self._iobinding.bind_output(name, device_type, element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._iobinding.bind_ortvalue_output(name, ortvalue)

    def get_outputs(self) -> list[OrtValue]:
        """The outputs that were bound, in the order of binding."""
        return list(self._iobinding.get_outputs())

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        return self._iobinding.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs that were bound, as numpy arrays."""
        return self._iobinding.copy_outputs_to_cpu()

    def synchronize_inputs(self) -> None:
        """Without effect: values are in host memory."""

    def synchronize_outputs(self) -> None:
        """Without effect: values are in host memory."""

    def clear_binding_inputs(self) -> None:
        """Removes all inputs. The outputs of the last run remain available."""
        self._iobinding.clear_binding_inputs()

    def clear_binding_outputs(self) -> None:
        self._iobinding.clear_binding_outputs()
