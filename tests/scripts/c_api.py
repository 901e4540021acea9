#!/usr/bin/env python3
"""The C API: the header compiles as C99 and as C++, its declarations match the record in tests/data/c_api.txt, the
shared library exports exactly these symbols, and calls through ctypes work: strings, sequences, threads, cancellation.

Usage: c_api.py [--write]     (--write adds new declarations to the record; changed or removed ones remain an error)
Needs CAMEO_SOURCE_DIR, CAMEO_BINARY_DIR and CAMEO_CXX in the environment, as CTest sets them, and PyPI's onnx and
numpy.
"""
import ctypes
import faulthandler
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import numpy
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

ROOT = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["CAMEO_BINARY_DIR"])
HEADER = ROOT / "include" / "cameo" / "c" / "cameo.h"
RECORD = ROOT / "tests" / "data" / "c_api.txt"
LIBRARY = BUILD / "libcameo.so"
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
OUT = BUILD / "tests" / "c_api"
CXX = os.environ.get("CAMEO_CXX", "c++")


def declared():
    """The declarations of the header, one line each: functions with their types, numbers with their values, handles."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    lines = set()
    for enumerators in re.findall(r"\benum \{(.*?)\};", text, re.DOTALL):
        lines |= {" ".join(each.split()) for each in enumerators.split(",")}
    for function in re.findall(r"^CAMEO_C_API (.*?);", text, re.DOTALL | re.MULTILINE):
        lines.add(" ".join(function.split()) + ";")
    lines |= set(re.findall(r"^typedef .*?;", text, re.MULTILINE))
    return lines


def check_record():
    """No declaration of the record has changed or is gone: programs that were compiled with an older header keep
    working."""
    now, recorded = declared(), set(RECORD.read_text().splitlines()) if RECORD.exists() else set()
    for line in sorted(recorded - now):
        expect(False, "the header still declares, as it did:", line)
    if "--write" in sys.argv:
        RECORD.write_text("\n".join(sorted(recorded | now)) + "\n")
    else:
        for line in sorted(now - recorded):
            expect(False, "the record has what is new (c_api.py --write adds it):", line)
    expect("struct cameo_error {" not in HEADER.read_text(), "no structure is declared with its members")
    return {re.search(r"(cameo_\w+)\(", line)[1] for line in now if line.endswith(");")}


def check_symbols(functions):
    lines = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY], check=True,
                           capture_output=True, text=True).stdout.split("\n")
    symbols = {}
    for line in lines:
        name, _, version = (line.split() or [""])[-1].partition("@@")
        if name.startswith("cameo_"):
            symbols[name] = version
    expect(set(symbols) == functions, "the library has the functions of the header, and no others:",
           set(symbols) ^ functions)
    expect(set(symbols.values()) == {"CAMEO_C_1"}, "their version is CAMEO_C_1:", set(symbols.values()))


def check_numbers():
    """The header's numbers are those of the rows in core/status.hpp and core/dtype.hpp."""
    text = HEADER.read_text()
    numbers = {name: int(number) for name, number in re.findall(r"^\s+CAMEO_(\w+) = (\d+)", text, re.MULTILINE)}
    status = (ROOT / "include/cameo/core/status.hpp").read_text()
    rows = re.findall(r"\{status_code::\w+, (\d+), \"(\w+)\"\}", status)
    expect(len(rows) > 15 and all(numbers.get(name) == int(number) for number, name in rows),
           "codes of errors are those of core/status.hpp:", [r for r in rows if numbers.get(r[1]) != int(r[0])])
    types = re.findall(r"element<dtype::\w+, [\w:]+, \"(\w+)\"", (ROOT / "include/cameo/core/dtype.hpp").read_text())
    expect(len(types) > 20 and all(numbers.get(name.upper()) == i + 1 for i, name in enumerate(types)),
           "element types are those of core/dtype.hpp:",
           [name for i, name in enumerate(types) if numbers.get(name.upper()) != i + 1])


