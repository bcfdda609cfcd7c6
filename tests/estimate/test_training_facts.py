"""What is read of a training step: layers in order with their shapes, batch, optimizer, loss, and what is not known."""

from __future__ import annotations

import pytest
from programs import model_of

from tfmemlint.estimate.facts import Given, steps
from tfmemlint.estimate.step import Loss, Optimizer, TrainingStep

HEADER = """
import functools
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
"""

FIT = "\nmodel.compile('adam', 'mse')\nmodel.fit(np.zeros((640, 8)), np.zeros((640, 2)))\n"
IMAGES = "\nmodel.compile('sgd', 'mse')\nmodel.fit(np.zeros((64, 8, 8, 3)), np.zeros((64, 2)))\n"


def read(program: str, given: Given | None = None) -> list[TrainingStep]:
    """The steps of a program below some imports."""
    file = model_of(program, HEADER)
    return steps(file) if given is None else steps(file, given)


def only(program: str, given: Given | None = None) -> TrainingStep:
    """The one step of a program."""
    (step,) = read(program, given)
    return step


def applied(step: TrainingStep) -> list[str]:
    """Each layer of the first pass with the shape that comes out of it: `Dense 4`."""
    graph = step.passes[0].graph
    return [
        " ".join([each.kind, "x".join(map(str, graph.tensors[each.outputs[0]].shape[1:]))]).strip()
        for each in graph.applied
    ]


MODELS = {
    "list": ("model = keras.Sequential([keras.Input((8,)), layers.Dense(4), layers.Dense(2)])", ["Dense 4", "Dense 2"]),
    "added": ("model = keras.Sequential()\nmodel.add(layers.Dense(4))\nmodel.add(layers.Dense(2))",
              ["Dense 4", "Dense 2"]),
    "popped": ("model = keras.Sequential([layers.Dense(4), layers.Dense(3)])\nmodel.pop()\nmodel.add(layers.Dense(2))",
               ["Dense 4", "Dense 2"]),
    "loop": ("model = keras.Sequential()\nfor n in (6, 4, 2):\n    model.add(layers.Dense(n))",
             ["Dense 6", "Dense 4", "Dense 2"]),
    "comprehension": ("model = keras.Sequential([layers.Dense(n) for n in range(6, 0, -2)])",
                      ["Dense 6", "Dense 4", "Dense 2"]),
    "builder": ("def build(n, m=2):\n    i = keras.Input((8,))\n    x = layers.Dense(n)(i)\n"
                "    return keras.Model(i, layers.Dense(m)(x))\nmodel = build(4)", ["Dense 4", "Dense 2"]),
    "partial": ("D = functools.partial(layers.Dense, activation='relu')\n"
                "model = keras.Sequential([D(4), D(2, activation=None)])", ["Dense 4", "Dense 2"]),
    "sum of several": ("i = keras.Input((8,))\na = layers.Dense(4)(i)\nb = layers.Dense(4)(i)\n"
                       "model = keras.Model(i, layers.Dense(2)(tf.add_n([a, b])))",
                       ["Dense 4", "Dense 4", "add_n 4", "Dense 2"]),
    "recurrent layers of a GPU": ("from keras.layers import CuDNNGRU, CuDNNLSTM\nmodel = keras.Sequential([\n"
                                  "    keras.Input((8,)), layers.Reshape((4, 2)),\n"
                                  "    CuDNNLSTM(5, return_sequences=True), CuDNNGRU(3), layers.Dense(2)])",
                                  ["Reshape 4x2", "LSTM 4x5", "GRU 3", "Dense 2"]),
    "residual loop": ("i = x = keras.Input((8,))\nfor _ in range(2):\n    x = x + layers.Dense(8)(x)\n"
                      "model = keras.Model(i, layers.Dense(2)(x))",
                      ["Dense 8", "add 8", "Dense 8", "add 8", "Dense 2"]),
    "merged": ("i = keras.Input((8,))\na, b = layers.Dense(4)(i), layers.Dense(3)(i)\n"
               "model = keras.Model(i, layers.Dense(2)(layers.concatenate([a, b])))",
               ["Dense 4", "Dense 3", "Concatenate 7", "Dense 2"]),
    "nested": ("inner = keras.Sequential([layers.Dense(4), layers.Dense(3)])\ni = keras.Input((8,))\n"
               "model = keras.Model(i, layers.Dense(2)(inner(i)))", ["Dense 4", "Dense 3", "Dense 2"]),
    "helper": ("def block(x, n):\n    x = layers.Dense(n)(x)\n    return layers.BatchNormalization()(x)\n"
               "i = keras.Input((8,))\nmodel = keras.Model(i, block(block(i, 4), 2))",
               ["Dense 4", "BatchNormalization 4", "Dense 2", "BatchNormalization 2"]),
    "class": ("class Net(keras.Model):\n    def __init__(self, n):\n        super().__init__()\n"
              "        self.a = [layers.Dense(n) for _ in range(2)]\n        self.b = layers.Dense(2)\n"
              "    def call(self, x):\n        for each in self.a:\n            x = tf.nn.relu(each(x))\n"
              "        return self.b(x)\nmodel = Net(4)", ["Dense 4", "relu 4", "Dense 4", "relu 4", "Dense 2"]),
    "class of layers": ("class Block(layers.Layer):\n    def __init__(self, n):\n        super().__init__()\n"
                        "        self.n = n\n    def build(self, shape):\n        self.d = layers.Dense(self.n)\n"
                        "    def call(self, x):\n        return self.d(x)\n"
                        "model = keras.Sequential([Block(4), Block(2)])", ["Dense 4", "Dense 2"]),
    "lambda": ("model = keras.Sequential([layers.Dense(4), layers.Lambda(lambda x: x * 2.0), layers.Dense(2)])",
               ["Dense 4", "multiply 4", "Dense 2"]),
    "decided": ("deep = False\nmodel = keras.Sequential()\nif deep:\n    model.add(layers.Dense(9))\n"
                "model.add(layers.Dense(2))", ["Dense 2"]),
}  # fmt: skip


