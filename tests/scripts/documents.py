"""Compiles the code of the documents: every ```cpp block of README.md and docs/*.md that starts with an #include.

Needs CAMEO_SOURCE_DIR, CAMEO_BINARY_DIR and CAMEO_CXX in the environment, as CTest sets them.
"""
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
out = pathlib.Path(os.environ["CAMEO_BINARY_DIR"]) / "generated" / "documents"
out.mkdir(parents=True, exist_ok=True)
includes = ["-I" + str(path) for path in [root / "include", *sorted(root.glob("eps/*/include"))]]
failed = compiled = 0
for document in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
    if not document.exists():
        continue
    text = document.read_text(encoding="utf-8")
    for block in re.finditer(r"^```cpp\n(#include.*?)^```", text, re.MULTILINE | re.DOTALL):
        line = text[: block.start()].count("\n") + 2
        source = out / f"{document.stem}_{line}.cpp"
        source.write_text(f'#line {line} "{document}"\n{block.group(1)}', encoding="utf-8")
        command = [os.environ["CAMEO_CXX"], "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only", *includes, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        compiled += 1
        if done.returncode != 0:
            failed += 1
            print(done.stderr)
print(f"{compiled - failed} passed, {failed} failed")
sys.exit(1 if failed or compiled == 0 else 0)
