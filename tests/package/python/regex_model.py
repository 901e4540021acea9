"""Writes a model of one RegexFullMatch, whose only input is a constant: regex_model.py FILE"""
import sys

import onnx
from onnx import helper

words = helper.make_tensor("words", onnx.TensorProto.STRING, [2], [b"cameo", b"came"])
node = helper.make_node("RegexFullMatch", ["words"], ["found"], "find", pattern="came.")
found = helper.make_tensor_value_info("found", onnx.TensorProto.BOOL, [2])
made = helper.make_model(helper.make_graph([node], "regex", [], [found], [words]),
                         opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
onnx.save(made, sys.argv[1])
