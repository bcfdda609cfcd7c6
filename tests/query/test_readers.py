"""Which functions of an API are given away by their names."""

import pytest
from programs import model_of

from tfmemlint.query.flow.readers import gives_away

STOP = "tf.profiler.experimental.stop"
GIVEN = [
    (f"atexit.register({STOP})", True),
    (f"call(end={STOP})", True),
    ("from tensorflow.profiler.experimental import stop\natexit.register(stop)", True),
    (f"{STOP}()", False),
    (f"atexit.register({STOP}())", False),
    ("atexit.register(other.stop)", False),
]


@pytest.mark.parametrize(("program", "expected"), GIVEN)
def test_functions_that_are_given_away(program: str, expected: bool) -> None:
    assert gives_away(model_of(program), STOP, "tf.summary.trace_off") is expected
