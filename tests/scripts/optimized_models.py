#!/usr/bin/env python3
"""Models that cameo has optimized up to level extended load in PyPI's onnxruntime and return what the originals return.

The models are small ones of the benchmark's architectures: each family of rewrites applies to some of them. The outputs
of three runs are compared: onnxruntime on the original without optimizations, onnxruntime on what cameo saved, and
cameo at each level.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(root / "bench" / "models"))
import make_models as mm  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
LEVELS = ("none", "basic", "extended", "layout", "all")
SAVED = ("none", "basic", "extended")
SMALL = {"layers": 2, "d": 64, "heads": 4}
MODELS = {  # name: the function that makes the model, and the operators that it must have at level extended
    "bert": (lambda: mm.bert(**SMALL, ffn=128, vocab=100, seq=12),
             {"EmbedLayerNormalization", "SkipLayerNormalization", "MultiHeadAttention", "BiasGelu"}),
    "gpt2_gemm": (lambda: mm.gpt2(**SMALL, vocab=90, ctx=32, past=5),
                  {"SkipLayerNormalization", "MultiHeadAttention", "FastGelu"}),
    "gpt2_matmul": (lambda: mm.gpt2(**SMALL, vocab=90, ctx=32, past=5, linear="matmul", new=3),
                    {"SkipLayerNormalization", "MultiHeadAttention", "FastGelu"}),
    "vww": (mm.tiny_vww, {"FusedConv"}),
    "resnet8": (mm.tiny_resnet8, {"FusedConv"}),
    "kws": (mm.tiny_kws, {"FusedConv"}),
    "ad01": (mm.tiny_ad01, {"FusedGemm"}),
    "mobilenetv2": (mm.mobilenetv2, {"FusedConv"}),
    "tiny10": (mm.tiny10, set()),
}


def with_ort(path, feeds):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip((o.name for o in session.get_outputs()), session.run(None, feeds)))


def with_cameo(path, feeds, level, folder, saved=None):
    outputs = folder / f"out_{level}"
    inputs = []
    for name, array in feeds.items():
        file = folder / f"{name.replace('.', '_')}.npy"
        np.save(file, np.ascontiguousarray(array))
        inputs += ["--input", f"{name}={file}"]
    keys = ["--config", f"session.optimized_model_filepath={saved}"] if saved else []
    done = subprocess.run([PROGRAM, "run", str(path), "--optimize", level, "--output-dir", str(outputs), *inputs, *keys],
                          capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"cameo run --optimize {level}: {done.stderr.strip()}")
    return {f.stem: np.load(f) for f in outputs.glob("*.npy")}


def differs(want, got):
    """A description of the difference, or nothing. Names of files replace dots and slashes of outputs, so outputs are
    compared in sorted order."""
    if len(want) != len(got):
        return f"{len(got)} outputs instead of {len(want)}"
    for (name, a), (_, b) in zip(sorted(want.items()), sorted(got.items())):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name} is {b.dtype}{b.shape} instead of {a.dtype}{a.shape}"
        worst = float(np.max(np.abs(a.astype(np.float64) - b))) if a.size else 0.0
        if not worst <= 2e-4 * max(1e-3, float(np.max(np.abs(a)))):
            return f"{name} differs by {worst}"
    return ""


def problems(name, make, wanted, folder):
    model, feeds = make()
    path = folder / "model.onnx"
    onnx.save(model, path)
    want = with_ort(path, feeds)
    for level in LEVELS:
        saved = folder / f"{level}.onnx" if level in SAVED else None
        if wrong := differs(want, with_cameo(path, feeds, level, folder, saved)):
            yield f"cameo at {level}: {wrong}"
        if saved is None:
            continue
        if wrong := differs(want, with_ort(saved, feeds)):
            yield f"onnxruntime on what cameo saved at {level}: {wrong}"
        ops = {n.op_type for n in onnx.load(saved).graph.node}
        domains = {n.domain for n in onnx.load(saved).graph.node}
        if level == "basic" and domains - {""}:
            yield f"level basic made nodes of {domains}"
        if level == "extended" and not wanted <= ops:
            yield f"level extended made no {sorted(wanted - ops)}"


passed = failed = 0
for name, (make, wanted) in MODELS.items():
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = list(problems(name, make, wanted, pathlib.Path(folder)))
        except Exception as error:  # the failure of one runtime is reported, too
            found = [str(error)]
    for problem in found:
        print(f"{name}: {problem}")
    passed, failed = passed + (not found), failed + bool(found)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
