"""Shapes that a model states, that `--input` supplies, and that are asked for again."""

from __future__ import annotations

import pytest
from test_facts_losses import LOOP
from test_training_facts import applied, only, read

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.facts import Given
from tfmemlint.estimate.step import Optimizer

UNKNOWN = "import somewhere\nds = somewhere.data()\n"
STATED = {
    "sequential": "model = keras.Sequential([keras.Input((8,)), layers.Dense(2)])\n",
    "functional": "i = keras.Input((8,))\nmodel = keras.Model(i, layers.Dense(2)(i))\n",
    "built": ("class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
              "        self.d = layers.Dense(2)\n    def call(self, x):\n        return self.d(x)\n"
              "model = Net()\nmodel.build((None, 8))\n"),
}  # fmt: skip


@pytest.mark.parametrize("model", STATED.values(), ids=STATED)
def test_data_that_are_not_known_have_the_shape_that_the_model_states(model: str) -> None:
    step = only(UNKNOWN + model + LOOP.format(loss="tf.reduce_mean(tf.square(model(x)))"))
    assert applied(step)[0] == "Dense 2"
    assert [each.option for each in step.missing] == ["--batch"]
    assert step.data[0].shape == (None, 8)


def test_a_pipeline_that_is_not_known_is_batched() -> None:
    loop = LOOP.format(loss="tf.reduce_mean(model(x))").replace("in ds", "in ds.shuffle(9).batch(24).prefetch(1)")
    step = only(UNKNOWN + STATED["sequential"] + loop)
    assert (step.batch, step.missing) == (24, ())


def test_all_of_an_element_is_given_to_an_own_train_step() -> None:
    step = only(
        "class Net(keras.Model):\n    def __init__(self, inner):\n        super().__init__()\n"
        "        self.inner = inner\n    def train_step(self, data):\n"
        "        with tf.GradientTape() as tape:\n            a, b = self.inner(data)\n"
        "            loss = tf.reduce_mean(a - b)\n"
        "        grads = tape.gradient(loss, self.inner.trainable_weights)\n"
        "        self.optimizer.apply_gradients(zip(grads, self.inner.trainable_weights))\n        return {}\n"
        "one, two = keras.Input((8,)), keras.Input((8,))\nd = layers.Dense(4)\n"
        "net = Net(keras.Model([one, two], [d(one), d(two)]))\nnet.compile('sgd')\n"
        "x = tf.data.Dataset.from_tensor_slices(np.zeros((64, 8), 'float32'))\n"
        "net.fit(tf.data.Dataset.zip((x, x)).batch(8))\n"
    )
    assert (applied(step)[:2], step.batch, step.missing) == (["Dense 4", "Dense 4"], 8, ())


def test_the_input_that_is_said_fills_each_gap_that_it_fits() -> None:
    program = (
        "a, b, c = keras.Input((None,)), keras.Input((None,)), keras.Input((3,))\n"
        "e = layers.Embedding(100, 4)\nx = layers.Concatenate()([layers.LSTM(8)(e(a)), layers.LSTM(8)(e(b)), c])\n"
        "model = keras.Model([a, b, c], layers.Dense(2)(x))\nmodel.compile('adam', 'mse')\nmodel.fit(data, labels)\n"
    )
    (step,) = read(program, Given(32, (20,)))
    assert step.missing == ()
    assert [step.passes[0].graph.tensors[each].shape for each in step.passes[0].graph.inputs] == [
        (None, 20), (None, 20), (None, 3),
    ]  # fmt: skip


AGAIN = {
    "layer": ("x = layers.LSTM(3)(i)", (10, 8), "LSTM 3"),
    "resize": ("x = tf.image.resize(i, (4, 4))", (8, 8, 3), "resize 4x4x3"),
    "slice": ("x = i[:, 1:]", (10, 8), "get_item 9x8"),
    "pad": ("x = tf.pad(i, [[0, 0], [1, 1], [0, 0]])", (10, 8), "pad 12x8"),
}


@pytest.mark.parametrize(("line", "shape", "layer"), AGAIN.values(), ids=AGAIN)
def test_what_rests_on_an_input_with_gaps_is_asked_for_again(line: str, shape: tuple[int, ...], layer: str) -> None:
    program = f"i = keras.Input(({', '.join(['None'] * len(shape))},))\n{line}\nmodel = keras.Model(i, x)\n"
    (step,) = read(program + "model.compile('adam', 'mse')\nmodel.fit(data, labels)\n", Given(8, shape))
    assert applied(step)[-1] == layer
    assert step.missing == ()


SHAPES = {
    "arange": ("from keras import ops\nx = i + layers.Embedding(16, 8)(ops.expand_dims(ops.arange(0, 16), axis=0))",
               "add 16x8"),
    "constant paddings": ("x = tf.pad(i, tf.constant([[0, 0], [2, 1], [0, 0]]), 'REFLECT')", "pad 19x8"),
    "einsum": ("x = tf.einsum('bij,bkj->bik', i, i)", "einsum 16x16"),
    "patches": ("x = tf.image.extract_patches(layers.Reshape((4, 4, 8))(i), [1, 2, 2, 1], [1, 2, 2, 1], "
                "[1, 1, 1, 1], 'VALID')", "extract_patches 2x2x32"),
    "flattened batch": ("x = tf.reshape(i, [-1])", "reshape 128"),
    "cond": ("x = tf.cond(tf.reduce_sum(i) > 0, lambda: layers.Dense(3)(i), lambda: layers.Dense(3)(i))",
             "Dense 16x3"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "layer"), SHAPES.values(), ids=SHAPES)
