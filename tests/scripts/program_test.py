#!/usr/bin/env python3
"""The program as its users call it: exit status, the error line, JSON output, input and output files, conformance."""
import glob
import json
import math
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
import onnx_bytes as ob  # noqa: E402
import page_models  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
COMMANDS = ["run", "bench", "conformance", "compare", "inspect", "convert", "ops", "devices"]
ERROR = re.compile(r"error: ([A-Z_]+): [^\n]+\n")
F32 = "<%df"


def cameo(*arguments, **more):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, **more)
    assert done.returncode in (0, 1, 2), (arguments, done)  # the program never ends by a signal
    assert ": :" not in done.stderr, (arguments, done)  # an empty part of a message, or a doubled colon
    return done


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def write(self, name, content):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def add_model(self, name="add.onnx", dims=(2, 3)):
        return self.write(name, ob.one_node("Add", ob.FLOAT, dims, 2))

    def fails(self, code, *arguments):
        done = cameo(*arguments)
        self.assertEqual(done.returncode, 1, (arguments, done))
        self.assertEqual(done.stdout, "", arguments)
        match = ERROR.fullmatch(done.stderr)
        self.assertTrue(match, done.stderr)
        self.assertEqual(match.group(1), code, done.stderr)
        return done.stderr

    def json(self, *arguments):
        done = cameo(*arguments, "--json")
        self.assertEqual(done.returncode, 0, (arguments, done))
        self.assertEqual(done.stderr, "")
        found = json.loads(done.stdout)
        self.assertIsInstance(found, dict)
        return found


def on_a_terminal(*arguments, **environment):
    """What the program writes to standard error when that is a terminal."""
    terminal, other = os.openpty()
    running = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=other, env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment})
    os.close(other)
    written = b""
    try:
        while piece := os.read(terminal, 4096):
            written += piece
    except OSError:  # the program has closed its end
        pass
    os.close(terminal)
    running.wait(timeout=120)
    return written.decode()


class Usage(Case):
    def test_help_explains_every_command(self):
        whole = cameo("--help")
        self.assertEqual((whole.returncode, whole.stderr), (0, ""))
        for command in COMMANDS:
            self.assertIn(command, whole.stdout)
            one = cameo(command, "--help")
            self.assertEqual((one.returncode, one.stderr), (0, ""))
            loads = ["--threads", "--config", "--optimize", "--quiet"] if command not in ("ops", "devices") else []
            for option in ["--ep", "--json", *loads]:
                self.assertIn(option, one.stdout, command)

    def test_version(self):
        self.assertRegex(cameo("--version").stdout, r"^cameo \d+\.\d+\.\d+\n")

    def test_options_of_a_session(self):
        page = (pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "docs" / "options.md").read_text(encoding="utf-8")
        self.assertTrue(page.endswith(cameo("options").stdout))
        run = ["run", self.add_model(), "--random-inputs", "--quiet"]
        for fine in [["--parallel", "--threads", 0], ["--memory-limit", 1 << 20], ["--external-data-folder", self.dir],
                     ["--free-dim-by-denotation", "DATA_BATCH=2"]]:
            self.assertEqual(cameo(*run, *fine).returncode, 0, fine)
        done = cameo(*run, "--memory-limit", 1)
        self.assertEqual((done.returncode, done.stderr.split(":")[1]), (1, " OUT_OF_MEMORY"))
        for wrong in [["--memory-limit", -1], ["--free-dim-by-denotation", "DATA_BATCH"], ["--parallel=1"],
                      ["--external-data-folder", ""]]:
            self.assertEqual(cameo(*run, *wrong).returncode, 2, wrong)

    def test_wrong_usage_is_2(self):
        model = self.add_model()
        for wrong in [[], ["nothing"], ["run"], ["run", model, "--unknown"], ["run", model, "--threads", "1025"],
                      ["run", model, "--threads", "many"], ["run", model, "--config", "novalue"],
                      ["run", model, "--optimize", "most"], ["run", model, "--input", "x0"],
                      ["run", model, "--dim", "n"], ["run", model, "--dim", "n=-1"], ["run", model, "--ep"],
                      ["run", model, "--free-dim", "n"], ["inspect", model, "--free-dim", "n=-1"],
                      ["conformance"], ["conformance", self.dir, "--filter", "("], ["ops", "--json", "--markdown"],
                      ["bench", model, "--random-inputs", "--data", self.dir], ["inspect", model, model],
                      ["run", model, "--random-inputs=2"], ["run", ""], ["convert", model, ""], ["reduce", model],
                      ["run", model, "--random-inputs", "--output-dir", ""], ["inspect", model, "--html", ""]]:
            done = cameo(*wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (wrong, done))
            self.assertNotEqual(done.stderr, "")

    def test_options_of_every_level_are_taken(self):
        model = self.add_model()
        for level in ["none", "basic", "extended", "layout", "all", "0", "3", "99"]:
            done = cameo("run", model, "--random-inputs", "--optimize", level, "--threads", 1, "--ep", "cpu", "--quiet")
            self.assertEqual(done.returncode, 0, done)

    def test_an_option_takes_one_value_and_leaves_the_model(self):
        model = self.add_model(dims=("n", 2))
        for options in [["--ep", "cpu"], ["--config", "session.intra_op.allow_spinning=0", "--ep", "cpu"], ["--dim", "n=2"]]:
            done = cameo("run", *options, model, "--random-inputs")
            self.assertEqual(done.returncode, 0, done)


