#!/usr/bin/env python3
"""RNN, GRU and LSTM of random sizes, lengths, directions, layouts and activations against onnxruntime.

For the options of the long campaign see tests/program/differential.py.
"""
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
    """The names of activations, with alphas and betas for all activations that have them, or without any."""
    names = [str(rng.choice(ACTIVATIONS)) for _ in range(FUNCTIONS[op] * directions)]
    if rng.random() < 0.5:
        return names, None, None
    return (names, [float(rng.uniform(0.1, 1.2)) for n in names if n in TAKES_ALPHA] or None,
            [float(rng.uniform(0.1, 1.2)) for n in names if n in TAKES_BETA] or None)


NUMBERS = {"Relu": lambda x, a, b: np.maximum(x, 0), "Tanh": lambda x, a, b: np.tanh(x),
           "Sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)), "Affine": lambda x, a, b: a * x + b,
           "LeakyRelu": lambda x, a, b: np.where(x < 0, a * x, x), "ThresholdedRelu": lambda x, a, b: np.where(x > a, x, 0),
           "ScaledTanh": lambda x, a, b: a * np.tanh(b * x), "HardSigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
           "Elu": lambda x, a, b: np.where(x < 0, a * (np.exp(x) - 1), x), "Softsign": lambda x, a, b: x / (1 + np.abs(x)),
           "Softplus": lambda x, a, b: np.logaddexp(0, x)}
PRESET = {"LeakyRelu": (0.01, 0), "HardSigmoid": (0.2, 0.5), "Elu": (1, 0)}  # in onnxruntime, 0 for the others


def functions_of(op, directions, names, alphas, betas):
    """The activations of each direction, each as a function of its clipped input."""
    names = names or {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}[op] * directions
    alphas, betas, made = list(alphas or []), list(betas or []), []
    for name in names:
        a, b = PRESET.get(name, (0, 0))
        if name in TAKES_ALPHA and alphas:
            a = alphas.pop(0)
        if name in TAKES_BETA and betas:
            b = betas.pop(0)
        made.append(lambda x, f=NUMBERS[name], a=a, b=b: f(x, a, b))
    return [made[i:i + FUNCTIONS[op]] for i in range(0, len(made), FUNCTIONS[op])]


def step_of(op, x, h, c, w, r, bias, p, act, clip, given):
    """The next h and c of one row by the equations of ONNX's documentation."""
    n, cut = len(h), (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
    xs, hs = x @ w.T + bias[:len(w)], h @ r.T + bias[len(w):]
    if op == "RNN":
        return act[0](cut(xs + hs)), c
    x_of, h_of = ([v[i * n:(i + 1) * n] for i in range(GATES[op])] for v in (xs, hs))
    if op == "GRU":
        z, reset = act[0](cut(x_of[0] + h_of[0])), act[0](cut(x_of[1] + h_of[1]))
        inner = reset * h_of[2] if given["linear_before_reset"] else (reset * h) @ r[2 * n:].T + bias[len(w) + 2 * n:]
        return (1 - z) * act[1](cut(x_of[2] + inner)) + z * h, c
    i = act[0](cut(x_of[0] + h_of[0] + p[:n] * c))
    f = 1 - i if given["input_forget"] else act[0](cut(x_of[2] + h_of[2] + p[2 * n:] * c))
    new = f * c + i * act[1](cut(x_of[3] + h_of[3]))
    o = act[0](cut(x_of[1] + h_of[1] + p[n:2 * n] * new))
    return o * act[2](new), new  # onnxruntime does not clip the cell state


def numpy_outputs(op, inputs, outputs, direction, activations, clip, given):
    """The definition in doubles, which neither overflow nor round as floats do."""
    x, w, r, bias, lengths, h0, c0, p = [None if v is None else v.astype("f8" if v.dtype.kind == "f" else "i8")
                                         for v in [*inputs, None, None]][:8]
    directions, hidden, (steps, batch, _) = len(w), r.shape[2], x.shape
    functions = functions_of(op, directions, *activations)
    y = np.zeros((steps, directions, batch, hidden))
    last = [np.zeros((directions, batch, hidden)) if v is None else v.copy() for v in (h0, c0)]
    for k in range(directions):
        backwards = direction == "reverse" or k == 1
        for row in range(batch):
            length = steps if lengths is None else int(lengths[row])
            h, c = last[0][k, row], last[1][k, row]
            if lengths is not None and length == 0:
                h, c = np.zeros(hidden), np.zeros(hidden)
            for t in range(length)[::-1] if backwards else range(length):
                h, c = step_of(op, x[t, row], h, c, w[k], r[k], np.zeros(2 * len(w[k])) if bias is None else bias[k],
                               np.zeros(3 * hidden) if p is None else p[k], functions[k], clip, given)
                y[t, k, row] = h
            last[0][k, row], last[1][k, row] = h, c
    return {name: v.astype("f4") for name, v in zip(["y", "h", "c"], [y, *last]) if name in outputs}


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
        opset, constant = int(rng.choice([7, 14, 22])), ((), (1, 2, 3))[rng.integers(2)]
        given = {"linear_before_reset": int(rng.integers(2)) if op == "GRU" else None,
                 "input_forget": int(rng.random() < 0.2) if op == "LSTM" else None}
        return d.one_node(op, x, outputs, opset=opset, hidden_size=hidden, direction=direction, constant=constant,
                          clip=clip, activations=names, activation_alpha=alphas, activation_beta=betas, **given,
                          oracle=lambda: numpy_outputs(op, x, outputs, direction, (names, alphas, betas), clip, given),
                          rtol=1e-4, atol=1e-5)
    return make


def without_steps(op, direction):
    """A case in which one of two sequences has no step."""
    ones, gates = np.ones((1, 2, 1), "f4"), GATES[op]
    return d.one_node(op, [np.ones((3, 2, 1), "f4"), np.ones((1, gates, 1), "f4"), np.ones((1, gates, 1), "f4"), None,
                           np.array([0, 2], "i4"), ones] + ([ones] if op == "LSTM" else []), ["y", "h"], opset=14,
                      hidden_size=1, direction=direction, name=f"{op} {direction}")


FAMILIES = {op: (recurrent(op), 1500) for op in GATES}
ALWAYS = [without_steps(op, direction) for op in GATES for direction in ("forward", "reverse")]

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES, ALWAYS))
