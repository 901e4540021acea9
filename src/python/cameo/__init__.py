"""cameo runs ONNX models.

    import cameo
    session = cameo.Session("digits.onnx")
    outputs = session.run({"image": pixels})     # arrays by name, in and out

Errors are exceptions of cameo.errors. cameo.onnxruntime is an interface with onnxruntime's names, cameo.backend one for
ONNX's backend tests. docs/python.md describes the package.
"""

from . import errors
from ._core import Binding, Stop, Value, __version__
from ._session import Assignment, Info, Profile, Session, SparseTensor
from ._tools import (
    Device,
    Inspection,
    Package,
    Pipeline,
    Provider,
    Variant,
    compile,  # noqa: A004
    convert,
    devices,
    inspect,
    providers,
)
from .errors import Error

__all__ = [
    "Assignment",
    "Binding",
    "Device",
    "Error",
    "Info",
    "Inspection",
    "Package",
    "Pipeline",
    "Profile",
    "Provider",
    "Session",
    "SparseTensor",
    "Stop",
    "Value",
    "Variant",
    "__version__",
    "compile",
    "convert",
    "devices",
    "errors",
    "inspect",
    "providers",
]