def test_what_operations_give(line: str, layer: str) -> None:
    step = only(
        f"i = keras.Input((16, 8))\n{line}\nmodel = keras.Model(i, x)\nmodel.compile('adam', 'mse')\n"
        "model.fit(np.zeros((64, 16, 8)), np.zeros((64, 3)))\n"
    )
    assert layer in applied(step)
    assert not estimate(step).missing


DERIVED = {
    "no constructor": "class Own(layers.Dense):\n    def extra(self):\n        return 1\n",
    "constructor": ("class Own(layers.Dense):\n    def __init__(self, units):\n"
                    "        super().__init__(units, activation='relu')\n"),
    "call of the base": ("class Own(layers.Dense):\n    def call(self, x):\n        return super().call(x)\n"),
}  # fmt: skip


@pytest.mark.parametrize("own", DERIVED.values(), ids=DERIVED)
def test_a_class_that_derives_from_a_layer_is_that_layer(own: str) -> None:
    step = only(
        own + "model = keras.Sequential([keras.Input((8,)), Own(4), layers.Dense(2)])\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    )
    assert (applied(step), step.missing) == (["Dense 4", "Dense 2"], ())
    assert estimate(step).weights == 4 * (8 * 4 + 4 + 4 * 2 + 2)


def test_the_weights_of_a_derived_layer_are_trained() -> None:
    own = DERIVED["constructor"] + "model = keras.Sequential([keras.Input((8,)), Own(2)])\n"
    step = only(UNKNOWN + own + LOOP.format(loss="tf.reduce_mean(model(x))"))
    assert step.passes[0].frozen == frozenset()
    assert step.passes[0].optimizer == Optimizer("Adam")


def test_a_layer_of_the_program_works_as_in_training() -> None:
    own = (
        "class Noisy(layers.Layer):\n    def call(self, x, training=None):\n        if training:\n"
        "            return x * tf.random.uniform((1,))\n        return x\n"
    )
    step = only(
        own + "i = keras.Input((8,))\nx = layers.Add()([Noisy()(i), i])\nmodel = keras.Model(i, layers.Dense(2)(x))\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    )
    assert applied(step) == ["multiply 8", "Add 8", "Dense 2"]


def test_a_gpu_is_there() -> None:
    step = only(
        "units = 64 if tf.config.list_physical_devices('GPU') else 8\n"
        "model = keras.Sequential([keras.Input((8,)), layers.Dense(units)])\nmodel.compile('adam', 'mse')\n"
        "model.fit(np.zeros((64, 8)), np.zeros((64, 64)))\n"
    )
    assert applied(step) == ["Dense 64"]


def test_a_long_loop_does_not_keep_the_rest_from_being_followed() -> None:
    step = only(
        "table = []\nfor a in range(300):\n    for b in range(300):\n        for c in range(3):\n"
        "            table.append(np.sqrt(a * b) + c)\n" + STATED["sequential"]
        + "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    )  # fmt: skip
    assert (applied(step), step.missing) == (["Dense 2"], ())


SHORTCUTS = {
    "attribute": "x.shape == y.shape", "backend": "keras.backend.int_shape(x) == keras.backend.int_shape(y)",
    "channels": "x.shape[-1] == y.shape[-1]", "with the batch": "tf.shape(x) == tf.shape(y)",
}  # fmt: skip


@pytest.mark.parametrize("test", SHORTCUTS.values(), ids=SHORTCUTS)
def test_shapes_are_compared(test: str) -> None:
    step = only(
        f"def block(x, f):\n    y = layers.Dense(f)(x)\n    s = x if {test} else layers.Dense(f)(x)\n"
        "    return layers.Add()([s, y])\ni = keras.Input((4,))\nmodel = keras.Model(i, block(i, 8))\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 4)), np.zeros((64, 8)))\n"
    )
    assert (applied(step), step.missing) == (["Dense 8", "Dense 8", "Add 8"], ())


def test_a_given_shape_fills_the_inputs_that_it_fits() -> None:
    program = (
        "images, labels = keras.Input((None, None, 3)), keras.Input((None, 8))\n"
        "x = layers.GlobalAveragePooling2D()(layers.Conv2D(8, 3, padding='same')(images))\n"
        "model = keras.Model([images, labels], [x, layers.Dense(2)(labels)])\n"
        "model.compile('sgd', 'mse')\nmodel.fit(somewhere(), steps_per_epoch=4)\n"
    )
    step = only(program, Given(batch=4, input_shape=(32, 32, 3)))
    assert {"Conv2D 32x32x8", "GlobalAveragePooling2D 8"} <= {*applied(step)}
    assert [each.option for each in step.missing if each.bounds] == ["--input"]  # that of the labels
