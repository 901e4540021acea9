"""Runs the blocks of Python in docs/python.md and README.md, one after the other, in a folder with digits.onnx.

Usage: pages_test.py [unittest's arguments]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Pages(unittest.TestCase):
    def test_blocks_of_python_run(self):
        for page in ("docs/python.md", "README.md"):
            blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
            self.assertTrue(blocks, page)
            with self.subTest(page), tempfile.TemporaryDirectory() as folder:
                shutil.copy(ROOT / "examples" / "digits" / "digits.onnx", folder)
                done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=folder, capture_output=True, text=True,
                                      env=dict(os.environ))
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