class Errors(Case):
    def test_messages_say_what_was_expected(self):
        model, empty = self.add_model(), self.write("empty.onnx", b"")
        picture = self.write("picture.png", b"no picture")
        for words, *arguments in [
                (r"'x0' is missing; .* Give it with --input x0=FILE, or .* --random-inputs", "run", model),
                (r"a folder, but not a model package: .*manifest\.json.*; a model is a file", "run", self.dir),
                (r"empty\.onnx: it contains no part of a model: is it empty", "run", empty),
                (r"no input 'nothing_like_it'; there are x0, x1", "run", model, "--fill", "nothing_like_it=1"),
                (r"not a complete picture of a format that cameo reads", "run", self.add_model("image.onnx", (1, 3, 2, 2)), "--input",
                 f"x0={picture}"),
                (r"no input_\*\.pb in it, nor in a test_data_set_0", "bench", model, "--data", self.dir),
                (r"compiled anything of the model; the providers are cpu", "compile", model, "-o", self.dir / "c.onnx")]:
            done = cameo(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertRegex(done.stderr, r"^error: [A-Z_]+: .*" + words)

    def test_a_limit_on_the_size_of_files_is_an_error(self):
        model, page = self.add_model(), self.dir / "page.html"
        done = subprocess.run([PROGRAM, "inspect", model, "--html", page], capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("File too large", done.stderr)
        self.assertFalse(page.exists())

    def test_codes(self):
        model = self.add_model()
        for command in ["run", "bench", "inspect"]:
            for json_too in [[], ["--json"]]:
                words = self.fails("NO_SUCHFILE", command, self.dir / "none.onnx", *json_too)
                self.assertIn("none.onnx", words)
                self.fails("INVALID_PROTOBUF", command, self.write("bad.onnx", b"\xff" * 50), *json_too)
                self.fails("INVALID_ARGUMENT", command, model, "--ep", "nobody", *json_too)
        self.fails("INVALID_ARGUMENT", "ops", "--ep", "nobody")
        self.fails("NO_SUCHFILE", "conformance", self.dir / "none")
        self.fails("NOT_FOUND", "conformance", self.dir)

    def test_inputs(self):
        model = self.add_model()
        good = self.write("x.npy", ob.npy("<f4", (2, 3), struct.pack(F32 % 6, *range(6))))
        self.fails("INVALID_ARGUMENT", "run", model)
        self.fails("INVALID_ARGUMENT", "run", model, "--input", "nobody=%s" % good)
        self.fails("NO_SUCHFILE", "run", model, "--input", "x0=%s" % (self.dir / "none.npy"))
        self.fails("INVALID_ARGUMENT", "run", model, "--input", "x0=%s" % model)
        self.fails("INVALID_ARGUMENT", "run", model, "--random-inputs", "--dim", "nobody=2")
        twice = ["--input", "x0=%s" % good] * 2 + ["--input", "x1=%s" % good]
        self.fails("INVALID_ARGUMENT", "run", model, *twice)

    def test_no_memory_for_an_input_is_an_error_message(self):
        model = self.write("wide.onnx", ob.one_node("Neg", ob.FLOAT, ("n",), 1))
        words = self.fails("OUT_OF_MEMORY", "run", model, "--random-inputs", "--dim", "n=%d" % (1 << 50))
        self.assertRegex(words, r"input 'x0': there is no memory for tensor\(float\)\[n\]\n$")

    def test_future_versions_are_a_warning_by_default(self):
        kind = ob.tensor_type(ob.FLOAT, (2,))
        whole = ob.graph([ob.node("Neg", ["x"], ["y"])], [("x", kind)], [("y", kind)])
        done = cameo("run", self.write("future.onnx", ob.model(whole, opset=999)), "--random-inputs")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, r"\Awarning: .*future.onnx: opset 999 of 'ai.onnx' is newer than \d+, [^\n]+\n\Z")

    def test_hostile_npy(self):
        model = self.add_model()
        six = struct.pack(F32 % 6, *range(6))
        whole = ob.npy("<f4", (2, 3), six)
        bad = [b"", b"\x93NUMPY", whole[:9], whole[:40], whole[:-1], b"\x93NUMPY\x09\0" + whole[8:],
               b"\x93NUMPY\x01\0\xff\xff" + whole[10:], whole.replace(b"(2, 3)", b"(2,-3)"),
               whole.replace(b"(2, 3)", b"[2, 3]"), whole.replace(b"<f4", b"|O8"), whole.replace(b"<f4", b"<f3"),
               whole.replace(b"<f4", b"<q9"), whole.replace(b"'descr'", b"'decsr'"), whole.replace(b"False", b"Maybe"),
               ob.npy("<f4", (2**62, 2**62), six), ob.npy("<f4", (2**63 - 1,), six), ob.npy("<f4", (1,) * 13, six),
               ob.npy("<U999999999999", (1,), six), ob.npy("<U0", (2**40,), six), ob.npy([("a", "<f4")], (2, 3), six)]
        for content in bad:
            self.fails("INVALID_ARGUMENT", "run", model, "--input", "x0=%s" % self.write("bad.npy", content))

    def test_names_of_a_model_do_not_add_lines_to_the_error(self):
        kind = ob.tensor_type(ob.FLOAT, [1])
        content = ob.model(ob.graph([ob.node("No\nSuch\r\nOp", ["a"], ["b"])], [("a", kind)], [("b", kind)]))
        done = cameo("run", self.write("m.onnx", content))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, ERROR)
        self.assertEqual(done.stderr.count("\n"), 1)


