#!/usr/bin/env python3
"""Writes the operator tables: tag headers, the list of standard operators and the fixed function bodies.

Run it by hand with the PyPI packages onnx and onnxruntime installed; its output is committed. The ONNX domains come from
onnx, whose history is complete; com.microsoft and its internal domains come from onnxruntime, the only package with them.
"""
import collections
import pathlib
import re

import numpy
import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as ort

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Operators that ONNX Runtime adds to ONNX's own domain: those of its fusions, one of which has an older version there,
# and experimental ones that ONNX removed in opset 10. Models name them in ONNX's domain, so they have it here. Where
# both have an operator, the list has the row of contrib.hpp.
CONTRIB = "ONNX's domain that ONNX Runtime adds"
CONTRIB_OPS = ["Affine", "Crop", "DynamicSlice", "ImageScaler", "LayerNormalization", "MeanVarianceNormalization",
               "ParametricSoftplus", "Scale", "ScaledTanh", "SimplifiedLayerNormalization", "ThresholdedRelu"]

# Domain: (header, namespace, whether the package onnx is the source)
DOMAINS = {
    "": ("onnx", "op", True),
    CONTRIB: ("contrib", "op::contrib", False),
    "ai.onnx.ml": ("ml", "op::ml", True),
    "ai.onnx.preview": ("preview", "op::preview", True),
    "ai.onnx.preview.training": ("training", "op::training", True),
    "com.microsoft": ("microsoft", "op::microsoft", False),
    "com.microsoft.nchwc": ("nchwc", "op::nchwc", False),
    "com.ms.internal.nhwc": ("internal_nhwc", "op::internal_nhwc", False),
}

# Roles that no schema implies; schema_roles() finds the others. Operators of ONNX have no domain before their name.
RESHAPES = "Flatten Reshape Squeeze Unsqueeze"
PERMUTES = RESHAPES + " DepthToSpace ReverseSequence SpaceToDepth Transpose"
ROLES = {
    "is_random": "Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike "
                 "com.microsoft.BiasDropout com.microsoft.BitmaskBiasDropout com.microsoft.BitmaskDropout "
                 "com.microsoft.Sampling",
    "is_constant": "Constant",
    "is_compiled_context": "com.microsoft.EPContext",
    "needs_training": "ai.onnx.preview.training.Gradient",
    "is_identity": "Identity",
    "is_pointwise": "Affine BitCast Cast CastLike Clip Dropout Identity IsInf IsNaN ParametricSoftplus RegexFullMatch "
                    "Scale ScaledTanh Shrink Swish ThresholdedRelu "
                    "com.microsoft.Gelu com.microsoft.QuickGelu",
    "commutes": "Add And BitwiseAnd BitwiseOr BitwiseXor Equal Max Mean Min Mul Or Sum Xor",
    "moves": PERMUTES + " Compress Expand Gather GatherElements GatherND Slice Tile",
    "permutes": PERMUTES,
    "reshapes": RESHAPES,
    "convolves": "Conv ConvTranspose",
    "normalizes": "Hardmax LogSoftmax LpNormalization Softmax",
    # All operators whose schema in ONNX Runtime allows any attribute. tests/scripts/oddities.py checks each operator.
    "takes_any_attribute": "Affine Crop DynamicSlice ImageScaler LayerNormalization ParametricSoftplus Scale ScaledTanh "
                           "SimplifiedLayerNormalization com.microsoft.BiasDropout com.microsoft.BitmaskBiasDropout "
                           "com.microsoft.BitmaskDropout com.microsoft.QOrderedLayerNormalization com.microsoft.Snpe",
}
ROLE_ORDER = ["has_subgraphs", *ROLES, "broadcasts", "reduces"]

# Attributes that only cameo's nodes have. ONNX Runtime packs the weights of Conv on blocks for the processor at hand,
# with a block size that is not in the file; cameo packs them when it loads, and files contain the plain weights.
OWN_ATTRIBUTES = {("com.microsoft.nchwc", "Conv"): {"plain_weights": "i"}}

# Attributes without a default that the schema makes optional and ONNX Runtime's kernel requires.
NEEDED = {("", "Crop"): ["border"], ("", "ImageScaler"): ["bias"], ("", "ParametricSoftplus"): ["alpha", "beta"],
          ("", "ScaledTanh"): ["alpha", "beta"], ("ai.onnx.ml", "Scaler"): ["offset", "scale"],
          ("ai.onnx.ml", "SVMClassifier"): ["rho"], ("ai.onnx.ml", "SVMRegressor"): ["rho"],
          ("com.microsoft.nchwc", "ReorderOutput"): ["channels"], ("com.microsoft.nchwc", "Upsample"): ["scales"]}

# The legal values of attributes, which schemas only describe in prose: see attribute_rule::values. By operators, which
# have a domain before their name as in ROLES; values that changed with a version are listed by the version.
# ONNX Runtime's operators for channels last have the rows of ONNX.
SIZE, COUNT, FLAG = "1..", "0..", "0|1"
DIRECTIONS = "forward|reverse|bidirectional"
PADS = "constant|reflect|edge"
SVM = {"kernel_type": "LINEAR|POLY|RBF|SIGMOID", "post_transform": "NONE|SOFTMAX|LOGISTIC|SOFTMAX_ZERO|PROBIT"}
MODES = "BRANCH_LEQ|BRANCH_LT|BRANCH_GTE|BRANCH_GT|BRANCH_EQ|BRANCH_NEQ|LEAF"
NGRAMS = {"max_ngram_size": "2..1048576", "n_head_per_ngram": "1..1048576"}
LINEAR_RULES = {"update_rule": "linear|gated|delta|gated_delta", "q_num_heads": "1..1048576",
                "kv_num_heads": "1..1048576"}
CAUSAL_CONV = {"activation": "silu|swish|none", "dilation": "1..2147483648"}
MOE = {"activation_type": "relu|gelu|silu|identity|swiglu", "k": SIZE, "swiglu_fusion": "0..2", "swiglu_limit": COUNT}
TOKEN = "0..2147483647"
GENERATION = {"decoder_start_token_id": "-2147483648..2147483647", "eos_token_id": TOKEN, "pad_token_id": TOKEN,
              "no_repeat_ngram_size": COUNT}
WINDOW = {"auto_pad": "NOTSET|SAME_UPPER|SAME_LOWER|VALID|",  # or nothing, as in ONNX Runtime
          "kernel_shape": SIZE, "strides": SIZE}
