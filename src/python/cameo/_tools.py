"""What works on files: compiling, converting, looking into models, packages."""

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
    """The providers of this build, in order; the last is the fallback."""
    return [Provider(*each) for each in _core.providers()]


def devices() -> list[Device]:
    """The devices of the providers on this machine, in the providers' order."""
    return [Device(*each) for each in _core.devices()]


def compile(  # noqa: A001 - the name of the command
    model: Any, target: str | os.PathLike[str], providers: Any = None, *, embed: bool = False, **options: Any
) -> int:
    """Compiles a model for providers and writes it: groups of nodes become nodes that hold a compiled program, and load
    again without compiling (docs/contexts.md). `embed`: contexts inside the model, not in files beside it. Options are
    those of Session; returns how many nodes hold a program."""
    options.setdefault("optimize", "basic")
    return _core.compile(source_of(model), path_text(target), embed, normalized(providers, **options))


def convert(model: Any, target: str | os.PathLike[str], *, optimize: str | int = "none", **options: Any) -> None:
    """Writes a model as .onnx or .ort, by the target's name, rewritten as far as `optimize` says; the providers must take
    every node. What would suit this processor alone is left out. Options are those of Session."""
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
    """What is in a model and where it runs. A notebook shows the page with the graph drawn (_repr_html_)."""

    def __init__(self, session: Session, name: str) -> None:
        self._session, self._name = session, name
        counts = session._counts()
        self.ops: dict[str, int] = counts["ops"]
        """how many nodes of each operator"""
        self.providers: dict[str, int] = counts["providers"]
        """how many nodes run on each"""
        self.parameters: int = counts["parameters"]
        self.parameter_bytes: int = counts["parameter_bytes"]
        self.arena_bytes: int = counts["arena_bytes"]
        """for values of known shape, in a run"""

    @property
    def html(self) -> str:
        """The page that `cameo inspect --html` writes, which needs nothing else."""
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
    """Looks into a model: a Session, or what Session takes."""
    if isinstance(model, Session):
        source = model._made_of[0]
        return Inspection(model, source if isinstance(source, str) else "model")
    source = source_of(model)
    return Inspection(Session(source, providers, **options), source if isinstance(source, str) else "model")


class Variant(NamedTuple):
    """One precompiled form of a component."""

    name: str
    provider: str | None
    device: str | None
    model_file: str | None


class Pipeline:
    """The components of a package, each in the variant that runs here, as one model. Any number of threads may run it."""

    def __init__(self, made: _core.Pipeline) -> None:
        self._made = made
        self.inputs: tuple[Info, ...] = infos(made._inputs)
        self.outputs: tuple[Info, ...] = infos(made._outputs)
        self.run = made.run


class Package:
    """A model package: a folder with components, each in variants for providers (docs/packages.md). Raises Fail, naming file
    and place, for any error in it."""

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
        """All components as one model, with the package's options unless providers or options are given."""
        given = bool(providers or options)
        return Pipeline(self._made.load(given, normalized(providers, **options)))
