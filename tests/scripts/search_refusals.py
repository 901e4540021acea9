#!/usr/bin/env python3
"""Token searches whose graphs, attributes or inputs are wrong: each ends with one error that says what is wrong, when
the model is loaded or while it runs, and never with a signal. Searches that look wrong and are harmless run."""
import concurrent.futures
import copy
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
from claims import conclude, expect  # noqa: E402
from search_models import HEADS, MELS, WORDS, decoder, form, pair  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
FLOAT, INT32 = TensorProto.FLOAT, TensorProto.INT32
# The inputs of BeamSearch; WhisperBeamSearch has all of them, GreedySearch some.
INPUTS = ["input_ids", "max_length", "min_length", "num_beams", "num_return_sequences", "length_penalty",
          "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask", "decoder_input_ids", "logits_processor",
          "cross_qk_layer_head", "extra_decoding_ids", "temperature"]
OF_GREEDY = [INPUTS[i] for i in (0, 1, 2, 6, 7, 8, 9)]


def i4(*values):
    return np.array(values, "i4")


IDS = i4([2, 3, 4], [5, 6, 7])
SOUND = np.random.default_rng(3).standard_normal((2, MELS, 5)).astype("f4")


def search(op="BeamSearch", f=form(), graphs=None, change=None, outputs=("sequences",), inputs=None, **attributes):
    """A model and its inputs. `change` may change the graphs, a dict by name; inputs and attributes of None are left
    out."""
    kind = 2 if f.whisper else 1
    graphs = pair(np.random.default_rng(7), f) if graphs is None else copy.deepcopy(graphs)
    if change:
        change(graphs)
    given = {"input_ids": SOUND if kind == 2 else IDS, "max_length": i4(6), "min_length": i4(0), "num_beams": i4(2),
             "num_return_sequences": i4(1)} | (inputs or {})
    given = {n: v for n, v in given.items() if v is not None}
    attributes = {"eos_token_id": 1, "pad_token_id": 0, "model_type": kind, "decoder_start_token_id": 2} | attributes
    known = OF_GREEDY if op in ("GreedySearch", "Sampling") else INPUTS[:12] if op == "BeamSearch" else INPUTS
    names = [n if n in given else "" for n in known]
    node = helper.make_node(op, names, list(outputs), domain="com.microsoft",
                            **{k: v for k, v in (graphs | attributes).items() if v is not None})
    feeds = {n: given[n] for n in names if n}
    types = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), [None] * v.ndim)
             for n, v in feeds.items()]
    graph = helper.make_graph([node], "search", types, [helper.make_empty_tensor_value_info(o) for o in outputs if o])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feeds


