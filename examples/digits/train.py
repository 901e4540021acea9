#!/usr/bin/env python3
"""Trains the quickstart's model on scikit-learn's handwritten digits, and writes the files that the example reads.

Usage: train.py [OUT_DIR]      (default: this folder; needs numpy, scikit-learn and onnx)

  digits.onnx       image [batch, 1, 8, 8] in 0..1 -> logits and probabilities [batch, 10]
  test_images.npy   images that were not used for training, float32 [count, 1, 8, 8]
  test_labels.npy   their digits, int64 [count]

The network is a 3x3 convolution, 2x2 max pooling and a dense layer. It is trained with numpy and hand-written
backpropagation, so that the seed always gives the same files on the same machine.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

CHANNELS = 16
HELD_BACK = 360  # a fifth of the data, not used for training
EPOCHS = 40
BATCH = 32


def patches(images):
    """Returns the 3x3 window around each pixel, with zeros outside of the image: [n, 8, 8] -> [n, 8, 8, 9]."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    return np.stack([padded[:, i:i + 8, j:j + 8] for i in range(3) for j in range(3)], axis=-1)


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class Network:
    """Conv 3x3 -> Relu -> MaxPool 2x2 -> dense layer, and the gradient of its cross entropy."""

    def __init__(self, random):
        self.parameters = {
            "conv_weight": random.normal(0, np.sqrt(2 / 9), (9, CHANNELS)),
            "conv_bias": np.full(CHANNELS, 0.01),  # not 0, where relu has no derivative and white pixels would be
            "dense_weight": random.normal(0, np.sqrt(1 / (16 * CHANNELS)), (16 * CHANNELS, 10)),
            "dense_bias": np.zeros(10),
        }

    def forward(self, images):
        p = self.parameters
        near = patches(images)
        convolved = np.maximum(near @ p["conv_weight"] + p["conv_bias"], 0)
        blocks = convolved.reshape(-1, 4, 2, 4, 2, CHANNELS).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 4, 4, CHANNELS, 4)
        # Channels come first, because ONNX's Flatten has this order.
        pooled = blocks.max(axis=-1).transpose(0, 3, 1, 2).reshape(len(images), -1)
        return near, convolved, blocks, pooled, pooled @ p["dense_weight"] + p["dense_bias"]

    def gradient(self, images, labels):
        p = self.parameters
        near, convolved, blocks, pooled, logits = self.forward(images)
        d_logits = softmax(logits)
        d_logits[np.arange(len(labels)), labels] -= 1
        d_logits /= len(labels)
        d_pooled = (d_logits @ p["dense_weight"].T).reshape(-1, CHANNELS, 4, 4).transpose(0, 2, 3, 1)
        winner = np.arange(4) == blocks.argmax(axis=-1)[..., None]  # the first of equal elements, as argmax
        d_blocks = winner * d_pooled[..., None]
        d_convolved = d_blocks.reshape(-1, 4, 4, CHANNELS, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(convolved.shape)
        d_convolved = d_convolved * (convolved > 0)
        return {
            "conv_weight": np.einsum("nhwk,nhwc->kc", near, d_convolved),
            "conv_bias": d_convolved.sum(axis=(0, 1, 2)),
            "dense_weight": pooled.T @ d_logits,
            "dense_bias": d_logits.sum(axis=0),
        }


def check_gradient(network, images, labels):
    """Compares the hand-written gradient with finite differences of the loss."""

    def loss():
        probabilities = softmax(network.forward(images)[-1])
        return -np.log(probabilities[np.arange(len(labels)), labels]).mean()

    for name, gradient in network.gradient(images, labels).items():
        weights = network.parameters[name]
        for place in [(0,) * weights.ndim, tuple(n // 2 for n in weights.shape)]:
            kept, step = weights[place], 1e-5
            weights[place] = kept + step
            above = loss()
            weights[place] = kept - step
            slope = (above - loss()) / (2 * step)
            weights[place] = kept
            assert abs(slope - gradient[place]) < 1e-6 + 1e-3 * abs(slope), (name, slope, gradient[place])


def train(images, labels, random):
    network = Network(random)
    check_gradient(network, images[:16], labels[:16])
    speed = {name: np.zeros_like(value) for name, value in network.parameters.items()}
    for epoch in range(EPOCHS):
        rate = 0.1 * 0.5 ** (epoch // 10)
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            picked = order[start:start + BATCH]
            for name, gradient in network.gradient(images[picked], labels[picked]).items():
                speed[name] = 0.9 * speed[name] - rate * gradient
                network.parameters[name] += speed[name]
    return network


def accuracy(network, images, labels):
    return float((network.forward(images)[-1].argmax(axis=1) == labels).mean())


def to_onnx(network):
    p = {name: value.astype(np.float32) for name, value in network.parameters.items()}
    weights = {
        "conv_weight": p["conv_weight"].T.reshape(CHANNELS, 1, 3, 3),
        "conv_bias": p["conv_bias"],
        "dense_weight": p["dense_weight"],
        "dense_bias": p["dense_bias"],
    }
    nodes = [
        helper.make_node("Conv", ["image", "conv_weight", "conv_bias"], ["edges"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["edges"], ["strokes"], name="relu"),
        helper.make_node("MaxPool", ["strokes"], ["pooled"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["pooled"], ["features"], name="flatten"),
        helper.make_node("Gemm", ["features", "dense_weight", "dense_bias"], ["logits"], name="dense"),
        helper.make_node("Softmax", ["logits"], ["probabilities"], name="softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 10]) for name in ("logits", "probabilities")],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="cameo digits example")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    random = np.random.default_rng(2026)
    data = load_digits()
    images, labels = data.images / 16, data.target
    order = random.permutation(len(images))
    held, used = order[:HELD_BACK], order[HELD_BACK:]
    network = train(images[used], labels[used], random)
    reached = accuracy(network, images[held], labels[held])
    print(f"{len(used)} images for training: {accuracy(network, images[used], labels[used]):.2%} right; "
          f"{len(held)} for testing: {reached:.2%} right")
    if reached < 0.96:
        sys.exit("the accuracy is too low: at least 96% of the test images must be right")
    onnx.save(to_onnx(network), out / "digits.onnx")
    np.save(out / "test_images.npy", images[held].astype(np.float32).reshape(-1, 1, 8, 8))
    np.save(out / "test_labels.npy", labels[held].astype(np.int64))


if __name__ == "__main__":
    main()
