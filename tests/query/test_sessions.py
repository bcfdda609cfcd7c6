"""Which programs may run graphs in sessions, and which leave sessions open."""

import pytest
from programs import model_of

from tfmemlint.query.keras.sessions import left_open, runs_graphs
from tfmemlint.query.repetition.repeats import repeats

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


LOOP = "for i in range(9):\n    s = tf.compat.v1.Session()\n"
LEFT = [
    (LOOP, True),
    (LOOP + "    s.run(x)", True),
    (LOOP + "    saver.restore(s, 'path')", True),
    (LOOP + "    print(s)", True),
    (LOOP + "    s.close()", False),
    (LOOP + "    with s: pass", False),
    (LOOP + "    unknown(s)", False),
    (LOOP + "    kept.append(s)", False),
    (LOOP + "    self.s = s", True),
    ("for m in models:\n    m.s = tf.compat.v1.Session()", False),
    ("for i in range(9):\n    tf.compat.v1.Session().run(x)", False),
]


@pytest.mark.parametrize(("program", "expected"), LEFT)
def test_sessions_that_are_left_open(program: str, expected: bool) -> None:
    file = model_of(program)
    made = next(file.calls("tf.compat.v1.Session"))
    again = repeats(file, made.node)
    assert again is not None
    assert left_open(file, made, again) is expected