def build_and_run():
    OUT.mkdir(parents=True, exist_ok=True)
    app = ROOT / "tests" / "package" / "c" / "app.c"
    strict = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}"]
    for name, words in ("as C99", ["cc", "-std=c99", *strict, app]), ("as C++", [CXX, "-std=c++11", *strict, "-x", "c++", app]):
        program = OUT / name.replace(" ", "_")
        done = subprocess.run([*words, "-x", "none", "-o", program, f"-L{BUILD}", "-lcameo", "-lm", f"-Wl,-rpath,{BUILD}"],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"the program compiles {name}:", done.stderr)
        done = subprocess.run([program, DIGITS], capture_output=True, text=True)
        expect(done.returncode == 0 and done.stdout == "ok\n", f"the program runs {name}:", done.stdout, done.stderr)


P = ctypes.c_void_p
SIZE = ctypes.c_size_t


class Library:
    """libcameo.so through ctypes; an error is raised as an exception."""

    def __init__(self):
        self.c = ctypes.CDLL(str(LIBRARY))
        for name in ("error_name", "error_words", "io_name", "provider_name"):
            getattr(self.c, "cameo_" + name).restype = ctypes.c_char_p
        for name in ("options_new", "stop_new", "session_input", "session_output", "value_part", "value_data",
                     "value_string", "binding_result"):
            getattr(self.c, "cameo_" + name).restype = P
        self.c.cameo_value_dims.restype = ctypes.POINTER(ctypes.c_int64)
        for name in ("provider_count", "session_output_count", "value_part_count"):
            getattr(self.c, "cameo_" + name).restype = SIZE

    def call(self, name, *arguments):
        function = getattr(self.c, "cameo_" + name)
        function.restype = P
        error = function(*arguments)
        if error:
            words = [self.c.cameo_error_name(P(error)).decode(), self.c.cameo_error_words(P(error)).decode()]
            self.c.cameo_error_free(P(error))
            raise RuntimeError(": ".join(words))

    def make(self, name, *arguments):
        made = P()
        self.call(name, *arguments, ctypes.byref(made))
        return made

    def tensor(self, array):
        dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        return self.make("value_tensor", kind, dims, SIZE(array.ndim), P(array.ctypes.data), SIZE(array.nbytes))

    def array(self, value):
        kind = self.c.cameo_value_kind(P(value))
        if kind == 2:
            return [self.array(self.c.cameo_value_part(P(value), SIZE(i)))
                    for i in range(self.c.cameo_value_part_count(P(value)))]
        rank, size = SIZE(), SIZE()
        dims = self.c.cameo_value_dims(P(value), ctypes.byref(rank))
        shape = [dims[i] for i in range(rank.value)]
        if self.c.cameo_value_element_type(P(value)) == TensorProto.STRING:
            texts = []
            for i in range(int(numpy.prod(shape))):
                at = self.c.cameo_value_string(P(value), SIZE(i), ctypes.byref(size))
                texts.append(ctypes.string_at(at, size.value).decode())
            return numpy.array(texts, object).reshape(shape)
        data = self.c.cameo_value_data(P(value), ctypes.byref(size))
        dtype = helper.tensor_dtype_to_np_dtype(self.c.cameo_value_element_type(P(value)))
        return numpy.frombuffer(ctypes.string_at(data, size.value), dtype).reshape(shape)

    def run(self, session, inputs, stop=None, timeout=-1):
        names = (ctypes.c_char_p * len(inputs))(*(name.encode() for name in inputs))
        values = (P * len(inputs))(*(value.value for value in inputs.values()))
        count = self.c.cameo_session_output_count(session)
        outputs = (P * count)()
        self.call("session_run", session, names, values, SIZE(len(inputs)), stop, ctypes.c_int64(timeout), outputs,
                  SIZE(count))
        made = [self.array(output) for output in outputs]
        for output in outputs:
            self.c.cameo_value_free(P(output))
        return made

    def load(self, runtime, nodes, inputs, outputs, options=None):
        """Loads a session from bytes; returns the session and the bytes, which the caller has to keep."""
        graph = helper.make_graph(nodes, "g", inputs, outputs)
        data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString()
        return self.make("session_load_bytes", runtime, data, SIZE(len(data)), b"made", options), data


def refused(call):
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


def info(name, kind, *shape):
    return helper.make_tensor_value_info(name, kind, shape)


