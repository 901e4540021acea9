"""The exceptions of cameo: Error, and a subclass for each code. Codes below 100 are those of ONNX Runtime;
docs/errors.md lists the causes of each."""

from __future__ import annotations

from typing import ClassVar


class Error(RuntimeError):
    """An error of cameo. `code` and `name` are its kind. `words` is the message: what happened, with file, node, types
    and shapes, and what was expected."""

    code: ClassVar[int] = 1
    name: ClassVar[str] = "FAIL"

    @property
    def words(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return f"{self.name}: {self.words}" if self.words else self.name


class Fail(Error):
    """An error without a more specific code, such as inconsistent data or an error of the operating system."""


class InvalidArgument(Error, ValueError):
    """An input, an option or a name that the model or the function does not accept."""

    code, name = 2, "INVALID_ARGUMENT"


class NoSuchFile(Error, FileNotFoundError):
    """A file that does not exist."""

    code, name = 3, "NO_SUCHFILE"


class NoModel(Error):
    """No model where one is needed."""

    code, name = 4, "NO_MODEL"


class EngineError(Error):
    """ONNX Runtime's code; cameo does not use it."""

    code, name = 5, "ENGINE_ERROR"


class RuntimeException(Error):
    """A kernel failed for an unknown reason."""

    code, name = 6, "RUNTIME_EXCEPTION"


class InvalidProtobuf(Error):
    """A file that is not a model."""

    code, name = 7, "INVALID_PROTOBUF"


class ModelLoaded(Error):
    """ONNX Runtime's code; cameo does not use it."""

    code, name = 8, "MODEL_LOADED"


class NotImplemented(Error):  # noqa: A001 - ONNX Runtime's name
    """A node that no provider has a kernel for; `words` has each provider's reason. Also a feature that is missing
    here."""

    code, name = 9, "NOT_IMPLEMENTED"


class InvalidGraph(Error):
    """A graph that violates ONNX's rules."""

    code, name = 10, "INVALID_GRAPH"


class EPFail(Error):
    """An error of a provider."""

    code, name = 11, "EP_FAIL"


class ModelLoadCanceled(Error):
    """Loading was stopped."""

    code, name = 12, "MODEL_LOAD_CANCELED"


class ModelRequiresCompilation(Error):
    """A compiled model that has to be compiled again for this machine."""

    code, name = 13, "MODEL_REQUIRES_COMPILATION"


class NotFound(Error):
    """A name or a file that does not exist."""

    code, name = 14, "NOT_FOUND"


class Canceled(Error):
    """A run was stopped."""

    code, name = 100, "CANCELED"


class DeadlineExceeded(Error, TimeoutError):
    """A run took longer than its timeout."""

    code, name = 101, "DEADLINE_EXCEEDED"


class OutOfMemory(Error, MemoryError):
    """The memory, or the memory limit in the options, is exhausted."""

    code, name = 102, "OUT_OF_MEMORY"


_BY_CODE = {each.code: each for each in Error.__subclasses__()}


def of_code(code: int, words: str) -> Error:
    """The exception for a code. The compiled part of the package calls this."""
    return _BY_CODE.get(code, Fail)(words)
