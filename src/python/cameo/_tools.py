"""Functions for files: compiling, converting and inspecting models, and model packages."""

from __future__ import annotations

import html
import os
from typing import Any, NamedTuple

from . import _core
from ._options import normalized, path_text
from ._session import Info, Session, infos, source_of


class Provider(NamedTuple):
    """A provider of this build."""

    name: str
    long_name: str


class Device(NamedTuple):
    """A device that a provider can use here; `kind` is 'cpu', 'gpu' or 'npu'."""

    provider: str
    long_name: str
    kind: str
    name: str
    vendor: str


def providers() -> list[Provider]:
    """The providers of this build, in order of priority; the last is the fallback."""
    return [Provider(*each) for each in _core.providers()]


def devices() -> list[Device]:
    """The devices of the providers on this machine, in the providers' order."""
    return [Device(*each) for each in _core.devices()]


def compile(  # noqa: A001 - the name of the command
    model: Any, target: str | os.PathLike[str], providers: Any = None, *, embed: bool = False, **options: Any
) -> int:
    """Compiles a model for providers and writes it (docs/contexts.md). Groups of nodes become nodes with a compiled
    program, so that loading does not compile them again. `embed`: the programs are stored in the model, not in files
    beside it. Options are those of Session. Returns the number of nodes with a program."""
    options.setdefault("optimize", "basic")
    return _core.compile(source_of(model), path_text(target), embed, normalized(providers, **options))


def convert(model: Any, target: str | os.PathLike[str], *, optimize: str | int = "none", **options: Any) -> None:
    """Writes a model as .onnx or .ort, by the target's extension, optimized at level `optimize`. The providers must
    have kernels for all nodes. Optimizations for this machine's processor only are not applied. Options are those of
    Session."""
    path = path_text(target)
    config = dict(options.pop("config", None) or {})
    config.setdefault("optimization.disable_specified_optimizers", "NchwcTransformer")
    config |= {
        "session.optimized_model_filepath": path,
        "session.save_model_format": "ORT" if path.endswith(".ort") else "ONNX",
        "session.disable_prepacking": "1",
    }
    Session(model, optimize=optimize, config=config, **options)


class Inspection:
    """The contents of a model and the providers of its nodes. A notebook displays the graph (_repr_html_)."""

    def __init__(self, session: Session, name: str) -> None:
        self._session, self._name = session, name
        counts = session._counts()
        self.ops: dict[str, int] = counts["ops"]
        """the number of nodes of each operator"""
        self.providers: dict[str, int] = counts["providers"]
        """the number of nodes that run on each provider"""
        self.parameters: int = counts["parameters"]
        self.parameter_bytes: int = counts["parameter_bytes"]
        self.arena_bytes: int = counts["arena_bytes"]
        """the memory of a run for values of known shape"""

    @property
    def html(self) -> str:
        """The page that `cameo inspect --html` writes; it refers to no other files."""
        return self._session._page(self._name)

    def _repr_html_(self) -> str:
        return f'<iframe style="width: 100%; height: 640px; border: 0" srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        lines = [f"model       {self._name}"]
        lines += [f"input       {each.name}  {each.type} {each.shape}" for each in self._session.inputs]
        lines += [f"output      {each.name}  {each.type} {each.shape}" for each in self._session.outputs]
        lines += [f"parameters  {self.parameters}, {self.parameter_bytes} bytes"]
        lines += [f"provider    {name}: {count} nodes" for name, count in self.providers.items()]
        return "\n".join(lines)


def inspect(model: Any, providers: Any = None, **options: Any) -> Inspection:
    """Inspects a model: a Session, or whatever Session takes."""
    if isinstance(model, Session):
        source = model._made_of[0]
        return Inspection(model, source if isinstance(source, str) else "model")
    source = source_of(model)
    return Inspection(Session(source, providers, **options), source if isinstance(source, str) else "model")


class Variant(NamedTuple):
    """A variant of a component, made for a provider and a device."""

    name: str
    provider: str | None
    device: str | None
    model_file: str | None


class Pipeline:
    """The components of a package as one model; of each, the variant that suits this machine. Any number of threads may
    run it."""

    def __init__(self, made: _core.Pipeline) -> None:
        self._made = made
        self.inputs: tuple[Info, ...] = infos(made._inputs)
        self.outputs: tuple[Info, ...] = infos(made._outputs)
        self.run = made.run


class Package:
    """A model package: a folder with components, each in variants for providers (docs/packages.md). Raises Fail for any
    error in it, with the file and the position."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._made = _core._Package.open(path_text(folder))
        self.folder: str = self._made.folder
        self.name: str | None = self._made.name
        self.version: str | None = self._made.version
        self.description: str | None = self._made.description
        self.components: dict[str, list[Variant]] = {
            name: [Variant(*each) for each in variants] for name, variants in self._made.components()
        }

    def load(self, providers: Any = None, **options: Any) -> Pipeline:
        """Loads all components as one model. Without providers and options, those of the package apply."""
        given = bool(providers or options)
        return Pipeline(self._made.load(given, normalized(providers, **options)))
