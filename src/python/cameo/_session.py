"""Session: a loaded model."""

from __future__ import annotations

import asyncio
import functools
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _core
from ._options import described, normalized, path_text
from .errors import InvalidArgument


class Info(NamedTuple):
    """An input or an output of a model."""

    name: str
    type: str
    """'tensor(float)', 'seq(tensor(int64))', without dims"""
    dtype: str | None
    """a tensor's elements: 'float', 'int64', 'bfloat16'; None for what is no tensor"""
    shape: tuple[int | str | None, ...] | None
    """a tensor's dims: a number, the name that the model gives it, or None; None when the rank is open, too"""
    optional: bool
    """a run may be given without it: it has a default, or is of an optional type"""


class Assignment(NamedTuple):
    """Where a node runs."""

    node: str
    domain: str
    op_type: str
    provider: str
    opset: int
    depth: int
    """0 in the main graph, higher in a subgraph"""
    fused_from: str
    """of a fused node: the operators in it"""
    refusals: tuple[str, ...]
    """why no earlier provider took it, one each"""
    output: str
    """the name of its first output, which identifies a node without a name"""


class SparseTensor(NamedTuple):
    """A sparse tensor: `indices` are flat ([count]) or by axis ([count, rank])."""

    values: Any
    indices: Any
    shape: tuple[int, ...]


def infos(described: Sequence[tuple[Any, ...]]) -> tuple[Info, ...]:
    made = []
    for name, kind, dtype, shape, optional, words in described:
        text = f"tensor({dtype})" if kind == "tensor" else re.sub(r"\[[^\]]*\]|(?<=,) ", "", words)
        made.append(Info(name, text, dtype, shape, optional))
    return tuple(made)


def source_of(model: Any) -> str | Any:
    """A path as text, or a buffer of bytes: of a path, a file that is open, bytes, or a model of the package onnx."""
    if isinstance(model, (str, os.PathLike)):
        return path_text(model)
    if hasattr(model, "read"):
        return model.read()
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    try:
        memoryview(model)
    except TypeError:
        raise TypeError(
            f"a model is a path, bytes, a file that is open, or a model of the package onnx; this is {type(model).__name__}"
        ) from None
    return model


class Profile:
    """Records the steps of a session's runs while it is used as a context. `path`: written there at the end, as a trace that
    Perfetto, chrome://tracing and `cameo inspect --profile` open."""

    def __init__(self, session: Session, path: str | os.PathLike[str] | None, capacity: int) -> None:
        self._session, self._path, self._capacity = session, path, capacity
        self._record: Any = None

    def __enter__(self) -> Profile:
        self._record = self._session._start_profile(self._capacity)
        return self

    def __exit__(self, *error: object) -> None:
        self._session._stop_profile()
        if self._path is not None and error[0] is None:
            self.write(self._path)

    @property
    def steps(self) -> int:
        """Number of steps that were recorded."""
        return self._record.steps if self._record else 0

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes what was recorded so far. InvalidArgument before it was used as a context."""
        if self._record is None:
            raise InvalidArgument("nothing was recorded: use the profile as a context, `with session.profile(path):`")
        self._record.write(path_text(path))


class Session(_core.Session):
    """A model ready to run. Any number of threads may run it at once.

    model       a path, bytes or another buffer, a file that is open, or a model of the package onnx. Weights of bytes are
                not copied: the session keeps them
    providers   short or long names by priority, or pairs of a name and options; none: the fallback
    provider_options  by name, or in the order of `providers`
    config      entries with ONNX Runtime's names (docs/session_keys.md); of a value True or False, "1" or "0"
    OPTIONS
    initializers  arrays instead of the model's initializers, by name: of the same type and shape; the session keeps them
    external_files  external data that is in memory: buffers by the location that the model gives; the session keeps them
    progress    called with a stage and a fraction from 0 to 1; what it raises ends loading
    log         called with a severity (0 verbose, 1 info, 2 warning) and words; without, Python's logger "cameo" is
    log_level   the least severity that is reported: "verbose", "info" or "warning", which is the default
    stop        a Stop that ends loading

    Raises NoSuchFile, InvalidProtobuf, InvalidGraph and InvalidArgument for what is wrong with the file or the options,
    NotImplemented for a node that no provider takes, ModelLoadCanceled by the stop. It pickles by model and options.
    """

    def __init__(
        self, model: Any, providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None, **options: Any
    ) -> None:
        source = source_of(model)
        keywords = normalized(providers, **options)
        super().__init__(source, "model", keywords)
        kept = {key: value for key, value in options.items() if key not in ("progress", "stop")}
        self._made_of = (source, providers, kept)
        self.inputs: tuple[Info, ...] = infos(self._inputs)
        self.outputs: tuple[Info, ...] = infos(self._outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        source, providers, options = self._made_of
        if not isinstance(source, str):
            source = bytes(source)
        return functools.partial(type(self), **options), (source, providers)

    async def run_async(self, inputs: Mapping[str, Any], *, timeout: float | None = None) -> dict[str, Any]:
        """run() in a thread of the event loop's executor. When the task is canceled, the run ends."""
        stop = _core.Stop()
        call = functools.partial(self.run, inputs, timeout, stop)
        try:
            return await asyncio.get_running_loop().run_in_executor(None, call)
        except asyncio.CancelledError:
            stop.request()
            raise

    def profile(self, path: str | os.PathLike[str] | None = None, *, capacity: int = 1 << 16) -> Profile:
        """Records the steps of all runs while the result is used as a context: `with session.profile("trace.json"):`.
        `capacity`: the number of steps that fit."""
        if capacity < 1:
            raise InvalidArgument(f"capacity is {capacity}, and needs to be at least 1")
        return Profile(self, path, capacity)

    @property
    def assignments(self) -> list[Assignment]:
        """Every node that runs, in order, with why no earlier provider took it."""
        return [Assignment(*each) for each in self._placements(True)]

    @property
    def metadata(self) -> dict[str, Any]:
        """What the model says about itself: producer_name, version, opsets, custom_metadata_map and so on."""
        return self._metadata()

    def __repr__(self) -> str:
        source = self._made_of[0] if isinstance(self._made_of[0], str) else "bytes"
        return f"<cameo.Session of {source!r} on {', '.join(self.providers)}>"


if Session.__doc__:  # python -OO has none
    Session.__doc__ = Session.__doc__.replace("OPTIONS", described())
