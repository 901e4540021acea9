#!/usr/bin/env python3
"""Bad input to the program: the exit status is 1, standard output stays empty, and standard error is one line
`error: CODE: message` that names the file. The program needs little time and memory for it and never dies of a signal."""
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
import onnx_bytes as ob  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
COMMANDS = [["run", "--random-inputs"], ["inspect"], ["bench", "--random-inputs", "--seconds", "0.01"]]
ERROR = re.compile(r"error: ([A-Z_]+): [^\n]+\n")
MOST_KB = 1 << 20


def ints(name, numbers):
    return ob.tensor(name, ob.INT64, [len(numbers)], struct.pack("<%dq" % len(numbers), *numbers))


def model_of(nodes, inputs=("x",), initializers=(), domains=(), opset=17):
    kind = ob.tensor_type(ob.FLOAT, [2, 3])
    graph = ob.graph(nodes, [(name, kind) for name in inputs], [("y", kind)], initializers)
    return ob.model(graph, opset, domains)


def nested(depth):
    body = ob.graph([ob.node("Identity", ["c"], ["z"])], [], [])
    for _ in range(depth):
        body = ob.graph([ob.node("If", ["c"], ["z"], graphs=[("then_branch", body)])], [], [])
    return ob.model(body)


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def write(self, content, name="bad.onnx"):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def refused(self, codes, path, *words, commands=COMMANDS):
        codes = [codes] if isinstance(codes, str) else codes
        for command, *more in commands:
            done = subprocess.run([PROGRAM, command, str(path), *more], capture_output=True, text=True, timeout=60)
            with self.subTest(command=command, stderr=done.stderr):
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                match = ERROR.fullmatch(done.stderr)
                self.assertTrue(match)
                self.assertIn(match.group(1), codes)
                for word in [path.name, *words]:
                    self.assertIn(word, done.stderr)

    def test_missing_file(self):
        self.refused("NO_SUCHFILE", self.dir / "none.onnx")

    def test_folder(self):
        self.refused("INVALID_ARGUMENT", self.dir)

    def test_garbage_empty_and_truncated(self):
        self.refused("INVALID_PROTOBUF", self.write(b"this is text, not a model"))
        self.refused("INVALID_PROTOBUF", self.write(bytes(range(256)) * 40))
        self.refused("INVALID_ARGUMENT", self.write(b""))
        whole = model_of([ob.node("Relu", ["x"], ["y"], "n")])
        self.refused("INVALID_PROTOBUF", self.write(whole[:60]))

    def test_length_beyond_the_file(self):
        self.refused("INVALID_PROTOBUF", self.write(b"\x3a" + ob.varint(1 << 62) + b"abc"))

    def test_unknown_operator_and_domain(self):
        self.refused("INVALID_GRAPH", self.write(model_of([ob.node("Frobnicate", ["x"], ["y"], "n")])), "'n'",
                     "Frobnicate")
        foreign = model_of([ob.node("Own", ["x"], ["y"], "n", domain="org.nobody")], domains=["org.nobody"])
        self.refused("FAIL", self.write(foreign), "'n'", "org.nobody")

    def test_opset_below_1_and_newer(self):
        self.refused("INVALID_GRAPH", self.write(model_of([ob.node("Relu", ["x"], ["y"], "n")], opset=0)))
        newer = self.write(model_of([ob.node("Relu", ["x"], ["y"], "n")], opset=99))
        self.assertEqual(subprocess.run([PROGRAM, "inspect", newer], capture_output=True).returncode, 0)

    def test_arity_cycle_and_names(self):
        self.refused("INVALID_GRAPH", self.write(model_of([ob.node("Add", ["x"], ["y"], "n")])), "'n'", "Add")
        self.refused("INVALID_GRAPH", self.write(model_of([ob.node("Add", ["x", "y"], ["y"], "n")])), "'n'", "cycle")
        self.refused("INVALID_ARGUMENT", self.write(model_of([ob.node("Relu", ["nobody"], ["y"], "n")])), "'nobody'")
        self.refused("INVALID_GRAPH", self.write(model_of([ob.node("Relu", ["x"], ["y"], "n")], ["x", "x"])), "'x'")

    def test_text_of_the_file_does_not_add_lines_to_the_error(self):
        self.refused("INVALID_GRAPH", self.write(model_of([ob.node("Bad\nerror: OK: fine\n", ["x"], ["y"], "n\n\x1b[2J")])))

    def test_raw_data_of_the_wrong_length(self):
        wrong = ob.tensor("w", ob.FLOAT, [2, 3], b"abc")
        self.refused("INVALID_GRAPH", self.write(model_of([ob.node("Add", ["x", "w"], ["y"], "n")],
                                                          initializers=[wrong])), "'w'")

    def test_10000_subgraphs(self):
        self.refused("INVALID_GRAPH", self.write(nested(10000)))

    def test_terabytes(self):
        shape = ints("s", [1 << 20, 1 << 20, 1 << 10])
        nodes = [ob.node("ConstantOfShape", ["s"], ["y"], "n")]
        constant = ob.model(ob.graph(nodes, [], [("y", ob.tensor_type(ob.FLOAT, ["a", "b", "c"]))], [shape]))
        self.refused(["OUT_OF_MEMORY", "INVALID_GRAPH"], self.write(constant), "'n'", "ConstantOfShape")

    def test_an_input_of_terabytes(self):
        kind = ob.tensor_type(ob.FLOAT, [1 << 20, 1 << 20, 4])
        huge = ob.model(ob.graph([ob.node("Relu", ["x"], ["y"], "n")], [("x", kind)], [("y", kind)]))
        self.refused(["OUT_OF_MEMORY", "INVALID_GRAPH"], self.write(huge))

    def test_kernels_refuse_in_the_run(self):
        nodes = [ob.node("Gather", ["x", "i"], ["y"], "n")]
        kind = ob.tensor_type(ob.FLOAT, [2, 3])
        late = ob.model(ob.graph(nodes, [("x", kind)], [("y", kind)], [ints("i", [7, 1])]))
        self.refused(["INVALID_ARGUMENT", "INVALID_GRAPH"], self.write(late), "'n'", "Gather",
                     commands=[COMMANDS[0], COMMANDS[2]])

    def test_inputs_that_do_not_fit(self):
        model = self.write(ob.one_node("Relu", ob.FLOAT, [2, 3]))
        short = self.write(ob.npy("<f4", [2], struct.pack("<2f", 1, 2)), "short.npy")
        garbage = self.write(b"\x93NUMPY garbage", "garbage.npy")
        for feed, words in [("x0=" + str(short), "'x0'"), ("x0=" + str(garbage), "garbage.npy"), ("z=" + str(short), "'z'"),
                            ("x0=" + str(self.dir / "none.npy"), "none.npy")]:
            done = subprocess.run([PROGRAM, "run", model, "--input", feed], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertRegex(done.stderr, ERROR)
            self.assertIn(words, done.stderr)

    def tearDown(self):
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, MOST_KB)


if __name__ == "__main__":
    unittest.main()
