"""Makes test folders for `cameo conformance` of Debian's package libonnx-testdata (onnx 1.12).

Usage: testdata_cases.py OUT_DIR

All of its cases that have a model are linked, but for five whose models are not those that their data were made with, as
later versions of onnx have them; onnxruntime refuses or fails these five, too:
  test_adam_multiple            leaves out epsilon, which was 0.01
  test_castlike_*BFLOAT16*      declare 'like' as [3,4], and give one of [1]
The folders of `real` name models on servers, and have none.
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
    """Whether the model of this case was changed."""
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