def answer(model, feeds):
    """The exit status of the program, and its first error or what it printed."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "model.onnx").write_bytes(model.SerializeToString())
        given = []
        for name, value in feeds.items():
            np.save(scratch / f"{name}.npy", value)
            given += ["--input", f"{name}={scratch / name}.npy"]
        done = subprocess.run([PROGRAM, "run", scratch / "model.onnx", "--quiet", *given], capture_output=True, text=True,
                              timeout=300)
    return done.returncode, (done.stderr if done.returncode else done.stdout)


def graph(name, do):
    return lambda graphs: do(graphs[name])


def retype(i, side="input", element=None, rank=None):
    def do(g):
        kind = getattr(g, side)[i].type.tensor_type
        if element is not None:
            kind.elem_type = element
        if rank is not None:
            del kind.shape.dim[:]
            for _ in range(rank):
                kind.shape.dim.add().dim_param = "n"
    return do


def spare(name, element, rank):
    return lambda g: g.input.append(helper.make_tensor_value_info(name, element, [None] * rank))


def before(*elements):
    def do(g):
        for i, element in enumerate(elements):
            g.input.insert(0, helper.make_tensor_value_info(f"before_{i}", element, [None, None]))
    return do


def becomes(output, op, *more, **attributes):
    """Replaces an output of the graph with the output of an operator on it."""
    def do(g):
        node = next(n for n in g.node if output in n.output)
        node.output[0] = output + "_before"
        for name, values in more:
            g.initializer.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        extra = [name for name, _ in more] or [output + "_before"]
        g.node.append(helper.make_node(op, [output + "_before", *extra], [output], **attributes))
        info = next(o for o in g.output if o.name == output)
        info.type.tensor_type.ClearField("shape")
    return do


def drop_outputs(count):
    def do(g):
        del g.output[-count:]
    return do


def other_layers(graphs):
    graphs["encoder"] = pair(np.random.default_rng(7), form(layers=2))["encoder"]


MODEL, RUN, NOT = "INVALID_GRAPH", "INVALID_ARGUMENT", "NOT_IMPLEMENTED"
WHOLE, NEW, WHISPER, SHOWS = (form(whole=True), form(starts=False, hidden=False), form(whisper=True),
                              form(whisper=True, shows_scores=True))
GPT = {"decoder": decoder(np.random.default_rng(2), 1)}
W = "WhisperBeamSearch"
QK = {"decoder_output_cross_qk": 1, "outputs": ("sequences", "", "", "cross_qk")}

# Wrong graphs and attributes: a code, words of the message, and the arguments of `search`.
REFUSED = [
    (MODEL, "needs the graph `encoder`", {"encoder": None}),
    (MODEL, "attribute decoder (graph) is missing", {"decoder": None}),
    (MODEL, "model_type is 3", {"model_type": 3}),
    (MODEL, "model_type is -1", {"model_type": -1}),
    (MODEL, "model_type is 2, must be 0", {"op": "GreedySearch", "model_type": 2}),
    (MODEL, "model_type is 1, must be 2", {"op": W, "model_type": 1}),
    (MODEL, "needs decoder_start_token_id", {"decoder_start_token_id": None}),
    (MODEL, "needs decoder_start_token_id, or the input decoder_input_ids", {"op": W, "f": WHISPER, "decoder_start_token_id": None}),
    (MODEL, "decoder_start_token_id is", {"decoder_start_token_id": 1 << 40}),
    (MODEL, "eos_token_id is -1", {"eos_token_id": -1}),
    (MODEL, "no_repeat_ngram_size is -1", {"no_repeat_ngram_size": -1}),
    (MODEL, "inputs of floats", {"change": graph("decoder", spare("more", FLOAT, 4))}),
    (NOT, "past_sequence_length", {"change": graph("decoder", spare("past_sequence_length", INT32, 1))}),
    (NOT, "past_sequence_length", {"graphs": GPT, "model_type": 0, "change": graph("decoder", spare("past_sequence_length", INT32, 1))}),
    (MODEL, "inputs of int32 is 4", {"change": graph("decoder", before(INT32, INT32))}),
    (MODEL, "inputs of int32 is 0", {"f": WHOLE, "change": graph("decoder", before(FLOAT))}),
    (MODEL, "has 2 outputs, must have 3", {"change": graph("decoder", drop_outputs(1))}),
    (MODEL, "has 1 outputs, must have 2", {"graphs": GPT, "model_type": 0, "change": graph("decoder", drop_outputs(1))}),
    (MODEL, "has 5 outputs, must have 6", {"change": graph("encoder", drop_outputs(1))}),
    (MODEL, "has 10 outputs, must have 6", {"change": other_layers}),
    (MODEL, "the number of the encoder's inputs is 4, must be from 2 to 3", {"change": graph("encoder", spare("more", INT32, 2))}),
    (MODEL, "the number of the encoder's inputs is 3, must be from 2 to 2", {"op": W, "f": WHISPER, "change": graph("encoder", spare("more", INT32, 2))}),
    (MODEL, "a past, is double", {"f": WHOLE, "change": graph("decoder", retype(4, element=TensorProto.DOUBLE))}),
    (NOT, "a past, is float16", {"f": WHOLE, "change": graph("decoder", retype(4, element=TensorProto.FLOAT16))}),
    (MODEL, "with 4 axes", {"f": WHOLE, "change": graph("decoder", retype(4, rank=3))}),
    (MODEL, "encoder_hidden_states of the decoder needs decoder_input_ids", {"f": NEW, "change": graph("decoder", lambda g: g.input.insert(
        2, helper.make_tensor_value_info("encoder_hidden_states", FLOAT, [None, None, None])))}),
    (MODEL, "needs decoder_output_cross_qk", {"op": W, "f": SHOWS, "outputs": ("sequences", "", "", "cross_qk"),
                                              "change": graph("decoder", drop_outputs(1))}),
    (MODEL, "has 3 outputs, must have 4", {"op": W, "f": WHISPER} | QK),
    (MODEL, "needs no_speech_token_id", {"op": W, "f": WHISPER, "outputs": ("sequences", "", "", "", "no")}),
    # Graphs whose outputs differ from what they declare, or declare nothing.
    (RUN, "an output of the encoder has shape", {"change": graph("encoder", becomes("present_key_cross_0", "Concat", axis=0))}),
    (RUN, "an output of the encoder has shape", {"f": NEW, "change": graph("encoder", becomes("present_value_cross_0", "Concat", axis=0))}),
    (RUN, "logits of the encoder has shape", {"change": graph("encoder", becomes("logits", "Slice", ("from_", [0]), ("to_", [0]), ("at_", [1])))}),
    (RUN, "a row of logits has", {"change": graph("decoder", becomes("logits", "Concat", axis=2))}),
    (RUN, "logits of the decoder has shape", {"change": graph("decoder", becomes("logits", "Concat", axis=0))}),
    (RUN, "logits of the decoder has shape", {"f": NEW, "change": graph("decoder", becomes("logits", "Slice", ("from_", [0]), ("to_", [0]), ("at_", [2])))}),
    (RUN, "a present of the decoder has shape", {"change": graph("decoder", becomes("present_key_self_0", "Concat", axis=0))}),
    (MODEL, "must be float with 4 axes", {"change": graph("decoder", becomes("present_value_self_0", "Unsqueeze", ("at_", [0])))}),
    (RUN, "cross_qk of the decoder has shape", {"op": W, "f": SHOWS, "change": graph("decoder", becomes("cross_qk_0", "Concat", axis=3))} | QK),
    (RUN, "cross_qk of the decoder has shape", {"op": W, "f": SHOWS, "change": graph("decoder", becomes("cross_qk_0", "Concat", axis=1))} | QK),
]
# Wrong inputs, which are reported by the run.
REFUSED += [(RUN, words, {"inputs": inputs} | how) for words, inputs, how in [
    ("input_ids", {"input_ids": i4(2, 3)}, {}),
    ("input_ids", {"input_ids": np.zeros((2, 0), "i4")}, {}),
    ("input_ids", {"input_ids": np.zeros((0, 2), "i4")}, {}),
    ("attention_mask", {"attention_mask": i4([1, 1])}, {}),
    ("max_length is 1,", {"max_length": i4(1)}, {}),
    ("max_length is 4097", {"max_length": i4(4097)}, {}),
    ("max_length is 2147483647", {"max_length": i4(2**31 - 1)}, {}),
    ("max_length is -2147483648", {"max_length": i4(-2**31)}, {}),
    ("max_length has shape [2], must be one element", {"max_length": i4(5, 6)}, {}),
    ("min_length is -1", {"min_length": i4(-1)}, {}),
    ("min_length is 6", {"min_length": i4(6)}, {}),
    ("num_beams is 0", {"num_beams": i4(0)}, {}),
    ("num_beams is 129", {"num_beams": i4(129)}, {}),
    ("num_return_sequences is 3", {"num_return_sequences": i4(3)}, {}),
    ("num_return_sequences is 0", {"num_return_sequences": i4(0)}, {}),
    ("repetition_penalty", {"repetition_penalty": np.array([0], "f4")}, {}),
    ("repetition_penalty", {"repetition_penalty": np.array([np.nan], "f4")}, {}),
    ("vocab_mask", {"vocab_mask": i4(1, 1)}, {}),
    ("prefix_vocab_mask", {"prefix_vocab_mask": np.ones((1, WORDS), "i4")}, {}),
    ("eos_token_id is 11", {"min_length": i4(2)}, {"eos_token_id": WORDS}),
    ("1000", {"input_ids": i4([2, 1000], [3, 4])}, {}),
    ("-1000", {"input_ids": i4([2, -1000], [3, 4])}, {}),
    ("1000", {}, {"decoder_start_token_id": 1000}),
    ("max_length is 2, must be from 3", {"decoder_input_ids": i4([2, 3], [3, 4]), "max_length": i4(2)}, {"op": W, "f": WHISPER}),
    ("decoder_input_ids", {"decoder_input_ids": i4([2, 3])}, {"op": W, "f": WHISPER}),
    ("decoder_input_ids", {"decoder_input_ids": np.zeros((2, 0), "i4")}, {"op": W, "f": WHISPER}),
    ("logits_processor is -1", {"logits_processor": i4(-1)}, {"op": W, "f": WHISPER}),
    ("beginning_timestamp_token_id", {"logits_processor": i4(1)}, {"op": W, "f": WHISPER}),
    ("beginning_timestamp_token_id", {"logits_processor": i4(1)}, {"op": W, "f": WHISPER, "beginning_timestamp_token_id": WORDS}),
    ("extra_decoding_ids", {"extra_decoding_ids": i4([2, 3])}, {"op": W, "f": WHISPER}),
    ("no_speech_token_id is 11", {}, {"op": W, "f": WHISPER, "no_speech_token_id": WORDS, "outputs": ("sequences", "", "", "", "no")}),
    ("cross_qk_layer_head has shape [1,3], must be [any,2]", {"cross_qk_layer_head": i4([0, 0, 0])}, {"op": W, "f": SHOWS} | QK),
    ("cross_qk_layer_head has 1, must be from 0 to 0", {"cross_qk_layer_head": i4([0, 0], [1, 0])}, {"op": W, "f": SHOWS} | QK),
    (f"cross_qk_layer_head has {HEADS}, must be from 0 to {HEADS - 1}", {"cross_qk_layer_head": i4([0, HEADS])}, {"op": W, "f": SHOWS} | QK),
    ("cross_qk_layer_head has -1, must be", {"cross_qk_layer_head": i4([0, -1])}, {"op": W, "f": SHOWS} | QK),
]]
# Inputs of another rank, which the model declares.
REFUSED += [(MODEL, f"{name} has shape [", {"op": W, "f": SHOWS, "inputs": {name: value}} | QK) for name, value in [
    ("decoder_input_ids", i4(2, 3)), ("input_ids", SOUND[0]), ("attention_mask", i4([1, 1], [1, 1])),
    ("extra_decoding_ids", i4(2, 3)), ("cross_qk_layer_head", i4(0, 0))]]
REFUSED += [(NOT, "they must be", {"inputs": {"input_ids": IDS.astype("f4")}}),
            (NOT, "they must be", {"op": W, "f": WHISPER, "inputs": {"input_ids": IDS[:, None]}})]

# Searches that run: the decoder never chooses words beyond its vocabulary, and sizes at the limits are allowed.
RUNS = [
    {"pad_token_id": 10**9, "no_repeat_ngram_size": 1, "inputs": {"input_ids": IDS[:1], "repetition_penalty": np.array([2], "f4")}},
    {"eos_token_id": 10**9},
    {"inputs": {"max_length": i4(2)}},
    {"f": NEW, "inputs": {"max_length": i4(2)}},
    {"op": "GreedySearch", "f": NEW},
    {"op": W, "f": SHOWS, "inputs": {"max_length": i4(2)}} | QK,
    {"op": W, "f": WHISPER, "beginning_timestamp_token_id": 0, "eos_token_id": 10**9, "inputs": {"logits_processor": i4(1)}},
    {"op": W, "f": WHISPER, "inputs": {"extra_decoding_ids": i4([10**9, -5, 3, 3, 3, 3, 3, 3, 3], [3] * 9)}},
    {"op": W, "f": WHISPER, "inputs": {"decoder_input_ids": i4([2, 10], [10, 10]), "logits_processor": i4(1)},
     "beginning_timestamp_token_id": WORDS - 1},
    {"op": W, "f": WHISPER, "inputs": {"extra_decoding_ids": np.zeros((2, 0), "i4"), "temperature": np.array([np.nan], "f4")}},
    {"op": W, "f": SHOWS, "inputs": {"cross_qk_layer_head": np.zeros((0, 2), "i4"), "num_beams": i4(128)}} | QK,
    {"graphs": GPT | {"encoder": pair(np.random.default_rng(7), form())["encoder"]}, "model_type": 0},
]


def refused(case):
    code, words, how = case
    status, said = answer(*search(**how))
    return status == 1 and f"error: {code}" in said and words in said, (code, words), said


def runs(how):
    status, said = answer(*search(**how))
    return status == 0, how, said


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for holds, what, said in [*pool.map(refused, REFUSED), *pool.map(runs, RUNS)]:
        expect(holds, "refused" if isinstance(what, tuple) else "runs", what, ":", said[:600])
conclude()
