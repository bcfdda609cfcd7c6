"""Losses of the program's own: functions and classes that `compile` is given, and that loops call."""

from __future__ import annotations

import pytest
from test_facts_loops import DATA
from test_training_facts import applied, only

from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.step import Loss

MODEL = "model = keras.Sequential([keras.Input((8,)), layers.Dense(4), layers.Dense(2)])\n"
FIT = "model.compile('adam', loss=own)\nmodel.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
LAYERS = ["Dense 4", "Dense 2"]

OWN = {
    "difference": ("def own(y, p):\n    return tf.reduce_mean(tf.square(y - p))\n",
                   [*LAYERS, "subtract 2", "square 2", "reduce_mean"]),
    "backend": ("from tensorflow.keras import backend as K\n"
                "def own(y, p):\n    return K.sqrt(K.mean(K.square(p - y)))\n",
                [*LAYERS, "subtract 2", "square 2", "mean", "sqrt"]),
    "dice": ("from tensorflow.keras import backend as K\ndef own(y, p):\n    y, p = K.flatten(y), K.flatten(p)\n"
             "    return 1 - (2 * K.sum(y * p) + 1) / (K.sum(y) + K.sum(p) + 1)\n", None),
    "class": ("class Own(keras.losses.Loss):\n    def call(self, y, p):\n        return tf.abs(y - p)\nown = Own()\n",
              [*LAYERS, "subtract 2", "abs 2"]),
    "made": ("def weighted(w):\n    def loss(y, p):\n        return w * tf.square(y - p)\n    return loss\n"
             "own = weighted(3.0)\n", [*LAYERS, "subtract 2", "square 2", "multiply 2"]),
}  # fmt: skip


@pytest.mark.parametrize(("loss", "layers"), OWN.values(), ids=OWN)
def test_a_loss_of_the_program_is_followed(loss: str, layers: list[str] | None) -> None:
    step = only(loss + MODEL + FIT)
    assert not estimate(step).missing
    assert layers is None or applied(step) == layers


def test_a_loss_of_keras_within_an_own_one_stays_one() -> None:
    loss = (
        "def own(y, p):\n    bce = keras.losses.binary_crossentropy(y, p)\n"
        "    return tf.reduce_mean(bce) + tf.reduce_mean(tf.abs(y - p))\n"
    )
    step = only(loss + MODEL + FIT)
    graph = step.passes[0].graph
    assert step.passes[0].losses[0] == Loss("binary_crossentropy")
    assert graph.tensors[graph.outputs[0]].shape == (None, 2)
    own = [each for each in applied(step) if not each.startswith("Dense")]
    assert own == [
        "subtract 2", "abs 2", "reduce_mean", "add",
    ]  # fmt: skip


def test_an_own_loss_takes_memory() -> None:
    image = "model = keras.Sequential([keras.Input((64, 64, 1)), layers.Conv2D(1, 3, padding='same')])\n"
    fit = "model.fit(np.zeros((64, 64, 64, 1)), np.zeros((64, 64, 64, 1)))\n"
    own = "def own(y, p):\n    return tf.reduce_mean(tf.exp(y - p) * tf.math.log(p))\n"
    known = only(image + "model.compile('adam', 'mae')\n" + fit)
    followed = only(own + image + "model.compile('adam', own)\n" + fit)
    assert estimate(followed).step > estimate(known).step


def test_a_loss_that_cannot_be_followed_is_named() -> None:
    step = only("import somewhere\ndef own(y, p):\n    return somewhere.loss(1)\n" + MODEL + FIT)
    assert [each.what for each in step.missing] == ["the loss `own`"]
    assert applied(step) == LAYERS


def test_a_loss_of_which_only_the_output_is_not_known_needs_the_input_alone() -> None:
    open_ = MODEL.replace("keras.Input((8,)), ", "")
    program = "def own(y, p):\n    return tf.square(y - p)\nx = np.load('x.npy')\n" + open_
    step = only(program + "model.compile('adam', own)\nmodel.fit(x, np.zeros((64, 2)), batch_size=4)\n")
    assert [each.option for each in step.missing] == ["--input"]


LOOP = """
opt = keras.optimizers.Adam()
for x, y in ds:
    with tf.GradientTape() as tape:
        value = {loss}
    grads = tape.gradient(value, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
"""


def test_a_class_of_a_loss_in_a_loop_is_followed() -> None:
    own = "class Own(keras.losses.Loss):\n    def call(self, y, p):\n        return tf.square(y - p)\nown = Own()\n"
    step = only(DATA + own + MODEL + LOOP.format(loss="own(y, model(x))"))
    assert applied(step) == [*LAYERS, "subtract 2", "square 2"]
    assert not estimate(step).missing


def test_a_loss_that_is_lost_leaves_the_model_before_it() -> None:
    step = only("import somewhere\n" + DATA + MODEL + LOOP.format(loss="somewhere.loss(len([model(x)]))"))
    assert "the loss" in [each.what for each in step.missing]
    assert applied(step)[:2] == LAYERS
    assert estimate(step).bounded


COMPUTED = {"compute_loss": "compute_loss(y=y, y_pred=p)", "compiled_loss": "compiled_loss(y, p)"}


@pytest.mark.parametrize("call", COMPUTED.values(), ids=COMPUTED)
def test_a_train_step_computes_the_loss_that_was_compiled(call: str) -> None:
    step = only(
        "class Net(keras.Model):\n    def train_step(self, data):\n        x, y = data\n"
        "        with tf.GradientTape() as tape:\n            p = self(x, training=True)\n"
        f"            loss = self.{call}\n        grads = tape.gradient(loss, self.trainable_variables)\n"
        "        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))\n        return {}\n"
        "i = keras.Input((8,))\nmodel = Net(i, layers.Dense(2)(i))\nmodel.compile('adam', 'mse')\n"
        "model.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    )
    assert (applied(step), step.passes[0].losses) == (["Dense 2"], (Loss("mean_squared_error"),))
    assert not step.missing
