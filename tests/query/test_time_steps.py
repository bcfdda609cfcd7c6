"""How many time steps a layer is known to go through when its model is traced, and what their gradients take."""

import pytest
from programs import model_of

from tfmemlint.query.keras.time_steps import has_fixed_steps, step_gradients

START = "import numpy as np\nfrom tensorflow import keras\nfrom tensorflow.keras import layers as L\n"
LSTM = "L.LSTM(64, return_sequences=True)"


@pytest.mark.parametrize(
    ("code", "fixed", "gradients"),
    [
        (f"keras.Sequential([keras.Input((50, 8)), {LSTM}, T])", True, 50 * 32 * 50 * 64 * 4),
        (f"keras.Sequential([keras.Input((None, 8)), {LSTM}, T])", False, None),
        (f"keras.Sequential([keras.Input((steps, 8)), {LSTM}, T])", True, None),
        (f"keras.Sequential([{LSTM}, T])", False, None),
        (f"x = T({LSTM}(keras.Input((50, 8))))", True, 50 * 32 * 50 * 64 * 4),
        (f"x = T({LSTM}(keras.Input((None, 8))))", False, None),
        (f"m = keras.Sequential([keras.Input((None, 8)), {LSTM}, T])\nm.fit(x, np.zeros([90, 20, 3]), batch_size=10)",
         True, 20 * 10 * 20 * 64 * 4),
        (f"m = keras.Sequential([keras.Input((None, 8)), {LSTM}, T])\nm.fit(windows)", False, None),
        (f"m = keras.Sequential([keras.Input((50, 8)), {LSTM}, T])\nm.fit(DATA.batch(16))",
         True, 50 * 16 * 50 * 64 * 4),
        (f"m = keras.Sequential([keras.Input((50, 8)), {LSTM}, T])\nm.fit(DATA.batch(rows))", True, None),
        (f"keras.mixed_precision.set_global_policy('mixed_float16')\nx = T({LSTM}(keras.Input((50, 8))))", True, None),
    ],
)  # fmt: skip
def test_steps_are_fixed_by_the_input_or_by_what_trains_the_model(code, fixed, gradients):
    made = "L.TimeDistributed(L.Dense(3))"
    code = code.replace("DATA", "tf.data.Dataset.from_tensor_slices((x, y))")
    file = model_of(START + code.replace("T]", f"{made}]").replace("T(", f"{made}("))
    (wrapper,) = file.calls("tf.keras.layers.TimeDistributed")
    assert has_fixed_steps(file, wrapper) is fixed
    assert step_gradients(file, wrapper) == gradients
