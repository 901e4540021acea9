#!/usr/bin/env python3
"""The headers and sources that src/op/generate_tables.py writes are those of the tree, byte for byte: none was edited
or formatted by hand, and the rules in the script are the rules that are compiled. CTest sets CAMEO_SOURCE_DIR."""
import contextlib
import io
import os
import pathlib
import sys
import tempfile

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(root / "tests" / "program"), str(root / "src" / "op")]
from claims import conclude, expect  # noqa: E402
import generate_tables as tables  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as folder:
        tables.ROOT = pathlib.Path(folder)
        for each in ("include/cameo/op/attributes", "src/op"):
            (tables.ROOT / each).mkdir(parents=True)
        with contextlib.redirect_stdout(io.StringIO()):
            tables.main()
        made = sorted(path for path in tables.ROOT.rglob("*") if path.is_file())
        expect(len(made) > 10, "the script writes more than ten files, not", len(made))
        for path in made:
            name = path.relative_to(tables.ROOT)
            expect(path.read_bytes() == (root / name).read_bytes(), f"{name} is what src/op/generate_tables.py writes")
    conclude()


main()
