"""The options of Session, compile and Package.load, as keywords and as the compiled part takes them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import _core
from .errors import InvalidArgument

Progress = Callable[[str, float], object]
Log = Callable[[int, str], object]

LEVELS = {"none": 0, "basic": 1, "extended": 2, "layout": 3, "all": 99}
SEVERITIES = {"verbose": 0, "info": 1, "warning": 2}
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


def _number(name: str, given: str | int, names: Mapping[str, int]) -> int:
    number = names.get(given) if isinstance(given, str) else given
    if number not in names.values():
        raise InvalidArgument(f"{name} is {given!r}; there are {', '.join(names)}")
    return int(number)  # type: ignore[arg-type]


def _text(value: object) -> str:
    return ("0", "1")[value] if isinstance(value, bool) else str(value)


def _items(name: str, given: Any) -> list[Any]:
    try:
        return list(given or ())
    except TypeError:
        raise InvalidArgument(f"{name} is {given!r}, which is no list") from None


def _pairs(name: str, given: Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> list[tuple[str, Any]]:
    pairs = _items(name, given.items() if isinstance(given, Mapping) else given)
    if not all(isinstance(each, (tuple, list)) and len(each) == 2 for each in pairs):
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


def normalized(
    providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None,
    *,
    provider_options: Mapping[str, Mapping[str, Any]] | Sequence[Mapping[str, Any]] | None = None,
    threads: int = 0,
    config: Mapping[str, Any] | None = None,
    optimize: str | int = "all",
    parallel: bool = False,
    free_dims: Mapping[str, int] | None = None,
    free_dims_by_denotation: Mapping[str, int] | None = None,
    memory_limit: int = 0,
    policy: str | None = None,
    external_data_folder: str | os.PathLike[str] | None = None,
    initializers: Mapping[str, Any] | None = None,
    external_files: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    log: Log | None = None,
    log_level: str | int = "warning",
    stop: _core.Stop | None = None,
) -> dict[str, Any]:
    """The keywords of a Session as the compiled part takes them; their meaning is documented there."""
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
    return {
        "providers": named,
        "config": [(key, _text(value)) for key, value in _pairs("config", config)] + entries,
        "free_dims": _pairs("free_dims", free_dims),
        "free_dims_by_denotation": _pairs("free_dims_by_denotation", free_dims_by_denotation),
        "threads": threads,
        "memory_limit": memory_limit,
        "optimize": _number("optimize", optimize, LEVELS),
        "parallel": parallel,
        "policy": policy,
        "external_data_folder": path_text(external_data_folder) if external_data_folder else "",
        "initializers": _pairs("initializers", initializers),
        "external_files": [(path_text(name), data) for name, data in _pairs("external_files", external_files)],
        "progress": progress,
        "log": log or to_logging,
        "log_from": _number("log_level", log_level, SEVERITIES),
        "stop": stop,
    }
