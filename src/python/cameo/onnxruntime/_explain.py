"""Adds onnxruntime's messages to cameo's errors, because programs that use onnxruntime search for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..errors import InvalidArgument, InvalidGraph
from ._values import OrtValue

if TYPE_CHECKING:
    from ._inner import InnerSession


def missing_inputs(session: InnerSession, feed: Mapping[str, Any]) -> InvalidArgument | None:
    """The error for missing inputs of a run; None if no input is missing."""
    missing = [each.name for each in session._needed if each.name not in feed and not each.optional]
    if not missing:
        return None
    return InvalidArgument(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")


# The message about an argument of a type that its operator does not allow.
_ARGUMENT_TYPE = re.compile(
    r"(?:node '(?P<node>[^']*)'|the node that makes '[^']*') \((?:[^,()]*\.)?(?P<op>[^,().]+), opset \d+\): "
    r"(?P<what>input|output) '[^']*' \('(?P<argument>[^']*)'\) is (?P<type>[^;]*); '[^']*' allows "
)

# The message about a file of external data that is not in the model's folder.
_EXTERNAL_DATA = re.compile(r"tensor '([^']*)' [^:]*: external data '[^']*' (?:leads out of|is absolute|cannot be opened)")


def explained_graph(error: InvalidGraph) -> InvalidGraph:
    """The error with onnxruntime's message if it is about an unknown operator, the type of a node's argument, or a file
    of external data."""
    if found := re.search(r"there is no operator '([^']*)' in domain '([^']*)'", error.words):
        return InvalidGraph(f"{found[2]}:{found[1]}(-1) is not a registered function/op ({error.words})")
    if found := _ARGUMENT_TYPE.search(error.words):
        return InvalidGraph(
            f"Type Error: Type '{found['type']}' of {found['what']} parameter ({found['argument']}) of operator "
            f"({found['op']}) in node ({found['node'] or ''}) is invalid. ({error.words})"
        )
    if found := _EXTERNAL_DATA.search(error.words):
        return InvalidGraph(f"External data path validation failed for initializer: {found[1]}. Error: {error.words}")
    return error


def map_fault(info: Any, value: Any) -> InvalidArgument | None:
    """The error, in onnxruntime's words, for a dictionary whose keys or values have other types than the map that the
    input `info` describes; None if they fit. Without it cameo.Session would convert them: 7 to '7', and None to NaN."""
    if not isinstance(value, dict):
        return None
    key, _, element = info.type.removeprefix("map(").removesuffix("))").partition(",tensor(")
    texts, integers = (str,), (int, numpy.integer)
    wanted, other, other_key = (texts, integers, "int64") if key == "string" else (integers, texts, "string")
    given = set(map(type, value))
    if wrong := [each for each in given if not issubclass(each, wanted)]:
        if all(issubclass(each, other) for each in given):
            actual = info.type.replace(key, other_key, 1)
            return InvalidArgument(f"Unexpected input data type. Actual: (({actual})) , expected: (({info.type}))")
        return _mismatch(info, "key", wrong[0], key if key == "string" else f"{key}_t")
    wrong = [each for each in set(map(type, value.values())) if issubclass(each, (str, bytes, type(None)))]
    return _mismatch(info, "value", wrong[0], element) if wrong and element != "string" else None


def _mismatch(info: Any, what: str, given: type, wanted: str) -> InvalidArgument:
    return InvalidArgument(
        f"Unexpected {what} type  {given}, it cannot be linked to C type {wanted} for input '{info.name}'."
    )


def _fault(info: Any, value: Any) -> str | None:
    if not isinstance(value, numpy.ndarray) or info.shape is None:
        return None
    try:
        given = OrtValue._of(value).data_type()
    except InvalidArgument:
        return None
    if given != info.type:
        return f"Unexpected input data type. Actual: ({given}) , expected: ({info.type})"
    if value.ndim != len(info.shape):
        return (
            f"Invalid rank for input: {info.name} Got: {value.ndim} Expected: {len(info.shape)} "
            "Please fix either the inputs/outputs or the model."
        )
    wrong = [
        f" index: {i} Got: {got} Expected: {wanted}"
        for i, (got, wanted) in enumerate(zip(value.shape, info.shape, strict=True))
        if isinstance(wanted, int) and got != wanted
    ]
    if not wrong:
        return None
    return "\n".join(
        [f"Got invalid dimensions for input: {info.name} for the following indices", *wrong]
    ) + "\n Please fix either the inputs/outputs or the model."


def explained(
    error: InvalidArgument, session: InnerSession, output_names: Sequence[str] | None, feed: Mapping[str, Any]
) -> InvalidArgument:
    """The error with onnxruntime's message if it is about the inputs or the names of outputs."""
    if missing := missing_inputs(session, feed):
        return missing
    known = {each.name: each for each in session.cameo_session.inputs}
    outputs = [each.name for each in session.cameo_session.outputs]
    faults = [f"Invalid input name: {name}" for name in feed if name not in known]
    faults += [f"Invalid output name:{name}" for name in output_names or () if name not in outputs]
    faults += [fault for name, value in feed.items() if name in known and (fault := _fault(known[name], value))]
    return InvalidArgument(f"{faults[0]} ({error.words})") if faults else error
