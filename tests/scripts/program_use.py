#!/usr/bin/env python3
"""The program for a new user: generated inputs with which models run, values on the command line, models from pipes,
Ctrl-C, suggestions for misspelled words, the help, the manual page and completions."""
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import zlib
import struct

import numpy
import onnx
from onnx import TensorProto as T
from onnx import helper as h

PROGRAM = os.path.abspath(os.environ.get("CAMEO_PROGRAM", "cameo"))
ERROR = re.compile(r"error: ([A-Z_]+): [^\n]+\n")
FLOATS, INTEGERS = T.FLOAT, T.INT64


def cameo(*arguments, **more):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=120, **{"text": True, **more})
    assert done.returncode in (0, 1, 2, 130), (arguments, done)
    return done


def value(name, kind, *dims):
    return h.make_tensor_value_info(name, kind, dims)


def constant(name, array):
    return onnx.numpy_helper.from_array(numpy.asarray(array), name)


def made_model(nodes, inputs, outputs, constants=(), domains=(), opset=18):
    graph = h.make_graph(nodes, "g", inputs, outputs, [constant(*each) for each in constants])
    imports = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in domains]
    return h.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def write(self, name, content):
        (self.dir / name).write_bytes(content)
        return self.dir / name

    def model(self, *made, **more):
        return self.write("model.onnx", made_model(*made, **more))

    def identity(self, kind, *dims):
        return self.model([h.make_node("Identity", ["x"], ["y"])], [value("x", kind, *dims)], [value("y", kind, *dims)])

    def output(self, *arguments):
        done = cameo(*arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        report = json.loads(done.stdout)
        self.assertEqual(report["version"], 1)
        return report["outputs"][0]

    def fails(self, code, *arguments):
        done = cameo(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(ERROR.fullmatch(done.stderr)[1], code, done.stderr)
        return done.stderr

    def usage(self, *arguments):
        done = cameo(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        return done.stderr


class RandomInputs(Case):
    def runs(self, model, *more):
        """Runs the model with several seeds: a result that is correct by chance fails with another seed."""
        found = [self.output("run", model, "--random-inputs", "--seed", seed, *more) for seed in range(8)]
        self.assertGreater(len({json.dumps(each["values"]) for each in found}), 1, "they differ")
        return found

    def indexing(self, between=(), kind=INTEGERS, rows=2, name="token_type_ids", index="i", constants=(), out=("n", 40, 3)):
        """A table of `rows` rows, with indices from an input that goes through some nodes."""
        nodes = [*between, h.make_node("Gather", ["table", index], ["y"])]
        table = numpy.arange(rows * 3, dtype=numpy.float32).reshape(rows, 3)
        return self.model(nodes, [value(name, kind, "n", 40)], [value("y", FLOATS, *out)],
                          [("table", table), *constants])

    def test_indices_stay_inside_what_they_index(self):
        self.runs(self.indexing(index="token_type_ids"))
        cast = h.make_node("Cast", ["token_type_ids"], ["i"], to=T.INT64)
        self.runs(self.indexing([cast], kind=T.INT32))
        self.runs(self.indexing([cast], kind=FLOATS))
        there = [h.make_node("Transpose", ["token_type_ids"], ["t"], perm=[1, 0]),
                 h.make_node("Reshape", ["t", "form"], ["r"]), h.make_node("Concat", ["r", "r"], ["i"], axis=0)]
        joined = self.indexing(there, constants=[("form", numpy.array([-1], numpy.int64))], out=("m", 3))
        found = self.runs(joined, "--optimize", "none")
        self.assertEqual(found[0]["shape"][0], 80)

    def test_all_of_a_table_is_looked_up(self):
        rows = {v // 3 for each in self.runs(self.indexing(index="token_type_ids", rows=11)) for v in each["values"]}
        self.assertEqual(rows, set(range(11)))

    def test_indices_after_an_addition(self):
        more = h.make_node("Add", ["token_type_ids", "two"], ["i"])
        rows = set()
        for each in self.runs(self.indexing([more], rows=7, constants=[("two", numpy.int64(2))]), "--optimize", "none"):
            rows |= {v // 3 for v in each["values"]}
        self.assertEqual(rows, set(range(7)))  # from -2 on, so that every row is looked up

    def test_indices_below_a_size_of_an_option(self):
        model = self.model([h.make_node("GatherElements", ["x", "i"], ["y"], axis=1)],
                           [value("x", FLOATS, 2, "n"), value("i", INTEGERS, 2, 9)], [value("y", FLOATS, 2, 9)])
        self.runs(model)
        self.runs(model, "--dim", "n=2")

    def test_other_operators_that_index(self):
        nd = self.model([h.make_node("GatherND", ["x", "i"], ["y"])],
                        [value("x", FLOATS, 9, 2, 3), value("i", INTEGERS, 5, 2)], [value("y", FLOATS, 5, 3)])
        self.runs(nd)
        scatter = self.model([h.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1)],
                             [value("x", FLOATS, 4, 2), value("i", INTEGERS, 4, 1), value("u", FLOATS, 4, 1)],
                             [value("y", FLOATS, 4, 2)])
        self.runs(scatter)
        hot = self.model([h.make_node("OneHot", ["i", "depth", "v"], ["y"])], [value("i", INTEGERS, 30)],
                         [value("y", FLOATS, 30, 2)], [("depth", numpy.int64(2)), ("v", numpy.float32([0, 1]))])
        for each in self.runs(hot):
            self.assertEqual(sum(each["values"]), 30)  # every value is true
        cut = self.model([h.make_node("Slice", ["x", "s", "e", "a"], ["y"])],
                         [value("x", FLOATS, 3, 4), *(value(n, INTEGERS, 2) for n in "sea")], [value("y", FLOATS, "p", "q")])
        self.assertEqual(self.runs(cut)[0]["shape"], [3, 4])
        form = self.model([h.make_node("Reshape", ["x", "s"], ["y"])], [value("x", FLOATS, 3, 4), value("s", INTEGERS, 3)],
                          [value("y", FLOATS, "p", "q", "r")])
        self.assertEqual(self.runs(form)[0]["shape"], [12, 1, 1])

    def test_operators_that_take_axes_lengths_and_thresholds(self):
        x, y, axis = value("x", FLOATS, 3, 4, 2), value("y", FLOATS, "p", "q", "r"), value("a", INTEGERS)
        for op, given, opset in [("CumProd", [axis], 26), ("CumSum", [axis], 18), ("Squeeze", [value("a", INTEGERS, 1)], 18),
                                 ("DFT", [value("n", INTEGERS), axis], 20), ("Upsample", [value("s", FLOATS, 3)], 9)]:
            with self.subTest(op=op):
                first = value("x", FLOATS, 1, 4, 2) if op == "Squeeze" else x
                last = value("y", FLOATS, "p", "q") if op == "Squeeze" else y
                self.runs(self.model([h.make_node(op, ["x", *(i.name for i in given)], ["y"])], [first, *given], [last],
                                     opset=opset))
        boxes = self.model([h.make_node("NonMaxSuppression", ["x", "s", "most", "overlap", "least"], ["y"])],
                           [value("x", FLOATS, 1, 6, 4), value("s", FLOATS, 1, 1, 6), value("most", INTEGERS, 1),
                            value("overlap", FLOATS, 1), value("least", FLOATS, 1)], [value("y", INTEGERS, "n", 3)])
        self.runs(boxes)

    def test_indices_in_a_subgraph(self):
        look = h.make_graph([h.make_node("Gather", ["table", "ids"], ["a"])], "then", [], [value("a", FLOATS, "n", 3)],
                            [constant("table", numpy.ones((2, 3), numpy.float32))])
        none = h.make_graph([h.make_node("Expand", ["z", "form"], ["b"])], "else", [], [value("b", FLOATS, "n", 3)],
                            [constant("z", numpy.zeros((1, 3), numpy.float32)), constant("form", numpy.int64([1, 3]))])
        model = self.model([h.make_node("If", ["c"], ["y"], then_branch=look, else_branch=none)],
                           [value("c", T.BOOL), value("ids", INTEGERS, 50)], [value("y", FLOATS, "n", 3)])
        for seed in range(8):
            self.output("run", model, "--random-inputs", "--seed", seed)

    def text_model(self):
        """The embeddings of BERT: three inputs of int64, and none of their ranges is in their types."""
        tables = [("w", numpy.random.default_rng(0).random((30, 8), numpy.float32)), ("p", numpy.ones((5, 8), numpy.float32)),
                  ("s", numpy.ones((2, 8), numpy.float32)), ("g", numpy.ones(8, numpy.float32)),
                  ("b", numpy.zeros(8, numpy.float32))]
        nodes = [h.make_node("Cast", [n], [n + "32"], to=T.INT32) for n in ["input_ids", "token_type_ids", "attention_mask"]]
        nodes.append(h.make_node("EmbedLayerNormalization", ["input_ids32", "token_type_ids32", "w", "p", "s", "g", "b",
                                                             "attention_mask32"], ["y", "mask"], domain="com.microsoft"))
        inputs = [value(n, INTEGERS, "batch", "sequence") for n in ["input_ids", "token_type_ids", "attention_mask"]]
        return self.model(nodes, inputs, [value("y", FLOATS, "batch", "sequence", 8), value("mask", T.INT32, "batch")],
                          tables, domains=["com.microsoft"])

    def test_text_models_run(self):
        model = self.text_model()
        for level in ["none", "all"]:
            self.runs(model, "--dim", "sequence=5", "--optimize", level)
        done = json.loads(cameo("run", model, "--random-inputs", "--dim", "sequence=5", "--json").stdout)
        self.assertEqual(done["outputs"][1]["values"], [5])  # the mask hides nothing
        for command in ["bench", "compare"]:
            more = ["--seconds", "0"] if command == "bench" else []
            self.assertEqual(cameo(command, model, *more, "--dim", "sequence=5").returncode, 0)

    def test_compiled_text_models_run(self):
        made = cameo("compile", self.text_model(), "-o", self.dir / "ctx.onnx", "--ep", "frozen", "--ep", "cpu")
        if "there is no provider 'frozen'" in made.stderr:
            self.skipTest("a program of cpu alone")
        self.assertEqual(made.returncode, 0, made)
        self.runs(self.dir / "ctx.onnx", "--ep", "frozen", "--ep", "cpu", "--dim", "sequence=5")

    def test_masks_are_ones(self):
        for kind in [INTEGERS, T.BOOL, FLOATS]:
            model = self.model([h.make_node("Identity", ["attention_mask"], ["y"])],
                               [value("attention_mask", kind, 1, 6)], [value("y", kind, 1, 6)])
            self.assertEqual(self.output("run", model, "--random-inputs")["values"], [1] * 6)


class GivenValues(Case):
    def test_values(self):
        numbers = self.identity(FLOATS, "n", 2)
        found = self.output("run", numbers, "--input", "x=1,-2.5,3e2,0")
        self.assertEqual((found["values"], found["shape"], found["type"]), ([1, -2.5, 300, 0], [2, 2], "float"))
        self.assertEqual(self.output("run", self.identity(INTEGERS, 2), "--input", "x=9007199254740993,-1")["values"],
                         [9007199254740993, -1])
        self.assertEqual(self.output("run", self.identity(T.BOOL, 2), "--input", "x=true,0")["values"], [True, False])
        self.assertEqual(self.output("run", self.identity(T.STRING, 2), "--input", "x=a b,c=d")["values"], ["a b", "c=d"])
        self.assertEqual(self.output("run", self.identity(T.FLOAT16, 1), "--input", "x=0.5")["values"], [0.5])

    def test_values_that_do_not_fit(self):
        numbers = self.identity(FLOATS, "n", 2)
        self.assertIn("a multiple of 2", self.fails("INVALID_ARGUMENT", "run", numbers, "--input", "x=1,2,3"))
        self.assertIn("'b' is not a valid float", self.fails("INVALID_ARGUMENT", "run", numbers, "--input", "x=1,b"))
        self.assertIn("No such file", self.fails("NO_SUCHFILE", "run", numbers, "--input", "x=picture.bmp"))
        self.fails("NO_SUCHFILE", "run", numbers, "--input", "x=none.npy")
        small = self.identity(T.UINT8, 2)
        for wrong in ["256,1", "-1,1", "1.5,1"]:
            self.fails("INVALID_ARGUMENT", "run", small, "--input", "x=" + wrong)

    def test_fill(self):
        self.assertEqual(self.output("run", self.identity(FLOATS, "n", 2), "--fill", "x=0.25", "--dim", "n=3")["values"],
                         [0.25] * 6)
        self.assertEqual(self.output("run", self.identity(T.STRING, 2), "--fill", "x=hm")["values"], ["hm"] * 2)
        self.fails("INVALID_ARGUMENT", "run", self.identity(INTEGERS, 2), "--fill", "x=0.5")

    def test_range(self):
        found = self.output("run", self.identity(INTEGERS, 300), "--range", "x=-1:2")["values"]
        self.assertEqual(set(found), {-1, 0, 1, 2})
        found = self.output("run", self.identity(FLOATS, 300), "--range", "x=-2:-1")["values"]
        self.assertTrue(all(-2 <= v <= -1 for v in found) and max(found) - min(found) > 0.9, found)
        for wrong in ["x=2:1", "x=a:b", "x=nan:1", "x=-inf:inf", "x=0:1e39"]:
            self.fails("INVALID_ARGUMENT", "run", self.identity(FLOATS, 3), "--range", wrong)
        self.fails("INVALID_ARGUMENT", "run", self.identity(T.DOUBLE, 3), "--range", "x=-1e308:1e308")
        for wrong in ["x=1", "x=1:2:3", "x"]:
            self.assertIn("needs NAME=LO:HI", self.usage("run", self.identity(FLOATS, 3), "--range", wrong))

    def test_values_out_of_range_of_their_type(self):
        for kind, wrong in [(FLOATS, "1e39"), (T.FLOAT16, "1e5"), (T.DOUBLE, "1e309")]:
            self.assertIn(f"'{wrong}' is not a ", self.fails("INVALID_ARGUMENT", "run", self.identity(kind, 2), "--fill",
                                                          f"x={wrong}"))
        self.assertEqual(self.output("run", self.identity(FLOATS, 1), "--fill", "x=inf")["text"], "float[1] inf")

    def sum(self):
        return self.model([h.make_node("Add", ["a", "b"], ["y"])],
                          [value("a", FLOATS, "n", "m"), value("b", FLOATS, "n", "m")], [value("y", FLOATS, "n", "m")])

    def test_generated_inputs_fit_given_ones(self):
        model = self.sum()
        self.assertEqual(self.output("run", model, "--fill", "b=1", "--input", "a=1,2,3")["values"], [2, 3, 4])
        numpy.save(self.dir / "a.npy", numpy.zeros((2, 3), numpy.float32))
        given = ["--input", f"a={self.dir / 'a.npy'}"]
        for more in [["--random-inputs"], ["--range", "b=0:1"], ["--fill", "b=2"], ["--input", "b=1,2,3,4,5,6"]]:
            self.assertEqual(self.output("run", model, *more, *given)["shape"], [2, 3], more)
        self.assertIn("needs one size", self.fails("INVALID_ARGUMENT", "run", model, *given, "--fill", "b=1", "--dim", "m=5"))
        self.assertIn("needs one size", self.fails("INVALID_ARGUMENT", "run", model, "--input", "a=1,2,3", "--input", "b=1,2"))
        for command, more in [("bench", ["--seconds", 0]), ("compare", [])]:
            self.assertEqual(cameo(command, model, "--input", "a=1,2,3", *more).returncode, 0)
        # The table that an input indexes has a free dim, whose size another input determines.
        look = self.model([h.make_node("Gather", ["x", "i"], ["y"])], [value("x", FLOATS, "n"), value("i", INTEGERS, 64)],
                          [value("y", FLOATS, 64)])
        found = self.output("run", look, "--input", "x=1,2,3", "--random-inputs")["values"]
        self.assertEqual(set(found), {1, 2, 3})

    def test_other_inputs_are_random_also_in_bench(self):
        model = self.model([h.make_node("Add", ["a", "b"], ["y"])], [value("a", FLOATS, 2), value("b", FLOATS, 2)],
                           [value("y", FLOATS, 2)])
        report = json.loads(cameo("run", model, "--fill", "a=1", "--random-inputs", "--json").stdout)
        self.assertEqual([(i["name"], i["from"], i["shape"]) for i in report["inputs"]],
                         [("a", "fill", [2]), ("b", "random", [2])])
        self.assertEqual(cameo("bench", model, "--seconds", 0, "--fill", "a=1", "--input", "b=1,2").returncode, 0)
        self.assertIn("did you mean 'b1'", self.fails("INVALID_ARGUMENT", "bench", self.model(
            [h.make_node("Identity", ["b1"], ["y"])], [value("b1", FLOATS, 1)], [value("y", FLOATS, 1)]), "--fill", "b2=1"))

    def picture(self):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        pixels = b"\0" + bytes([255, 51, 0, 0, 255, 102])
        return self.write("x.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0)) +
                          chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))

    def test_the_conversion_of_images_is_reported(self):
        model, picture = self.identity(FLOATS, 1, 3, 1, 2), self.picture()
        given = ["run", model, "--input", f"x={picture}"]
        done = cameo(*given)
        if "NOT_IMPLEMENTED" in done.stderr:
            self.skipTest("built without libpng")
        self.assertIn("pixel / 255", done.stderr)
        self.assertEqual(cameo(*given, "--quiet").stderr, "")
        for found, wanted in zip(self.output(*given)["values"], [1, 0, .2, 1, 0, .4]):
            self.assertAlmostEqual(found, wanted, 6)
        more = ["--mean", "0.5,0.2,0", "--deviation", "0.5,1,2"]
        for found, wanted in zip(self.output(*given, *more)["values"], [1, -1, 0, .8, 0, .2]):
            self.assertAlmostEqual(found, wanted, 6)
        self.assertEqual(self.output(*given, "--scale", "1", "--mean", "1")["values"], [254, -1, 50, 254, -1, 101])
        report = json.loads(cameo(*given, *more, "--json").stdout)
        self.assertIn("(pixel / 255 - 0.5,0.2,0) / 0.5,1,2", report["inputs"][0]["from"])
        self.assertIn("3 channels", self.fails("INVALID_ARGUMENT", *given, "--mean", "1,2"))
        self.usage(*given, "--deviation", "0")
        self.fails("INVALID_ARGUMENT", "run", self.identity(T.UINT8, 1, 3, 1, 2), "--input", f"x={picture}", "--mean", "1")

    def test_options_for_images_are_only_for_images(self):
        model = self.identity(FLOATS, 1, 3, 1, 2)
        for option in ["--mean", "--deviation", "--scale"]:
            self.assertIn("none is given", self.fails("INVALID_ARGUMENT", "run", model, "--fill", "x=1", option, "2"))
        done = cameo("compare", model, "--input", f"x={self.picture()}", "--mean", "0.5")
        self.assertTrue(done.returncode == 0 or "NOT_IMPLEMENTED" in done.stderr, done.stderr)

    def test_top_of_scores_with_axes_of_one(self):
        scores = numpy.zeros((2, 5, 1, 1), numpy.float32)
        scores[0, 3], scores[1, 1] = 7, 8
        for shape in [(2, 5, 1, 1), (2, 5)]:
            model = self.identity(FLOATS, *shape)
            numpy.save(self.dir / "x.npy", scores.reshape(shape))
            top = self.output("run", model, "--input", f"x={self.dir / 'x.npy'}", "--top", 1)["top"]
            self.assertEqual(top, [[{"index": 3, "score": 7}], [{"index": 1, "score": 8}]])

    def test_top_of_many_rows_has_their_number(self):
        for rows, more in [(16, []), (17, ["  ... of 17 rows"])]:
            lines = cameo("run", self.identity(FLOATS, rows, 3), "--fill", "x=1", "--top", 1).stdout.splitlines()
            self.assertEqual((len(lines), lines[17:]), (17 + len(more), more))


class Pipes(Case):
    def test_a_model_from_a_pipe(self):
        content = self.identity(FLOATS, 2).read_bytes()
        for path in ["-", "/dev/stdin"]:
            for command, more in [("run", []), ("bench", ["--seconds", "0"]), ("inspect", [])]:
                given = [] if command == "inspect" else ["--fill", "x=2"]
                done = cameo(command, path, *more, *given, input=content, text=False)
                self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        running = subprocess.Popen([PROGRAM, "run", fifo, "--fill", "x=2"], stdout=subprocess.PIPE)
        fifo.write_bytes(content)
        self.assertIn(b"2 2", running.communicate(timeout=60)[0])
        self.assertEqual(running.returncode, 0)

    def test_two_settings_of_a_model_from_a_pipe(self):
        content = self.identity(FLOATS, 2).read_bytes()
        done = cameo("compare", "-", "--b-optimize", "none", "--json", input=content, text=False)
        self.assertEqual((done.returncode, json.loads(done.stdout)["outputs"][0]["equal"]), (0, True), done)

    def test_an_endless_device_is_not_read_forever(self):
        little = lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        for command in ["run", "bench", "inspect", "compare"]:
            done = cameo(command, "/dev/zero", preexec_fn=little)
            match = ERROR.fullmatch(done.stderr)
            self.assertEqual((done.returncode, match and match[1]), (1, "INVALID_PROTOBUF"), done)
            self.assertIn("first bytes are not those of a model", done.stderr)
        # Bytes that begin like a model and never end are read up to the limit for streams; here, a field is longer than
        # that.
        feed = subprocess.Popen(["cat", "-", "/dev/zero"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        feed.stdin.write(b"\x08\x08\x3a\xff\xff\xff\xff\xff\x7f")
        feed.stdin.close()
        done = cameo("run", "-", stdin=feed.stdout, preexec_fn=little)
        feed.stdout.close()
        feed.wait()
        self.assertIn("first bytes are not those of a model", done.stderr)

    def test_input_that_is_not_a_model(self):
        for content, code in [(b"", "INVALID_ARGUMENT"), (b"\xff" * 50, "INVALID_PROTOBUF")]:
            done = cameo("run", "-", input=content, text=False)
            self.assertEqual((done.returncode, ERROR.fullmatch(done.stderr.decode())[1]), (1, code), done)

    def test_a_reader_that_ends_is_not_an_error(self):
        for arguments in [["ops"], ["ops", "--json"], ["--help"], ["manual"]]:
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([PROGRAM, *arguments], stdout=write, stderr=subprocess.PIPE, timeout=60)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "ops"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        # The system's error text is available only if the last write is the one that fails.
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^error: FAIL: cannot write to standard output: "
                                      r"(No space left on device|not all of it was taken)\n$")


class Stopped(Case):
    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def stop(self, running, after=1.0, by=signal.SIGINT):
        time.sleep(after)
        running.send_signal(by)
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, err)
        return out, err

    def endless(self):
        body = h.make_graph([h.make_node("Identity", ["c"], ["c2"]), h.make_node("Add", ["v", "v"], ["v2"])], "body",
                            [value("i", INTEGERS), value("c", T.BOOL), value("v", FLOATS, 1)],
                            [value("c2", T.BOOL), value("v2", FLOATS, 1)])
        return self.model([h.make_node("Loop", ["", "go", "x"], ["y"], body=body)],
                          [value("go", T.BOOL), value("x", FLOATS, 1)], [value("y", FLOATS, 1)])

    def test_bench_reports_what_was_measured(self):
        for by in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            out, err = self.stop(self.start("bench", self.identity(FLOATS, 2), "--seconds", "100", "--json"), by=by)
            self.assertGreater(json.loads(out)["runs"], 10)
            self.assertEqual(ERROR.fullmatch(err)[1], "CANCELED", err)

    def test_run_ends(self):
        given = ["--fill", "go=1", "--fill", "x=0"]
        out, err = self.stop(self.start("run", self.endless(), *given, "--profile", self.dir / "trace.json"))
        self.assertEqual((out, ERROR.fullmatch(err)[1]), ("", "CANCELED"))
        events = json.loads((self.dir / "trace.json").read_text())["traceEvents"]
        self.assertIn("Add", {e["args"].get("op") for e in events})

    def test_commands_that_wait_for_a_pipe_end(self):
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        keep = os.open(fifo, os.O_RDWR)
        self.stop(self.start("bench", fifo), after=0.3)
        os.close(keep)

    def test_conformance_reports_cases_that_have_ended(self):
        for name, content in [("a_good", self.identity(FLOATS, 2).read_bytes()), ("b_endless", self.endless().read_bytes())]:
            folder = self.dir / "cases" / name / "test_data_set_0"
            folder.mkdir(parents=True)
            (folder.parent / "model.onnx").write_bytes(content)
            inputs = [("x", [1, 2])] if name == "a_good" else [("go", True), ("x", [0])]
            for i, (each, numbers) in enumerate(inputs):
                array = numpy.array(numbers, numpy.bool_ if each == "go" else numpy.float32)
                (folder / f"input_{i}.pb").write_bytes(constant(each, array).SerializeToString())
            (folder / "output_0.pb").write_bytes(constant("y", numpy.float32([1, 2])).SerializeToString())
        report = self.dir / "report.json"
        out, err = self.stop(self.start("conformance", self.dir / "cases", "--jobs", 1, "--json", report), after=2)
        self.assertEqual(out, "1 passed, 0 failed, 0 skipped\n")
        self.assertIn("stopped after 1 of 2 cases", err)
        self.assertEqual([(e["name"], e["status"]) for e in json.loads(report.read_text())], [("a_good", "pass")])


class Words(Case):
    def test_usage_errors_name_the_command_and_similar_words(self):
        model = self.identity(FLOATS, 2)
        for wrong, words in [
                (["rnu"], "cameo: there is no command 'rnu'; did you mean 'run'?"),
                (["package", "shwo", "x"], "cameo package: there is no command 'shwo'; did you mean 'show'?"),
                ([], "cameo: needs a command"), (["package"], "cameo package: needs a command"),
                (["run"], "cameo run: MODEL is required"),
                (["run", "--optimze", "all"], "cameo run: there is no option '--optimze'; did you mean '--optimize'?"),
                (["run", model, "--thread=1"], "cameo run: there is no option '--thread'; did you mean '--threads'?"),
                (["run", model, "x"], "cameo run: 'x' is one argument too many"),
                (["bench", model, "--sort", "tmie", "--per-node"],
                 "cameo bench: --sort: needs time, share or plan, not tmie; did you mean 'time'?"),
                (["run", model, "--optimize", "nones"],
                 "cameo run: --optimize: needs none, basic, extended, layout, all, 0, 1, 2, 3 or 99, not 'nones'; did you mean 'none'?"),
                (["run", model, "--top", "1", "--top", "2"], "cameo run: --top: is given more than once"),
                (["run", "--", model, "x"], "cameo run: 'x' is one argument too many"),
                (["run", model, "--input"], "cameo run: --input: needs NAME=FILE|VALUE,..."),
                (["conformance", model, "--json"], "cameo conformance: --json: needs FILE"),
                (["run", model, "--seed", "-1"], "cameo run: --seed: needs a number from 0, not -1"),
                (["compile", model, "-o", "x", "--external-threshold", "-1"],
                 "cameo compile: --external-threshold: needs a number from 0, not -1"),
                (["reduce", model, "-o", self.dir / "x.hpp", "--name", "a b"],
                 "cameo reduce: --name: needs a name that C++ takes, not 'a b'"),
                (["run", model, "--threads", "none"], "cameo run: --threads: needs a number from 0 to 1024, not 'none'"),
                (["package", "add", "a", "b", "c", "--device", "gpo"],
                 "cameo package add: --device: needs cpu, gpu or npu, not gpo; did you mean 'gpu'?")]:
            with self.subTest(wrong=wrong):
                first, second = self.usage(*wrong).splitlines()
                self.assertEqual(first, words)
                self.assertRegex(second, r"^'cameo[a-z ]* --help' says what there is\.$")

    def test_similar_names(self):
        model = self.model([h.make_node("Identity", ["input_ids"], ["y"])], [value("input_ids", FLOATS, "batch")],
                           [value("y", FLOATS, "batch")])
        for wrong, near in [(["--input", "input_idz=1"], "input_ids"), (["--random-inputs", "--dim", "bach=2"], "batch"),
                            (["--config", "session.intra_op.allow_spining=1"], "session.intra_op.allow_spinning")]:
            self.assertIn(f"'{near}'", self.fails("INVALID_ARGUMENT", "run", model, *wrong))
        for command in [["run", model], ["ops"], ["devices"], ["share", model]]:
            self.assertIn("did you mean 'cpu'?", self.fails("INVALID_ARGUMENT", *command, "--ep", "cpuu"))
        self.assertIn("did you mean 'prefer_gpu'?", self.usage("run", model, "--policy", "prefer_gpuu"))
        done = cameo("run", model, "--random-inputs", "--free-dim", "bach=2")
        self.assertEqual(done.returncode, 0)
        self.assertIn("did you mean 'batch'?", done.stderr)

    def test_similar_names_in_packages(self):
        files, package = self.dir / "files", self.dir / "package"
        files.mkdir()
        (files / "m.onnx").write_bytes(self.identity(FLOATS, 2).read_bytes())
        self.assertEqual(cameo("package", "add", package, "main", "plain", "--ep", "cpu", "--from", files, "--model",
                               "m.onnx").returncode, 0)
        for arguments, near in [(["select", package, "mian"], "main"), (["remove", package, "main", "plian"], "plain")]:
            self.assertIn(f"did you mean '{near}'?", self.fails("INVALID_ARGUMENT", "package", *arguments))
        self.assertIn("did you mean 'main'?", self.fails("INVALID_ARGUMENT", "run", package, "--component", "mian"))

    def test_options_without_effect_are_reported(self):
        model = self.identity(FLOATS, 2)
        for command in ["run", "bench", "inspect"]:
            self.assertIn("no component 'x'", self.fails("INVALID_ARGUMENT", command, model, "--component", "x"))
        folder = self.dir / "cases" / "one" / "test_data_set_0"
        folder.mkdir(parents=True)
        (folder.parent / "model.onnx").write_bytes(model.read_bytes())
        done = cameo("conformance", self.dir / "cases", "--filter", "nowhere")
        self.assertEqual((done.returncode, done.stdout), (0, "0 passed, 0 failed, 0 skipped\n"))
        self.assertEqual(done.stderr, "warning: no case has a name or path that --filter nowhere matches\n")

    def test_compile_that_compiled_nothing_is_an_error(self):
        out = self.dir / "out.onnx"
        self.fails("FAIL", "compile", self.identity(FLOATS, 2), "-o", out)
        self.assertFalse(out.exists())

    def test_inspect_with_sizes(self):
        model = self.model([h.make_node("MatMul", ["x", "x"], ["z"]), h.make_node("Neg", ["z"], ["y"])],
                           [value("x", FLOATS, "n", "n")], [value("y", FLOATS, "n", "n")])
        report = json.loads(cameo("inspect", model, "--dim", "n=16", "--json").stdout)
        self.assertGreaterEqual(report["arena_bytes"], 16 * 16 * 4)
        self.assertEqual(report["inputs"][0]["dims"], [16, 16])
        self.assertEqual(json.loads(cameo("inspect", model, "--json").stdout)["inputs"][0]["dims"], ["n", "n"])
        self.assertIn("has a dim named 'm'", cameo("inspect", model, "--dim", "m=16").stderr)

    def test_inspect_reports_which_graph_it_shows(self):
        model = self.model([h.make_node("Identity", ["x"], ["z"]), h.make_node("Neg", ["z"], ["y"])],
                           [value("x", FLOATS, 2)], [value("y", FLOATS, 2)])
        shown = cameo("inspect", model).stdout
        self.assertIn("as it runs, optimized (--optimize all); --optimize none shows the file's", shown)
        self.assertNotIn("Identity", shown)
        own = cameo("inspect", model, "--optimize", "none").stdout
        self.assertIn("as it is in the file", own)
        self.assertIn("Identity", own)
        for level in ["all", "none"]:
            shown = json.loads(cameo("inspect", model, "--optimize", level, "--json").stdout)
            self.assertEqual(shown["optimize"], level)

    def test_no_command_replaces_the_model_that_it_reads(self):
        model = self.identity(FLOATS, 2)
        content = model.read_bytes()
        (self.dir / "link.onnx").symlink_to("model.onnx")
        os.link(model, self.dir / "hard.onnx")
        for other in [model, self.dir / "link.onnx", self.dir / "hard.onnx"]:
            for more in [["convert", model, other], ["convert", model, other, "--optimize", "all"],
                         ["inspect", model, "--html", other], ["reduce", model, "-o", other],
                         ["reduce", model, "--ops-config", other]]:
                done = cameo(*more)
                self.assertEqual((done.returncode, ERROR.fullmatch(done.stderr)[1]), (1, "INVALID_ARGUMENT"), done)
                self.assertIn("is the model that is read", done.stderr)
                self.assertEqual(model.read_bytes(), content)
                self.assertTrue((self.dir / "link.onnx").is_symlink())

    def test_version_reports_what_was_built(self):
        lines = cameo("--version").stdout.splitlines()
        self.assertRegex(lines[0], r"^cameo \d+\.\d+\.\d+$")
        facts = "\n".join(lines[1:])
        for fact in [r"commit +\S", r"compiler +(g\+\+|clang) \d", r"providers +.*cpu \(CPUExecutionProvider\)",
                     r"instruction set +\w+ \(cpu\)", r"instruction sets +.*SCALAR.* \(cpu\)"]:
            self.assertRegex(facts, fact)


class Profile(Case):
    def test_bench_profiles_a_warm_run(self):
        model = self.identity(FLOATS, 2)
        trace = self.dir / "trace.json"
        self.assertEqual(cameo("bench", model, "--seconds", 0, "--optimize", "none", "--profile", trace).returncode, 0)
        steps = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
        self.assertEqual([e["args"]["op"] for e in steps], ["Identity"])


class Pages(Case):
    """The manual page and the completions are generated from the commands, so no command can be missing."""

    def commands(self):
        listed = re.search(r"Subcommands:\n(.*?)\n\n", cameo("--help").stdout, re.DOTALL)[1]
        return re.findall(r"^  (\w+)", listed, re.MULTILINE)

    def options(self, *command):
        return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", cameo(*command, "--help").stdout, re.MULTILINE))

    def test_options_are_in_groups_and_only_where_they_are_used(self):
        shown = cameo("run", "--help").stdout
        headings = [shown.index(f"\n{heading}:\n") for heading in ["Inputs", "Output", "Session", "Model packages"]]
        self.assertEqual(headings, sorted(headings))
        self.assertIn("--optimize", shown[headings[2]:headings[3]])
        for command in [("ops",), ("devices",), ("package", "show")]:
            self.assertFalse(self.options(*command) & {"--threads", "--optimize", "--config"}, command)
        self.assertEqual(cameo("devices", "--quiet", "--threads", 1, "--json").returncode, 0)  # accepted and ignored

    def test_help_is_a_command(self):
        self.assertEqual(cameo("help").stdout, cameo("--help").stdout)
        self.assertEqual(cameo("help", "run").stdout, cameo("run", "--help").stdout)
        self.assertEqual(cameo("help", "package", "show").stdout, cameo("package", "show", "--help").stdout)
        wrong = cameo("help", "rnu")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        self.assertIn("did you mean 'run'", wrong.stderr)

    def test_help_wraps_at_the_width_of_the_terminal(self):
        whole = cameo("run", "--help", env={k: v for k, v in os.environ.items() if k != "COLUMNS"}).stdout
        self.assertGreater(max(map(len, whole.splitlines())), 110)
        for width in [60, 80, 120]:
            lines = cameo("run", "--help", env={**os.environ, "COLUMNS": str(width)}).stdout
            self.assertEqual("".join(lines.split()), "".join(whole.split()))
            self.assertLessEqual(max(map(len, lines.splitlines())), width)
        terminal, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 72, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
        running = subprocess.Popen([PROGRAM, "help", "run"], stdout=other, stderr=other, env=environment)
        os.close(other)
        shown = b""
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
        except OSError:  # the program has closed its end
            pass
        os.close(terminal)
        self.assertEqual(running.wait(), 0)
        self.assertEqual("".join(shown.decode().split()), "".join(whole.split()))
        self.assertLessEqual(max(map(len, shown.decode().replace("\r", "").splitlines())), 72)

    def test_manual(self):
        page = cameo("manual").stdout
        plain = page.replace("\\-", "-")
        self.assertIn("\\fBcameo compile\\fR [options] \\fB-o\\fR \\fIOUT\\fR \\fIIN\\fR", plain)
        for command in self.commands():
            self.assertIn(f".SS {command}", plain)
            for option in self.options(command):
                self.assertIn(option, plain, command)
        self.assertEqual(re.findall(r"^\.(?!TH|SH|SS|TP|PP|br\b)\S*", page, re.MULTILINE), [])
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def bash(self, *words):
        script = self.write("completion.bash", cameo("completion", "bash").stdout.encode())
        line = " ".join(f"'{w}'" for w in ["cameo", *words])
        code = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _cameo; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, cwd=self.dir, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def test_bash_completions(self):
        self.assertEqual(self.bash("") - {"--help", "--version"}, set(self.commands()))
        self.assertEqual(self.bash("be"), {"bench"})
        self.assertEqual(self.bash("run", "m.onnx", "--opt"), {"--optimize"})
        self.assertEqual(self.bash("run", "m.onnx", "--optimize", ""), {"none", "basic", "extended", "layout", "all"})
        self.assertIn("merge", self.bash("package", ""))
        self.assertIn("--session-option", self.bash("package", "add", "d", "c", "v", "--"))
        self.assertEqual(self.bash("completion", ""), {"bash", "zsh", "fish"})
        self.assertEqual(self.bash("run", "m.onnx", "--optimize", "=", "ba"), {"basic"})
        for command in self.commands():
            if command not in ("package",):
                self.assertLessEqual(self.options(command), self.bash(command, "--"))

    def completed(self, *lines):
        """The lines after the tab key, in a bash on a terminal."""
        script = self.write("completion.bash", cameo("completion", "bash").stdout.encode())
        seen = self.dir / "seen"
        process, end = pty.fork()
        if process == 0:
            os.chdir(self.dir)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {**os.environ, "PS1": "> ", "TERM": "dumb",
                                                                          "INPUTRC": "/dev/null", "HISTFILE": ""})
        # Ctrl-T writes the contents of the line to a file.
        for line in [f"source {script}", f"""bind -x '"\\C-t": printf %s "$READLINE_LINE" >{seen}.new; mv {seen}.new {seen}'"""]:
            os.write(end, line.encode() + b"\n")
        found = []
        until = time.monotonic() + 60

        def wait(done):
            if select.select([end], [], [], 0.02)[0]:
                os.read(end, 65536)
            return not done() and time.monotonic() < until

        while wait(seen.exists):  # until bash has bound the key
            os.write(end, b"\x14")
        for line in lines:
            os.write(end, line.encode() + b"\t\x14\x15")
            while wait(lambda: seen.exists() and seen.read_text()):
                pass
            found.append(seen.read_text())
            seen.write_text("")
        os.close(end)
        os.waitpid(process, 0)
        return found

    def test_bash_completes_names_of_files_on_a_terminal(self):
        for name in ["my model.onnx", "sum.onnx"]:
            self.write(name, b"")
        (self.dir / "sub dir").mkdir()
        (self.dir / "sub dir" / "inner.onnx").write_bytes(b"")
        asked = {"cameo run my": "cameo run my\\ model.onnx ", "cameo run sub\\ dir/in": "cameo run sub\\ dir/inner.onnx ",
                 "cameo run sum.onnx --output-dir su": "cameo run sum.onnx --output-dir sub\\ dir/",
                 "cameo run x --optimize=ba": "cameo run x --optimize=basic ", "cameo run x --input a=m":
                 "cameo run x --input a=my\\ model.onnx ", "cameo run x --threads m": "cameo run x --threads m",
                 "cameo completion f": "cameo completion fish ", "cameo be": "cameo bench "}
        self.assertEqual(dict(zip(asked, self.completed(*asked))), asked)

    def test_completions_of_other_shells(self):
        for shell in ["zsh", "fish"]:
            text = cameo("completion", shell).stdout
            for command in self.commands():
                self.assertRegex(text, rf"\b{command}\b", shell)
            for option in self.options("bench"):
                self.assertIn(option.lstrip("-"), text)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("bash, zsh or fish", self.usage("completion", "tcsh"))


if __name__ == "__main__":
    unittest.main()
