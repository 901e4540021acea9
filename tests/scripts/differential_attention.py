#!/usr/bin/env python3
"""All variants of attention, rotary embeddings and layer normalizations against onnxruntime, in float and float16.
Functions of ONNX that have a body are also run as that body.

For the options of the long campaign see tests/program/differential.py.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
import differential as d  # noqa: E402

TOLERANCES = {"f4": (1e-4, 1e-5), "f2": (4e-3, 4e-3)}


def numbers(rng, kind, *shape):
    return rng.uniform(-1, 1, shape).astype(kind)


def float_type(rng):
    return str(rng.choice(["f4", "f2"]))


def perhaps(rng, made, chance=0.5):
    return made if rng.random() < chance else None


def mask_of(rng, kind, batch, heads, queries, keys):
    """A mask that broadcasts to [batch, heads, queries, keys]. Each query has a key: references differ on queries that
    have none."""
    whole = [batch, heads, queries, keys]
    shape = [n if rng.random() < 0.6 or i == 3 else 1 for i, n in enumerate(whole)][int(rng.integers(0, 3)):]
    if rng.random() < 0.5:
        shown = rng.random(shape) < 0.7
        shown[..., 0] = True
        return shown
    added = rng.uniform(-2, 2, shape).astype(kind)
    if rng.random() < 0.4:
        hidden = rng.random(shape) < 0.3
        hidden[..., 0] = False
        added[hidden] = -np.inf if rng.random() < 0.5 else np.finfo(kind).min
    return added


def attention_inputs(rng, kind, *, allow_past=True, rank=None):
    most = 90 if rng.random() < 0.15 else 9
    batch, kv_heads, queries = (int(rng.integers(1, n)) for n in (4, 4, most))
    heads = kv_heads * int(rng.integers(1, 4))
    keys = queries if rng.random() < 0.5 else int(rng.integers(1, most))
    size, value_size = (int(n) for n in rng.integers(1, most, 2))
    if rng.random() < 0.5:
        value_size = size
    rank = rank or int(rng.choice([3, 4]))
    past = int(rng.integers(1, 5)) if allow_past and rng.random() < 0.35 else 0
    if past and queries == 1:  # onnxruntime treats it as the next token, to which all keys are visible
        keys = 1

    def laid_out(n, length, wide):
        return numbers(rng, kind, batch, n, length, wide) if rank == 4 else numbers(rng, kind, batch, length, n * wide)

    inputs = [laid_out(heads, queries, size), laid_out(kv_heads, keys, size), laid_out(kv_heads, keys, value_size)]
    mask = perhaps(rng, mask_of(rng, kind, batch, heads, queries, past + keys), 0.6)
    olds = [numbers(rng, kind, batch, kv_heads, past, size), numbers(rng, kind, batch, kv_heads, past, value_size)]
    given = {"scale": perhaps(rng, float(rng.uniform(0.1, 1)), 0.3), "is_causal": perhaps(rng, 1, 0.5)}
    if rank == 3:
        given |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    return inputs + [mask] + (olds if past else [None, None]), given, bool(past), (batch, queries, keys)


def attention(rng):
    kind = float_type(rng)
    inputs, given, past, (batch, queries, keys) = attention_inputs(rng, kind)
    outputs = ["y", "k", "v"] if past else ["y"]
    given["softcap"] = perhaps(rng, float(rng.uniform(0.5, 3)), 0.3)
    opset = int(rng.choice([23, 24]))
    if rng.random() < 0.3:
        hides = given["is_causal"] or inputs[3] is not None
        # The scores of hidden keys differ: onnxruntime outputs its lowest number, ONNX's cases expect -inf.
        given["qk_matmul_output_mode"] = int(rng.choice([0, 1, 3] if hides else [0, 1, 2, 3]))
        outputs = outputs + ([] if past else ["", ""]) + ["scores"]
    rtol, atol = TOLERANCES[kind]
    return d.one_node("Attention", trimmed(inputs), outputs, opset=opset, rtol=rtol, atol=atol, **given)


def attention_with_lengths(rng):
    kind = float_type(rng)
    inputs, given, _, (batch, queries, keys) = attention_inputs(rng, kind, allow_past=False, rank=4)
    lengths = rng.integers(1, keys + 1, batch).astype("i8")
    if given["is_causal"]:
        lengths = np.maximum(lengths, min(queries, keys))
        if queries > keys:
            given["is_causal"] = None
    rtol, atol = TOLERANCES[kind]
    return d.one_node("Attention", inputs + [lengths], opset=24, rtol=rtol, atol=atol, **given)


def trimmed(inputs):
    while inputs and inputs[-1] is None:
        inputs = inputs[:-1]
    return inputs


def expanded(make):
    """The case with the function body of the node as a function of the model: a node without a kernel runs this way."""
    def made(rng):
        each = make(rng)
        graph, version = each.model.graph, each.model.opset_import[0].version
        node = graph.node[0]
        schema = onnx.defs.get_schema(node.op_type, version)
        types = {v.name: v.type for v in graph.input} | {
            t.name: helper.make_tensor_type_proto(t.data_type, list(t.dims)) for t in graph.initializer}
        of_inputs = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        function = onnx.FunctionProto()
        if schema.has_context_dependent_function:
            newest = max(v for v in schema.context_dependent_function_opset_versions if v <= version)
            function.ParseFromString(schema.get_context_dependent_function_with_opset_version(
                newest, node.SerializeToString(), of_inputs))
        else:
            newest = max(v for v in schema.function_opset_versions if v <= version)
            function.ParseFromString(schema.get_function_with_opset_version(newest))
            given = {a.name for a in node.attribute}
            node.attribute.extend(a.default_value for name, a in schema.attributes.items()
                                  if name not in given and a.default_value.name)
        # onnxruntime rejects calls of functions in which an input in the middle is left out.
        there = [i for i, name in enumerate(node.input) if name]
        left_out = {name for i, name in enumerate(function.input) if i not in there}
        for inner in function.node:
            inner.input[:] = ["" if name in left_out else name for name in inner.input]
        function.input[:] = [function.input[i] for i in there]
        function.output[:] = [function.output[i] for i, name in enumerate(node.output) if name]
        node.input[:], node.output[:] = [n for n in node.input if n], [n for n in node.output if n]
        function.domain = node.domain = "expanded"
        each.model.functions.append(function)
        each.model.opset_import.append(helper.make_opsetid("expanded", 1))
        del each.model.opset_import[0]
        each.model.opset_import.extend(function.opset_import)
        return each
    return made


def rotary_embedding(rng):
    kind, size = float_type(rng), 2 * int(rng.integers(1, 6))
    batch, heads, length = (int(rng.integers(1, n)) for n in (4, 4, 6))
    turned = 2 * int(rng.integers(1, size // 2 + 1)) if rng.random() < 0.4 else 0
    rank, most = int(rng.choice([3, 4])), length + 3
    x = numbers(rng, kind, batch, heads, length, size) if rank == 4 else numbers(rng, kind, batch, length, heads * size)
    with_places = rng.random() < 0.5
    shape = (most,) if with_places else (batch, length)
    angles = rng.uniform(-3, 3, shape + ((turned or size) // 2,))
    inputs = [x, np.cos(angles).astype(kind), np.sin(angles).astype(kind)]
    if with_places:
        inputs.append(rng.integers(0, most, (batch, length)).astype("i8"))
    rtol, atol = TOLERANCES[kind]
    return d.one_node("RotaryEmbedding", inputs, opset=23, rtol=rtol, atol=atol, interleaved=int(rng.integers(2)),
                      num_heads=heads if rank == 3 or turned else None, rotary_embedding_dim=turned or None)


def multi_head_attention(rng):
    kind = float_type(rng)
    batch, heads, queries = (int(rng.integers(1, n)) for n in (4, 4, 6))
    size = int(rng.integers(1, 9))
    value_size = size if rng.random() < 0.5 else int(rng.integers(1, 9))
    past, form = 0, str(rng.choice(["separate", "cross"]))
    keys = queries if rng.random() < 0.5 else int(rng.integers(1, 8))
    bias = None
    if form == "cross":
        value_size = size
        inputs = [numbers(rng, kind, batch, queries, heads * size), numbers(rng, kind, batch, heads, keys, size),
                  numbers(rng, kind, batch, heads, keys, value_size)]
    else:
        inputs = [numbers(rng, kind, batch, queries, heads * size), numbers(rng, kind, batch, keys, heads * size),
                  numbers(rng, kind, batch, keys, heads * value_size)]
        bias = perhaps(rng, numbers(rng, kind, heads * (2 * size + value_size)))
        past = int(rng.integers(1, 4)) if rng.random() < 0.4 else 0
    whole = past + keys
    mask = None
    if rng.random() < 0.5:
        which = int(rng.integers(4))
        ends = rng.integers(1, whole + 1, batch).astype("i4")
        shown = (rng.random((batch, whole)) < 0.7).astype("i4")
        shown[:, 0] = 1
        per_query = (rng.random((batch, queries, whole)) < 0.7).astype("i4")
        per_query[..., 0] = 1
        running = [np.cumsum(rng.integers(1, queries + 1, batch)), np.cumsum(ends)]
        mask = [ends, np.concatenate([ends] + [np.concatenate([[0], r]) for r in running]).astype("i4"), shown,
                per_query][which]
    added = None
    if rng.random() < 0.4:
        added = numbers(rng, kind, batch if rng.random() < 0.5 else 1, heads if rng.random() < 0.5 else 1, queries,
                        whole)
    room = past + keys + int(rng.integers(0, 3)) if past and rng.random() < 0.5 else 0  # space for new keys
    olds = [numbers(rng, kind, batch, heads, room or past, n) for n in (size, value_size)]
    inputs += [bias, mask, added] + (olds if past else [None, None])
    if room:
        inputs += [np.array([past], "i4")]
        # With beams and several batches, onnxruntime reads the mask of keys at wrong offsets.
        if queries == keys == 1 and mask is None and (added is None or len(added) == 1) and rng.random() < 0.7:
            beams = int(rng.choice([n for n in range(1, batch + 1) if batch % n == 0]))
            inputs += [rng.integers(0, beams, (batch // beams, beams, room)).astype("i4")]
    outputs = ["out_0", "out_1", "out_2"] if past else ["out_0"]
    if rng.random() < 0.3:
        outputs += [""] * (3 - len(outputs)) + ["scores"]
    rtol, atol = TOLERANCES[kind]
    made = d.one_node("MultiHeadAttention", trimmed(inputs), outputs, opset=1, domain="com.microsoft",
                      num_heads=heads, scale=perhaps(rng, float(rng.uniform(0.1, 1)), 0.3), rtol=rtol, atol=atol,
                      mask_filter_value=perhaps(rng, -500.0, 0.3),
                      unidirectional=perhaps(rng, 1, 0.3))
    return d.with_type(made, "scores", inputs[0]) if "scores" in outputs else made


def projected_attention(rng):
    kind = float_type(rng)
    batch, heads, length, wide = (int(rng.integers(1, n)) for n in (4, 4, 6, 9))
    size = int(rng.integers(1, 6))
    value_size = size if rng.random() < 0.5 else int(rng.integers(1, 6))
    past = int(rng.integers(1, 4)) if value_size == size and rng.random() < 0.4 else 0
    hidden, value_hidden = heads * size, heads * value_size
    whole = past + length
    mask = None
    if rng.random() < 0.6:
        ends = rng.integers(1, whole + 1, batch).astype("i4")
        shown = (rng.random((batch, whole)) < 0.7).astype("i4")
        shown[:, 0] = 1
        per_query = (rng.random((batch, length, whole)) < 0.7).astype("i4")
        per_query[..., 0] = 1
        mask = [ends, np.concatenate([ends, np.zeros(batch, "i4")]), shown, per_query][int(rng.integers(4))]
    inputs = [numbers(rng, kind, batch, length, wide), numbers(rng, kind, wide, 2 * hidden + value_hidden),
              numbers(rng, kind, 2 * hidden + value_hidden), mask,
              numbers(rng, kind, 2, batch, heads, past, size) if past else None,
              perhaps(rng, numbers(rng, kind, batch, heads, length, whole), 0.4)]
    rtol, atol = TOLERANCES[kind]
    return d.one_node("Attention", trimmed(inputs), 2 if past else 1, opset=1, domain="com.microsoft",
                      num_heads=heads, qkv_hidden_sizes=[hidden, hidden, value_hidden], rtol=rtol, atol=2 * atol,
                      unidirectional=perhaps(rng, 1, 0.4), scale=perhaps(rng, float(rng.uniform(0.1, 1)), 0.3),
                      mask_filter_value=perhaps(rng, -500.0, 0.3), constant=((), (1, 2))[rng.integers(2)])


def first_rows(case, rows):
    """The case with only the first rows of its caches as outputs: the contents of the rows behind them are
    undefined."""
    graph, ends = case.model.graph, ["out_1", "out_2"]
    graph.initializer.extend(onnx.numpy_helper.from_array(np.array([n], "i8"), name)
                             for name, n in (("from", 0), ("to", rows), ("axis", 2)))
    graph.node.extend(helper.make_node("Slice", [name, "from", "to", "axis"], [name + "_rows"]) for name in ends)
    for output in graph.output:
        if output.name in ends:
            output.name += "_rows"
    return case


def codes(rng, bits, *shape):
    """A cache of quantized values, [batch, heads, rows, size]; of 4 bits, two are in a byte."""
    if bits == 8:
        return rng.integers(-128, 128, shape).astype("i1")
    return rng.integers(0, 256, (*shape[:-1], shape[-1] // 2)).astype("u1")


def group_query_attention(rng):
    kind = float_type(rng)
    batch, kv_heads = (int(rng.integers(1, n)) for n in (4, 4))
    heads, size = kv_heads * int(rng.integers(1, 4)), 16 * int(rng.integers(1, 3))
    first = rng.random() < 0.5  # a prompt; otherwise one token, or some of one sequence, after a past
    length, past = (int(rng.integers(1, 7)), 0) if first else (1, int(rng.integers(1, 8)))
    if batch == 1 and not first and rng.random() < 0.3:
        length = int(rng.integers(2, 5))
    room = past + length
    packed = rng.random() < 0.3
    window = perhaps(rng, int(rng.integers(1, 6)), 0.4)
    lengths = np.full(batch, room)
    # The end of a shorter prompt is padding, and onnxruntime's kernels disagree on the attention window there: a window
    # that is smaller than the prompt begins at the row's position, or at the end of the keys.
    if batch > 1 and (not first or ((window or room) >= room and rng.random() < 0.5)):
        lengths = rng.integers(1, room + 1, batch)
        lengths[int(rng.integers(batch))] = room
    forgets = window is not None and rng.random() < 0.5
    capacity = window + int(rng.integers(0, 4)) if forgets else past
    bits = perhaps(rng, int(rng.choice([4, 8])), 0.4)
    rotary = rng.random() < 0.4 and not (bits and kind == "f2")  # float16 rounds to other quantized values
    q, k, v = (numbers(rng, kind, batch, length, n * size) for n in (heads, kv_heads, kv_heads))
    inputs = [np.concatenate([q, k, v], 2), None, None] if packed else [q, k, v]
    inputs += [codes(rng, bits, batch, kv_heads, capacity, size) if bits
               else numbers(rng, kind, batch, kv_heads, capacity, size) for _ in range(2)]
    if past == 0 and not bits and not forgets and rng.random() < 0.5:
        inputs[3:] = [None, None]
    inputs += [(lengths - 1).astype("i4"), np.array(room, "i4"), None, None, None, None, None, None, None]
    if rotary:
        angles = rng.uniform(-3, 3, (room + 2, size // 2))
        inputs[7:9] = [np.cos(angles).astype(kind), np.sin(angles).astype(kind)]
    if rng.random() < 0.3:
        inputs[10] = numbers(rng, kind, int(rng.choice([1, batch])), int(rng.choice([1, heads])), length, room)
    per_channel = rng.random() < 0.5
    if bits:
        scale = lambda: rng.uniform(0.005, 0.02, (1, kv_heads, 1, size) if per_channel else (1,)).astype("f4")  # noqa: E731
        inputs[12:14] = [scale(), scale()]
    rtol, atol = TOLERANCES[kind]
    # Scores after the end of a shorter sequence are undefined.
    shown = int(rng.integers(1, 3)) if (lengths == room).all() and not forgets and rng.random() < 0.3 else 0
    made = d.one_node("GroupQueryAttention", trimmed(inputs), 4 if shown else 3, opset=1, domain="com.microsoft",
                      num_heads=heads, kv_num_heads=kv_heads, do_rotary=int(rotary), rtol=rtol, atol=atol,
                      rotary_interleaved=int(rng.integers(2)) if rotary else None, qk_output=shown or None,
                      scale=perhaps(rng, float(rng.uniform(0.1, 1)), 0.3),
                      softcap=perhaps(rng, float(rng.uniform(0.5, 3)), 0.3), local_window_size=window,
                      causal=perhaps(rng, 0, 0.2) if window is None else None,
                      sliding_window_cache=1 if forgets else None, smooth_softmax=perhaps(rng, 1, 0.2),
                      **(dict.fromkeys(["k_quant_type", "v_quant_type"], "PER_CHANNEL" if per_channel else "PER_TENSOR") |
                         {"kv_cache_bit_width": bits} if bits else {}))
    if not forgets:
        return made
    at_once = capacity - window + 1
    kept = [n if n <= capacity else n - at_once * -(-(n - capacity) // at_once) for n in map(int, lengths)]
    return first_rows(made, min(kept))


def some_shape(rng, least=1, most=4):
    return [int(n) for n in rng.integers(1, 6, int(rng.integers(least, most + 1)))]


def layer_normalization(op):
    def make(rng):
        kind, shape = float_type(rng), some_shape(rng)
        axis = int(rng.integers(-len(shape), len(shape)))
        inner = shape[axis:]
        if rng.random() < 0.3:
            inner = [n if rng.random() < 0.7 else 1 for n in inner]
        inputs = [numbers(rng, kind, *shape) * np.asarray(rng.choice([1, 30]), kind), numbers(rng, kind, *inner)]
        outputs = 1
        if op == "LayerNormalization":
            inputs.append(perhaps(rng, numbers(rng, kind, *inner)))
            outputs = int(rng.choice([1, 3]))
        rtol, atol = TOLERANCES[kind]
        return d.one_node(op, trimmed(inputs), outputs, opset={"LayerNormalization": 17, "RMSNormalization": 23}.get(op, 1),
                          axis=axis, epsilon=perhaps(rng, 1e-3), rtol=rtol, atol=atol)
    return make


def skip_layer_normalization(op):
    def make(rng):
        kind, (batch, length, hidden) = float_type(rng), (int(n) for n in rng.integers(1, 7, 3))
        x, weight = numbers(rng, kind, batch, length, hidden), numbers(rng, kind, hidden)
        skip = numbers(rng, kind, *[(batch, length, hidden), (1, length, hidden), (length, hidden)][int(rng.integers(3))])
        inputs = [x, skip, weight]
        if op == "SkipLayerNormalization":
            inputs.append(perhaps(rng, numbers(rng, kind, hidden)))
        inputs.append(perhaps(rng, numbers(rng, kind, hidden)))
        outputs = [["y"], ["y", "", "", "sum"], ["y", "mean", "inverse", "sum"], ["y", "mean", "inverse"]][int(rng.integers(4))]
        rtol, atol = TOLERANCES[kind]
        return d.one_node(op, trimmed(inputs), outputs, opset=1, domain="com.microsoft", epsilon=perhaps(rng, 1e-3),
                          rtol=rtol, atol=atol)
    return make


def embed_layer_normalization(rng):
    kind, (batch, length, hidden) = float_type(rng), (int(n) for n in rng.integers(1, 7, 3))
    with_segments = rng.random() < 0.6
    inputs = [rng.integers(0, 5, (batch, length)).astype("i4"),
              rng.integers(0, 2, (batch, length)).astype("i4") if with_segments else None,
              numbers(rng, kind, 5, hidden), numbers(rng, kind, length + 2, hidden),
              numbers(rng, kind, 2, hidden) if with_segments else None, numbers(rng, kind, hidden),
              numbers(rng, kind, hidden), perhaps(rng, rng.integers(0, 2, (batch, length)).astype("i4")),
              perhaps(rng, rng.integers(0, length + 2, (batch, length)).astype("i4"), 0.3)]
    rtol, atol = TOLERANCES[kind]
    masked = inputs[7] is not None
    return d.one_node("EmbedLayerNormalization", trimmed(inputs), ["y", "mask"] if masked else ["y", ""], opset=1,
                      domain="com.microsoft", epsilon=perhaps(rng, 1e-3), rtol=rtol, atol=atol)


def channel_normalization(op):
    def make(rng):
        kind = float_type(rng) if op not in ("LpNormalization", "MeanVarianceNormalization") else "f4"
        groups = int(rng.integers(1, 4))
        shape = some_shape(rng, *(4, 4) if op == "LRN" else (2 if op == "BatchNormalization" else 3, 5))
        channels = shape[1] = groups * int(rng.integers(1, 3))
        x = numbers(rng, kind, *shape)
        rtol, atol = TOLERANCES[kind]
        given = {"epsilon": perhaps(rng, 1e-3), "rtol": rtol, "atol": atol}
        weights = [numbers(rng, kind, channels), numbers(rng, kind, channels)]
        if op == "InstanceNormalization":
            return d.one_node(op, [x, *weights], opset=6, **given)
        if op == "GroupNormalization":
            # The body, which the references compute in float, has the variance as a difference of two means: few digits
            # are left where the numbers of a group are close to each other.
            x += (2 * (np.arange(x.size) % 2)).reshape(x.shape).astype(kind)
            return d.one_node(op, [x, *weights], opset=21, num_groups=groups, **given)
        if op == "BatchNormalization":
            return d.one_node(op, [x, *weights, numbers(rng, kind, channels), np.abs(numbers(rng, kind, channels)) + 1],
                              opset=int(rng.choice([7, 9, 14, 15])), **given)
        if op == "LpNormalization":
            return d.one_node(op, [x], opset=int(rng.choice([1, 22])), axis=int(rng.integers(-len(shape), len(shape))),
                              p=int(rng.integers(1, 3)), rtol=rtol, atol=atol)
        if op == "LRN":
            return d.one_node(op, [numbers(rng, "f4", *shape)], opset=13, size=1 + 2 * int(rng.integers(0, 3)),
                              alpha=perhaps(rng, 0.1), beta=perhaps(rng, 0.5), bias=perhaps(rng, 2.0), rtol=1e-4, atol=1e-5)
        axes = sorted({int(a) for a in rng.integers(0, len(shape), 2)})
        if np.prod([shape[a] for a in axes]) == 1 or len(shape) == 4 and shape[0] * shape[2] * shape[3] == 1:
            shape[axes[0]] = shape[0] = 3  # onnxruntime returns NaN for a single element
            x = numbers(rng, kind, *shape)
        return d.one_node(op, [x], opset=13, axes=axes if len(shape) != 4 or rng.random() < 0.7 else None, rtol=rtol,
                          atol=10 * atol)
    return make


FAMILIES = {
    "Attention": (attention, 2000), "AttentionLengths": (attention_with_lengths, 400),
    "AttentionExpanded": (expanded(attention), 600), "RotaryEmbedding": (rotary_embedding, 400),
    "RotaryEmbeddingExpanded": (expanded(rotary_embedding), 200),
    "MultiHeadAttention": (multi_head_attention, 1000), "ProjectedAttention": (projected_attention, 800),
    "GroupQueryAttention": (group_query_attention, 1000), "EmbedLayerNormalization": (embed_layer_normalization, 200),
    **{op: (layer_normalization(op), 400) for op in ("LayerNormalization", "RMSNormalization",
                                                      "SimplifiedLayerNormalization")},
    **{f"{op}Expanded": (expanded(layer_normalization(op)), 200) for op in ("LayerNormalization", "RMSNormalization")},
    **{op: (skip_layer_normalization(op), 300) for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")},
    **{op: (channel_normalization(op), 200) for op in ("InstanceNormalization", "GroupNormalization", "LpNormalization",
                                                       "BatchNormalization", "LRN", "MeanVarianceNormalization")},
}

ALWAYS = [d.one_node("MultiHeadAttention", [np.eye(3, dtype="f4")[None].repeat(2, 0)] * 3 + [
    None, np.array([2, 3, 0, 3, 6, 0, 2, 5], "i4")], opset=1, domain="com.microsoft", num_heads=1, name="lengths")]

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES, ALWAYS))