class Run(Case):
    def identity(self, onnx_type, descr, shape, data, fortran=False, expected=None, **more):
        model = self.write("identity.onnx", ob.one_node("Identity", onnx_type, shape))
        npy = self.write("x.npy", ob.npy(descr, shape, data, fortran, **more))
        out = self.dir / "out"
        report = self.json("run", model, "--input", "x0=%s" % npy, "--output-dir", out)
        self.assertEqual(report["outputs"][0]["shape"], list(shape))
        found = ob.read_npy((out / "y.npy").read_bytes())
        self.assertEqual(found, expected or (descr, tuple(shape), data))

    def test_npy_round_trips(self):
        six = range(6)
        self.identity(ob.FLOAT, "<f4", (2, 3), struct.pack(F32 % 6, *six))
        self.identity(ob.FLOAT, "<f4", (2, 3), struct.pack(F32 % 6, *six), version=2)
        self.identity(ob.DOUBLE, "<f8", (6,), struct.pack("<6d", *six))
        self.identity(ob.FLOAT16, "<f2", (2, 3), struct.pack("<6e", *six))
        self.identity(ob.INT64, "<i8", (2, 1, 3), struct.pack("<6q", *six))
        self.identity(ob.BOOL, "|b1", (4,), b"\1\0\0\1")
        self.identity(ob.UINT8, "|u1", (0,), b"")
        self.identity(ob.COMPLEX64, "<c8", (3,), struct.pack(F32 % 6, *six))
        self.identity(ob.COMPLEX128, "<c16", (), struct.pack("<2d", 1, 2))
        self.identity(ob.BFLOAT16, "<u2", (2,), struct.pack("<2H", 0x3F80, 0x4000))
        self.identity(ob.BFLOAT16, "<V2", (2,), struct.pack("<2H", 0x3F80, 0x4000),
                      expected=("<u2", (2,), struct.pack("<2H", 0x3F80, 0x4000)))
        texts = "".join(s.ljust(4, "\0") for s in ["a", "", "\u00e9\u20ac", "\U0001f600xyz"])
        self.identity(ob.STRING, "<U4", (2, 2), texts.encode("utf-32-le"))
        self.identity(ob.STRING, "|S2", (2,), b"abc\0",
                      expected=("<U2", (2,), "abc\0".encode("utf-32-le")))

    def test_bools_are_0_or_1(self):
        odd, good = b"\0\1\2\x5a\xff", b"\0\1\1\1\1"
        self.identity(ob.BOOL, "|b1", (5,), odd, expected=("|b1", (5,), good))
        out = self.dir / "out"

        def y_of(model, feed):
            self.json("run", model, "--input", "x0=%s" % feed, "--output-dir", out)
            return ob.read_npy((out / "y.npy").read_bytes())[2]
        message = self.write("x.pb", ob.tensor("x0", ob.BOOL, [5], odd))
        self.assertEqual(y_of(self.write("not.onnx", ob.one_node("Not", ob.BOOL, (5,))), message), b"\1\0\0\0\0")
        to_bool = ob.node("BitCast", ["x0"], ["flags"], "cast") + ob.text(
            5, ob.text(1, "to") + ob.integer(3, ob.BOOL) + ob.integer(20, 2))
        flags = ob.tensor_type(ob.BOOL, [5])
        for last, wanted in [("Not", b"\1\0\0\0\0"), ("Identity", good)]:
            graph = ob.graph([to_bool, ob.node(last, ["flags"], ["y"])], [("x0", ob.tensor_type(ob.UINT8, [5]))],
                             [("y", flags)])
            model = self.write("bits.onnx", ob.model(graph, opset=26))
            self.assertEqual(y_of(model, self.write("bits.npy", ob.npy("|u1", (5,), odd))), wanted)

    def test_npy_of_other_orders(self):
        c_order = struct.pack(F32 % 6, 0, 1, 2, 3, 4, 5)
        self.identity(ob.FLOAT, "<f4", (2, 3), struct.pack(F32 % 6, 0, 3, 1, 4, 2, 5), True, ("<f4", (2, 3), c_order))
        self.identity(ob.FLOAT, ">f4", (2, 3), struct.pack(">6f", *range(6)), False, ("<f4", (2, 3), c_order))
        self.identity(ob.COMPLEX64, ">c8", (3,), struct.pack(">6f", *range(6)), False, ("<c8", (3,), c_order))

    def test_pb_and_top(self):
        model = self.add_model()
        x = self.write("x.pb", ob.floats("whatever", (2, 3), [0, 5, 1, 9, 2, 3]))
        report = self.json("run", model, "--input", "x0=%s" % x, "--input", "x1=%s" % x, "--top", 2)
        self.assertEqual(report["outputs"][0]["top"],
                         [[{"index": 1, "score": 10}, {"index": 2, "score": 2}],
                          [{"index": 0, "score": 18}, {"index": 2, "score": 6}]])
        done = cameo("run", model, "--input", "x0=%s" % x, "--input", "x1=%s" % x)
        self.assertIn("y:", done.stdout)
        self.assertIn("10", done.stdout)

    def test_random_inputs_are_the_same_for_a_seed(self):
        model = self.add_model(dims=("n", 2))

        def result(*more):
            return self.json("run", model, "--random-inputs", *more)["outputs"][0]

        self.assertEqual(result()["shape"], [1, 2])
        self.assertEqual(result("--dim", "n=3")["shape"], [3, 2])
        self.assertEqual(result("--free-dim", "n=4")["shape"], [4, 2])
        self.assertEqual(result("--seed", 7)["text"], result("--seed", 7)["text"])
        self.assertNotEqual(result("--seed", 7)["text"], result("--seed", 8)["text"])

    def test_profile_is_a_trace(self):
        trace = self.dir / "trace.json"
        self.json("run", self.add_model(), "--random-inputs", "--profile", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        steps = [e for e in events if e["ph"] == "X"]
        self.assertEqual([(e["args"]["op"], e["args"]["provider"]) for e in steps], [("Add", "cpu")])
        for e in steps:
            self.assertGreaterEqual(e["dur"], 0)
            self.assertGreaterEqual(e["ts"], 0)
            self.assertIn("pid", e)
            self.assertIn("tid", e)
        self.assertEqual([(e["args"]["operations"], e["args"]["bytes"]) for e in steps], [(6, 3 * 6 * 4)])
        peak = json.loads(trace.read_text())["otherData"]["peak"]
        self.assertTrue(peak["operations"] > 1e8 and peak["bytes_per_second"] > 1e8, peak)
        self.assertIn("thread_name", [e["name"] for e in events if e["ph"] == "M"])

    def test_images(self):
        import zlib

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        pixels = b"\0" + bytes([255, 0, 0, 0, 255, 0]) + b"\0" + bytes([0, 0, 255, 51, 102, 153])
        png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)) +
               chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))
        image = self.write("x.png", png)
        out = self.dir / "out"
        for dims, order in [((1, 3, "h", "w"), [1, 0, 0, .2, 0, 1, 0, .4, 0, 0, 1, .6]),
                            ((1, 2, 2, 3), [1, 0, 0, 0, 1, 0, 0, 0, 1, .2, .4, .6])]:
            model = self.write("image.onnx", ob.one_node("Identity", ob.FLOAT, dims))
            done = cameo("run", model, "--input", "x0=%s" % image, "--output-dir", out)
            if "NOT_IMPLEMENTED" in done.stderr:
                self.skipTest("built without libpng")
            self.assertEqual(done.returncode, 0, done)
            found = struct.unpack("<12f", ob.read_npy((out / "y.npy").read_bytes())[2])
            for a, b in zip(found, order):
                self.assertAlmostEqual(a, b, 6)
        model = self.write("image.onnx", ob.one_node("Identity", ob.FLOAT, (1, 3, 4, 4)))
        self.fails("INVALID_ARGUMENT", "run", model, "--input", "x0=%s" % image)
        self.fails("INVALID_ARGUMENT", "run", model, "--input", "x0=%s" % self.write("cut.png", png[:60]))
        self.fails("INVALID_ARGUMENT", "run", self.add_model(), "--input", "x0=%s" % image)
        self.assertEqual(cameo("run", model, "--input", "x0=%s" % self.write("no.jpg", b"nothing")).returncode, 1)