def calls(library):
    runtime = library.make("runtime_new", None, SIZE(0))
    texts, kept = library.load(runtime, [helper.make_node("StringConcat", ["a", "b"], ["y"])],
                               [info("a", TensorProto.STRING, "n"), info("b", TensorProto.STRING, "n")],
                               [info("y", TensorProto.STRING, "n")])
    one = (ctypes.c_char_p * 2)(b"al", "ü".encode())
    dims = (ctypes.c_int64 * 1)(2)
    value = library.make("value_strings", dims, SIZE(1), one, None)
    y, = library.run(texts, {"a": value, "b": value})
    expect(y.tolist() == ["alal", "üü"], "strings go in and out:", y)
    library.c.cameo_value_free(value)
    library.c.cameo_session_free(texts)

    float_sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    sequence, kept = library.load(
        runtime, [helper.make_node("SequenceInsert", ["s", "x"], ["t"])], [float_sequence, info("x", TensorProto.FLOAT, "n")],
        [helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)])
    first, second = numpy.arange(3, dtype=numpy.float32), numpy.arange(2, dtype=numpy.float32)
    parts = (P * 1)(library.tensor(first).value)
    made, = library.run(sequence, {"s": library.make("value_sequence", parts, SIZE(1)), "x": library.tensor(second)})
    expect([part.tolist() for part in made] == [[0, 1, 2], [0, 1]], "sequences go in and out:", made)
    binding = library.make("session_bind", sequence)
    given = library.make("value_sequence", parts, SIZE(1))
    library.call("binding_input", binding, b"s", given)
    library.c.cameo_value_free(given)
    library.call("binding_input", binding, b"x", library.tensor(second))
    for _ in range(3):
        library.call("binding_run", binding, None, ctypes.c_int64(-1))
    made = library.array(library.c.cameo_binding_result(binding, SIZE(0)))
    expect([part.tolist() for part in made] == [[0, 1, 2], [0, 1]], "a binding keeps a sequence that was freed:", made)
    library.c.cameo_binding_free(binding)
    library.c.cameo_session_free(sequence)

    optional = helper.make_value_info("x", helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None)))
    has, kept = library.load(runtime, [helper.make_node("OptionalHasElement", ["x"], ["y"])], [optional],
                             [info("y", TensorProto.BOOL)])
    binding, given = library.make("session_bind", has), library.tensor(first)
    for value in (given, None):
        library.call("binding_input", binding, b"x", value)
        library.call("binding_run", binding, None, ctypes.c_int64(-1))
        y = library.array(library.c.cameo_binding_result(binding, SIZE(0)))
        expect(bool(y) == (value is not None), "an optional is bound to a value and to none:", y)
    library.c.cameo_value_free(given)
    library.c.cameo_binding_free(binding)
    library.c.cameo_session_free(has)

    many_threads(library, runtime)
    cancellation(library, runtime)
    fallback = library.c.cameo_provider_name(SIZE(library.c.cameo_provider_count() - 1))
    words = refused(lambda: library.make("runtime_new", (ctypes.c_char_p * 1)(b"npu"), SIZE(1)))
    expect("INVALID_ARGUMENT: the library has no provider 'npu'" in words and fallback.decode() in words,
           "an unknown provider is refused, with those that there are:", words)
    options = P(library.c.cameo_options_new())
    library.call("options_set_policy", options, b"prefer_cpu")
    named = library.make("runtime_new", (ctypes.c_char_p * 1)(fallback), SIZE(1))
    words = refused(lambda: library.make("session_load", named, str(DIGITS).encode(), options))
    expect("give one of the two" in words, "a policy beside names of providers is refused:", words)
    words = refused(lambda: library.c.cameo_session_free(
        library.make("session_load", runtime, str(DIGITS).encode(), options)))
    expect(not words, "a policy chooses in a runtime without names:", words)
    library.call("options_set_free_dim", options, b"batch", ctypes.c_int64(-3))
    words = refused(lambda: library.make("session_load", runtime, str(DIGITS).encode(), options))
    expect("INVALID_ARGUMENT" in words, "a free dim below 0 is refused:", words)
    library.c.cameo_options_free(options)
    to = OUT / "compiled.onnx"
    to.unlink(missing_ok=True)
    compiled = SIZE(99)
    library.call("compile", runtime, str(DIGITS).encode(), str(to).encode(), None, 0, ctypes.byref(compiled))
    expect(to.exists() and compiled.value == 0, "compiling for a provider that compiles nothing writes the model:", compiled)
    library.c.cameo_runtime_free(runtime)