@pytest.mark.parametrize(("model", "expected"), MODELS.values(), ids=MODELS)
def test_layers_in_the_order_in_which_they_run(model: str, expected: list[str]) -> None:
    step = only(model + FIT)
    assert applied(step) == expected
    assert step.missing == ()
    assert (step.batch, step.mode, step.precision) == (32, "graph", "float32")
    assert [(each.shape, each.dtype) for each in step.data] == [((None, 8), "float32"), ((None, 2), "float32")]


def test_a_shared_layer_is_one_layer_applied_twice() -> None:
    step = only(
        "a, b = keras.Input((8,)), keras.Input((8,))\nd = layers.Dense(4)\n"
        "model = keras.Model([a, b], layers.Dense(2)(d(a) * d(b)))\nmodel.compile('adam', 'mse')\n"
        "model.fit([np.zeros((64, 8)), np.zeros((64, 8))], np.zeros((64, 2)))\n"
    )
    assert applied(step) == ["Dense 4", "Dense 4", "multiply 4", "Dense 2"]
    first, second, product, _ = step.passes[0].graph.applied
    assert first.layer == second.layer != product.layer
    assert product.inputs == (*first.outputs, *second.outputs)
    assert len(list(step.layers())) == 3


def test_names_lines_and_arguments() -> None:
    step = only("model = keras.Sequential([\n    layers.Conv2D(4, 3, padding='same', kernel_initializer='zeros'),\n"
                "    layers.Conv2D(2, (3, 1), activation=tf.nn.relu, name='last'), layers.Flatten(), layers.Dense(2)])"
                + IMAGES)  # fmt: skip
    found = [(each.name, each.line, dict(each.arguments)) for each in step.passes[0].graph.applied[:2]]
    assert found == [
        ("conv2d", 8, {"filters": 4, "kernel_size": 3, "padding": "same"}),
        ("last", 9, {"filters": 2, "kernel_size": (3, 1), "activation": "relu"}),
    ]


