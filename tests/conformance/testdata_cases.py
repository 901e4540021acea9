"""Makes folders for `cameo conformance` from Debian's package libonnx-testdata (onnx 1.12).

Usage: testdata_cases.py OUT_DIR

Cases with a model become links to the package's folders. Five cases are copied and corrected as in later versions of
onnx, because their data do not belong to their models; onnxruntime fails them, too:
  test_adam_multiple            the attribute epsilon, 0.01, is missing
  test_castlike_*BFLOAT16*      'like' is declared as [3,4], but the input has the shape [1]
Cases in `real` only have the addresses of models, and are left out.
"""
import pathlib
import shutil
import sys

import onnx
from onnx import helper

DATA = pathlib.Path("/usr/lib/python3/dist-packages/onnx/backend/test/data")

if len(sys.argv) != 2:
    sys.exit(__doc__)


def corrected(model, name):
    """Corrects the model of a case; returns False if it does not need a correction."""
    if name == "test_adam_multiple":
        model.graph.node[0].attribute.append(helper.make_attribute("epsilon", 1e-2))
    elif name.startswith("test_castlike") and "BFLOAT16" in name:
        like = model.graph.input[1].type.tensor_type
        like.shape.CopyFrom(helper.make_tensor_type_proto(like.elem_type, [1]).tensor_type.shape)
    else:
        return False
    return True


out = pathlib.Path(sys.argv[1])
shutil.rmtree(out, ignore_errors=True)
count = 0
for model in sorted(DATA.glob("*/*/model.onnx")):
    folder = out / model.parent.relative_to(DATA)
    folder.parent.mkdir(parents=True, exist_ok=True)
    changed = onnx.load(model)
    if corrected(changed, folder.name):
        shutil.copytree(model.parent, folder)
        onnx.save(changed, folder / "model.onnx")
    else:
        folder.symlink_to(model.parent)
    count += 1
print(f"{count} cases of libonnx-testdata")
sys.exit(count < 1000)
