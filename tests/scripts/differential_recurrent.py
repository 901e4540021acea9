#!/usr/bin/env python3
"""RNN, GRU and LSTM of random sizes, lengths, directions, layouts and activations against onnxruntime.

Options of the long campaign: see tests/program/differential.py.
"""
# not with a sanitizer: onnxruntime is not built with one
import os
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
ACTIVATIONS = ["Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu",
               "Softsign", "Softplus"]
TAKES_ALPHA = {"Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"}
TAKES_BETA = {"Affine", "ScaledTanh", "HardSigmoid"}


def chosen_activations(rng, op, directions):
    """Names, and alphas and betas for all of those that take one, or none at all."""
    names = [str(rng.choice(ACTIVATIONS)) for _ in range(FUNCTIONS[op] * directions)]
    if rng.random() < 0.5:
        return names, None, None
    return (names, [float(rng.uniform(0.1, 1.2)) for n in names if n in TAKES_ALPHA] or None,
            [float(rng.uniform(0.1, 1.2)) for n in names if n in TAKES_BETA] or None)


def recurrent(op):
    def make(rng):
        direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
        directions = 2 if direction == "bidirectional" else 1
        length, batch, inputs, hidden = (int(rng.integers(1, n)) for n in (7, 5, 5, 6))

        def numbers(*shape):
            return rng.uniform(-1, 1, shape).astype("f4")

        def perhaps(made, chance=0.5):
            return made if rng.random() < chance else None

        gates = GATES[op]
        names, alphas, betas = chosen_activations(rng, op, directions) if rng.random() < 0.4 else (None, None, None)
        x = [numbers(length, batch, inputs), numbers(directions, gates * hidden, inputs) / 2,
             numbers(directions, gates * hidden, hidden) / 2, perhaps(numbers(directions, 2 * gates * hidden)),
             perhaps(rng.integers(0, length + 1, batch).astype("i4"), 0.6),
             perhaps(numbers(directions, batch, hidden))]
        if op == "LSTM":
            x += [perhaps(numbers(directions, batch, hidden)), perhaps(numbers(directions, 3 * hidden))]
        outputs = ["y", "h", "c"][:3 if op == "LSTM" else 2]
        outputs = [o if rng.random() < 0.8 else "" for o in outputs]
        if not any(outputs):
            outputs[0] = "y"
        clip = float(rng.uniform(0.1, 1)) if rng.random() < 0.3 else None
        return d.one_node(op, x, outputs, opset=int(rng.choice([7, 14, 22])), hidden_size=hidden, direction=direction,
                          constant=((), (1, 2, 3))[rng.integers(2)],
                          clip=clip, activations=names, activation_alpha=alphas, activation_beta=betas,
                          linear_before_reset=int(rng.integers(2)) if op == "GRU" else None,
                          input_forget=int(rng.random() < 0.2) if op == "LSTM" else None, rtol=1e-4, atol=1e-5)
    return make


def without_steps(op, direction):
    """One of two sequences has no step."""
    ones, gates = np.ones((1, 2, 1), "f4"), GATES[op]
    return d.one_node(op, [np.ones((3, 2, 1), "f4"), np.ones((1, gates, 1), "f4"), np.ones((1, gates, 1), "f4"), None,
                           np.array([0, 2], "i4"), ones] + ([ones] if op == "LSTM" else []), ["y", "h"], opset=14,
                      hidden_size=1, direction=direction, name=f"{op} {direction}")


FAMILIES = {op: (recurrent(op), 1500) for op in GATES}
ALWAYS = [without_steps(op, direction) for op in GATES for direction in ("forward", "reverse")]

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES, ALWAYS))
