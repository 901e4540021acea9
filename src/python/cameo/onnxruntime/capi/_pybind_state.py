"""The same as onnxruntime_pybind11_state, where onnxruntime has it a second time."""

from .onnxruntime_pybind11_state import *  # noqa: F403
from .onnxruntime_pybind11_state import __all__, __getattr__  # noqa: F401
