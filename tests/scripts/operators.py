"""docs/operators.md is what `cameo ops --markdown` writes now, and README.md does not promise more operators than cameo
has. Prints their number.

Needs CAMEO_SOURCE_DIR and CAMEO_PROGRAM in the environment, as CTest sets them.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
program = os.environ["CAMEO_PROGRAM"]


def ops(form):
    """Operators of `cpu` only: the page does not depend on the providers that the program was built with."""
    return subprocess.run([program, "ops", "--ep", "cpu", form], capture_output=True, text=True, check=True).stdout


failed = 0
if (root / "docs" / "operators.md").read_text(encoding="utf-8") != ops("--markdown"):
    failed += 1
    print("docs/operators.md is not up to date; in the source folder, run\n"
          "  build/release/cameo ops --ep cpu --markdown > docs/operators.md")
with_kernels = [op for op in json.loads(ops("--json"))["ops"] if not op.get("function_body")]
standard = sum(op["domain"] == "ai.onnx" for op in with_kernels)
print(f"cpu has kernels for {len(with_kernels)} operators, {standard} of them of ONNX's own domain")
promised = re.search(r"kernels for at least (\d+) operators", (root / "README.md").read_text(encoding="utf-8"))
if not promised or int(promised.group(1)) > len(with_kernels):
    failed += 1
    print("README.md must say 'kernels for at least N operators' with an N that is true")
print(f"{2 - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
