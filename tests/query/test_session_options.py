"""What the options of sessions say about memory and devices."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.session_options import names_memory_options, session_limits_memory

V1 = "import tensorflow.compat.v1 as tf\n"
OPTIONS = [
    ("s = tf.Session()", False, False),
    ("s = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))", False, False),
    ("s = tf.Session(config=tf.ConfigProto(gpu_options=o))", True, True),
    ("s = tf.Session(config=tf.ConfigProto(device_count={'GPU': 0}))", True, True),
    ("c = tf.ConfigProto()\nc.gpu_options.allow_growth = True\ns = tf.Session(config=c)", True, True),
    ("c = tf.ConfigProto()\nc.log_device_placement = True\ns = tf.Session(config=c)", False, False),
    ("c = make()\nc.gpu_options.allow_growth = True\ns = tf.Session(config=c)", True, True),
    ("s = tf.Session(config=make())", False, False),
    ("c = tf.ConfigProto()\nd = tf.ConfigProto(gpu_options=o)\ns = tf.Session(config=c)", False, True),
]


@pytest.mark.parametrize(("program", "of_session", "anywhere"), OPTIONS)
def test_options_that_say_something_of_memory(program: str, of_session: bool, anywhere: bool) -> None:
    file = model_of(program, V1)
    assert session_limits_memory(file, file.call(file.calls_by_word["Session"][0])) is of_session
    assert names_memory_options(file) is anywhere
