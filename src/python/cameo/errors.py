"""What cameo raises: Error, and below it a class for each code. Codes are ONNX Runtime's numbers, and from 100 on what it
lacks; docs/errors.md has the causes of each."""

from __future__ import annotations

from typing import ClassVar


class Error(RuntimeError):
    """An error of cameo: `code` and `name` say of which kind it is, `words` what happened, with file, node, types and
    shapes, and what would be right."""

    code: ClassVar[int] = 1
    name: ClassVar[str] = "FAIL"

    @property
    def words(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return f"{self.name}: {self.words}" if self.words else self.name


class Fail(Error):
    """What has no better code: something that does not fit together, or that the system refuses."""


class InvalidArgument(Error, ValueError):
    """An input, an option or a name that is not what the model or the function takes."""

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
    """A kernel failed in a way that it does not name."""

    code, name = 6, "RUNTIME_EXCEPTION"


class InvalidProtobuf(Error):
    """A file that is no model."""

    code, name = 7, "INVALID_PROTOBUF"


class ModelLoaded(Error):
    """ONNX Runtime's code; cameo does not use it."""

    code, name = 8, "MODEL_LOADED"


class NotImplemented(Error):  # noqa: A001 - ONNX Runtime's name
    """A node that no provider takes; the words have each provider's reason. Also what this interface does not have."""

    code, name = 9, "NOT_IMPLEMENTED"


class InvalidGraph(Error):
    """A graph that is against ONNX's rules."""

    code, name = 10, "INVALID_GRAPH"


class EPFail(Error):
    """An error of a provider."""

    code, name = 11, "EP_FAIL"


class ModelLoadCanceled(Error):
    """Loading was stopped."""

    code, name = 12, "MODEL_LOAD_CANCELED"


class ModelRequiresCompilation(Error):
    """A compiled model that has to be compiled again here."""

    code, name = 13, "MODEL_REQUIRES_COMPILATION"


class NotFound(Error):
    """Something that is named and is not there."""

    code, name = 14, "NOT_FOUND"


class Canceled(Error):
    """A run was stopped."""

    code, name = 100, "CANCELED"


class DeadlineExceeded(Error, TimeoutError):
    """A run took longer than its timeout."""

    code, name = 101, "DEADLINE_EXCEEDED"


class OutOfMemory(Error, MemoryError):
    """Memory, or the limit in the options, is used up."""

    code, name = 102, "OUT_OF_MEMORY"


_BY_CODE = {each.code: each for each in Error.__subclasses__()}


def of_code(code: int, words: str) -> Error:
    """The exception for a code, as the compiled part raises it."""
    return _BY_CODE.get(code, Fail)(words)
