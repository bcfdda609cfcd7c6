"""What starts the runtime, and whether it has been started when `here()` is reached."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.runtime import computing_calls, devices_made_by, initialised_by, turns_eager_off

STARTS = [
    ("tf.constant(1)", ["constant"]),
    ("tf.data.Dataset.range(3)", ["range"]),
    ("tfds.load('mnist')", ["load"]),
    ("m = keras.Model(i, o)\nm.fit(x)", ["fit"]),
    ("tf.config.list_physical_devices('GPU')", []),
    ("unknown()", []),
    ("def f():\n    return tf.zeros(3)\nf()", ["zeros"]),
    ("with tf.Graph().as_default():\n    tf.constant(1)", []),
    ("tf.compat.v1.disable_eager_execution()\ntf.constant(1)", []),
    ("tf.keras.Sequential([tf.keras.layers.Dense(3)])", []),
    ("tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,))])", ["Sequential"]),
    ("tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(2, 2))])", []),
    ("m = tf.keras.Sequential()\nm.add(tf.keras.layers.Dense(3, input_shape=(2,)))", ["add"]),
    ("tf.keras.applications.ResNet50()", ["ResNet50"]),
    ("tf.keras.layers.Dense(3)(tf.keras.Input([2]))", ["Input", None]),
]


@pytest.mark.parametrize(("program", "expected"), STARTS)
def test_calls_that_start_the_runtime(program: str, expected: list[str | None]) -> None:
    file = model_of(program)
    assert [call.method for call in computing_calls(file)] == [word for word in expected if word != "Input"]


STARTED = [
    ("tf.constant(1)\nhere()", "constant"),
    ("tf.zeros(1)\ntf.constant(1)\nhere()", "zeros"),
    ("here()\ntf.constant(1)", None),
    ("if c:\n    tf.constant(1)\nhere()", None),
    ("def f():\n    tf.constant(1)\nf()\nhere()", "constant"),
    ("def f():\n    here()\ntf.constant(1)\nf()", "constant"),
]


@pytest.mark.parametrize(("program", "expected"), STARTED)
def test_what_has_certainly_started_it(program: str, expected: str | None) -> None:
    file = model_of(program)
    first = initialised_by(file, file.calls_by_word["here"][0])
    assert (first.method if first is not None else None) == expected


MADE = [
    ("tf.compat.v1.Session()\nhere()", "Session"),
    ("tf.compat.v1.disable_eager_execution()\ntf.compat.v1.InteractiveSession()\nhere()", "InteractiveSession"),
    ("tf.constant(1)\nhere()", "constant"),
    ("tf.compat.v1.Session('grpc://worker:2222')\nhere()", None),
    ("c = tf.compat.v1.ConfigProto(device_count={'GPU': 0})\ntf.compat.v1.Session(config=c)\nhere()", None),
    ("if c:\n    tf.compat.v1.Session()\nhere()", None),
]


@pytest.mark.parametrize(("program", "expected"), MADE)
def test_what_has_certainly_made_the_devices(program: str, expected: str | None) -> None:
    file = model_of(program)
    first = devices_made_by(file, file.calls_by_word["here"][0])
    assert (first.method if first is not None else None) == expected


@pytest.mark.parametrize(
    ("program", "off"), [("tf.compat.v1.disable_v2_behavior()", True), ("tf.compat.v1.enable_eager_execution()", False)]
)
def test_eager_execution_is_turned_off(program: str, off: bool) -> None:
    assert turns_eager_off(model_of(program)) is off
