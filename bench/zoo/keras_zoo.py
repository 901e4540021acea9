"""Keras models, exported by tf2onnx: NHWC with transposes, SAME padding, recurrent layers. Needs the packages of
requirements_keras.txt instead of requirements.txt."""
import os

from zoo_tools import Entry

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def converted(make, shape, opset=17):
    def build(folder):
        import keras
        import numpy as np
        import tensorflow as tf
        import tf2onnx
        keras.utils.set_random_seed(5)
        model = make(keras)
        for layer in model.layers:  # a new network normalizes with 0 and 1 only
            if isinstance(layer, keras.layers.BatchNormalization):
                r = np.random.default_rng(6)
                layer.set_weights([w + np.float32(0.2) * r.random(w.shape, np.float32) for w in layer.get_weights()])
        signature = [tf.TensorSpec([None, *shape[1:]], tf.float32, name="x")]
        function = tf.function(lambda x: model(x, training=False), input_signature=signature)
        tf2onnx.convert.from_function(function, input_signature=signature, opset=opset,
                                      output_path=str(folder / "model.onnx"))
        return {"x": np.random.default_rng(7).random(shape, np.float32)}
    return build


def application(name, **arguments):
    return lambda keras: getattr(keras.applications, name)(weights=None, classes=10, **arguments)


def small_convolution(keras):
    l = keras.layers
    return keras.Sequential([l.Input((24, 24, 3)), l.Conv2D(8, 3, strides=2, padding="same"), l.BatchNormalization(),
                             l.Activation("swish"), l.SeparableConv2D(12, 3, padding="same"), l.PReLU(),
                             l.Conv2DTranspose(8, 3, strides=2, padding="same"),
                             l.UpSampling2D(2, interpolation="bilinear"),
                             l.AveragePooling2D(3, padding="same"), l.LayerNormalization(), l.Flatten(),
                             l.Dense(6, activation="softmax")])


def recurrent(kind):
    def make(keras):
        l = keras.layers
        layer = getattr(l, kind)
        return keras.Sequential([l.Input((20, 8)), l.Conv1D(12, 3, padding="causal", dilation_rate=2, activation="elu"),
                                 l.Bidirectional(layer(10, return_sequences=True)), layer(6),
                                 l.Dense(4, activation="sigmoid")])
    return make


def transformer(keras):
    l = keras.layers
    gelu = lambda v: keras.activations.gelu(v, approximate=True)  # tf2onnx does not support erfc
    x = l.Input((12, 16))
    y = l.LayerNormalization()(x + l.MultiHeadAttention(2, 8)(x, x))
    y = l.LayerNormalization()(y + l.Dense(16)(l.Dense(32, activation=gelu)(y)))
    return keras.Model(x, l.Dense(3)(l.GlobalAveragePooling1D()(y)))


def entries():
    made = [
        ("keras_mobilenet_v2", converted(application("MobileNetV2", input_shape=(64, 64, 3), alpha=0.35),
                                         (1, 64, 64, 3))),
        ("keras_efficientnet_v2", converted(application("EfficientNetV2B0", input_shape=(64, 64, 3),
                                                        include_preprocessing=False), (1, 64, 64, 3))),
        ("keras_convolution", converted(small_convolution, (2, 24, 24, 3))),
        ("keras_convolution_opset13", converted(small_convolution, (2, 24, 24, 3), 13)),
        ("keras_lstm", converted(recurrent("LSTM"), (2, 20, 8))),
        ("keras_gru", converted(recurrent("GRU"), (2, 20, 8))),
        ("keras_transformer", converted(transformer, (2, 12, 16))),
    ]
    return [Entry(name, "keras", build) for name, build in made]
