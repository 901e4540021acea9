"""`cameo reduce`: lists of kernels for models, and ONNX Runtime's configuration of reduced builds, both ways. Its own
tools say what is right: what they write of the samples, and how they read what cameo wrote."""
import os
import pathlib
import subprocess
import sys
import tempfile

CAMEO = os.environ["CAMEO_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
SAMPLES = SOURCE / "tests/data/ort"
failures = 0


def expect(holds, claim):
    global failures
    if not holds:
        failures += 1
        print(f"not so: {claim}")


def reduce(*arguments):
    return subprocess.run([CAMEO, "reduce", *map(str, arguments)], capture_output=True, text=True)


def lines_of(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def peers_lines(models, path, with_types):
    from onnxruntime.tools.ort_format_model.utils import create_config_from_models
    create_config_from_models(models, path, with_types)
    return lines_of(path)


def check_writing(folder):
    """What is written for ORT files is what ONNX Runtime's converter writes."""
    config, peers = folder / "ops.config", folder / "peers.config"
    names = sorted(p.parent.name for p in SAMPLES.glob("*/model.ort"))
    for name in names + [None]:
        models = [SAMPLES / n / "model.ort" for n in names if name in (None, n)]
        for with_types in (False, True):
            done = reduce(*models, "--ops-config", config, *(["--types"] if with_types else []))
            expect(done.returncode == 0, f"{name}: {done.stderr.strip()}")
            if done.returncode == 0:
                ours, theirs = lines_of(config), peers_lines(models, peers, with_types)
                expect(ours == theirs, f"{name}, types {with_types}:\n  ours   {ours}\n  theirs {theirs}")


def check_reading(folder):
    """Comments, several opsets in a line, types with commas and braces; an operator's opset names its version."""
    config, header = folder / "read.config", folder / "kernels.hpp"
    config.write_text('# a comment\n\n ai.onnx ; 12,13 ; Add{"inputs": {"0": ["float", "double"]}} , Relu,'
                      'Cast{"inputs": {"0": ["float"]}, "outputs": {"0": ["int64_t"]}}\ncom.microsoft;1;Gelu\n')
    done = reduce("--ops-config", config, "-o", header, "--types")
    expect(done.returncode == 0, done.stderr)
    text = header.read_text()
    for part in ('op::Add, since<7, 13>, constrain<"T", float, std::int32_t, std::int64_t, double>', "op::Relu",
                 "op::Cast", "op::microsoft::Gelu", "#include <cameo/eps/cpu/binary.hpp>"):
        expect(part in text, f"{part} in\n{text}")
    expect("op::Sub" not in text, "what is not in the configuration is not in the list")
    reduce("--ops-config", config, "-o", header)
    expect("float16" in header.read_text(), "without --types all types count")


def check_errors(folder):
    config = folder / "bad.config"
    types = '!globally_allowed_types;float\n'
    for text, line in (("ai.onnx;13\n", 1), ("ai.onnx;13;Add;Sub\n", 1), ("\nai.onnx;x;Add\n", 2),
                       ('ai.onnx;13;Add{"inputs": {"0": ["float"]}\n', 1), (types + types, 2),
                       ("!globally_allowed_types;floaty\n", 1),
                       (types + 'ai.onnx;13;Add{"inputs": {"0": ["float"]}}\n', 0)):
        config.write_text(text)
        done = reduce("--ops-config", config, "-o", folder / "none.hpp")
        expect(done.returncode == 1 and "INVALID_ARGUMENT" in done.stderr, f"{text!r}: {done.stderr.strip()}")
        expect(f"line {line}" in done.stderr or line == 0, f"{text!r} names line {line}: {done.stderr.strip()}")


def check_lists(folder):
    """The lists in the tests of the target tier are what the command writes today."""
    for name, model in (("digits", "tests/data/digits.ort"), ("keywords", "tests/data/keywords/model.ort")):
        header = folder / "list.hpp"
        done = subprocess.run([CAMEO, "reduce", model, "-o", header, "--name", f"{name}_kernels"], cwd=SOURCE,
                              capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        kept = SOURCE / f"examples/embedded/{name}_kernels.hpp"
        expect(done.returncode == 0 and header.read_text() == kept.read_text(), f"{kept} is as written")


with tempfile.TemporaryDirectory() as scratch:
    for check in (check_lists, check_reading, check_errors, check_writing):
        check(pathlib.Path(scratch))
print(f"{failures} failed")
sys.exit(failures != 0)