class Reports(Case):
    def test_bench(self):
        model = self.add_model()
        keys = {"model", "eps", "threads", "runs", "min_us", "median_us", "p99_us", "mean_us", "load_ms",
                "first_run_us", "rss_before_kb", "rss_after_load_kb", "rss_after_run_kb", "peak_rss_kb",
                "allocations_per_run", "arena_bytes", "nodes"}
        report = self.json("bench", model, "--seconds", 0.05, "--threads", 1, "--random-inputs")
        self.assertLessEqual(keys, set(report))
        self.assertEqual((report["nodes"], report["threads"], report["eps"]), (1, 1, ["cpu"]))
        self.assertLessEqual(report["min_us"], report["median_us"])
        self.assertLessEqual(report["median_us"], report["p99_us"])
        self.assertGreater(report["rss_before_kb"], 0)
        self.assertLess(report["rss_after_run_kb"], report["peak_rss_kb"] + 4096)  # counted with a delay
        self.assertIn(report["allocations_per_run"], (0, None))  # null if a sanitizer replaces the allocator
        for i in range(2):
            self.write("data/test_data_set_0/input_%d.pb" % i, ob.floats("", (2, 3), range(6)))
        for data in ["data", "data/test_data_set_0"]:
            self.assertGreater(self.json("bench", model, "--seconds", 0, "--data", self.dir / data)["runs"], 0)
        self.fails("NO_SUCHFILE", "bench", model, "--data", self.dir / "none")
        self.assertIn("median_us", cameo("bench", model, "--seconds", 0).stdout)

    def per_node_model(self):
        """A convolution, a product with a constant and a sum, which no rewrite fuses."""
        nodes = [ob.node("Conv", ["x", "k"], ["c"], "slide"), ob.node("Reshape", ["c", "to"], ["r"], "flat"),
                 ob.node("MatMul", ["r", "w"], ["m"], "multiply"), ob.node("Add", ["m", "z"], ["y"], "sum")]
        weights = [ob.floats("k", (2, 3, 3, 3), [1] * 54), ob.floats("w", (8, 5), [1] * 40),
                   ob.tensor("to", 7, (2,), struct.pack("<2q", -1, 8))]
        inputs = [("x", ob.tensor_type(ob.FLOAT, ("n", 3, 4, 4))), ("z", ob.tensor_type(ob.FLOAT, ("n", 5)))]
        return self.write("nodes.onnx", ob.model(ob.graph(nodes, inputs, [("y", ob.tensor_type(ob.FLOAT, ("n", 5)))],
                                                          weights)))

    def test_bench_per_node(self):
        model = self.per_node_model()
        plain = ["bench", model, "--seconds", 0.05, "--threads", 1, "--optimize", "none", "--dim", "n=6"]
        report = self.json(*plain, "--per-node")
        self.assertEqual(set(report) - set(self.json(*plain)), {"per_node", "per_node_sum", "peak"})
        nodes = {n["name"]: n for n in report["per_node"]}
        self.assertEqual({n: (nodes[n]["op"], nodes[n]["provider"], nodes[n]["calls"]) for n in nodes},
                         {"slide": ("Conv", "cpu", 1), "flat": ("Reshape", "cpu", 1), "multiply": ("MatMul", "cpu", 1),
                          "sum": ("Add", "cpu", 1)})
        # The size of the dim n, 6, is known only in the run.
        self.assertEqual({n: nodes[n]["operations"] for n in nodes},
                         {"slide": 2 * 6 * 2 * 2 * 2 * 27, "flat": 0, "multiply": 2 * 6 * 8 * 5, "sum": 6 * 5})
        self.assertEqual(nodes["slide"]["bytes"], 4 * (6 * 48 + 54 + 6 * 8))
        self.assertEqual(nodes["multiply"]["bytes"], 4 * (6 * 8 + 40 + 6 * 5))
        self.assertEqual(nodes["sum"]["bytes"], 4 * 3 * 6 * 5)
        peak = report["peak"]
        self.assertGreater(peak["operations_per_second"], 1e8)
        self.assertGreater(peak["bytes_per_second"], 1e8)
        self.assertEqual(peak["threads"], 1)
        for n in nodes.values():
            self.assertGreater(n["min_us"], 0)
            self.assertLessEqual(n["min_us"], n["median_us"])
            least = max(n["operations"] / peak["operations_per_second"], n["bytes"] / peak["bytes_per_second"])
            self.assertAlmostEqual(n["share"], least * 1e6 / n["min_us"], delta=1e-3 * n["share"] + 1e-12)
        total = report["per_node_sum"]
        for key in ["min_us", "median_us", "operations", "bytes"]:
            self.assertAlmostEqual(total[key], sum(n[key] for n in nodes.values()), delta=1e-6 * total[key])
        times = [n["median_us"] for n in report["per_node"]]
        self.assertEqual(times, sorted(times, reverse=True))
        in_plan = self.json(*plain, "--per-node", "--sort", "plan")["per_node"]
        self.assertEqual([n["name"] for n in in_plan], ["slide", "flat", "multiply", "sum"])
        shares = [n["share"] for n in self.json(*plain, "--per-node", "--sort", "share")["per_node"]]
        self.assertEqual(shares, sorted(shares))
        shown = cameo(*plain, "--per-node").stdout
        self.assertRegex(shown, r"\npeak: [\d.]+ G operations/s and [\d.]+ GB/s with 1 thread,")
        self.assertRegex(shown, r"\n +[\d.]+ +[\d.]+ +[\d.]+ +2592 +1560 +[\d.]+ %  cpu +Conv +slide\n")
        self.assertRegex(shown, r"%? +sum\n$")
        for wrong in [["--sort", "plan"], ["--per-node", "--sort", "name"]]:
            self.assertEqual(cameo(*plain, *wrong).returncode, 2)

    def test_bench_per_node_counts_only_the_rows_that_are_read_from_tables(self):
        def table(name, rows):
            return ob.tensor(name, ob.FLOAT, (rows, 64), bytes(4 * 64 * rows))

        ids = ob.tensor_type(6, (1, 3))  # indices into a table of 100,000 words, 26 MB
        nodes = [ob.node("EmbedLayerNormalization", ["ids", "segments", "words", "positions", "two", "gamma", "beta"],
                         ["y", "mask"], "embed", domain="com.microsoft")]
        weights = [table("words", 100000), table("positions", 512), table("two", 2),
                   ob.floats("gamma", (64,), [1] * 64), ob.floats("beta", (64,), [0] * 64)]
        model = self.write("table.onnx", ob.model(ob.graph(nodes, [("ids", ids), ("segments", ids)],
                                                           [("y", ob.tensor_type(ob.FLOAT, (1, 3, 64)))], weights),
                                                  domains=["com.microsoft"]))
        node, = self.json("bench", model, "--seconds", 0.05, "--threads", 1, "--per-node")["per_node"]
        # The ids, rows of words and positions, both segments, gamma and beta, the result, and in some builds the mask.
        read = 4 * (2 * 3 + 3 * 64 + 3 * 64 + 2 * 64 + 2 * 64 + 3 * 64)
        self.assertIn(node["bytes"], (read, read + 4))
        self.assertLess(node["share"], 2)  # the share of memory bandwidth may exceed 1: so few bytes are in a cache

    def test_bench_per_node_in_loops(self):
        model = self.write("loop.onnx", page_models.looping())
        nodes = self.json("bench", model, "--seconds", 0, "--per-node")["per_node"]
        by_op = {n["op"]: n for n in nodes}
        self.assertEqual((by_op["Loop"]["calls"], by_op["Add"]["calls"], by_op["If"]["calls"]), (1, 5, 5))
        self.assertIsNone(by_op["Loop"]["operations"])  # the nodes of its body have separate lines
        self.assertIsNone(by_op["Loop"]["share"])
        self.assertGreater(by_op["Add"]["operations"], 0)
        self.assertEqual(by_op["Add"]["operations"] % 5, 0)  # summed over all calls

    def scaled_model(self, name, factor, output="y"):
        """h = x + (1, 1, 1), y = h * factor; a bool output is true where y is above 4."""
        kind = ob.tensor_type(ob.FLOAT, (2, 3))
        nodes = [ob.node("Add", ["x", "c"], ["h"]), ob.node("Mul", ["h", "f"], [output]),
                 ob.node("Greater", [output, "four"], ["large"])]
        constants = [ob.floats("c", (3,), [1] * 3), ob.floats("f", (3,), factor), ob.floats("four", (), [4])]
        outputs = [(output, kind), ("large", ob.tensor_type(ob.BOOL, (2, 3)))]
        return self.write(name, ob.model(ob.graph(nodes, [("x", kind)], outputs, constants)))

    def test_compare(self):
        a, b = self.scaled_model("a.onnx", [1, 1, 1]), self.scaled_model("b.onnx", [1, 1, 2])
        x = self.write("x.npy", ob.npy("<f4", (2, 3), struct.pack("<6f", 0, 1, 1, 4, 2, -1)))
        plain = ["--input", "x=%s" % x, "--optimize", "none"]
        report = self.json("compare", a, b, *plain)
        self.assertEqual(set(report), {"version", "a", "b", "outputs", "values", "missing"})
        y, large = report["outputs"]  # a has 1 2 2, 5 3 0; b has 1 2 4, 5 3 0
        self.assertEqual((y["name"], y["form"], y["equal"]), ("y", "float[2,3]", False))
        self.assertEqual((y["largest_error"], y["top1"]), (2, 0.5))
        self.assertAlmostEqual(y["mean_error"], 2 / 6)
        self.assertAlmostEqual(y["cosine"], 47 / (43 * 55) ** 0.5)
        self.assertAlmostEqual(y["sqnr_db"], 10 * math.log10(43 / 4))
        self.assertEqual((large["name"], large["equal"]), ("large", True))
        h, = report["values"]
        self.assertEqual((h["name"], h["equal"], h["largest_error"], h["sqnr_db"]), ("h", True, 0, None))
        text = cameo("compare", a, b, *plain).stdout
        for word in ["outputs", "values of one name", "50.00 %", "10.31", "y float[2,3]", "h float[2,3]"]:
            self.assertIn(word, text)

    def test_compare_fails_beyond_a_tolerance(self):
        a, b = self.scaled_model("a.onnx", [1, 1, 1]), self.scaled_model("b.onnx", [1, 1, 1.001])
        x = self.write("x.npy", ob.npy("<f4", (2, 3), struct.pack("<6f", 0, 1, 1, 4, 2, -1)))
        given = ["compare", a, b, "--input", "x=%s" % x]
        for fine in [[], ["--rtol", "0.002"], ["--atol", "0.003"], ["--rtol", "0.0009", "--atol", "0.001"]]:
            self.assertEqual(cameo(*given, *fine).returncode, 0, fine)
        for far in [["--rtol", "0.0009"], ["--atol", "0.0015"], ["--rtol", "0"]]:
            done = cameo(*given, *far)
            self.assertEqual(done.returncode, 1, far)
            self.assertRegex(done.stderr, r"^error: FAIL: output y: 1 of 6 elements differ[^\n]+\n$")
            self.assertIn("outputs", done.stdout)
        done = cameo(*given, "--atol", "0.0015", "--json")
        self.assertEqual((done.returncode, len(json.loads(done.stdout)["outputs"])), (1, 2))
        self.assertEqual(cameo(*given, "--rtol", "much").returncode, 2)

    def test_compare_one_model_under_two_settings(self):
        a = self.scaled_model("a.onnx", [1, 1, 1])
        report = self.json("compare", a, "--b-optimize", "none", "--a-config", "session.intra_op.allow_spinning=0",
                           "--a-ep", "cpu", "--seed", 3)
        self.assertEqual((report["a"], report["b"]), (str(a), str(a)))
        self.assertTrue(all(each["equal"] for each in report["outputs"]))
        leaves_out = ["--b-config", "session.no_such_key=1"]
        self.assertIn("no_such_key", cameo("compare", a, *leaves_out).stderr)
        other = self.scaled_model("other.onnx", [1, 1, 1], output="z")
        self.assertEqual(self.json("compare", a, other)["missing"], ["y"])
        self.assertIn("has no output 'y'", cameo("compare", a, other).stderr)
        kind = ob.tensor_type(ob.FLOAT, (2, 3))
        third = self.write("third.onnx", ob.model(ob.graph([ob.node("Abs", ["x"], ["w"])], [("x", kind)], [("w", kind)])))
        self.fails("INVALID_ARGUMENT", "compare", a, third)

    def test_inspect(self):
        kind = ob.tensor_type(ob.FLOAT, ["n", 2])
        content = ob.model(ob.graph([ob.node("Add", ["x", "w"], ["t"], "first"), ob.node("Relu", ["t"], ["y"], "second")],
                                    [("x", kind)], [("y", kind)], [ob.floats("w", (2,), [1, 2])]))
        model = self.write("m.onnx", content)
        report = self.json("inspect", model)
        self.assertEqual(report["opsets"], {"ai.onnx": 17})
        self.assertEqual((report["parameters"], report["nodes"]), (2, 2))
        self.assertEqual(report["ops"], {"Add": 1, "Relu": 1})
        self.assertEqual(report["providers"], {"cpu": 2})
        self.assertEqual([p["nodes"] for p in report["partitions"]], [2])
        self.assertEqual([i["name"] for i in report["inputs"]], ["x"])
        self.assertIn("arena_bytes", report)
        shown = cameo("inspect", model).stdout
        for word in ["Add", "Relu", "cpu", "parameters", "arena"]:
            self.assertIn(word, shown)

    def test_inspect_of_a_compiled_model(self):
        """A compiled model with and without its provider, and with and without its context."""
        model, out = self.add_model(), self.dir / "c.onnx"
        done = cameo("compile", model, "-o", out, "--ep", "frozen", "--ep", "cpu", "--quiet")
        self.assertEqual(done.returncode, 0, done)
        context = self.dir / "c_FrozenExecutionProvider.bin"
        for providers in [[], ["--ep", "frozen", "--ep", "cpu"]]:
            report = self.json("inspect", out, *providers)
            (node,) = report["compiled_nodes"]
            self.assertEqual((node["source"], node["context_file"], node["embed_mode"], node["main_context"]),
                             ("FrozenExecutionProvider", context.name, 0, 1))
            self.assertRegex(node["ep_sdk_version"], r"^\d+\.\d+\.\d+$")
            self.assertRegex(node["context_id"], r"^[0-9a-f]{32}$")
            self.assertEqual("not_loaded" in report, not providers)
            self.assertEqual([i["name"] for i in report["inputs"]], ["x0", "x1"])
            shown = cameo("inspect", out, *providers).stdout
            for word in ["source FrozenExecutionProvider", "SDK " + node["ep_sdk_version"], "embed mode 0",
                         "context file " + context.name]:
                self.assertIn(word, shown)
        self.assertIn("--ep frozen", self.fails("NOT_IMPLEMENTED", "run", out, "--random-inputs"))
        context.unlink()
        self.assertIn("INVALID_GRAPH", self.json("inspect", out, "--ep", "frozen")["not_loaded"])
        cameo("compile", model, "-o", out, "--ep", "frozen", "--embed", "--force", "--quiet")
        (node,) = self.json("inspect", out)["compiled_nodes"]
        self.assertEqual((node["embed_mode"], node["context_file"]), (1, ""))
        self.assertGreater(node["context_bytes"], 200)
        self.fails("NOT_IMPLEMENTED", "inspect", out, "--html", self.dir / "page.html")

    def test_convert(self):
        model, ort, back = self.add_model(), self.dir / "m.ORT", self.dir / "back.onnx"
        report = self.json("convert", model, ort)
        self.assertEqual((report["format"], report["bytes"]), ("ort", ort.stat().st_size))
        self.assertEqual(ort.read_bytes()[4:8], b"ORTM")
        self.assertEqual(cameo("convert", ort, back, "--quiet").stdout, "")
        self.assertEqual(*(cameo("run", m, "--random-inputs").stdout for m in (model, back)))
        self.assertEqual(*(cameo("run", m, "--random-inputs").stdout for m in (model, ort)))
        for level in ("none", "basic", "extended", "layout", "all"):
            again = self.dir / f"{level}.ort"
            self.assertEqual(cameo("convert", model, again, "--optimize", level).returncode, 0)
            self.assertEqual(cameo("run", again, "--random-inputs").returncode, 0)
        self.fails("INVALID_ARGUMENT", "convert", model, self.dir / "m.pb")
        self.fails("NO_SUCHFILE", "convert", self.dir / "absent.onnx", ort)
        self.fails("FAIL", "convert", self.write("bad.ort", b"\0" * 64), back)

    def test_ops(self):
        report = self.json("ops", "--ep", "cpu")
        add = [o for o in report["ops"] if o["op"] == "Add" and o["domain"] == "ai.onnx"]
        self.assertEqual(len(add), 1)
        last = add[0]["versions"][-1]
        self.assertIsNone(last["last"])
        self.assertIn("float", last["types"]["cpu"]["T"])
        self.assertEqual(report, self.json("ops", "--ep", "CPUExecutionProvider"))
        self.assertRegex(cameo("ops", "--markdown").stdout, r"(?m)^\| Add \| \S+ \| .*float.* \|$")
        self.assertRegex(cameo("ops").stdout, r"(?m)^Add +\S+ +cpu +.*float")

    def test_pages_are_written(self):  # inspect_html.py checks their contents, without sanitizers
        for content, level in [(page_models.hostile(), "none"), (page_models.looping(), "all"),
                               (page_models.small_cnn(), "all"), (page_models.tangle(200), "basic")]:
            model, page, trace = self.write("model.onnx", content), self.dir / "page.html", self.dir / "trace.json"
            profile = []
            if content != page_models.hostile():  # it has a string input, for which there are no random values
                profile = ["--profile", trace]
                cameo("run", model, "--random-inputs", "--optimize", level, *profile)
            done = cameo("inspect", model, "--optimize", level, "--html", page, "--json", "--quiet", *profile)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(page.read_text(encoding="utf-8").endswith("</html>\n"))


