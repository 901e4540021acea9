"""The names of onnxruntime_pybind11_state, which onnxruntime also has in this module."""

from typing import TYPE_CHECKING

from .onnxruntime_pybind11_state import *  # noqa: F403
from .onnxruntime_pybind11_state import __all__  # noqa: F401

if not TYPE_CHECKING:
    from .onnxruntime_pybind11_state import __getattr__  # noqa: F401
