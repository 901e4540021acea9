"""Tests the package without numpy: buffers and DLPack as inputs and outputs, and an error for what needs numpy.

Usage: without_numpy.py
"""
import array
import pathlib
import sys
import unittest

sys.modules["numpy"] = None  # as if it were not installed

import cameo  # noqa: E402

DIGITS = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "digits" / "digits.onnx"


class WithoutNumpy(unittest.TestCase):
    def test_buffers_go_in_and_values_come_out(self):
        image = memoryview(array.array("f", [0] * 64)).cast("B").cast("f", (1, 1, 8, 8))
        made = cameo.Session(DIGITS).run({"image": image})["probabilities"]
        self.assertIsInstance(made, cameo.Value)
        self.assertEqual(memoryview(made).shape, (1, 10))
        self.assertAlmostEqual(sum(made.tolist()[0]), 1, 5)
        again = cameo.Session(DIGITS).run({"image": cameo.Value(image)})["probabilities"]
        self.assertEqual(again.tolist(), made.tolist())

    def test_bindings_write_into_buffers(self):
        image = memoryview(array.array("f", [0] * 64)).cast("B").cast("f", (1, 1, 8, 8))
        probabilities = memoryview(array.array("f", [0] * 10)).cast("B").cast("f", (1, 10))
        binding = cameo.Session(DIGITS).bind()
        binding.bind_input("image", image)
        binding.bind_output("probabilities", probabilities)
        binding.run()
        self.assertAlmostEqual(sum(probabilities.tolist()[0]), 1, 5)
        self.assertIs(binding.outputs()["probabilities"], probabilities)

    def test_what_needs_numpy_says_so(self):
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "takes numpy"):
            cameo.Session(DIGITS).run({"image": [[0.0]]})
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "no numpy here"):
            cameo.Value(b"abc").numpy()
        self.assertRaises(ImportError, __import__, "cameo.onnxruntime")


if __name__ == "__main__":
    unittest.main()