DILATED = {**WINDOW, "dilations": SIZE}
INTERPOLATION = "nearest|linear|cubic|bilinear|bicubic"  # the last two are former names
LARGE_SIZE = "1..1099511627776"
VALUES = {
    # Folders: convolution, image, quantized, matrix.
    "Conv ConvInteger QLinearConv com.microsoft.FusedConv com.microsoft.NhwcFusedConv com.microsoft.QLinearConv "
    "com.microsoft.nchwc.Conv": {**DILATED, "group": SIZE},
    "ConvTranspose com.microsoft.ConvTransposeWithDynamicPads": {**DILATED, "group": SIZE, "output_padding": COUNT},
    "AveragePool MaxPool com.microsoft.nchwc.AveragePool com.microsoft.nchwc.MaxPool com.microsoft.NhwcMaxPool": DILATED,
    "QLinearAveragePool com.microsoft.QLinearAveragePool com.microsoft.MaxpoolWithMask": WINDOW,
    "LpPool": {**DILATED, "p": {1: "0<..", 2: SIZE}},
    "MaxUnpool": {"kernel_shape": SIZE, "strides": SIZE},
    "DeformConv": {"kernel_shape": SIZE, "strides": SIZE, "dilations": SIZE, "group": SIZE, "offset_group": SIZE},
    "GridSample com.microsoft.GridSample": {"mode": INTERPOLATION, "padding_mode": "zeros|border|reflection"},
    "Upsample": {"mode": INTERPOLATION},
    "Resize": {"mode": INTERPOLATION, "nearest_mode": "round_prefer_floor|round_prefer_ceil|floor|ceil",
               "coordinate_transformation_mode": "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|"
                                                 "asymmetric|tf_half_pixel_for_nn|tf_crop_and_resize",
               "keep_aspect_ratio_policy": "stretch|not_larger|not_smaller"},
    "com.microsoft.nchwc.ReorderOutput": {"channels": LARGE_SIZE},
    "com.microsoft.nchwc.Upsample": {"scales": "4:1..", "mode": "nearest|linear",
                                     "coordinate_transformation_mode": "asymmetric|align_corners|half_pixel"},
    "com.microsoft.MatMulNBits": {"K": LARGE_SIZE, "N": LARGE_SIZE, "bits": "2|4|8", "accuracy_level": "0..4",
                                  "block_size": "|".join(str(2**i) for i in range(4, 16))},
    "com.microsoft.MatMulBnb4": {"K": SIZE, "N": SIZE, "quant_type": FLAG},
    "RNN GRU LSTM": {"direction": {1: "foward|" + DIRECTIONS, 3: DIRECTIONS},  # ONNX wrote so the default of its first GRU
                     "hidden_size": SIZE, "clip": COUNT},
    "com.microsoft.DynamicQuantizeLSTM com.microsoft.AttnLSTM": {
        "direction": DIRECTIONS, "hidden_size": SIZE, "clip": COUNT},
    "GlobalLpPool": {"p": {1: "0<..", 2: SIZE}},
    "Pad": {"mode": {1: PADS, 19: PADS + "|wrap"}},
    "com.microsoft.Pad": {"mode": PADS + "|wrap"},
    "Col2Im": {"dilations": "1..1099511627776", "strides": "1..1099511627776", "pads": "0..1099511627776"},
    "DepthToSpace SpaceToDepth": {"blocksize": "1..1048576", "mode": "DCR|CRD"},
    "TensorScatter": {"mode": "linear|circular"},
    "ReverseSequence": {"time_axis": FLAG, "batch_axis": FLAG},
    "ScatterElements ScatterND": {"reduction": {16: "none|add|mul", 18: "none|add|mul|min|max"}},
    "LpNormalization": {"p": "1|2"},
    "GroupNormalization": {"num_groups": SIZE},
    "LRN": {"size": SIZE},
    "RoiAlign": {"output_height": SIZE, "output_width": SIZE, "sampling_ratio": "0..1048576", "mode": "avg|max",
                 "coordinate_transformation_mode": "half_pixel|output_half_pixel"},
    "MaxRoiPool": {"pooled_shape": "2:1..", "spatial_scale": "0<.."},
    "Multinomial": {"sample_size": SIZE},
    "RandomNormal RandomUniform": {"shape": COUNT},
    "ImageDecoder": {"pixel_format": "RGB|BGR|Grayscale"},
    "Attention": {"q_num_heads": COUNT, "kv_num_heads": COUNT, "qk_matmul_output_mode": "0..3",
                  "left_window_size": "-1..", "right_window_size": "-1.."},
    "RotaryEmbedding com.microsoft.RotaryEmbedding": {"num_heads": COUNT, "rotary_embedding_dim": COUNT},
    "QuantizeLinear": {"block_size": COUNT, "precision": "0..28"},
    "DequantizeLinear": {"block_size": COUNT},
    "Cast CastLike": {"round_mode": "up|down|nearest"},
    "BitShift": {"direction": "LEFT|RIGHT"},
    "Gelu": {"approximate": "none|tanh"},
    "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss": {"reduction": "none|sum|mean"},
    "StringNormalizer": {"case_change_action": "NONE|LOWER|UPPER"},
    "ConcatFromSequence": {"new_axis": FLAG},
    "Scan": {"directions": FLAG, "scan_input_directions": FLAG, "scan_output_directions": FLAG},
    "TfIdfVectorizer": {"mode": "TF|IDF|TFIDF", "min_gram_length": SIZE, "max_gram_length": SIZE,
                        "max_skip_count": COUNT, "ngram_counts": COUNT, "ngram_indexes": "0..9223372036854775806"},
    "Crop": {"border": "4:"},
    "LinearAttention": LINEAR_RULES,
    "com.microsoft.LinearAttention": {**LINEAR_RULES, "state_window": "0..8"},
    "CausalConvWithState": {"activation": "silu|swish|none"},
    "com.microsoft.CausalConvWithState": {**CAUSAL_CONV, "state_window": "0..8"},
    "com.microsoft.VarlenCausalConvWithState": CAUSAL_CONV,
    "ai.onnx.preview.training.Momentum": {"mode": "standard|nesterov"},
    "ai.onnx.preview.FlexAttention": {"softmax_precision": "1|10|11|16"},
    "ai.onnx.ml.TreeEnsemble": {"n_targets": SIZE, "post_transform": "0..4", "aggregate_function": "0..3"},
    "ai.onnx.ml.TreeEnsembleRegressor": {"n_targets": SIZE, "aggregate_function": "AVERAGE|SUM|MIN|MAX",
                                         "post_transform": SVM["post_transform"], "nodes_modes": MODES},
    "ai.onnx.ml.TreeEnsembleClassifier": {"post_transform": SVM["post_transform"], "nodes_modes": MODES},
    "ai.onnx.ml.LinearRegressor": {"targets": SIZE, "post_transform": SVM["post_transform"]},
    "ai.onnx.ml.LinearClassifier": {"post_transform": SVM["post_transform"]},
    "ai.onnx.ml.SVMClassifier": {**SVM, "vectors_per_class": COUNT},
    "ai.onnx.ml.SVMRegressor": {**SVM, "n_supports": COUNT},
    "ai.onnx.ml.CastMap": {"cast_to": "TO_FLOAT|TO_STRING|TO_INT64", "map_form": "DENSE|SPARSE"},
    "ai.onnx.ml.FeatureVectorizer": {"inputdimensions": COUNT},
    "ai.onnx.ml.Normalizer": {"norm": "MAX|L1|L2"},
    "com.microsoft.UnfoldTensor": {"size": SIZE, "step": SIZE},
    "com.microsoft.CropAndResize": {"mode": "bilinear|nearest"},
    "com.microsoft.GatedRMSNorm": {"activation": "silu|swish|sigmoid"},
    "com.microsoft.BranchwiseRMSNorm com.microsoft.HyperConnectionPreMix com.microsoft.HyperConnectionPostMix": {
        "num_branches": COUNT},
    "com.microsoft.Attention": {"num_heads": SIZE, "qkv_hidden_sizes": "1..1073741824"},
    "com.microsoft.MultiHeadAttention com.microsoft.DecoderMaskedMultiHeadAttention "
    "com.microsoft.DecoderMaskedSelfAttention com.microsoft.QAttention": {"num_heads": SIZE},
    "com.microsoft.GroupQueryAttention": {
        "num_heads": "1..1048576", "kv_num_heads": SIZE, "qk_output": "0..2", "kv_cache_bit_width": "0|4|8",
        "k_quant_type": "NONE|PER_TENSOR|PER_CHANNEL", "v_quant_type": "NONE|PER_TENSOR|PER_CHANNEL"},
    "com.microsoft.SparseAttention": {
        "num_heads": "1..1048576", "kv_num_heads": SIZE, "sparse_block_size": "1..1048576"},
    "com.microsoft.MRotaryEmbedding": {"num_heads": COUNT, "rotary_embedding_dim": COUNT, "mrope_layout": FLAG,
                                       "mrope_section": "3:0..1099511627776"},
    "com.microsoft.GatherBlockQuantized": {"bits": "2|4|8"},
    "com.microsoft.MoE": MOE,
    "com.microsoft.QMoE": {**MOE, "expert_weight_bits": "2|4|8", "fc1_expert_weight_bits": "2|4|8",
                           "fc2_expert_weight_bits": "2|4|8", "fc3_expert_weight_bits": "2|4|8"},
    "com.microsoft.NGramRepeatBlock": {"ngram_size": SIZE},
    "com.microsoft.BifurcationDetector": {"min_ngram_size": SIZE},
    "com.microsoft.NGramHashMapping": NGRAMS,
    "com.microsoft.VarlenNGramHashMapping": {**NGRAMS, "state_update_capacity": "0..8"},
    "com.microsoft.Tokenizer": {"mincharnum": SIZE},
    "com.microsoft.BeamSearch": {**GENERATION, "model_type": "0..2"},
    "com.microsoft.WhisperBeamSearch": {**GENERATION, "model_type": "2"},
    "com.microsoft.GreedySearch": {**GENERATION, "model_type": FLAG},
    "com.microsoft.Sampling": {**GENERATION, "model_type": FLAG, "temperature": "0<..", "min_tokens_to_keep": COUNT},
}

