"""Nodes for which cameo agrees with onnx's reference evaluator (or a definition in numpy) and not with onnxruntime,
because the text of the specification decides: the operator, a condition on its node, and the sentence. differential.py
accepts no other difference. random_cases.py compares no generated node that a row fits: the evaluator ignores attributes
of old versions.
"""
import dataclasses
import typing

from onnx import helper


@dataclasses.dataclass(frozen=True)
class judgment:
    op: str
    fits: typing.Callable  # a condition on the node's attributes and, as "inputs", the names of its inputs
    sentence: str


ROWS = [
    judgment("Slice", lambda a: True,
              "Slice-13: 'for negative stepping' an end 'is clamped to [-1, dims[axes[i]]-1]', which holds for INT_MAX, too;"
              " onnxruntime takes that for the other end ('it is recommended to pass in INT_MAX when slicing forward')"),
    judgment("Gather", lambda a: True,
              "Gather-13: 'All index values are expected to be within bounds [-s, s-1] along axis of size s'; onnxruntime"
              " does not add s to negative ones where elements are texts"),
    judgment("MaxPool", lambda a: b"SAME" in a.get("auto_pad", b"") and "dilations" in a,
              "MaxPool-22: 'output_spatial_shape[i] = floor((input_spatial_shape[i] - 1) / strides_spatial_shape[i]) + 1' for"
              " SAME_UPPER and SAME_LOWER, whatever the dilations; onnxruntime's output is smaller with dilations"),
    judgment("LpPool", lambda a: b"SAME" in a.get("auto_pad", b"") and "dilations" in a,
              "LpPool-18, auto_pad: 'SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] /"
              " strides[i])`', whatever the dilations; onnxruntime's output is smaller with dilations"),
    judgment("MaxPool", lambda a: True,
              "MaxPool-22: 'max pooling consisting of computing the max on all values of a subset of the input tensor', which"
              " is -infinity where all of them are; onnxruntime begins with the lowest finite number"),
    judgment("Resize", lambda a: a.get("coordinate_transformation_mode") == b"align_corners",
              "Resize's case downsample_scales_linear_align_corners: 4 elements by a scale of 0.6 are 2.4 long, of which"
              " x_resized * 3 / 1.4 are the places; onnxruntime takes the 2 that the output has, and fails the case"),
    judgment("MaxUnpool", lambda a: len(a["inputs"]) == 3,
              "MaxUnpool's case export_with_output_shape: I contains places in the tensor that was pooled, as its kernel_shape,"
              " strides and pads imply it, whatever output_shape adds; onnxruntime takes them for places in the output"),
    judgment("Cast", lambda a: a.get("to") in (21, 22, 25, 26),
              "Cast-25: '100.5' to an integer yields 100, and numbers likewise lose their fraction in onnx's evaluator;"
              " onnxruntime rounds where the integer has 2 or 4 bits"),
    judgment("QLinearAveragePool", lambda a: True,
              "QLinearAveragePool-1: 'The output of each pooling window is divided by the number of elements'; where the"
              " quotient lies next to a half, onnxruntime's sum of floats, each of them rounded, lies on its other side"),
    judgment("QLinearGlobalAveragePool", lambda a: True,
              "QLinearGlobalAveragePool-1: 'applies Average pooling across the values in the same channel'; where the mean"
              " lies next to a half, onnxruntime's product with a quotient of scales lies on its other side"),
    judgment("QLinearAdd", lambda a: True,
              "QLinearAdd-1: 'C = (A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point))/C_scale + C_zero_point'; where"
              " that lies next to a half, onnxruntime's floats, each of them rounded, lie on its other side"),
    judgment("TreeEnsemble", lambda a: a.get("post_transform") in (1, 2),
              "TreeEnsemble-5, post_transform: 'One of 'NONE' (0), 'SOFTMAX' (1), 'LOGISTIC' (2), ...'; onnxruntime takes 1"
              " for LOGISTIC and 2 for SOFTMAX"),
    judgment("TreeEnsemble", lambda a: "membership_values" in a,
              "TreeEnsemble-5, membership_values: 'Members to test membership of for each set membership node', of which -1.3"
              " is none in a set with -1; onnxruntime takes the fraction away"),
    judgment("StringSplit", lambda a: "maxsplit" in a and not a.get("delimiter"),
              "StringSplit-20: 'the trailing suffix of input string after the final split point is also added';"
              " onnxruntime takes the white space at its end away"),
    judgment("StringSplit", lambda a: a.get("delimiter"),
              "StringSplit-20: 'Consecutive delimiters ... are deemed to delimit empty strings', which count: a text without"
              " a delimiter is one substring, also an empty one; onnxruntime counts none of that"),
    judgment("SplitToSequence", lambda a: a.get("keepdims") == 0,
              "SplitToSequence-24, keepdims: 'If input split is specified, this attribute is ignored'; onnxruntime does"
              " not ignore it for a split of 1"),
    judgment("MatMul", lambda a: True,
              "MatMul-13: 'behaves like numpy.matmul', which broadcasts the outer sizes of products over no elements, too;"
              " onnxruntime gives the first input's"),
    judgment("Dropout", lambda a: "ratio" not in a and len(a["inputs"]) == 1,
              "Dropout-12: 'output = scale * data * mask', and Dropout-10: 'or a simple copy of the input', which is so where"
              " the mask is true; before opset 12 onnxruntime fills it with false"),
    *(judgment("Reduce" + op, lambda a: True,
                f"Reduce{op}-18: 'Reduction over an empty set of values yields ...', along the axes that are named;"
                " onnxruntime mixes up the axes of some inputs with no elements")
      for op in ("L1", "L2", "Sum", "SumSquare")),
    judgment("LogSoftmax", lambda a: True,
              "LogSoftmax-13: 'LogSoftmax(input, axis) = Log(Softmax(input, axis=axis))', where a NaN is in each sum;"
              " onnxruntime loses it in double, depending on what stands before it"),
    *(judgment(op, lambda a: b"Softplus" in a.get("activations", []),
                f"{op}-22, activations: 'Softplus(x) - log(1 + e^x)', which is x where no float holds e^x; onnxruntime makes"
                " infinity of it, and NaN of what that is multiplied by")
      for op in ("RNN", "GRU", "LSTM")),
    judgment("MatMulNBits", lambda a: "".join(a["inputs"][4:5]) and a.get("bits", 4) < 8,
              "MatMulNBits-1: 'dequantized_weight = (quantized_weight - zero_point) * scale', both of the row's group, and the"
              " zero point 'uses same bit-packing method as Input B', or is 2^(bits - 1); with g_idx, onnxruntime takes other"
              " bits of packed ones, and of 2 bits another default"),
    judgment("Cast", lambda a: a.get("saturate") == 0,
              "Cast-19, the table for saturate = False: [x] > FLT_MAX is Inf in E5M2; onnxruntime makes NaN of what is"
              " just above"),
]


def row_of(nodes):
    """The first row that fits a node, in the order of nodes; None if there is none."""
    for node in nodes:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute} | {"inputs": list(node.input)}
        for row in ROWS:
            if row.op == node.op_type and row.fits(attributes):
                return row
    return None
