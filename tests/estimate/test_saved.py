"""How many bytes of a training step changes save that rules speak of."""

import pytest
from programs import model_of

from tfmemlint.estimate.saved import saved_in_mixed_precision, saved_without_wrapper

START = "import numpy as np\nfrom tensorflow import keras\nfrom tensorflow.keras import layers as L\n"
TAGGER = """
x = keras.Input((50, 64))
h = L.LSTM(128, return_sequences=True)(x)
y = WRAPPED(h)
m = keras.Model(x, y)
m.compile("sgd", "mse")
m.fit(np.zeros([320, 50, 64]), np.zeros([320, 50, 17]), batch_size=BATCH)
"""
WRAPPED = "L.TimeDistributed(L.Dense(17))"


def tagger(batch: str = "16", wrapped: str = WRAPPED) -> str:
    return START + TAGGER.replace("WRAPPED", wrapped).replace("BATCH", batch)


@pytest.mark.parametrize("batch", [16, 32])
def test_without_the_wrapper_the_gradients_of_all_its_steps_are_gone(batch: int) -> None:
    file = model_of(tagger(str(batch)))
    (wrapper,) = file.calls("tf.keras.layers.TimeDistributed")
    saved = saved_without_wrapper(file, wrapper)
    assert saved is not None
    gradient = batch * 50 * 128 * 4
    assert saved.batch == batch
    assert 45 * gradient < saved.bytes < 55 * gradient
    assert saved.before - saved.after == saved.bytes


def test_the_step_without_the_wrapper_is_that_of_the_program_without_it() -> None:
    file, plain = model_of(tagger()), model_of(tagger(wrapped="L.Dense(17)"))
    (wrapper,) = file.calls("tf.keras.layers.TimeDistributed")
    saved, alone = (
        saved_without_wrapper(file, wrapper),
        saved_in_mixed_precision(plain, list(plain.calls("tf.keras.Model.fit"))),
    )
    assert saved is not None
    assert alone is not None
    assert saved.after == alone.before


@pytest.mark.parametrize(
    "code",
    [
        tagger("rows"),
        tagger().replace("LSTM(128", "LSTM(size"),
        tagger().replace("m.fit", "m.predict"),
        tagger(wrapped="L.TimeDistributed(L.Dense(17))(L.TimeDistributed(L.Dense(128))(h)), "),
    ],
    ids=["batch", "size", "not trained", "two in one line"],
)
def test_nothing_is_said_of_steps_that_are_not_known(code: str) -> None:
    file = model_of(code)
    wrapper = next(iter(file.calls("tf.keras.layers.TimeDistributed")))
    assert saved_without_wrapper(file, wrapper) is None


def test_mixed_precision_halves_activations_and_no_weights() -> None:
    made = "m = keras.Sequential([keras.Input((64,)), L.Dense(1024, 'gelu'), L.Dense(1024)])\nm.compile('sgd', 'mse')\n"
    file = model_of(f"{START}{made}m.fit(np.zeros([900, 64]), np.zeros([900, 1024]), batch_size=BATCH)")

    def part(batch: int) -> float:
        found = model_of(file.source.text.replace("BATCH", str(batch)))
        saved = saved_in_mixed_precision(found, list(found.calls("tf.keras.Model.fit")))
        assert saved is not None
        return saved.bytes / saved.before

    assert part(8) < 0.05
    assert part(800) > 0.1


def test_nothing_is_said_where_one_of_the_steps_is_not_known() -> None:
    made = "m = keras.Sequential([keras.Input((64,)), L.Dense(1024, 'gelu'), L.Dense(1024)])\nm.compile('sgd', 'mse')\n"
    known = "m.fit(np.zeros([900, 64]), np.zeros([900, 1024]), batch_size=8)\n"
    for more, is_said in (("", True), ("m.fit(np.zeros([900, 64]), np.zeros([900, 1024]), batch_size=rows)\n", False)):
        file = model_of(START + made + known + more)
        saved = saved_in_mixed_precision(file, list(file.calls("tf.keras.Model.fit")))
        assert (saved is not None) is is_said