# The shapes of inputs: see op_version::shapes. By operators and versions, as above.
LINEAR = ("[batch,length,q_num_heads*size] [batch,length,kv_num_heads*size] [batch,length,kv_num_heads*vsize] {} "
          "[batch,length,kv_num_heads]|[batch,length,kv_num_heads*size] [batch,length,kv_num_heads?]")
STATES = ("[directions,8*hidden_size] [batch] [directions,batch,hidden_size] [directions,batch,hidden_size] "
          "[directions,3*hidden_size]")  # inputs 3 to 7 of an LSTM
SHAPES = {
    "ReverseSequence": {10: "[_,_,...] [_]"},
    "com.microsoft.NGramRepeatBlock": "[batch,length] [batch,words]",
    # Attention and recurrent: the operators of eps/cpu/src/attention and eps/cpu/src/recurrent
    "Attention": "[batch,q_num_heads,length,size]|[batch,length,q_num_heads*size] "
                 "[batch,kv_num_heads,keys,size]|[batch,keys,kv_num_heads*size] "
                 "[batch,kv_num_heads,keys,vsize]|[batch,keys,kv_num_heads*vsize] "
                 "[_]|[length?,_]|[q_num_heads?,length?,_]|[batch?,q_num_heads?,length?,_] "
                 "[batch,kv_num_heads,past,size] [batch,kv_num_heads,past,vsize] [batch]",
    "ai.onnx.preview.FlexAttention": "[batch,groups*times,length,size] [batch,groups,keys,size] "
                                     "[batch,groups,keys,_]",
    "com.microsoft.Attention": "[batch,length,in] [in,width] [width] * [2,batch,num_heads,_,_] "
                               "[batch?,num_heads?,length?,_]",
    "com.microsoft.QAttention": "[batch,length,in] [in,3*num_heads*size] [3*num_heads*size] 1 * * 1 * "
                                "[2,batch,num_heads,_,size]",
    "com.microsoft.MultiHeadAttention":
        "[batch,length,num_heads*size]|[batch,length,num_heads,3,size] "
        "[batch,keys,num_heads*size]|[batch,num_heads,keys,size]|[batch,keys,num_heads,2,size] "
        "[batch,keys,num_heads*vsize]|[batch,num_heads,keys,vsize] * * [batch?,num_heads?,length?,_] "
        "[batch,num_heads,past,size] [batch,num_heads,past,vsize] 1",
    "com.microsoft.DecoderMaskedMultiHeadAttention":
        "[batch,1,_] [batch,1,num_heads*size]|[batch,num_heads,keys,size] "
        "[batch,1,num_heads*vsize]|[batch,num_heads,keys,vsize] * [batch?,num_heads?,1,_] "
        "[batch,num_heads,past,size] [batch,num_heads,past,vsize] 1",
    "com.microsoft.GroupQueryAttention":
        "[batch,length,_] [batch,length,kv_num_heads*size] [batch,length,kv_num_heads*size] "
        "[batch,kv_num_heads,past,width] [batch,kv_num_heads,past,width] * 1 [positions,half] [positions,half] "
        "[batch,length] [batch?,num_heads?,length,_] [num_heads] * * [size] [size]",
    "com.microsoft.SparseAttention":
        "[batch,length,_] [batch,length,kv_num_heads*size] [batch,length,kv_num_heads*size] "
        "[batch,kv_num_heads,capacity,size] [batch,kv_num_heads,capacity,size] [layouts,rows+1] [layouts,_] 1 [batch] "
        "[positions,half] [positions,half]",
    "RotaryEmbedding": "[batch,_,length,_]|[batch,length,num_heads*size] [positions,half]|[batch,length,half] "
                       "[positions,half]|[batch,length,half] [batch,length]",
    "com.microsoft.RotaryEmbedding": "[batch,length,_]|[batch,_,length,_] [1]|[batch,length] [positions,half] "
                                     "[positions,half]",
    "com.microsoft.MRotaryEmbedding": "[batch,length,_]|[batch,_,length,_] [3,batch,length] [positions,half] "
                                      "[positions,half]",
    "LinearAttention": LINEAR.format("[batch,kv_num_heads,size,vsize]"),
    "com.microsoft.LinearAttention":
        LINEAR.format("[batch,kv_num_heads,size,vsize]|[state_window,batch,kv_num_heads,size,vsize]"),
    "CausalConvWithState": "[batch,channels,length] [channels,1,before+1] [channels] [batch,channels,before]",
    "com.microsoft.CausalConvWithState": "[_,_,_,...] [channels,1,before+1,...] [channels]",
    "RNN": "[_,_,inputs] [directions,hidden_size,inputs] [directions,hidden_size,hidden_size] "
           "[directions,2*hidden_size] [batch] [_,_,hidden_size]",
    "GRU": "[_,_,inputs] [directions,3*hidden_size,inputs] [directions,3*hidden_size,hidden_size] "
           "[directions,6*hidden_size] [batch] [_,_,hidden_size]",
    "LSTM": "[_,_,inputs] [directions,4*hidden_size,inputs] [directions,4*hidden_size,hidden_size] "
            "[directions,8*hidden_size] [batch] [_,_,hidden_size] [_,_,hidden_size] [directions,3*hidden_size]",
    "com.microsoft.DynamicQuantizeLSTM":
        "[length,batch,inputs] [directions,inputs,4*hidden_size] [directions,hidden_size,4*hidden_size] "
        + STATES + " [directions]|[directions,4*hidden_size] [directions]|[directions,4*hidden_size] "
        "[directions]|[directions,4*hidden_size] [directions]|[directions,4*hidden_size]",
    "com.microsoft.AttnLSTM":
        "[length,batch,inputs] [directions,4*hidden_size,inputs+answer] [directions,4*hidden_size,hidden_size] "
        + STATES + " [directions,hidden_size,size] [directions,depth,size] [directions,size] [batch,steps,depth] "
        "[batch] [directions,hidden_size+depth,answer]",
    # The folders normalize, text, quantized and products of the CPU kernels.
    "InstanceNormalization": "[_,channels,_,...] [channels] [channels]",
    "GroupNormalization": {18: "[_,num_groups*size,...] [num_groups] [num_groups]",
                           21: "[_,num_groups*size,...] [num_groups*size] [num_groups*size]"},
    "BatchNormalization": "[_,...]",
    "LRN": "[_,_,...]",
    "com.microsoft.SkipLayerNormalization": "[...,size] * [size] [size] [size]",
    "com.microsoft.SkipSimplifiedLayerNormalization": "[...,size] * [size] [size]",
    "com.microsoft.EmbedLayerNormalization": "[batch,length] [batch,length] [_,size] [_,size] [_,size] [size] [size] "
                                             "[batch,length] [batch?,length]",
    "com.microsoft.QEmbedLayerNormalization": "[batch,length] [batch,length] [_,size] [_,size] [_,size] [size] [size] "
                                              "[batch,length] 1 1 1 1 1 1 1 1 1 1",
    "com.microsoft.GatedRMSNorm": "[...,groups*size] [size]",
    "com.microsoft.BranchwiseRMSNorm com.microsoft.HyperConnectionPreMix com.microsoft.HyperConnectionPostMix":
        "[...,num_branches*size]",
    "com.microsoft.ScaledSiLU": "* 1",
    "com.microsoft.GatedAdd": "[...,_]",
    "com.microsoft.LinearAttentionGate": "[...,heads] [heads] [heads]",
    "com.microsoft.EngramGate": "[batch,length,branches,size] [batch,length,branches,size] [batch,length,size] "
                                "[branches,size] [branches,size] [branches,size]",
    "StringNormalizer": "[_]|[1,_]",
    "TfIdfVectorizer com.microsoft.Tokenizer": "[_]|[_,_]",
    "com.microsoft.WordConvEmbedding": "[_,_] [embedding_size,1,conv_window_size,char_embedding_size] "
                                       "[embedding_size] [_,char_embedding_size]",
    "com.microsoft.BifurcationDetector": "[_]|[] [_]|[] 1 [_]|[]",
    "com.microsoft.NGramHashMapping": "[batch,length] * * [batch,before] * 1 [batch,length]",
    "com.microsoft.VarlenNGramHashMapping": "[tokens] * * [requests+1] [requests,before] * 1 [tokens] "
                                            "[requests,before] [requests]",
    "MatMulInteger com.microsoft.MatMulInteger16": "[...,k] [k]|[...,k,_]",
    "com.microsoft.MatMulIntegerToFloat": "[...,k] [k]|[...,k,_] 1 * 1",
    "com.microsoft.DynamicQuantizeMatMul": "[...,k] [k]|[...,k,_]",
    "QLinearMatMul": "[...,k] * * [k]|[...,k,_]",
    "com.microsoft.QGemm": "[_,_] 1 1 [_,_] * * * 1 1",
    "com.microsoft.MatMulNBits": "[...,K]",
    "com.microsoft.MatMulFpQ4": "[_,...] * [2]",
    "com.microsoft.GatherBlockQuantized": "[_,...]",
    "ConvInteger": "* [maps,_,_,...] 1 1|[maps]",
    "QLinearConv com.microsoft.QLinearConv": "[_,_,_,...] 1 1 [maps,_,_,...] 1|[maps] 1|[maps] 1 1 [maps]",
    "com.microsoft.QLinearAveragePool com.microsoft.QLinearGlobalAveragePool com.microsoft.NhwcMaxPool": "[_,_,_,...]",
    "com.microsoft.MoE": "[_,_]|[_,_,_] [tokens,experts] [experts,_,_] [experts,_] [experts,_,_] [experts,_] "
                         "[experts,_,_] [experts,_]",
    "com.microsoft.QMoE": "[_,_]|[_,_,_] [tokens,experts] [experts,_,_] * [experts,_] [experts,_,_] * [experts,_] "
                          "[experts,_,_] * [experts,_] * * * [tokens,experts]",
    # Folders: image, signal, search, matrix, ml, generate, movement, convolution, training, reduce, elementwise.
    "GridSample com.microsoft.GridSample":
        "[batch,channels,_]|[batch,channels,_,_]|[batch,channels,_,_,_] [batch,_,1]|[batch,_,_,2]|[batch,_,_,_,3]",
    "RoiAlign": "[batch,channels,height,width] [regions,4] [regions]",
    "com.microsoft.CropAndResize": "[batch,channels,height,width] [regions,4] [regions] [2]",
    "MaxRoiPool": "[batch,channels,height,width] [regions,5]",
    "Upsample": {1: "[batch,channels,height,width]", 7: None},
    "Crop": "[batch,channels,height,width] scale=2|0",
    "ImageDecoder com.microsoft.Unique": "[_]",
    "NonMaxSuppression": "[batch,boxes,4] [batch,classes,boxes] 1|[0] 1|[0] 1|[0]",
    "DFT": "[_,...,1]|[_,...,2] 1 1",
    "STFT": "[batch,length]|[batch,length,1]|[batch,length,2] 1 [_] 1",
    "MelWeightMatrix": "1 1 1 1 1",
    "com.microsoft.DynamicTimeWarping": "[rows,columns]|[1,rows,columns]",
    "com.microsoft.BeamSearch": "* 1 1 1 1 1 1 * * * * 1",
    "com.microsoft.WhisperBeamSearch":
        "[batch,size,frames] 1 1 1 1 1 1 [words] [batch,words] [_,_,_] [batch,_] 1 [_,2] [batch,_] 1",
    "com.microsoft.GreedySearch com.microsoft.Sampling":
        "[batch,length] 1 1 1 [words] [batch,words] [batch,length] [batch,words] 1",
    "Det com.microsoft.Inverse": "[...,n,n]",
    "com.microsoft.CDist": "[_,columns] [_,columns]",
    "com.microsoft.SparseToDenseMatMul": "* [_,_]",
    "ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor "
    "ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor ai.onnx.ml.ZipMap":
        "[features]|[rows,features]",
    "ai.onnx.ml.ArrayFeatureExtractor": "[_,...]",
    "Range com.microsoft.Range": "1 1 1",
    "OneHot": "* 1 [2]",
    "EyeLike": "[rows,columns]",
    "Multinomial": "[batch,classes]",
    "Compress SplitToSequence": "* []|[_]",
    "Tile": {1: "* 1 1", 6: None},
    "GatherND ScatterND com.microsoft.GatherND": "[_,...] [_,...]",
    "TensorScatter": "[batch,...] [batch,...] [batch]",
    "TopK": {10: "* 1"},
    "CumProd CumSum com.microsoft.ExpandDims": "* 1",
    "DepthToSpace": "[batch,blocksize*blocksize*channels,height,width]",
    "SpaceToDepth": "[batch,channels,blocksize*height,blocksize*width]",
    "Trilu com.microsoft.Trilu": "[...,rows,columns] 1",
    "Col2Im": "[_,_,_]",
    "GlobalAveragePool GlobalLpPool GlobalMaxPool": "[batch,channels,...]",
    "com.microsoft.MaxpoolWithMask": "[_,_,h]|[_,_,h,w]|[_,_,h,w,d] [_,_,h]|[_,_,h,w]|[_,_,h,w,d]",
    "com.microsoft.nchwc.ReorderInput": "[_,_,_,_]",
    "com.microsoft.nchwc.AveragePool com.microsoft.nchwc.GlobalAveragePool com.microsoft.nchwc.GlobalMaxPool "
    "com.microsoft.nchwc.MaxPool com.microsoft.nchwc.ReorderOutput com.microsoft.nchwc.Upsample":
        "[batch,16*blocks,height,width]",
    "com.microsoft.nchwc.Conv": "[_,_,_,_] [_,_,_,_]",
    "DeformConv": "[_,offset_group*channels,_,...]",
    "com.microsoft.ConvTransposeWithDynamicPads": "[_,_,_,...]",
    "ImageScaler": "[_,channels,...] bias=channels",
    "AffineGrid": "[_,2,3]|[_,3,4] [4]|[5]",
    "com.microsoft.MatMulBnb4": "[_,...]",
    "ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam ai.onnx.preview.training.Momentum": "1 1",
    "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss": "[batch,classes,...] [batch,...] [classes]",
    "com.microsoft.BiasGelu": "[...,width] [width]",
    "com.microsoft.FastGelu": "[]|[...,width] [width]",
}
SHAPES_OF = {name: shapes for names, shapes in SHAPES.items() for name in names.split()}
used_shapes = set()