class Terminal(Case):
    def test_errors_are_colored_unless_disabled(self):
        missing = self.dir / "missing.onnx"
        self.assertRegex(on_a_terminal("run", missing), "^\x1b\\[1;31merror: \x1b\\[0;1mNO_SUCHFILE:\x1b\\[0m [^\x1b]+$")
        for environment in [{"NO_COLOR": "1"}, {"TERM": "dumb"}]:
            self.assertTrue(ERROR.fullmatch(on_a_terminal("run", missing, **environment).replace("\r", "")))

    def test_names_of_a_model_do_not_reach_the_terminal(self):
        model = self.write("evil.onnx", ob.one_node("No\x1b]0;title\x07Such", ob.FLOAT, (2,), 1))
        said = on_a_terminal("run", model, "--random-inputs", NO_COLOR="1")
        self.assertIn("No?]0;title?Such", said)
        self.assertNotIn("\x1b", said)

    def test_long_work_shows_a_bar_that_disappears(self):
        said = on_a_terminal("bench", self.add_model(), "--random-inputs", "--seconds", "1.5")
        self.assertRegex(said, r"\r\[#*\.*\] \d+ runs\x1b\[K")
        self.assertTrue(said.endswith("\r\x1b[K"), said[-40:])
        self.assertEqual(on_a_terminal("bench", self.add_model(), "--random-inputs", "--seconds", "1.5", "--quiet"), "")
        self.assertEqual(on_a_terminal("bench", self.add_model(), "--random-inputs", "--seconds", "0.01"), "")

    def test_log(self):
        done = cameo("run", self.add_model(), "--random-inputs", "--log", "info", "--config", "session.use_env_allocators=1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: session key 'session.use_env_allocators' has no effect", done.stderr)
        self.assertIn("info: cpu runs 1 nodes\n", done.stderr)
        self.assertNotIn("verbose: ", done.stderr)
        for key, value, warns in [("session.strict", "yes", True), ("session.intra_op.allow_spinning", "", True),
                                  ("ep.enable_weightless_ep_context_nodes", "on", True), ("session.separate_dims", "yes", True),
                                  ("session.strict", "0", False), ("session.graph_optimizations_loop_level", "2", False)]:
            words = f"warning: session key '{key}' is '{value}', which counts as 0; it can be 0 or 1\n"
            done = cameo("run", self.add_model(), "--random-inputs", "--config", f"{key}={value}", "--quiet")
            self.assertEqual(done.stderr.endswith(words), warns, done.stderr)
        verbose = cameo("run", self.add_model(), "--random-inputs", "--log", "verbose")
        self.assertRegex(verbose.stderr, r"verbose: node 'n' \(Add\) on cpu\n")
        self.assertEqual(cameo("run", self.add_model(), "--log", "loud").returncode, 2)


