"""`cameo reduce`: lists of kernels for models, and ONNX Runtime's configuration files of reduced builds, in both
directions. ONNX Runtime's tools are the reference: what they write for the samples, and how they read what cameo
wrote."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

CAMEO = os.environ["CAMEO_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
SAMPLES = SOURCE / "tests/data/ort"


def reduce(*arguments):
    return subprocess.run([CAMEO, "reduce", *map(str, arguments)], capture_output=True, text=True)


def lines_of(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def peers_lines(models, path, with_types):
    from onnxruntime.tools.ort_format_model.utils import create_config_from_models
    create_config_from_models(models, path, with_types)
    return lines_of(path)


def check_writing(folder):
    """What cameo writes for ORT files equals what ONNX Runtime's converter writes."""
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
    """Comments, several opsets in a line, types with commas and braces; the opset selects the version of an
    operator."""
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


def check_unknown(folder):
    """Operators of a configuration that do not exist are left out with a warning; the others are in the list."""
    config, header = folder / "unknown.config", folder / "kernels.hpp"
    config.write_text("ai.onnx;13;Relu,Reluu,Gelu\nai.onn;13;Add\ncom.microsoft;1;Gelu,MurmurHash99\n"
                      "ai.onnx;17;Neg\n")
    done = reduce("--ops-config", config, "-o", header)
    expect(done.returncode == 0, done.stderr)
    for words in ("warning: ai.onnx;13;Reluu is left out: there is no operator 'Reluu' in domain 'ai.onnx'",
                  "warning: ai.onnx;13;Gelu is left out: there is no operator 'Gelu' in domain 'ai.onnx' at opset 13; "
                  "it appears in opset 20",
                  "warning: ai.onn;13;Add is left out: there is no domain 'ai.onn'",
                  "warning: com.microsoft;1;MurmurHash99 is left out"):
        expect(words in done.stderr, f"{words}: {done.stderr}")
    expect(done.stderr.count("warning") == 4, done.stderr)
    for part in ("op::Relu", "op::Neg", "op::microsoft::Gelu"):
        expect(part in header.read_text(), f"{part} is in the list")


def check_operators_without_kernel(folder):
    """A configuration for ONNX Runtime may have operators for which cameo has no kernel; a list for cameo may not."""
    import onnx
    from onnx import helper
    model, config = folder / "no_kernel.onnx", folder / "no_kernel.config"
    value = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, None, None]) for name in "xy"]
    nodes = [helper.make_node("BiasAdd", ["x", "x", "x"], ["r"], domain="com.microsoft"),
             helper.make_node("Identity", ["r"], ["y"])]
    graph = helper.make_graph(nodes, "g", value[:1], value[1:])
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString())
    done = reduce(model, "--ops-config", config)
    expect(done.returncode == 0, f"a configuration without a list: {done.stderr}")
    expect(config.exists() and any(line == "com.microsoft;1;BiasAdd" for line in lines_of(config)), "it names the operator")
    done = reduce(model, "--ops-config", config, "-o", folder / "none.hpp")
    expect(done.returncode == 1 and "NOT_IMPLEMENTED" in done.stderr, f"a list needs kernels: {done.stderr}")


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
    """The lists in the tests of the minimal build are what the command writes now."""
    for name, model in (("digits", "tests/data/digits.ort"), ("keywords", "tests/data/keywords/model.ort")):
        header = folder / "list.hpp"
        done = subprocess.run([CAMEO, "reduce", model, "-o", header, "--name", f"{name}_kernels"], cwd=SOURCE,
                              capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        kept = SOURCE / f"examples/embedded/{name}_kernels.hpp"
        expect(done.returncode == 0 and header.read_text() == kept.read_text(), f"{kept} is as written")


with tempfile.TemporaryDirectory() as scratch:
    for check in (check_lists, check_reading, check_unknown, check_operators_without_kernel, check_errors,
                  check_writing):
        check(pathlib.Path(scratch))
conclude()