# Inputs, attributes and outputs that need each other: see op_version::presence.
PRESENCE = {
    "Attention com.microsoft.MultiHeadAttention com.microsoft.GroupQueryAttention": "past_key&past_value",
    # The operators of eps/cpu/src/normalize.
    "com.microsoft.LinearAttentionGate": "beta>b",
    "com.microsoft.EngramGate": "gated_value_normed>conv_norm_scale",
    "com.microsoft.EmbedLayerNormalization": "segment_ids&segment_embedding",
    "com.microsoft.QEmbedLayerNormalization":
        "segment_ids&segment_embedding segment_embedding>segment_embedding_scale "
        "segment_embedding>segment_embedding_zero_point",
}
PRESENCE_OF = {name: rules for names, rules in PRESENCE.items() for name in names.split()}
used_presence = set()

VALUES_OF = collections.defaultdict(dict)
for names, values in VALUES.items():
    for name in names.split():
        assert not VALUES_OF[name].keys() & values.keys(), f"two rules for {name}"
        VALUES_OF[name].update(values)
used_values = set()


def values_of(s, attribute):
    """The legal values of an attribute in a version of its operator, as text; None if any are."""
    domain = "" if s.domain == "com.ms.internal.nhwc" else s.domain
    name = f"{domain}.{s.name}" if domain else s.name
    found = VALUES_OF.get(name, {}).get(attribute)
    if found is not None:
        used_values.add((name, attribute))
    return at_version(found, s.since_version)


