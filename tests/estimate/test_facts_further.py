"""What is read of programs in further styles: gradients that `apply` takes, lengths of None, functions as layers."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_facts_loops import DATA, LOOP, MODEL, STEP
from test_training_facts import FIT, HEADER, applied, only, read

from tfmemlint.cli.commands import main
from tfmemlint.estimate.engine import estimate
from tfmemlint.estimate.facts import Given
from tfmemlint.estimate.step import Optimizer

ZIPPED = "opt.apply_gradients(zip(grads, model.trainable_variables))"
APPLIES = {
    "with weights": "opt.apply(grads, model.trainable_variables)", "alone": "opt.apply(grads)",
    "by name": "opt.apply(grads=grads, trainable_variables=model.trainable_variables)",
}  # fmt: skip


@pytest.mark.parametrize("applies", APPLIES.values(), ids=APPLIES)
@pytest.mark.parametrize("calls", [LOOP, ""], ids=["in a loop", "uncalled"])
def test_an_optimizer_applies_gradients(applies: str, calls: str) -> None:
    step = only(DATA + MODEL + STEP.replace(ZIPPED, applies) + calls)
    assert step.passes[0].optimizer == Optimizer("Adam")
    assert step.passes[0].backward


@pytest.mark.parametrize("applies", ["ds.apply(grads)", "model.apply(grads)", "frame.apply(grads)"])
def test_what_else_applies_is_no_step(applies: str) -> None:
    assert read(DATA + MODEL + STEP.replace(ZIPPED, applies) + LOOP) == []


@pytest.mark.parametrize(("applies", "code"), [("opt.apply(grads)", 1), ("ds.apply(grads)", 0)])
def test_rules_see_that_step(applies: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "train.py"
    program.write_text(HEADER + DATA + MODEL + STEP.replace(ZIPPED, applies) + LOOP, encoding="utf-8")
    assert main(["check", "--isolated", "--select=TFM605", "--gpu-memory=1KiB", str(program)]) == code
    assert ("TFM605" in capsys.readouterr().out) == bool(code)


VIDEO = (
    "def shifted(data):\n    return data[:, 0 : data.shape[1] - 1, :], data[:, 1 : data.shape[1], :]\n"
    "i = keras.Input((None, 8, 8, 1))\n"
    "model = keras.Model(i, layers.ConvLSTM2D(3, 5, padding='same', return_sequences=True)(i))\n"
    "model.compile('adam', 'mse')\n"
)
SEQUENCES = {
    "compared": "movies = (np.random.rand(16, 9, 8, 8, 1) > 0.8).astype('float32')\nx, y = shifted(movies)\n",
    "pipeline": "x, y = tf.data.Dataset.from_tensor_slices(np.zeros((16, 8, 8, 8, 1), 'float32')).batch(4), None\n",
}


@pytest.mark.parametrize("data", SEQUENCES.values(), ids=SEQUENCES)
def test_lengths_that_a_model_leaves_open_are_those_of_the_data(data: str) -> None:
    step = only(VIDEO + data + "model.fit(x, y, epochs=2)\n")
    assert (applied(step), step.missing) == (["ConvLSTM2D 8x8x8x3"], ())
    assert {each.shape for each in step.data} == {(None, 8, 8, 8, 1)}


@pytest.mark.parametrize("data", ["given()", "np.zeros((16, given(), 8, 8, 1), 'float32')"])
def test_lengths_that_nothing_tells_are_as_is_said(data: str) -> None:
    program = VIDEO + f"model.fit({data}, given(), batch_size=4)\n"
    assert only(program).missing
    step = only(program, Given(input_shape=(8, 8, 8, 1)))
    assert (applied(step), step.missing) == (["ConvLSTM2D 8x8x8x3"], ())
    assert [each.shape for each in step.data] == [(None, 8, 8, 8, 1)]


def test_arrays_of_doubles_are_given_as_floats() -> None:
    step = only(MODEL + "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8)), np.random.rand(64, 2))\n")
    assert [each.dtype for each in step.data] == ["float32", "float32"]


RESIDUAL = (
    "class R(layers.Layer):\n    def __init__(self, activation):\n        super().__init__()\n"
    "        self.activation = keras.activations.get(activation)\n"
    "        self.parts = [layers.Dense(8), self.activation]\n"
    "    def call(self, z):\n        skip = z\n        for part in self.parts:\n            z = part(z)\n"
    "        return self.activation(z + skip)\n"
)
ACTIVATIONS = {
    "'relu'": ["Dense 8", "relu 8", "add 8", "relu 8"], "'gelu'": ["Dense 8", "gelu 8", "add 8", "gelu 8"],
    "tf.nn.tanh": ["Dense 8", "tanh 8", "add 8", "tanh 8"], "None": ["Dense 8", "add 8"],
    "keras.activations.elu": ["Dense 8", "elu 8", "add 8", "elu 8"],
    "layers.ReLU()": ["Dense 8", "ReLU 8", "add 8", "ReLU 8"],
}  # fmt: skip


@pytest.mark.parametrize("said", ACTIVATIONS)
def test_an_activation_is_called_as_a_layer_is(said: str) -> None:
    step = only(RESIDUAL + f"model = keras.Sequential([keras.Input((8,)), R({said})])" + FIT)
    assert (applied(step), step.missing) == (ACTIVATIONS[said], ())


def test_an_activation_of_a_word_that_is_none_is_not_known() -> None:
    assert only(RESIDUAL + "model = keras.Sequential([keras.Input((8,)), R('relo')])" + FIT).missing


@pytest.mark.parametrize("labels", ["(64,)", "(64, 1)"])
def test_a_loss_of_the_program_takes_labels_of_the_rank_of_what_is_predicted(labels: str) -> None:
    step = only(
        "def loss(y_true, y_pred):\n    return tf.reduce_mean((1 - y_true) * y_pred)\n"
        "model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])\nmodel.compile('adam', loss)\n"
        f"model.fit(np.zeros((64, 8)), np.zeros({labels}))\n"
    )
    assert (applied(step), step.missing) == (["Dense 1", "subtract 1", "multiply 1", "reduce_mean"], ())


@pytest.mark.parametrize("rows", ["np.random.permutation(len(x))", "np.random.permutation(64)[:48]", "np.arange(48)"])
def test_picked_rows_are_as_all_are(rows: str) -> None:
    step = only(
        "model = keras.Sequential([keras.Input((8,)), layers.Dense(1)])\nmodel.compile('adam', 'mse')\n"
        f"x, y = np.zeros((64, 8)), np.zeros(64)\nrows = {rows}\nmodel.fit(x[rows], y[rows])\n"
    )
    assert [each.shape for each in step.data] == [(None, 8), (None,)]


STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}


@pytest.mark.parametrize(("kind", "states"), STATES.items())
@pytest.mark.parametrize("first", ["keras.Input(batch_shape=(16, 5, 8))", "keras.Input((5, 8), batch_size=16)"])
def test_states_that_are_kept_are_variables(kind: str, states: int, first: str) -> None:
    def weights(more: str) -> int:
        program = (
            f"model = keras.Sequential([{first}, layers.{kind}(4{more})])\nmodel.compile('adam', 'mse')\n"
            "model.fit(np.zeros((64, 5, 8)), np.zeros((64, 4)), batch_size=16)\n"
        )
        found = estimate(only(program))
        assert not found.missing
        return found.weights

    assert weights(", stateful=True") - weights("") == states * 16 * 4 * 4


PATCHES = (
    "class Patches(layers.Layer):\n    def __init__(self, size):\n        super().__init__()\n"
    "        self.size = size\n"
    "    def call(self, images):\n        rows, high, wide, channels = keras.ops.shape(images)\n"
    "        many = (high // self.size) * (wide // self.size)\n"
    "        found = keras.ops.image.extract_patches(images, size=self.size)\n"
    "        return keras.ops.reshape(found, (rows, many, self.size * self.size * channels))\n"
    "class Encoder(layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.places, self.dense = layers.Embedding(16, 4), layers.Dense(4)\n"
    "    def call(self, x):\n        at = keras.ops.expand_dims(keras.ops.arange(start=0, stop=16, step=1), axis=0)\n"
    "        return self.dense(x) + self.places(at)\n"
)


def test_patches_and_their_places() -> None:
    step = only(
        PATCHES + "i = keras.Input((8, 8, 3))\nmodel = keras.Model(i, Encoder()(Patches(2)(i)))\n"
        "model.compile('adam', 'mse')\nmodel.fit(np.zeros((64, 8, 8, 3)), np.zeros((64, 16, 4)))\n"
    )
    assert step.missing == ()
    assert applied(step) == ["extract_patches 4x4x12", "reshape 16x12", "Dense 16x4", "Embedding 16x4", "add 16x4"]
    graph = step.passes[0].graph
    assert [graph.tensors[each.outputs[0]].shape[0] for each in graph.applied] == [None, None, None, 1, None]


WITHIN = {
    "of a function": ("def main():\n", 1, ""),
    "of one that is called": ("def main():\n", 1, "main()\n"),
    "of a method": ("class Experiment:\n    def run(self):\n", 2, ""),
    "of a function in one": ("def main():\n    def more():\n", 2, "    more()\nmain()\n"),
}


@pytest.mark.parametrize("where", WITHIN)
def test_functions_within_others_that_nobody_calls_are_followed(where: str) -> None:
    head, depth, tail = WITHIN[where]
    inner = "def train(x, y):\n    m = keras.Sequential([keras.Input((8,)), layers.Dense(3)])\n"
    inner += "    m.compile('adam', 'mse')\n    m.fit(x, y, batch_size=16)\n"
    step = only(head + "".join(f"{'    ' * depth}{line}\n" for line in inner.splitlines()) + tail)
    assert step.batch == 16
    assert applied(step) == ["Dense 3"]
