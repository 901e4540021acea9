"""Where onnxruntime and onnx's reference evaluator give different results for a node, cameo those of the reference, and the
text of the specification decides: the operator, a condition on its node, and the sentence. differential.py takes no other
difference for right.
"""
import dataclasses
import typing

from onnx import helper


@dataclasses.dataclass(frozen=True)
class judgement:
    op: str
    fits: typing.Callable  # of the node's attributes
    sentence: str


ROWS = [
    judgement("Slice", lambda a: True,
              "Slice-13: 'for negative stepping' an end 'is clamped to [-1, dims[axes[i]]-1]', which holds for INT_MAX, too;"
              " onnxruntime takes that for the other end ('it is recommended to pass in INT_MAX when slicing forward')"),
    judgement("Gather", lambda a: True,
              "Gather-13: 'All index values are expected to be within bounds [-s, s-1] along axis of size s'; onnxruntime"
              " does not add s to negative ones where elements are texts"),
    judgement("MaxPool", lambda a: str(a.get("auto_pad", b"")).find("SAME") >= 0,
              "MaxPool-22: 'output_spatial_shape[i] = floor((input_spatial_shape[i] - 1) / strides_spatial_shape[i]) + 1' for"
              " SAME_UPPER and SAME_LOWER, whatever the dilations; onnxruntime's output is smaller with dilations"),
    judgement("StringSplit", lambda a: a.get("maxsplit") == 0,
              "StringSplit-20: 'maxsplit ... limits the number of splits'; onnxruntime also drops white space at the end"
              " where it splits nothing"),
    judgement("Cast", lambda a: a.get("saturate") == 0,
              "Cast-19, the table for saturate = False: [x] > FLT_MAX is Inf in E5M2; onnxruntime makes NaN of what is"
              " just above"),
]


def row_of(nodes):
    """The row of the first node that one fits; None without."""
    for node in nodes:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        for row in ROWS:
            if row.op == node.op_type and row.fits(attributes):
                return row
    return None