def shapes_of(s):
    """The patterns of the shapes of inputs in a version of an operator; None if it has none."""
    name = f"{s.domain}.{s.name}" if s.domain else s.name
    found = SHAPES_OF.get(name)
    if found is not None:
        used_shapes.add(name)
    return at_version(found, s.since_version)


def presence_of(s):
    """The rules of an operator about inputs, attributes and outputs that need each other, as far as this version has them."""
    name = f"{s.domain}.{s.name}" if s.domain else s.name
    known = {p.name for p in (*s.inputs, *s.outputs)} | {*s.attributes}
    used_presence.add(name)
    rules = [rule for rule in PRESENCE_OF.get(name, "").split() if {*re.split("[&>]", rule)} <= known]
    return " ".join(rules) or None


def at_version(found, version):
    """What holds at a version: `found`, or its value for the newest key that is not newer than the version."""
    if not isinstance(found, dict):
        return found
    since = [each for each in found if each <= version]
    return found[max(since)] if since else None

DTYPES = {
    name: number
    for number, name in enumerate(
        "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 "
        "complex128 bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 "
        "uint2 int2 float6e2m3 float6e3m2".split())
}
KINDS = ("undefined f i s t g floats ints strings tensors graphs sparse_tensor sparse_tensors type_proto "
         "type_protos").split()
# onnx.AttributeProto numbers type protos and sparse tensors in another order than this list.
KIND_OF = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings", 9: "tensors", 10: "graphs",
           11: "sparse_tensor", 12: "sparse_tensors", 13: "type_proto", 14: "type_protos"}
assert [KIND_OF[i] for i in range(1, 15)] == KINDS[1:]
assert all(getattr(onnx.TensorProto, name.upper()) == number for name, number in DTYPES.items())

MEMBERS = ["tensors", "sequences", "optionals", "optional_sequences", "sparse_tensors"]
PATTERNS = [r"tensor\((\w+)\)", r"seq\(tensor\((\w+)\)\)", r"optional\(tensor\((\w+)\)\)",
            r"optional\(seq\(tensor\((\w+)\)\)\)", r"sparse_tensor\((\w+)\)"]


def c_string(data):
    """The literal of a str or bytes, with octal escapes: a hexadecimal one would swallow the digits after it."""
    if isinstance(data, str):
        data = data.encode()
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in data)
    return f'"{plain}"'


def number(value):
    text = str(numpy.float32(value))
    assert "inf" not in text and "nan" not in text
    return (text if re.search("[.e]", text) else text + ".0") + "f"


def type_rule(type_string, types):
    masks, maps = [0] * 5, False
    for text in types:
        for i, pattern in enumerate(PATTERNS):
            if match := re.fullmatch(pattern, text):
                masks[i] |= 1 << DTYPES[match[1]]
                break
        else:
            assert re.fullmatch(r"(seq\()?map\(.*\)+", text), text
            maps = True
    while len(masks) > 1 and not masks[-1] and not maps:
        masks.pop()
    fields = [c_string(type_string)] + [hex(m) if m else "0" for m in masks] + (["true"] if maps else [])
    return "{" + ", ".join(fields) + "}"


class Parameter:
    """A formal parameter of a schema from either package."""

    def __init__(self, p, from_onnx, left_arity):
        self.name = p.name
        self.type = p.type_str if from_onnx else p.typeStr
        self.option = str(p.option).split(".")[-1].lower()
        self.homogeneous = p.is_homogeneous if from_onnx else p.isHomogeneous
        self.min_arity = p.min_arity if from_onnx else max(left_arity, 0)

    def row(self):
        fields = [c_string(self.name), c_string(self.type)]
        if self.option != "single":
            fields.append("parameter_option::" + self.option)
        if self.option == "variadic" and (not self.homogeneous or self.min_arity != 1):
            fields += ["true" if self.homogeneous else "false", str(self.min_arity)]
        return "{" + ", ".join(fields) + "}"


def attribute_rule(a, from_onnx, needed, values):
    default = onnx.AttributeProto()
    if from_onnx:
        default.CopyFrom(a.default_value)
    elif a._default_value:
        default.ParseFromString(a._default_value)
    kind = KIND_OF[int(a.type.value)]
    fields = [c_string(a.name), "attribute_kind::" + kind]
    if a.required or needed:
        fields.append("true")
    elif default.type == onnx.AttributeProto.INT:
        fields += ["false", "true", str(default.i)]
    elif default.type == onnx.AttributeProto.FLOAT:
        fields += ["false", "true", "0", number(default.f)]
    elif default.type == onnx.AttributeProto.STRING:
        fields += ["false", "true", "0", "0", c_string(default.s)]
    if values:
        absent = ["false", "false", "0", "0", "{}"]  # the values of the members in between
        fields += absent[len(fields) - 2:] + [c_string(values)]
    return "{" + ", ".join(fields) + "}"