@pytest.mark.parametrize(("given", "found"), [("'l2'", "l2"), ("keras.regularizers.L1(0.1)", "l1"), ("None", None)])
def test_regularizers_of_kernels_are_arguments(given: str, found: str | None) -> None:
    step = only(f"model = keras.Sequential([layers.Flatten(), layers.Dense(2, kernel_regularizer={given})])" + IMAGES)
    assert step.passes[0].graph.applied[1].arguments.get("kernel_regularizer") == found


@pytest.mark.parametrize(
    ("compiled", "optimizer", "loss"),
    [
        ("'adam', 'mse'", Optimizer("Adam"), Loss("mean_squared_error")),
        ("optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss='binary_crossentropy'",
         Optimizer("SGD", {"learning_rate": 0.1, "momentum": 0.9}), Loss("binary_crossentropy")),
        ("loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)", Optimizer("RMSprop"),
         Loss("sparse_categorical_crossentropy", True)),
        ("opt, loss=tf.keras.losses.mae", Optimizer("Adam", {"learning_rate": "exponential_decay", "amsgrad": True}),
         Loss("mean_absolute_error")),
    ],
)  # fmt: skip
def test_optimizers_and_losses(compiled: str, optimizer: Optimizer, loss: Loss) -> None:
    step = only(
        "model = keras.Sequential([layers.Dense(2)])\n"
        "opt = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9), amsgrad=True)\n"
        f"model.compile({compiled})\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    )
    assert (step.passes[0].optimizer, step.passes[0].losses) == (optimizer, (loss,))


BATCHES = [
    ("model.fit(x, y, batch_size=16)", 16), ("model.fit(x, y)", 32), ("model.train_on_batch(x[:8], y[:8])", 8),
    ("model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(9).batch(4).prefetch(2))", 4),
    ("model.fit(tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2, b)).batch(4))", 4),
    ("class Data(keras.utils.Sequence):\n    def __getitem__(self, i):\n"
     "        return np.zeros((5, 8)), np.zeros((5, 2))\nmodel.fit(Data())", 5),
]  # fmt: skip


@pytest.mark.parametrize(("call", "batch"), BATCHES)
def test_what_fit_is_given(call: str, batch: int) -> None:
    step = only(
        "x, y = np.zeros((64, 8)), np.zeros((64, 2))\nmodel = keras.Sequential([layers.Dense(2)])\n"
        f"model.compile('adam', 'mse')\n{call}\n"
    )
    assert (step.batch, step.missing, applied(step)) == (batch, (), ["Dense 2"])
    assert [each.shape for each in step.data] == [(None, 8), (None, 2)]


def test_a_folder_of_images() -> None:
    step = only(
        "ds = keras.utils.image_dataset_from_directory('data', image_size=(16, 16))\n"
        "model = keras.Sequential([layers.Flatten(), layers.Dense(2)])\nmodel.compile('adam', 'mse')\nmodel.fit(ds)\n"
    )
    assert (step.batch, applied(step)) == (32, ["Flatten 768", "Dense 2"])


STACK = "model = keras.Sequential([layers.Dense(4), layers.Dense(2)])\n"
UNKNOWN = [
    (STACK + "model.compile('adam', 'mse')\nmodel.fit(load(), batch_size=8)", {"--input"}, Given(input_shape=(8,))),
    (STACK + "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8)), batch_size=n)", {"--batch"}, Given(batch=8)),
    (STACK + "model.compile(chosen(), 'mse')\nmodel.fit(np.zeros((64, 8)), batch_size=8)", {"--optimizer"},
     Given(optimizer=Optimizer("Adam"))),
]  # fmt: skip


@pytest.mark.parametrize(("program", "options", "given"), UNKNOWN)
def test_what_is_not_known_is_missing_until_it_is_given(program: str, options: set[str], given: Given) -> None:
    assert {each.option for each in only(program + "\n").missing} == options
    step = only(program + "\n", given)
    assert step.missing == ()
    assert (step.batch, step.passes[0].optimizer, applied(step)) == (8, Optimizer("Adam"), ["Dense 4", "Dense 2"])


NOT_CERTAIN = [
    ("model = keras.Sequential([layers.Dense(4)])\nif deep():\n    model.add(layers.Dense(4))", ("--set", "deep()")),
    ("model = keras.Sequential([layers.Dense(n) for n in sizes()])", ("--set", "sizes()")),
    ("model = keras.models.load_model('kept')", ("--model", None)),
    ("model = make()", ("--model", None)),
]


@pytest.mark.parametrize(("model", "asked"), NOT_CERTAIN)
def test_layers_that_are_not_certain_are_no_graph(model: str, asked: tuple[str, str | None]) -> None:
    assert all(not each.passes and [(m.option, m.name) for m in each.missing] == [asked] for each in read(model + FIT))


def test_an_unknown_layer_is_missing_and_the_rest_stays() -> None:
    model = "i = keras.Input((8,))\nx = strange(layers.Dense(4)(i))\nmodel = keras.Model(i, layers.Dense(2)(x))"
    step = only(model + FIT)
    assert [each.kind for each in step.passes[0].graph.applied] == ["Dense", "strange", "Dense"]
    assert [(each.what, each.line) for each in step.missing] == [("what `strange` gives", 8)]


def test_frozen_layers_and_inference_in_a_model() -> None:
    step = only(
        "base = keras.applications.MobileNetV2(input_shape=(32, 32, 3), include_top=False, weights=None)\n"
        "base.trainable = False\nfor layer in base.layers[-3:]:\n    layer.trainable = True\n"
        "i = keras.Input((32, 32, 3))\nx = layers.GlobalAveragePooling2D()(base(i, training=False))\n"
        "model = keras.Model(i, layers.Dense(2)(x))\nmodel.compile('adam', 'mse')\n"
        "model.fit(np.zeros((64, 32, 32, 3)), np.zeros((64, 2)))\n"
    )
    layers = step.passes[0].graph.applied
    assert (len(layers), step.missing) == (155, ())
    assert [each.trainable for each in layers[:-2]] == [False] * 150 + [True] * 3
    assert {each.training for each in layers[:-2]} == {False}


APPLICATIONS = [
    ("VGG16(include_top=False, input_shape=(64, 64, 3))", (2, 2, 512), 18), ("ResNet50()", (1000,), 176),
    ("EfficientNetB0(include_top=False, input_shape=(65, 65, 3), pooling='avg')", (1280,), None),
    ("DenseNet121(classes=7, weights=None, input_shape=(64, 64, 3))", (7,), None),
    ("MobileNetV3Small(classes=5, weights=None)", (5,), None), ("InceptionV3(weights=None)", (1000,), None),
    ("Xception(include_top=False, input_shape=(96, 96, 3))", (3, 3, 2048), None),
    ("NASNetMobile(weights=None)", (1000,), None),
]  # fmt: skip


@pytest.mark.parametrize(("network", "shape", "count"), APPLICATIONS)
def test_bundled_networks(network: str, shape: tuple[int, ...], count: int | None) -> None:
    step = only(f"model = keras.applications.{network}\nmodel.predict(np.zeros((64, 96, 96, 3)))\n")
    graph = step.passes[0].graph
    assert graph.tensors[graph.outputs[0]].shape == (None, *shape)
    assert (step.missing, step.passes[0].backward) == ((), False)
    assert count is None or len(graph.applied) == count
    assert all(None not in graph.tensors[each.outputs[0]].shape[1:] for each in graph.applied)


def test_precision_and_modes() -> None:
    step = only(
        "keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
        "model = keras.Sequential([layers.Dense(4), layers.Dense(2, dtype='float32')])\n"
        "model.compile('adam', 'mse', jit_compile=True)\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    )
    assert (step.precision, step.mode) == ("mixed_bfloat16", "jit")
    assert [each.dtype for each in step.passes[0].graph.applied] == ["bfloat16", "float32"]
    eager = STACK + "model.compile('adam', 'mse', run_eagerly=True)\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    assert only(eager).mode == "eager"


def test_fit_and_predict_are_steps_of_their_own() -> None:
    found = read(STACK + FIT + "model.predict(np.zeros((64, 8)), batch_size=64)\n")
    assert [(each.call, each.batch, each.passes[0].backward) for each in found] == [
        ("model.fit(...)", 32, True), ("model.predict(...)", 64, False),
    ]  # fmt: skip


def test_states_of_recurrent_layers() -> None:
    step = only(
        "i = keras.Input((5, 8))\nx, h, c = layers.LSTM(4, return_state=True, return_sequences=True)(i)\n"
        "y = layers.LSTM(3)(x, initial_state=[h, c])\nmodel = keras.Model(i, layers.Dense(2)(y))\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 5, 8)), np.zeros((64, 2)))\n"
    )
    graph = step.passes[0].graph
    assert applied(step) == ["LSTM 5x4", "LSTM 3", "Dense 2"]
    assert [graph.tensors[n].shape for n in graph.applied[0].outputs] == [(None, 5, 4), (None, 4), (None, 4)]
    assert graph.applied[1].inputs == graph.applied[0].outputs


def test_what_is_computed_again_belongs_together() -> None:
    step = only(
        "class Block(layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b = layers.Dense(4), layers.Dense(4)\n    def call(self, x):\n"
        "        return self.b(self.a(x))\n"
        "i = keras.Input((8,))\nx = keras.remat(Block())(i)\nmodel = keras.Model(i, layers.Dense(2)(x))" + FIT
    )
    first, second, last = (each.remat for each in step.passes[0].graph.applied)
    assert first == second is not None
    assert last is None


def test_each_call_of_a_function_under_remat_is_a_block() -> None:
    program = (
        "first, second, last = layers.Dense(8), layers.Dense(8), layers.Dense(2)\n"
        "again = keras.remat(lambda x: second(first(x)))\n"
        "i = keras.Input((8,))\nmodel = keras.Model(i, last(again(again(i))))\n"
    )
    blocks = [each.remat for each in only(program + FIT).passes[0].graph.applied]
    assert blocks[0] == blocks[1] != blocks[2] == blocks[3]
    assert None not in blocks[:4]
    assert blocks[4] is None


CHANNELS = {
    "nobody says it": ("", "4x10x2"), "behind": ("keras.backend.set_image_data_format('channels_last')\n", "4x10x2"),
    "in front": ("keras.backend.set_image_data_format('channels_first')\n", "2x4x10"),
}


@pytest.mark.parametrize(("before", "shape"), CHANNELS.values(), ids=CHANNELS)
@pytest.mark.parametrize("asked", ["keras.backend.image_data_format()", "keras.config.image_data_format()"])
def test_a_program_may_ask_where_pictures_have_their_channels(asked: str, before: str, shape: str) -> None:
    step = only(
        f"{before}if {asked} == 'channels_first':\n    shape = (3, 6, 12)\nelse:\n    shape = (6, 12, 3)\n"
        "model = keras.Sequential([keras.Input(shape), layers.Conv2D(2, 3)])\nmodel.compile('adam', 'mse')\n"
        "model.fit(np.zeros((64, *shape)), np.zeros((64, 1)))\n"
    )
    assert (applied(step), step.missing) == ([f"Conv2D {shape}"], ())


PICTURES = {
    "array": "np.array(found)", "tensor": "tf.convert_to_tensor(found, dtype=tf.float32)", "stack": "np.stack(found)",
    "stacked tensor": "tf.stack(found, axis=0)",
    "halves": "np.concatenate([np.array(found), np.array(found)])",
}  # fmt: skip


@pytest.mark.parametrize("made", PICTURES.values(), ids=PICTURES)
def test_pictures_that_a_loop_reads_have_the_shape_of_one(made: str) -> None:
    step = only(
        "import cv2\nimport os\nfound, labels = [], []\nfor name in os.listdir('pictures'):\n"
        "    picture = cv2.cvtColor(cv2.imread(name), cv2.COLOR_BGR2RGB)\n"
        "    found.append(cv2.resize(picture, (16, 12)) / 255.0)\n"
        f"x = {made}\nmodel = keras.Sequential([layers.Conv2D(4, 3), layers.Flatten(), layers.Dense(2)])\n"
        "model.compile('adam', 'mse')\nmodel.fit(x, np.array(labels), batch_size=8)\n"
    )
    assert applied(step) == ["Conv2D 10x14x4", "Flatten 560", "Dense 2"]
    assert (step.batch, step.missing) == (8, ())
