"""onnxruntime's interface for compiling models, implemented with cameo's."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from .._options import normalized, path_text
from ..errors import Fail, InvalidArgument
from ._absent import no_attribute
from ._enums import GraphOptimizationLevel, OrtCompileApiFlags
from ._names import SessionOptions
from ._values import OrtValue


class OrtExternalInitializerInfo:
    """The location of an initializer in a file."""

    def __init__(self, filepath: str, file_offset: int, byte_size: int) -> None:
        self.filepath, self.file_offset, self.byte_size = str(filepath), int(file_offset), int(byte_size)


Place = Callable[[str, OrtValue, "OrtExternalInitializerInfo | None"], "OrtExternalInitializerInfo | None"]


class ModelCompiler:
    """Compiles a model for the providers of the options: groups of nodes become nodes with a compiled program. A model
    that no provider can compile is written without a change."""

    def __init__(
        self,
        sess_options: SessionOptions,
        input_model_path_or_bytes: str | os.PathLike[str] | bytes,
        embed_compiled_data_into_model: bool = False,
        external_initializers_file_path: str | os.PathLike[str] | None = None,
        external_initializers_size_threshold: int = 1024,
        flags: int = OrtCompileApiFlags.NONE,
        graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_DISABLE_ALL,
        get_initializer_location_func: Place | None = None,
    ) -> None:
        given = input_model_path_or_bytes
        if not isinstance(given, (str, os.PathLike, bytes)):
            raise TypeError(f"Unable to load from type '{type(given)}'")
        self._model = given if isinstance(given, bytes) else path_text(given)
        if not self._model:
            raise InvalidArgument("Input model path or bytes array is empty")
        if get_initializer_location_func is not None and external_initializers_file_path:
            raise InvalidArgument("external_initializers_file_path and get_initializer_location_func exclude each other")
        self._options = sess_options
        self._how: dict[str, Any] = {
            "embed": bool(embed_compiled_data_into_model),
            "optimize": int(graph_optimization_level),
            "external_initializers": os.fspath(external_initializers_file_path or ""),
            "external_threshold": int(external_initializers_size_threshold),
            "fail_if_nothing_compiled": bool(flags & OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED),
            "fail_if_output_exists": bool(flags & OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS),
        }
        self._place = get_initializer_location_func

    def _compile(self, output: Any) -> None:
        keywords = self._options._keywords()
        names = [name for name, _ in self._options._providers]
        how = normalized(names, provider_options=dict(self._options._providers), **keywords)
        folder = os.path.dirname(os.path.abspath(output)) if isinstance(output, str) else None
        try:
            _core.compile_model(self._model, output, how, self._how, self._placing(folder))
        except Fail as error:
            if not self._how["fail_if_nothing_compiled"] or "compiled anything" not in error.words:
                raise
            raise Fail(f"Unable to compile any nodes: {error.words}") from None

    def _placing(self, folder: str | None) -> Callable[[str, Any], tuple[str, int, int] | None] | None:
        """The user's function for the locations of initializers, in the form that _core.compile_model() calls. The path
        of a file in the folder of the compiled model becomes relative to that folder."""
        place = self._place
        if place is None:
            return None

        def call(name: str, value: Any) -> tuple[str, int, int] | None:
            made = place(name, OrtValue._of(value), None)
            if made is None:
                return None
            head, tail = os.path.split(made.filepath)
            return tail if os.path.isabs(head) and head == folder else made.filepath, made.file_offset, made.byte_size

        return call

    def compile_to_file(self, output_model_path: str | os.PathLike[str] | None = None) -> None:
        """Writes a file. Without a path, it is beside the model, with _ctx in its name."""
        if output_model_path is not None and not isinstance(output_model_path, (str, os.PathLike)):
            raise TypeError(f"Output model's filepath is of unexpected type '{type(output_model_path)}'")
        self._compile(None if output_model_path is None else path_text(output_model_path))

    def compile_to_bytes(self) -> bytes:
        pieces: list[bytes] = []
        self._compile(pieces.append)
        return b"".join(pieces)

    def compile_to_stream(self, write_function: Callable[[bytes], object]) -> None:
        """Passes the model to a function, in pieces. If the function raises an exception, raises Fail with its
        message."""
        raised: list[BaseException] = []

        def write(piece: bytes) -> None:
            try:
                write_function(piece)
            except Exception as error:
                raised.append(error)
                raise

        try:
            self._compile(write)
        except Exception as error:
            if not raised:
                raise
            raise Fail(f"the function that receives the model raised {type(raised[0]).__name__}: {raised[0]}") from error

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute("ModelCompiler", name)