class Tables:
    """The arrays of one header; equal ones are written once."""

    def __init__(self):
        self.arrays = {"parameter": {}, "type_rule": {}, "attribute_rule": {}}

    def array(self, kind, rows):
        if not rows:
            return "{}"
        known = self.arrays[kind]
        return "detail::" + known.setdefault(tuple(rows), f"{kind[0]}{len(known)}")

    def text(self):
        lines = []
        for kind, arrays in self.arrays.items():
            for rows, name in arrays.items():
                lines += wrap(f"inline constexpr {kind} {name}[] = {{", list(rows), "};")
        return lines


def wrap(head, items, tail, indent="    "):
    """HEAD item, item, ... TAIL in lines of at most 120 columns."""
    line = head + ", ".join(items) + tail
    if len(line) <= 120:
        return [line]
    lines, line = [head], indent
    for i, item in enumerate(items):
        piece = item + (", " if i + 1 < len(items) else tail)
        if line.strip() and len((line + piece).rstrip()) > 120:
            lines.append(line.rstrip())
            line = indent
        line += piece
    return lines + [line.rstrip()]


def attribute_rules(s, from_onnx):
    needed = NEEDED.get((s.domain, s.name), [])
    rules = {name: attribute_rule(a, from_onnx, name in needed, values_of(s, name)) for name, a in s.attributes.items()}
    for name, kind in OWN_ATTRIBUTES.get((s.domain, s.name), {}).items():
        rules[name] = "{" + c_string(name) + ", attribute_kind::" + kind + "}"
    return [rule for _, rule in sorted(rules.items())]


def version_row(tables, s, from_onnx):
    inputs = [Parameter(p, from_onnx, s.min_input - i) for i, p in enumerate(s.inputs)]
    outputs = [Parameter(p, from_onnx, s.min_output - i) for i, p in enumerate(s.outputs)]
    rules = {c.type_param_str: c.allowed_type_strs for c in s.type_constraints}
    for p in inputs + outputs:  # a type that is its own type string
        rules.setdefault(p.type, [p.type])
    attributes = attribute_rules(s, from_onnx)
    fields = [str(s.since_version), tables.array("parameter", [p.row() for p in inputs]),
              tables.array("parameter", [p.row() for p in outputs]),
              tables.array("type_rule", [type_rule(k, v) for k, v in rules.items()]),
              tables.array("attribute_rule", attributes), str(s.min_input), str(s.min_output)]
    shapes, presence = shapes_of(s), presence_of(s)
    if s.deprecated or shapes or presence:
        fields.append("true" if s.deprecated else "false")
    if shapes or presence:
        fields.append(c_string(shapes) if shapes else "nullptr")
    return "{" + ", ".join(fields + ([c_string(presence)] if presence else [])) + "}"


def real(domain):
    return "" if domain == CONTRIB else domain


def schema_roles(domain, name, schemas):
    """The roles that the attributes of schemas imply, and phrases that ONNX's documentation always uses."""
    says = schemas[-1].doc.lower() if domain == "" else ""
    if any(KIND_OF[int(a.type.value)] in ("g", "graphs") for s in schemas for a in s.attributes.values()):
        yield "has_subgraphs"
    if re.search("multidirectional|numpy-style broadcasting", says):
        yield "broadcasts"
    elif re.search("element-?wise", says) and schemas[-1].min_input == 1 and len(schemas[-1].outputs) == 1:
        yield "is_pointwise"
    if domain == "" and name.startswith("Reduce"):
        yield "reduces"


def roles_of(domain, name, schemas):
    full_name = f"{real(domain)}.{name}" if real(domain) else name
    found = {*schema_roles(domain, name, schemas), *(role for role, ops in ROLES.items() if full_name in ops.split())}
    return " | ".join(f"role::{role}" for role in ROLE_ORDER if role in found)


GENERATED = "// Generated by src/op/generate_tables.py. Do not edit.\n"


def write(path, lines):
    text = "\n".join(lines) + "\n"
    assert "\t" not in text
    (ROOT / path).write_text(text)


def write_tags(domain, schemas_of):
    header, namespace, from_onnx = DOMAINS[domain]
    tables, tags = Tables(), []
    for name in sorted(schemas_of):
        assert re.fullmatch(r"[A-Z]\w*", name), name  # so it can't be a keyword, a macro of ours or a snake_case name
        schemas = schemas_of[name]
        tags += [f"struct {name} {{",
                 f"  static constexpr std::string_view domain = {c_string(real(domain))}, name = {c_string(name)};"]
        if roles := roles_of(domain, name, schemas):
            tags.append(f"  static constexpr role roles = {roles};")
        rows = [version_row(tables, s, from_onnx) for s in schemas]
        tags += ["  static constexpr op_version versions[] = {"] + [f"      {row}," for row in rows] + ["  };", "};"]
    write(f"include/cameo/op/{header}.hpp", [
        "#pragma once", GENERATED.strip(), "#include <cameo/op/op.hpp>", "",
        f"/// The operators of {domain or 'ONNX'}. Each tag lists every version of its operator, oldest first.",
        f"namespace CAMEO_NAMESPACE::{namespace} {{", "", "namespace detail {", *tables.text(),
        "}  // namespace detail", "", *tags, "", f"}}  // namespace CAMEO_NAMESPACE::{namespace}"])


CHOICES = {}  # the enumerations of strings: (attribute, names): operators; filled by choice_type()
KIND_WORDS = {"s": "string", "i": "int", "ints": "ints", "f": "float"}
SHARED_CHOICES = {"k_quant_type": "cache_quant_type", "v_quant_type": "cache_quant_type"}  # attributes with one type
OWN_CHOICES = {("BitShift", "direction"): "shift_direction"}  # attributes whose type has another name


def schema_default(a, from_onnx):
    default = onnx.AttributeProto()
    if from_onnx:
        default.CopyFrom(a.default_value)
    elif a._default_value:
        default.ParseFromString(a._default_value)
    return default


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def choice_type(op, attribute, names):
    """The name of the enumeration of an attribute's strings. Equal ones of one attribute are one type; an attribute
    whose strings differ between operators has the operator in the name."""
    shared = SHARED_CHOICES.get(attribute, attribute)
    found = CHOICES.setdefault((OWN_CHOICES.get((op, attribute), shared), names), set())
    found.add(op)
    (attribute, names), others = next((key, [k for k in CHOICES if k[0] == key[0]]) for key, ops in CHOICES.items()
                                      if ops is found)
    return f"{attribute}_choice" if len(others) == 1 else f"{snake(min(found))}_{attribute}_choice"


def enumerator(name):
    return re.sub(r"\W", "_", name.lower())


