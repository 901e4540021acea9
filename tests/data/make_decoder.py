"""Writes decoder.onnx: a small GPT-like decoder with a key/value cache that may be empty and grows by a token a step.

Usage: python make_decoder.py [OUT.onnx]        (needs onnx and numpy; the result is committed)

Inputs: input_ids int64 [1, 1]; past_key_L, past_value_L float [1, heads, past, 16] for each layer L.
Outputs: logits float [1, 1, vocabulary]; present_key_L, present_value_L [1, heads, past + 1, 16].
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, HEAD, VOCABULARY = 2, 4, 16, 64
WIDTH = HEADS * HEAD

random = np.random.default_rng(7)
nodes, constants = [], []


def constant(array, name):
    constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    return name


def weight(name, *shape):
    return constant((random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32), name)


def op(kind, inputs, name, **attributes):
    nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
    return name


def linear(x, name, width_in, width_out):
    product = op("MatMul", [x, weight(name + ".weight", width_in, width_out)], name + ".product")
    return op("Add", [product, weight(name + ".bias", width_out)], name)


def normalised(x, name):
    ones = constant(np.ones(WIDTH, np.float32), name + ".scale")
    return op("LayerNormalization", [x, ones, constant(np.zeros(WIDTH, np.float32), name + ".bias")], name, axis=-1)


def heads_of(x, name):
    split = op("Reshape", [x, "head_shape"], name + ".split")
    return op("Transpose", [split], name, perm=[0, 2, 1, 3])


constant(np.array([1, -1, HEADS, HEAD], np.int64), "head_shape")
constant(np.array([1, -1, WIDTH], np.int64), "flat_shape")
constant(np.float32(1 / np.sqrt(HEAD)), "scale")
inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, 1])]
outputs = []
x = op("Gather", [weight("embedding", VOCABULARY, WIDTH), "input_ids"], "embedded", axis=0)
for layer in range(LAYERS):
    name = f"layer{layer}"
    h = normalised(x, name + ".norm1")
    q = heads_of(linear(h, name + ".q", WIDTH, WIDTH), name + ".queries")
    present = {}
    for kind in ("key", "value"):
        new = heads_of(linear(h, f"{name}.{kind}", WIDTH, WIDTH), f"{name}.{kind}s")
        past = f"past_{kind}_{layer}"
        inputs.append(helper.make_tensor_value_info(past, TensorProto.FLOAT, [1, HEADS, "past", HEAD]))
        present[kind] = op("Concat", [past, new], f"present_{kind}_{layer}", axis=2)
        outputs.append(helper.make_tensor_value_info(present[kind], TensorProto.FLOAT, [1, HEADS, "total", HEAD]))
    turned = op("Transpose", [present["key"]], name + ".turned", perm=[0, 1, 3, 2])
    scores = op("Mul", [op("MatMul", [q, turned], name + ".scores"), "scale"], name + ".scaled")
    mixed = op("MatMul", [op("Softmax", [scores], name + ".attention", axis=-1), present["value"]], name + ".mixed")
    joined = op("Transpose", [mixed], name + ".joined", perm=[0, 2, 1, 3])
    flat = op("Reshape", [joined, "flat_shape"], name + ".flat")
    x = op("Add", [x, linear(flat, name + ".out", WIDTH, WIDTH)], name + ".residual1")
    h = op("Relu", [linear(normalised(x, name + ".norm2"), name + ".up", WIDTH, 4 * WIDTH)], name + ".relu")
    x = op("Add", [x, linear(h, name + ".down", 4 * WIDTH, WIDTH)], name + ".residual2")
op("MatMul", [normalised(x, "norm"), weight("head", WIDTH, VOCABULARY)], "logits")
outputs.insert(0, helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1, VOCABULARY]))

graph = helper.make_graph(nodes, "decoder", inputs, outputs, constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="cameo tests")
model.ir_version = 8
onnx.checker.check_model(model)
out = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("decoder.onnx")
onnx.save(model, out)
