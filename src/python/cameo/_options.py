"""The options of Session, compile and Package.load, as keywords and as the compiled part takes them."""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import _core
from .errors import InvalidArgument

Progress = Callable[[str, float], object]
Log = Callable[[int, str], object]

OPTIONS: dict[str, tuple[str, str, str]] = _core.options
"""The table of docs/options.md: what stands for an option's value, what it does, and its default, by name."""
_OBJECTS = ("provider_options", "initializers", "external_files", "progress", "log", "stop")
_LOGGING = (logging.DEBUG, logging.INFO, logging.WARNING)


def to_logging(severity: int, words: str) -> None:
    """The default of `log`: messages go to Python's logger "cameo"."""
    logging.getLogger("cameo").log(_LOGGING[severity], "%s", words)


def path_text(path: str | bytes | os.PathLike[Any]) -> str:
    """A path as text; InvalidArgument for one with a null character, at which the system would end it."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise InvalidArgument(f"the path {text!r} has a null character")
    return text


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, int) else str(value)


def _items(name: str, given: Any) -> list[Any]:
    try:
        return list(given or ())
    except TypeError:
        raise InvalidArgument(f"{name} is {given!r}, which is no list") from None


def _pairs(name: str, given: Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> list[tuple[str, Any]]:
    pairs = _items(name, given.items() if isinstance(given, Mapping) else given)
    if not all(isinstance(each, (tuple, list)) and len(each) == 2 and isinstance(each[0], str) for each in pairs):
        raise InvalidArgument(f"{name} is {given!r}; it needs a dictionary, or pairs of a name and what it is")
    return [(key, value) for key, value in pairs]


def _provider(given: Any) -> tuple[str, Any]:
    name, options = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, {})
    if not isinstance(name, str):
        raise InvalidArgument(f"providers has {given!r}; each is a name, or a pair of a name and options")
    return name, options


def _provider_entries(providers: Sequence[str], options: Any) -> list[tuple[str, str]]:
    """Options of providers as entries of the configuration: by the provider's name, or in the order of `providers`."""
    long_names = {short: long for short, long in _core.providers()} | {long: long for _, long in _core.providers()}
    by_name = _items("provider_options", options.items() if isinstance(options, Mapping) else options)
    if not isinstance(options, Mapping):
        if len(by_name) > len(providers):
            raise InvalidArgument(f"provider_options has {len(by_name)} entries, for {len(providers)} providers")
        by_name = list(zip(providers, by_name, strict=False))
    entries = []
    for name, given in by_name:
        if name not in long_names:
            raise InvalidArgument(f"provider_options: this build has no provider {name!r}; it has {', '.join(long_names)}")
        entries += [(f"ep.{long_names[name].lower()}.{key}", _text(value)) for key, value in _pairs("provider_options", given)]
    return entries


def _texts(name: str, given: Any) -> list[tuple[str, str]]:
    """The texts that set an option by its row of the table."""
    if name not in OPTIONS:
        near = difflib.get_close_matches(name, [*OPTIONS, *_OBJECTS], 1)
        raise TypeError(f"there is no option {name!r}" + "".join(f"; did you mean {each!r}?" for each in near))
    if given is None:
        return []
    value = OPTIONS[name][0]
    if "=" in value:
        return [(name, f"{key}={_text(each)}") for key, each in _pairs(name, given)]
    return [(name, path_text(given) if value == "FOLDER" else _text(given))]


def described() -> str:
    """The options of the table, a line each, for the documentation of Session."""
    lines = []
    for name, (value, words, initial) in OPTIONS.items():
        if name not in ("providers", "config", "log_level"):
            choices = f" ({value.replace('|', ', ')})" if "|" in value else ""
            lines.append(f"{name:<10}  {words}{choices}" + (f"; default: {initial}" if initial else ""))
    return "\n    ".join(lines)


def normalized(
    providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None,
    *,
    provider_options: Mapping[str, Mapping[str, Any]] | Sequence[Mapping[str, Any]] | None = None,
    initializers: Mapping[str, Any] | None = None,
    external_files: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
    stop: _core.Stop | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The keywords of a Session as the compiled part takes them: `options` are texts, in the order in which they are set."""
    if isinstance(providers, str):
        providers = [providers]
    for name, given in (("log", log), ("progress", progress)):
        if given is not None and not callable(given):
            raise InvalidArgument(f"{name} is {given!r}, which cannot be called")
    chosen = [_provider(each) for each in _items("providers", providers)]
    named = [name for name, _ in chosen]
    entries = _provider_entries(named, provider_options)
    for name, given in chosen:
        if given:
            entries += _provider_entries(named, {name: given})
    options = {"log_level": "warning", **options}
    return {
        "options": [("providers", name) for name in named] + [text for each in options.items() for text in _texts(*each)]
        + [("config", f"{key}={value}") for key, value in entries],
        "initializers": _pairs("initializers", initializers),
        "external_files": [(path_text(name), data) for name, data in _pairs("external_files", external_files)],
        "progress": progress,
        "log": log or to_logging,
        "stop": stop,
    }