class Member:
    """A member of a struct of attributes: an attribute of some versions of an operator, all of one kind."""

    TYPES = {"f": "float", "i": "std::int64_t", "s": "std::string_view", "t": "attribute_tensor", "g": "subgraph_index",
             "floats": "attribute_list<float>", "ints": "attribute_list<std::int64_t>",
             "strings": "attribute_list<std::string_view>", "tensors": "attribute_list<value>",
             "graphs": "attribute_list<std::int64_t>", "type_proto": "const value_type*",
             "sparse_tensor": "attribute_tensor"}

    def __init__(self, op, name, kind, found):
        """`found`: for each version the schema's attribute, whether it is ONNX's, its legal values and whether it is
        required."""
        self.name, self.kind, self.member = name, kind, name
        self.type = self.TYPES[kind]
        default = {self.default_of(kind, a, from_onnx) for a, from_onnx, _, _ in found}
        must = all(required for _, _, _, required in found)
        same = default.pop() if len(default) == 1 else None
        texts = {v for _, _, v, _ in found}
        if kind == "s" and None not in texts:
            names = tuple(dict.fromkeys(n for _, _, v, _ in reversed(found) for n in v.split("|") if n not in ("foward", "")))
            same = "forward" if same is None and name == "direction" and not must else same
            self.type = choice_type(op, name, names)
            first = names.index(same) if same is not None else 0
            self.initial = f"{self.type}::{enumerator(names[first])}"
            if same is None and not must:
                self.type, self.initial = f"std::optional<{self.type}>", None
        elif kind == "s":
            self.initial = c_string(same) if same else None
        elif kind in "if":
            self.initial = str(same) if same is not None else "0" if must else None
            if self.initial is None:
                self.type = f"std::optional<{self.type}>"
        else:
            self.initial = {"t": "nullptr", "sparse_tensor": "nullptr", "type_proto": "nullptr",
                            "g": "subgraph_index::none"}.get(kind)

    @staticmethod
    def default_of(kind, a, from_onnx):
        default = schema_default(a, from_onnx)
        if kind == "i" and default.type == onnx.AttributeProto.INT:
            return default.i
        if kind == "f" and default.type == onnx.AttributeProto.FLOAT:
            return number(default.f)
        if kind == "s" and default.type == onnx.AttributeProto.STRING:
            return default.s.decode()
        return None


def members_of(name, schemas, from_onnx):
    found = collections.defaultdict(list)
    for s in schemas:
        needed = NEEDED.get((s.domain, s.name), [])
        for attribute, a in s.attributes.items():
            if attribute == "consumed_inputs":  # a hint of ONNX's first version that nothing reads
                continue
            kind = KIND_OF[int(a.type.value)]
            found[attribute, kind].append((a, from_onnx, values_of(s, attribute), a.required or attribute in needed))
    members = [Member(name, attribute, kind, each) for (attribute, kind), each in sorted(found.items())]
    for m in members:  # an attribute whose kind changed with a version has two members
        newest = next(KIND_OF[int(s.attributes[m.name].type.value)] for s in reversed(schemas) if m.name in s.attributes)
        m.member = m.name if m.kind == newest else f"{m.name}_{KIND_WORDS[m.kind]}"
    own = OWN_ATTRIBUTES.get((schemas[0].domain, name), {})
    return members, own


def write_attributes(domain, schemas_of, writes):
    """Writes the structs of a domain's attributes; operators with equal attributes have one."""
    header, namespace, from_onnx = DOMAINS[domain]
    structs, uses = {}, []
    for name in sorted(schemas_of):
        members, own = members_of(name, schemas_of[name], from_onnx)
        lines = [f"  {m.type} {m.member}" + (f" = {m.initial}" if m.initial else "") + ";" for m in members]
        lines += [f"  std::int64_t {attribute} = 0;" for attribute in own]
        if not lines:
            continue
        pairs = [(m.name, m.member) for m in members] + [(attribute, attribute) for attribute in own]
        struct = structs.setdefault((tuple(lines), tuple(pairs)), f"{snake(name)}_attributes")
        uses.append((name, struct))
    if not structs or not writes:
        return
    tags = [f"struct {name};" for name, _ in uses]
    text = []
    for (lines, pairs), struct in structs.items():
        of = ", ".join(name for name, used in uses if used == struct)
        text += wrap_comment(f"The attributes of {of}.")
        text += [f"struct {struct} {{", *lines, "", f"  constexpr {struct}() = default;",
                 f"  constexpr explicit {struct}(std::span<const attribute> node) {{"]
        text += [f"    read_attribute(node, {c_string(name)}, {member});" for name, member in pairs]
        text += ["  }", "};"]
    rows = [f"template <>\nstruct attributes_for<{namespace}::{name}> : attributes_are<{namespace}::{struct}> {{}};"
            for name, struct in uses]
    write(f"include/cameo/op/attributes/{header}.hpp", [
        "#pragma once", GENERATED.strip(), "#include <cameo/op/attributes/choices.hpp>", "",
        f"namespace CAMEO_NAMESPACE::{namespace} {{", "", *tags, "", *text, "",
        f"}}  // namespace CAMEO_NAMESPACE::{namespace}", "", "namespace CAMEO_NAMESPACE::detail {", "", *rows, "",
        "}  // namespace CAMEO_NAMESPACE::detail"])


def wrap_comment(text):
    lines, line = [], "///"
    for word in text.split():
        if len(line) + 1 + len(word) > 120:
            lines.append(line)
            line = "///"
        line += " " + word
    return lines + [line]


def write_choices():
    lines = ["#pragma once", GENERATED.strip(), "#include <cameo/op/attributes/read_attribute.hpp>", "",
             "/// The enumerations of attributes that are strings.", "namespace CAMEO_NAMESPACE::op {", ""]
    rows = []
    for (attribute, names), ops in sorted(CHOICES.items(), key=lambda item: (item[0][0], min(item[1]))):
        kind, values = choice_type(min(ops), attribute, names), [enumerator(n) for n in names]
        assert len(set(values)) == len(values), names
        lines += [f"/// Legal values of `{attribute}`.", *wrap(f"enum class {kind} : std::uint8_t {{ ", values, " };", "  ")]
        rows += [f"template <>\ninline constexpr const char* choice_names<op::{kind}> = {c_string('|'.join(names))};"]
    lines += ["", "}  // namespace CAMEO_NAMESPACE::op", "", "namespace CAMEO_NAMESPACE {", "", *rows, "",
              "}  // namespace CAMEO_NAMESPACE"]
    write("include/cameo/op/attributes/choices.hpp", lines)


def op_id(domain, name):
    value = 2166136261
    for byte in f"{real(domain)}/{name}".encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


def tag_of(domain, name):
    return f"{DOMAINS[domain][1]}::{name}"


def newest_opset(domain):
    table = onnx.helper.VERSION_TABLE  # release, IR version, ai.onnx, ai.onnx.ml, ai.onnx.preview.training
    if domain in ("", "com.ms.internal.nhwc"):  # the latter mirrors ONNX, opsets included
        return onnx.defs.onnx_opset_version()
    return max(row[3] for row in table if len(row) > 3) if domain == "ai.onnx.ml" else 1


def write_list(all_ops):
    chosen = [key for key in all_ops if key[0] or (CONTRIB, key[1]) not in all_ops]
    ordered = sorted(chosen, key=lambda key: op_id(*key))
    lines = [GENERATED.strip()]
    lines += [f"#include <cameo/op/{header}.hpp>" for header, _, _ in sorted(DOMAINS.values())]
    lines += ['#include "infer/infer_list.hpp"', "", "#include <algorithm>", "#include <functional>", "",
              "namespace CAMEO_NAMESPACE {", "namespace {", "", "using detail::make_op_row;",
              "constexpr auto rows = detail::with_infer_functions(std::to_array<op_row>({"]
    lines += [f"    make_op_row<{tag_of(*key)}>()," for key in ordered]
    lines += ["}));", "", "// Strictly: operators with equal ids do not compile.",
              'static_assert(std::ranges::is_sorted(rows, std::ranges::less_equal{}, &op_row::id), "cameo: ids differ and ascend");',
              "", "constexpr detail::domain_row domains[] = {"]
    lines += [f"    {{{c_string(domain)}, {newest_opset(domain)}}}," for domain in DOMAINS if domain == real(domain)]
    lines += ["};", "", "}  // namespace", "", "std::span<const op_row> detail::standard_ops() { return rows; }",
              "std::span<const detail::domain_row> detail::standard_domains() { return domains; }", "",
              "}  // namespace CAMEO_NAMESPACE"]
    write("src/op/standard_ops.cpp", lines)


