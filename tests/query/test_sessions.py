"""Which programs may build graphs and run them in sessions."""

import pytest
from programs import model_of

from tfmemlint.query.keras.sessions import runs_graphs

S = "s = tf.compat.v1.Session()\n"
GRAPHS = [
    (S, False),
    (S + "m = keras.Model(i, o)\nm.fit(x)", False),
    (S + "tf.compat.v1.placeholder(tf.float32)", True),
    (S + "with s: pass", True),
    (S + "s.run(x)", True),
    (S + "unknown.run(x)", True),
]


@pytest.mark.parametrize(("program", "expected"), GRAPHS)
def test_programs_that_may_run_graphs(program: str, expected: bool) -> None:
    file = model_of(program)
    assert runs_graphs(file, next(file.calls("tf.compat.v1.Session"))) is expected
