"""Steps that programs write themselves: tapes in loops, traced or not, `train_step`, two tapes at once."""

from __future__ import annotations

import pytest
from test_training_facts import applied, only, read

from tfmemlint.estimate.facts import Given
from tfmemlint.estimate.step import Loss, Optimizer

DATA = "ds = tf.data.Dataset.from_tensor_slices((np.zeros((64, 8), 'float32'), np.zeros((64, 2)))).batch(16)\n"
MODEL = (
    "model = keras.Sequential([keras.Input((8,)), layers.Dense(4), layers.Dense(2)])\n"
    "loss = keras.losses.MeanSquaredError()\nopt = keras.optimizers.Adam()\n"
)
TAPE = """
    with tf.GradientTape() as tape:
        value = loss(y, model(x, training=True))
    grads = tape.gradient(value, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
"""
STEP = "def step(x, y):" + TAPE
LOOP = "for epoch in range(10):\n    for x, y in ds:\n        step(x, y)\n"

LOOPS = {
    "eager": ("for x, y in ds:" + TAPE, "eager"),
    "function": (STEP + LOOP, "eager"),
    "traced": ("@tf.function\n" + STEP + LOOP, "graph"),
    "compiled": ("@tf.function(jit_compile=True)\n" + STEP + LOOP, "jit"),
    "counted": ("@tf.function\n" + STEP + "for i, (x, y) in enumerate(ds):\n    step(x, y)\n", "graph"),
    "drawn": ("@tf.function\n" + STEP + "it = iter(ds)\nfor i in range(100):\n    x, y = next(it)\n    step(x, y)\n",
              "graph"),
    "wrapped": (STEP + "step = tf.function(step)\n" + LOOP, "graph"),
    "in a class": ("class Trainer:\n    def __init__(self, ds):\n        self.ds = ds\n"
                   "    @tf.function\n    def step(self, x, y):" + TAPE.replace("\n", "\n    ")
                   + "\n    def train(self):\n        for x, y in self.ds:\n            self.step(x, y)\n"
                   "Trainer(ds).train()\n", "graph"),
}  # fmt: skip


@pytest.mark.parametrize(("loop", "mode"), LOOPS.values(), ids=LOOPS)
def test_a_tape_in_a_loop_over_data(loop: str, mode: str) -> None:
    step = only(DATA + MODEL + loop)
    assert (step.mode, step.batch, step.missing) == (mode, 16, ())
    assert applied(step) == ["Dense 4", "Dense 2"]
    assert (step.passes[0].optimizer, step.passes[0].losses) == (Optimizer("Adam"), (Loss("mean_squared_error"),))
    assert (step.data[0].shape, step.data[0].dtype) == ((None, 8), "float32")


ALL = "opt.apply_gradients(zip(grads, weights))"
APPLIED = {
    "clipped": ("    grads, _ = tf.clip_by_global_norm(grads, 1.0)\n", ALL),
    "clipped perhaps": ("    if settings.clip:\n        grads, _ = tf.clip_by_global_norm(grads, 1.0)\n", ALL),
    "one by one": ("    grads = [tf.clip_by_norm(g, 1.0) for g in grads]\n", ALL),
    "by what nobody knows": ("    grads = settings.change(grads)\n", ALL),
    "changed perhaps": ("    if settings.own:\n        grads = settings.change(grads)\n", ALL),
    "by the tape": ("", "opt.minimize(value, weights, tape=tape)"),
}


@pytest.mark.parametrize(("between", "applying"), APPLIED.values(), ids=APPLIED)
def test_gradients_are_applied_whatever_becomes_of_them(between: str, applying: str) -> None:
    step = only(
        DATA + MODEL + "for x, y in ds:\n    weights = model.trainable_variables\n"
        "    with tf.GradientTape(persistent=True) as tape:\n        value = loss(y, model(x, training=True))\n"
        + ("    grads = tape.gradient(value, weights)\n" if between else "") + between + f"    {applying}\n"
    )  # fmt: skip
    assert (applied(step), step.batch, step.missing) == (["Dense 4", "Dense 2"], 16, ())
    assert step.passes[0].optimizer == Optimizer("Adam")


def test_the_shape_of_the_input_answers_for_arrays_that_a_turn_makes() -> None:
    loop = "for picked in settings.data():\n    x, y = np.array(picked), settings.labels(picked)" + TAPE
    step = only(MODEL.replace("keras.Input((8,)), ", "") + loop, Given(input_shape=(8,), batch=16))
    assert (applied(step), step.batch, step.missing) == (["Dense 4", "Dense 2"], 16, ())