def function_bodies(schemas):
    """The function bodies that do not depend on the node: (domain, name, since, opset of the body, FunctionProto)."""
    for s in schemas:
        for opset in s.function_opset_versions if s.has_function else []:
            body = onnx.FunctionProto.FromString(s.get_function_with_opset_version(opset))
            assert [(i.domain, i.version) for i in body.opset_import] == [("", opset)] and body.name == s.name
            yield s.domain, s.name, s.since_version, opset, body


class Bodies:
    """The arrays that function bodies are made of; equal ones are written once."""

    SHORT = {"std::string_view": "names", "std::int64_t": "ints", "input_row": "inputs",
             "attribute_row": "attributes", "node_row": "nodes", "graph_row": "graph"}

    def __init__(self):
        self.names = {kind: {} for kind in self.SHORT}
        self.lines = []

    def array(self, kind, rows):
        known, rows = self.names[kind], tuple(rows)
        if not rows:
            return "{}"
        if rows not in known:
            known[rows] = f"{self.SHORT[kind]}{len(known)}"
            scope = "" if kind.startswith("std::") else "function_body_row::"
            self.lines += wrap(f"constexpr {scope}{kind} {known[rows]}[] = {{", list(rows), "};")
        return known[rows]

    def attribute(self, a):
        kind = KIND_OF[a.type]
        fields = {f.name for f, _ in a.ListFields()} - {"name", "type", "ref_attr_name"}
        text = f"{{.name = {c_string(a.name)}, .kind = attribute_kind::{kind}"
        if a.ref_attr_name:
            assert not fields
            return text + f", .of_caller = {c_string(a.ref_attr_name)}}}"
        assert fields == {kind}
        if kind == "t":
            assert a.t.data_type == onnx.TensorProto.FLOAT and not a.t.dims and len(a.t.float_data) == 1
            assert {f.name for f, _ in a.t.ListFields()} <= {"name", "data_type", "float_data"}
        shown = {"f": lambda: f".f = {number(a.f)}", "i": lambda: f".i = {a.i}",
                 "t": lambda: f".f = {number(a.t.float_data[0])}",
                 "ints": lambda: ".ints = " + self.array("std::int64_t", map(str, a.ints)),
                 "g": lambda: ".g = " + self.array("graph_row", [self.graph(a.g.name, a.g.input, a.g)])}
        return text + f", {shown[kind]()}}}"

    def node(self, n):
        assert not n.domain and not n.overload
        fields = [c_string(n.op_type), joined(n.input), joined(n.output)]
        if n.attribute:
            fields.append(self.array("attribute_row", [self.attribute(a) for a in n.attribute]))
        return "{" + ", ".join(fields) + "}"

    def graph(self, name, inputs, g):
        fields = [c_string(name), self.array("input_row", [input_row(i) for i in inputs]),
                  joined([o if isinstance(o, str) else o.name for o in g.output]),
                  self.array("node_row", [self.node(n) for n in g.node])]
        return "{" + ", ".join(fields) + "}"


def joined(names):
    assert not any("," in name for name in names) and list(names) != [""]
    return c_string(",".join(names))


def input_row(i):
    """A function's input has a name; a graph's input may have a type as well, which is that of a scalar."""
    if isinstance(i, str) or not i.HasField("type"):
        return "{" + c_string(i if isinstance(i, str) else i.name) + "}"
    assert i.type.HasField("tensor_type") and not i.type.tensor_type.shape.dim and i.type.tensor_type.HasField("shape")
    return f"{{{c_string(i.name)}, dtype({i.type.tensor_type.elem_type})}}"


def write_bodies(bodies):
    bodies = sorted(bodies, key=lambda b: (op_id(b[0], b[1]), b[2], b[3]))
    arrays, rows = Bodies(), []
    for domain, name, since, opset, body in bodies:
        assert not body.attribute_proto
        names = arrays.array("std::string_view", map(c_string, body.attribute))
        rows.append(f"    {{op_id_of<{tag_of(domain, name)}>, {since}, {opset}, {names}, "
                    f"{arrays.graph(name, body.input, body)}}},")
    lines = [GENERATED.strip(), "#include <cameo/op/function_bodies.hpp>"]
    lines += [f"#include <cameo/op/{h}.hpp>" for h in sorted({DOMAINS[b[0]][0] for b in bodies})]
    lines += ["", "#include <algorithm>", "#include <functional>", "#include <tuple>", "",
              "namespace CAMEO_NAMESPACE {", "namespace {", "", "using detail::op_id_of;", *arrays.lines, "",
              "constexpr function_body_row bodies[] = {", *rows]
    lines += ["};", "static_assert(std::ranges::is_sorted(", "    bodies, std::ranges::less_equal{},",
              "    [](const function_body_row& row) { return std::tuple{row.op, row.since, row.needs_opset}; }));", "",
              "}  // namespace", "",
              "std::span<const function_body_row> standard_function_bodies() { return bodies; }", "",
              "}  // namespace CAMEO_NAMESPACE"]
    write("src/op/function_bodies.cpp", lines)


def all_operators():
    """The schemas of each operator, oldest first, by domain and name. tests/program/contracts.py reads them, too."""
    onnx_schemas = onnx.defs.get_all_schemas_with_history()
    ort_schemas = ort.get_all_operator_schema()
    ops = collections.defaultdict(list)
    for schemas, from_onnx in ((onnx_schemas, True), (ort_schemas, False)):
        for s in schemas:
            if s.domain in DOMAINS and DOMAINS[s.domain][2] == from_onnx:
                ops[s.domain, s.name].append(s)
            else:
                assert not from_onnx, f"unknown domain {s.domain}"
    for s in ort_schemas:
        if s.domain == "" and s.name in CONTRIB_OPS:
            ops[CONTRIB, s.name].append(s)
    for schemas in ops.values():
        schemas.sort(key=lambda s: s.since_version)
    return ops


def main():
    ops = all_operators()
    for domain in DOMAINS:
        schemas_of = {name: schemas for (d, name), schemas in ops.items() if d == domain}
        write_tags(domain, schemas_of)
        print(f"{domain or 'ai.onnx'}: {len(schemas_of)} operators, {sum(map(len, schemas_of.values()))} versions, "
              f"opset {newest_opset(domain)}")
    known = {(name, attribute) for name, values in VALUES_OF.items() for attribute in values}
    assert used_values == known, f"no operator has {sorted(known - used_values)}"
    assert used_shapes == set(SHAPES_OF), f"unknown operators: {sorted(set(SHAPES_OF) - used_shapes)}"
    for write_all in (False, True):  # the first round finds all enumerations
        for domain in DOMAINS:
            write_attributes(domain, {name: schemas for (d, name), schemas in ops.items() if d == domain}, write_all)
    assert used_presence >= set(PRESENCE_OF), f"unknown operators: {sorted(set(PRESENCE_OF) - used_presence)}"
    write_choices()
    write_list(ops)
    bodies = list(function_bodies(onnx.defs.get_all_schemas_with_history()))
    write_bodies(bodies)
    print(f"{len(ops)} operators, {sum(map(len, ops.values()))} versions, {len(bodies)} function bodies "
          f"of {len({b[:3] for b in bodies})} versions")


if __name__ == "__main__":
    main()