def many_threads(library, runtime):
    session, kept = library.load(runtime, [helper.make_node("Add", ["x", "x"], ["y"])],
                                 [info("x", TensorProto.FLOAT, "n")], [info("y", TensorProto.FLOAT, "n")])
    wrong = []

    def work(number):
        x = numpy.full(5, number, numpy.float32)
        value = library.tensor(x)
        for _ in range(200):
            y, = library.run(session, {"x": value})
            if y.tolist() != (x + x).tolist():
                wrong.append(y)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not wrong, "eight threads run one session, each with its own inputs:", wrong[:2])
    library.c.cameo_session_free(session)


def cancellation(library, runtime):
    """A loop that would take minutes ends early, with the code for cancellation."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Sin", ["v"], ["w"])], "body",
        [info("i", TensorProto.INT64), info("c", TensorProto.BOOL), info("v", TensorProto.FLOAT, 1000)],
        [info("d", TensorProto.BOOL), info("w", TensorProto.FLOAT, 1000)])
    session, kept = library.load(
        runtime, [helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)],
        [info("m", TensorProto.INT64), info("x", TensorProto.FLOAT, 1000)], [info("y", TensorProto.FLOAT, 1000)])
    count, x = numpy.array(10**9), numpy.ones(1000, numpy.float32)
    inputs = {"m": library.tensor(count), "x": library.tensor(x)}
    words = refused(lambda: library.run(session, inputs, timeout=20_000_000))
    expect(words.startswith("DEADLINE_EXCEEDED"), "a run ends at its deadline:", words)
    stop = P(library.c.cameo_stop_new())
    timer = threading.Timer(0.05, lambda: library.c.cameo_stop_request(stop))
    timer.start()
    begin = time.monotonic()
    words = refused(lambda: library.run(session, inputs, stop))
    expect(words.startswith("CANCELED") and time.monotonic() - begin < 5, "a run ends when it is stopped:", words)
    timer.join()
    library.c.cameo_stop_free(stop)
    library.c.cameo_session_free(session)


def wrong_tensors(library):
    """Tensors whose elements, type and dims do not match."""
    x = numpy.zeros(4, numpy.float32)
    for kind, dims, bytes_, words in ((1, [4], 15, "takes 16 bytes, and 15 are given"), (0, [4], 16, "0 is not a type"),
                                      (8, [4], 16, "for strings, call cameo_value_strings"), (99, [4], 16, "99 is not a type"),
                                      (1, [-1], 4, "not a shape"), (1, [2**40, 2**40], 16, "not a shape"),
                                      (1, [2**62], 0, "more bytes than there can be"), (1, [1] * 13, 4, "rank 13")):
        made = refused(lambda: library.make("value_tensor", kind, (ctypes.c_int64 * len(dims))(*dims), SIZE(len(dims)),
                                            P(x.ctypes.data), SIZE(bytes_)))
        expect("INVALID_ARGUMENT" in made and words in made, "a tensor that cannot be is refused:", kind, dims, made)


def nothing_given(library):
    """Calls every function with NULL or 0 for each parameter."""
    faulthandler.enable()  # names the function if one crashes
    for line in sorted(line for line in declared() if line.endswith(");") and not line.endswith("(void);")):
        result, name, arguments = re.match(r"(.*?)cameo_(\w+)\((.*)\);", line).groups()
        words = refused(lambda: library.call(name, *[P()] * (arguments.count(",") + 1))) if "cameo_error*" in result else ""
        if words:
            expect(words.startswith("INVALID_ARGUMENT") and "is NULL" in words, name, "names the missing argument:", words)
            continue
        expect("cameo_error*" not in result, name, "is an error without its handle")
        function = getattr(library.c, f"cameo_{name}")
        results = {"void ": None, "const char* ": ctypes.c_char_p, "int ": ctypes.c_int, "int64_t ": ctypes.c_int64}
        function.restype = results.get(result, P)
        made = function(*[P()] * (arguments.count(",") + 1))
        if name not in ("provider_name", "value_dims", "error_name"):  # their answers to 0 and NULL are not empty
            expect(made in (None, b"", 0, -1), name, "returns nothing for NULL:", made)


functions = check_record()
check_numbers()
check_symbols(functions)
build_and_run()
calls(Library())
wrong_tensors(Library())
nothing_given(Library())
conclude()