def test_an_optimizer_of_which_nothing_is_known_is_asked_for() -> None:
    step = only(
        DATA + MODEL + "def train(model, opt):\n    for x, y in ds:" + TAPE.replace("\n", "\n    ")
        + "\ntrain(model, settings.optimizer)\n"
    )  # fmt: skip
    assert applied(step) == ["Dense 4", "Dense 2"]
    assert [(each.what, each.option) for each in step.missing] == [("the optimizer", "--optimizer")]


def test_of_a_model_that_may_be_one_of_several_the_layers_are_asked_for() -> None:
    step = only(
        DATA + MODEL + "other = keras.Sequential([keras.Input((8,)), layers.Dense(9), layers.Dense(2)])\n"
        "net = model if settings.small else other\nfor x, y in ds:" + TAPE.replace("model", "net")
    )  # fmt: skip
    assert "the layers of the model" in [each.what for each in step.missing]


def test_an_overridden_train_step() -> None:
    step = only(
        "class Net(keras.Model):\n    def __init__(self, inner):\n        super().__init__()\n"
        "        self.inner = inner\n    def train_step(self, data):\n        x, y = data\n"
        "        with tf.GradientTape() as tape:\n"
        "            value = tf.reduce_mean(keras.losses.mse(y, self.inner(x))) + 0.5\n"
        "        grads = tape.gradient(value, self.trainable_weights)\n"
        "        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))\n        return {}\n"
        "net = Net(keras.Sequential([layers.Dense(4), layers.Dense(2)]))\nnet.compile('sgd')\n"
        "net.fit(np.zeros((64, 8)), np.zeros((64, 2)), batch_size=8)\n"
    )
    assert (applied(step), step.batch, step.missing) == (["Dense 4", "Dense 2"], 8, ())
    assert (step.passes[0].optimizer, step.passes[0].losses) == (Optimizer("SGD"), (Loss("mean_squared_error"),))


GAN = """
G = keras.Sequential([keras.Input((3,)), layers.Dense(8)])
D = keras.Sequential([keras.Input((8,)), layers.Dense(1)])
g_opt, d_opt = keras.optimizers.Adam(), keras.optimizers.SGD()
bce = keras.losses.BinaryCrossentropy(from_logits=True)
@tf.function
def step(real):
    noise = tf.random.normal([16, 3])
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = G(noise, training=True)
        on_real, on_fake = D(real, training=True), D(fake, training=True)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
        d_loss = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
    g_grads = g_tape.gradient(g_loss, G.trainable_variables)
    d_grads = d_tape.gradient(d_loss, D.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, G.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, D.trainable_variables))
for x in tf.data.Dataset.from_tensor_slices(np.zeros((64, 8), 'float32')).batch(16):
    step(x)
"""


def test_two_tapes_are_two_passes() -> None:
    step = only(GAN)
    first, second = step.passes
    assert [each.kind for each in first.graph.applied] == ["Dense", "Dense"]
    assert [each.kind for each in second.graph.applied] == ["Dense", "Dense", "Dense"]
    assert (first.optimizer, second.optimizer) == (Optimizer("Adam"), Optimizer("SGD"))
    generator, discriminator = first.graph.applied[0].layer, first.graph.applied[1].layer
    assert (first.frozen, second.frozen) == ({discriminator}, {generator})
    assert len(second.losses) == len(second.graph.outputs) == 2
    assert (step.batch, step.missing) == (16, ())


def test_a_loop_that_trains_no_weights_is_no_step() -> None:
    assert read(DATA + MODEL + "for x, y in ds:\n    model(x)\n") == []


def test_a_function_that_nothing_calls_is_followed_with_what_it_does_by_default() -> None:
    step = only(
        "def train(units=4):\n    model = keras.Sequential([layers.Dense(units), layers.Dense(2)])\n"
        "    model.compile('adam', 'mse')\n    model.fit(np.zeros((64, 8)), np.zeros((64, 2)))\n"
    )
    assert applied(step) == ["Dense 4", "Dense 2"]


def test_a_program_without_end_ends() -> None:
    endless = "def f(n):\n    return f(n + 1)\nwhile True:\n    f(0)\n    model.predict(np.zeros((9, 8)))\n"
    found = read(DATA + MODEL + endless)
    assert [each.call for each in found] == ["model.predict(...)"]
