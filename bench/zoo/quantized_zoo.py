"""int8 models of onnxruntime.quantization: static with QuantizeLinear and DequantizeLinear (QDQ), static with integer
operators (QOperator), and dynamic."""
import tempfile

import numpy as np
import onnx
import torch

from zoo_tools import Entry, export, make_weights_lively


def small_convolution():
    n = torch.nn
    layers = [n.Conv2d(3, 16, 3, stride=2, padding=1), n.BatchNorm2d(16), n.ReLU(),
              n.Conv2d(16, 16, 3, padding=1, groups=16), n.BatchNorm2d(16), n.ReLU6(), n.Conv2d(16, 24, 1),
              n.LeakyReLU(0.1), n.MaxPool2d(2), n.Conv2d(24, 24, 3, padding=1), n.Hardswish(), n.AvgPool2d(2),
              n.AdaptiveAvgPool2d(1), n.Flatten(), n.Linear(24, 10), n.Sigmoid(), n.Softmax(1)]
    model = make_weights_lively(n.Sequential(*layers)).eval()
    return model, [torch.rand((1, 3, 32, 32), generator=torch.Generator().manual_seed(9))], ["x"], ["y"], {}


class Joined(torch.nn.Module):
    """Branches that are joined by sums, products and concatenation, and resizing."""

    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.Conv2d(3, 8, 1)
        self.c = torch.nn.Conv2d(24, 4, 3, padding=1)

    def forward(self, x):
        f = torch.nn.functional
        a, b = self.a(x), self.b(x)
        y = torch.cat([a + b, a * torch.sigmoid(b), f.leaky_relu(a, 0.2)], dim=1)
        y = f.interpolate(self.c(f.avg_pool2d(y, 3, 2, padding=1)), scale_factor=2.0)
        return f.softmax(f.pad(y, (1, 0, 1, 0)).flatten(2).transpose(1, 2), dim=-1)


def joined():
    return Joined().eval(), [torch.rand((1, 3, 16, 16), generator=torch.Generator().manual_seed(9))], ["x"], ["y"], {}


def small_encoder():
    from transformers_zoo import bert
    return bert()


def small_recurrent():
    from speech_zoo import Recurrent, values
    return Recurrent(torch.nn.LSTM).eval(), [values(1, 20, 60)], ["features"], ["letters", "state"], {}


def quantized(make, how, **options):
    def build(folder):
        import onnxruntime.quantization as q
        from onnxruntime.quantization.shape_inference import quant_pre_process
        torch.manual_seed(5)
        with tempfile.TemporaryDirectory() as place:
            feeds = export(make(), place, False, 17)
            source = f"{place}/model.onnx"
            if how == "dynamic":
                q.quantize_dynamic(source, str(folder / "model.onnx"), **options)
                return feeds
            quant_pre_process(source, f"{place}/ready.onnx", skip_symbolic_shape=True)
            r = np.random.default_rng(4)
            spread = [{k: (v * np.float32(r.uniform(0.7, 1.2))).astype(v.dtype) if v.dtype == np.float32 else v
                       for k, v in feeds.items()} for _ in range(6)]

            class Reader(q.CalibrationDataReader):
                def __init__(self):
                    self.it = iter(spread)

                def get_next(self):
                    return next(self.it, None)

            q.quantize_static(f"{place}/ready.onnx", str(folder / "model.onnx"), Reader(),
                              quant_format=q.QuantFormat.QDQ if how == "qdq" else q.QuantFormat.QOperator, **options)
            return feeds
    return build


def entries():
    from onnxruntime.quantization import QuantType
    u8, s8 = QuantType.QUInt8, QuantType.QInt8
    # Requantization rounds to the nearest quantized value; two correct results may differ by one.
    loose = {"rtol": 0.05, "atol_of_max": 0.05}
    made = [
        ("conv_qdq_u8s8", small_convolution, "qdq", {"activation_type": u8, "weight_type": s8, "per_channel": True}),
        ("conv_qdq_s8s8", small_convolution, "qdq", {"activation_type": s8, "weight_type": s8}),
        ("conv_qoperator_u8s8", small_convolution, "qoperator", {"activation_type": u8, "weight_type": s8}),
        ("conv_qoperator_u8u8", small_convolution, "qoperator", {"activation_type": u8, "weight_type": u8}),
        ("joined_qoperator", joined, "qoperator", {"activation_type": u8, "weight_type": s8}),
        ("joined_qdq_s8s8", joined, "qdq", {"activation_type": s8, "weight_type": s8}),
        ("conv_dynamic", small_convolution, "dynamic", {"weight_type": u8}),
        ("bert_dynamic", small_encoder, "dynamic", {"weight_type": s8}),
        ("bert_dynamic_per_channel", small_encoder, "dynamic", {"weight_type": s8, "per_channel": True}),
        ("bert_qdq", small_encoder, "qdq", {"activation_type": u8, "weight_type": s8}),
        ("bert_qoperator", small_encoder, "qoperator",
         {"activation_type": u8, "weight_type": s8, "op_types_to_quantize": ["MatMul", "Add"]}),
        ("lstm_dynamic", small_recurrent, "dynamic", {"weight_type": s8}),
    ]
    return [Entry(name, "int8", quantized(make, how, **options), **loose) for name, make, how, options in made]