class Conformance(Case):
    def case(self, name, model, inputs, outputs, file="model.onnx", data_set=0):
        folder = "cases/%s/test_data_set_%d/" % (name, data_set)
        self.write("cases/%s/%s" % (name, file), model)
        for kind, values in [("input", inputs), ("output", outputs)]:
            for i, content in enumerate(values):
                if content is not None:
                    self.write(folder + "%s_%d.pb" % (kind, i), content)

    def sum_case(self, name, total, **more):
        self.case(name, ob.one_node("Add", ob.FLOAT, (2,), 2), [ob.floats("", (2,), [1, 2]), ob.floats("", (2,), [3, 4])],
                  [ob.floats("y", (2,), total)], **more)

    def endless_case(self, name):
        kind, flag, number = ob.tensor_type(ob.FLOAT, [1]), ob.tensor_type(ob.BOOL, []), ob.tensor_type(ob.INT64, [])
        body = ob.graph([ob.node("Identity", ["c"], ["c2"]), ob.node("Identity", ["v"], ["v2"])],
                        [("i", number), ("c", flag), ("v", kind)], [("c2", flag), ("v2", kind)])
        loop = ob.graph([ob.node("Loop", ["", "go", "x"], ["y"], "forever", [("body", body)])],
                        [("go", flag), ("x", kind)], [("y", kind)])
        self.case(name, ob.model(loop), [ob.tensor("go", ob.BOOL, [], b"\1"), ob.floats("x", [1], [0])],
                  [ob.floats("y", [1], [0])])

    def run_cases(self, *more, code=0):
        report = self.dir / "report.json"
        done = cameo("conformance", self.dir / "cases", "--json", report, *more)
        self.assertEqual(done.returncode, code, done)
        if code:
            self.assertRegex(done.stderr, ERROR)
        else:
            self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        found = {e["name"]: e for e in json.loads(report.read_text())}
        for e in found.values():
            self.assertLessEqual({"name", "status", "reason", "seconds"}, set(e))
        counts = [sum(e["status"] == s for e in found.values()) for s in ["pass", "fail", "skip"]]
        self.assertEqual(lines[-1], "%d passed, %d failed, %d skipped" % tuple(counts))
        return found, lines[:-1]

    def test_pass_fail_skip(self):
        self.sum_case("good", [4, 6])
        self.sum_case("deep/good", [4, 6.001])
        self.sum_case("wrong", [4, 7])
        self.case("unknown", ob.one_node("NoSuchOp", ob.FLOAT, (2,)), [ob.floats("", (2,), [1, 2])], [])
        self.write("cases/nothing/model.onnx", ob.one_node("Add", ob.FLOAT, (2,), 2))
        found, lines = self.run_cases(code=1)
        status = {name: e["status"] for name, e in found.items()}
        self.assertEqual(status, {"good": "pass", "deep/good": "pass", "wrong": "fail", "unknown": "fail", "nothing": "skip"})
        self.assertEqual(len(lines), 2)
        wrong = [line for line in lines if "wrong" in line][0]
        for word in ["Add", "'y'", "1 of 2", "largest error 1", "got 6, expected 7"]:
            self.assertIn(word, wrong)
        self.assertIn("NoSuchOp", found["unknown"]["reason"])
        self.assertEqual(len(self.run_cases("--verbose", "--jobs", 3, code=1)[1]), 5)
        self.assertEqual(set(self.run_cases("--filter", "^good$")[0]), {"good"})
        self.assertEqual(set(self.run_cases("--filter", "deep")[0]), {"deep/good"})
        self.assertEqual(cameo("conformance", self.dir / "cases/good").stdout, "1 passed, 0 failed, 0 skipped\n")

    def test_every_type_is_compared_by_its_rules(self):
        nan, inf = float("nan"), float("inf")
        cases = []  # name, type, dims, input, expected output, whether they are equal

        def pack(name, dtype, form, got, expected, equal):
            cases.append((name, dtype, [len(got)], struct.pack("<%d%s" % (len(got), form), *got),
                          struct.pack("<%d%s" % (len(expected), form), *expected), equal))

        pack("f32_close", ob.FLOAT, "f", [1, 1000], [1.0005, 1000.5], True)
        pack("f32_far", ob.FLOAT, "f", [1, 1000], [1.0005, 1002], False)
        pack("f32_tiny", ob.FLOAT, "f", [0, 1e-8], [5e-8, 0], True)
        pack("f32_special", ob.FLOAT, "f", [nan, inf, -inf, -0.0], [nan, inf, -inf, 0.0], True)
        pack("f32_nan", ob.FLOAT, "f", [1], [nan], False)
        pack("f32_got_nan", ob.FLOAT, "f", [nan], [1], False)
        pack("f32_inf", ob.FLOAT, "f", [3e38], [inf], False)
        pack("f32_sign", ob.FLOAT, "f", [-inf], [inf], False)
        pack("f64_close", ob.DOUBLE, "d", [1.0], [1.0005], True)
        pack("f16_close", ob.FLOAT16, "e", [1.0], [1.0009765625], True)
        pack("f16_far", ob.FLOAT16, "e", [1.0], [1.00390625], False)
        pack("bf16_two_units", ob.BFLOAT16, "H", [0x3F80], [0x3F82], True)
        pack("bf16_far", ob.BFLOAT16, "H", [0x3F80], [0x3F84], False)
        pack("i64_exact", ob.INT64, "q", [2**62], [2**62 + 1], False)
        pack("i64_equal", ob.INT64, "q", [2**62], [2**62], True)
        pack("i32", ob.INT32, "i", [1000], [1001], False)
        pack("u8", ob.UINT8, "B", [255], [254], False)
        pack("bool", ob.BOOL, "B", [1, 0], [1, 1], False)
        pack("complex_close", ob.COMPLEX64, "f", [1, 2], [1.0005, 2], True)
        pack("complex_far", ob.COMPLEX64, "f", [1, 2], [1.5, 2], False)
        for name, dtype, dims, got, expected, equal in cases:
            if dtype == ob.COMPLEX64:
                dims = [1]
            self.case(name, ob.one_node("Identity", dtype, dims), [ob.tensor("", dtype, dims, got)],
                      [ob.tensor("", dtype, dims, expected)])
        for name, expected in [("text_equal", ["a", "b"]), ("text_other", ["a", "c"])]:
            self.case(name, ob.one_node("Identity", ob.STRING, [2]), [ob.tensor("", ob.STRING, [2], strings=["a", "b"])],
                      [ob.tensor("", ob.STRING, [2], strings=expected)])
        any_shape = ob.one_node("Identity", ob.FLOAT, ["n"])
        self.case("other_shape", any_shape, [ob.floats("", [2], [1, 2])], [ob.floats("", [1, 2], [1, 2])])
        self.case("other_type", any_shape, [ob.floats("", [1], [1])], [ob.tensor("", ob.INT32, [1], struct.pack("<i", 1))])
        found, _ = self.run_cases(code=1)
        equal = {name for name, *_, good in cases if good} | {"text_equal"}
        self.assertEqual({n for n, e in found.items() if e["status"] == "pass"}, equal)
        self.assertEqual(len(found), len(cases) + 4)

    def test_model_and_tolerance(self):
        self.sum_case("one", [4, 6], file="any_name.onnx")
        self.sum_case("loose", [4, 7])
        self.write("cases/loose/tolerance.json", b'{"rtol": 0.5, "atol": 1}')
        self.sum_case("tight", [4, 6.001])
        self.write("cases/tight/tolerance.json", b'{"rtol": 1e-9, "atol": 0}')
        self.sum_case("two", [4, 6], file="a.onnx")
        self.sum_case("two", [4, 6], file="b.onnx")
        self.sum_case("named", [4, 6], file="a.onnx")
        self.write("cases/named/b.onnx", b"garbage")
        self.write("cases/named/tolerance.json", b'{"model": "a.onnx"}')
        self.sum_case("away", [4, 6])
        self.write("cases/away/tolerance.json", b'{"model": "../one/any_name.onnx"}')
        self.sum_case("broken", [4, 6])
        self.write("cases/broken/tolerance.json", b"{")
        self.sum_case("sets", [4, 6])
        self.sum_case("sets", [4, 9], data_set=1)
        found, _ = self.run_cases(code=1)
        status = {name: e["status"] for name, e in found.items()}
        self.assertEqual({n for n, s in status.items() if s == "pass"}, {"one", "loose", "named"})
        self.assertEqual({n for n, s in status.items() if s == "fail"}, {"tight", "two", "away", "broken", "sets"})
        self.assertIn("test_data_set_1", found["sets"]["reason"])

    def test_an_explicit_tolerance_holds_for_integers(self):
        def case(name, dtype, raw, settings=None):
            self.case(name, ob.one_node("Identity", dtype, (2,), 1), [ob.tensor("", dtype, (2,), b"\5\1")],
                      [ob.tensor("y", dtype, (2,), raw)])
            if settings:
                self.write(f"cases/{name}/tolerance.json", settings)
        case("exact", ob.UINT8, b"\5\1")
        case("by default", ob.UINT8, b"\6\1")
        case("by one", ob.UINT8, b"\6\0", b'{"rtol": 0, "atol": 1}')
        case("by two", ob.UINT8, b"\7\1", b'{"rtol": 0, "atol": 1}')
        case("model alone", ob.INT8, b"\6\1", b'{"model": "model.onnx"}')
        case("truth", ob.BOOL, b"\0\1", b'{"atol": 100}')
        found, _ = self.run_cases(code=1)
        self.assertEqual({n for n, e in found.items() if e["status"] == "pass"}, {"exact", "by one"})

    def test_inputs_by_name_position_and_gap(self):
        kind = ob.tensor_type(ob.FLOAT, (2,))
        inputs = [("w", kind), ("a", kind), ("b", kind)]  # w is optional
        sub = ob.model(ob.graph([ob.node("Sub", ["a", "b"], ["t"]), ob.node("Mul", ["t", "w"], ["y"])], inputs, [("y", kind)],
                                [ob.floats("w", (2,), [1, 10])]))
        one, two = [5, 5], [1, 2]
        self.case("position", sub, [ob.floats("", (2,), one), ob.floats("", (2,), two)], [ob.floats("", (2,), [4, 30])])
        self.case("name", sub, [ob.floats("b", (2,), two), ob.floats("a", (2,), one)], [ob.floats("", (2,), [4, 30])])
        self.case("all", sub, [ob.floats("w", (2,), [2, 2]), ob.floats("a", (2,), one), ob.floats("b", (2,), two)],
                  [ob.floats("", (2,), [8, 6])])
        seq = ob.sequence_type(ob.tensor_type(ob.FLOAT, (2,)))
        at = ob.model(ob.graph([ob.node("SequenceAt", ["s", "i"], ["y"])],
                               [("s", seq), ("i", ob.tensor_type(ob.INT64, []))], [("y", kind)]))
        self.case("sequence", at, [ob.sequence("s", [ob.floats("", (2,), one), ob.floats("", (2,), two)]),
                                   ob.tensor("i", ob.INT64, [], struct.pack("<q", 1))], [ob.floats("y", (2,), two)])
        found, _ = self.run_cases()
        self.assertEqual(len(found), 4)

    def test_a_timeout_is_one_failure(self):
        self.sum_case("before", [4, 6])  # with one job, in the process that is killed for the timeout
        self.endless_case("endless")
        self.sum_case("good", [4, 6])
        for jobs in (1, 2):
            found, _ = self.run_cases("--timeout", "1", "--jobs", jobs, code=1)
            self.assertEqual([found[name]["status"] for name in ("before", "endless", "good")], ["pass", "fail", "pass"])
            self.assertIn("timeout", found["endless"]["reason"])

    def test_a_process_does_not_run_all_cases(self):
        for i in range(230):
            self.sum_case("good%d" % i, [4, 6])
        self.assertEqual(len(self.run_cases("--jobs", 2)[0]), 230)

    def test_cases_without_a_process_fail_without_waiting(self):
        for i in range(3):
            self.sum_case("good%d" % i, [4, 6])
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))  # none is left for the pipes
        done = subprocess.run([PROGRAM, "conformance", str(self.dir / "cases"), "--verbose"], capture_output=True,
                              text=True, timeout=60, preexec_fn=few)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout.count("no process for it: Too many open files"), 3, done)
        self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 3 failed, 0 skipped")

    def test_a_crash_is_one_failure(self):
        self.sum_case("a", [4, 6])
        self.endless_case("a_crash")
        self.sum_case("good", [4, 6])
        report = self.dir / "report.json"
        running = subprocess.Popen([PROGRAM, "conformance", str(self.dir / "cases"), "--jobs", "1", "--json", str(report)],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(200):  # the endless case is reached soon: its process is the only child
            time.sleep(0.05)
            children = " ".join(pathlib.Path(f).read_text() for f in glob.glob("/proc/%d/task/*/children" % running.pid)).split()
            if children:
                time.sleep(0.3)
                os.kill(int(children[0]), signal.SIGBUS)
                break
        out, _ = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 1)
        self.assertEqual(out.splitlines()[-1], "2 passed, 1 failed, 0 skipped")
        reasons = {e["name"]: e["reason"] for e in json.loads(report.read_text())}
        self.assertIn("crashed", reasons["a_crash"])


if __name__ == "__main__":
    unittest.main()
