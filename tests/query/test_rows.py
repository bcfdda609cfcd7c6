"""How many rows a batch has, what is read of a result, and what gives one item after the other."""

import pytest
from programs import model_of

from tfmemlint.query.repetition.items import is_rare, item_loop
from tfmemlint.query.repetition.step_data import step_names
from tfmemlint.query.tensors.rows import read_as_one_row, rows_in

ROWS = [
    ("work(x[None])", 1),
    ("work(x[np.newaxis, ...])", 1),
    ("work(x[i:i + 1])", 1),
    ("work(x[i : 64 + i])", 64),
    ("work(x[i:j])", None),
    ("work(x[:8])", 8),
    ("work(x[:-8])", None),
    ("work(x[0])", None),
    ("work(np.expand_dims(x, 0))", 1),
    ("work(np.expand_dims(x, 1))", None),
    ("work(np.array([a, b]))", 2),
    ("work(np.array([*a]))", None),
    ("work(x.reshape(1, -1))", 1),
    ("work(x.reshape((16, 3)).astype('float32'))", 16),
    ("work(x.reshape(-1, 3))", None),
    ("work(np.reshape(x, (4, 3)))", 4),
    ("work(np.zeros((5, 3)))", 5),
    ("work([np.zeros((5, 3)), np.zeros((5, 2))])", 5),
    ("work([a, b])", None),
    ("b = x[None] if c else x[:3]\nwork(b)", None),
    ("if c:\n    b = x[None]\nelse:\n    b = x[:3]\nwork(b)", 3),
    ("for b in tf.data.Dataset.range(9).batch(4, drop_remainder=True):\n    work(b)", 4),
    ("def f(b):\n    work(b)\nf(x[None])\nf(y[None])", 1),
    ("def f(b):\n    work(b)\nf(x[None])\nf(y)", None),
    ("def f(b):\n    return b[None]\nwork(f(x))", 1),
    ("def f(b):\n    return b[None] if c else b\nwork(f(x))", None),
    ("def f(b):\n    return f(b)\nwork(f(x))", None),
    ("def f(b):\n    work(b)\ndef g(b):\n    f(b)\ng(x[None])", 1),
]


@pytest.mark.parametrize(("program", "expected"), ROWS)
def test_rows_are_known_by_how_a_batch_is_made(program: str, expected: int | None) -> None:
    file = model_of(program)
    assert rows_in(file, file.calls_by_word["work"][0].args[0].value, callers=2) == expected


READ = [
    ("work()[0]", True),
    ("work()[0, 0]", True),
    ("work()[0].argmax()", True),
    ("work()[1]", False),
    ("work()[:, 0]", False),
    ("a, b = work()", False),
    ("for row in work(): pass", False),
    ("y = work()\nprint(y[0], y.shape)", True),
    ("y = work()\nprint(y[0], y[1])", False),
    ("y = work()\ny[0][action] = 1\nmodel.fit(x, y)", True),
    ("np.argmax(work())", True),
    ("np.argmax(work(), axis=1)", False),
    ("work().argmax()", True),
    ("work().argmax(1)", False),
    ("float(work())", True),
    ("print(work())", False),
]


@pytest.mark.parametrize(("program", "expected"), READ)
def test_one_row_is_read(program: str, expected: bool) -> None:
    file = model_of(program)
    assert read_as_one_row(file, file.calls_by_word["work"][0]) is expected


@pytest.mark.parametrize(("read", "expected"), [("[0]", False), ("[0][0]", True), ("[0, 0]", True), ("[0][1]", False)])
def test_the_first_of_several_outputs_is_no_row(read: str, expected: bool) -> None:
    file = model_of(f"work(){read}")
    assert read_as_one_row(file, file.calls_by_word["work"][0], outputs=True) is expected


LOOPS = [
    ("for x in y:\n    work(x)", "for"),
    ("for x in y:\n    work(z)", None),
    ("for x in (a, b):\n    work(x)", None),
    ("for k, x in y.items():\n    work(x)", None),
    ("for k, x in y.items():\n    work(x[None])", "for"),
    ("b = np.zeros((1, 9))\nfor x in y:\n    b[0] = x\n    work(b)", "for"),
    ("b = np.zeros((1, 9))\nfor x in y:\n    c[0] = x\n    work(b)", None),
    ("b = np.zeros((1, 9))\nc = b\nfor x in y:\n    b[0] = x\n    work(c)", "for"),
    ("while c:\n    x = input()\n    work(x[None])", None),
    ("def f(x):\n    work(x)\nfor x in y:\n    f(x)", None),
    ("def f(x):\n    work(x)\nfor x in y:\n    f(x[None])", "for"),
    ("def f(x):\n    work(x[None])\ndef g(x):\n    f(x)\nfor x in y:\n    g(x)", "for"),
    ("def f(x):\n    work(x)\ndef g(x):\n    f(x[None])\nwhile c:\n    x = h(x)\n    g(x)", "while"),
    ("def f(x):\n    for z in x:\n        work(z)\nf(y)", "for"),
]


@pytest.mark.parametrize(("program", "expected"), LOOPS)
def test_items_come_from_loops_here_and_at_callers(program: str, expected: str | None) -> None:
    file = model_of(program)
    found = item_loop(file, file.calls_by_word["work"][0].args[0].value, single=False)
    assert (type(found.place).__name__.lower() if found is not None else None) == expected


RARE = [
    ("for i in y:\n    work(i)", False),
    ("for i in y:\n    if i % 100 == 0:\n        work(i)", True),
    ("for i in y:\n    if len(z) == 64:\n        work(i)", True),
    ("for i in y:\n    if len(z) > 0:\n        work(i)", False),
    ("def f(i):\n    work(i[None])\nfor i in y:\n    if i % 9 == 0:\n        f(i)", True),
]


@pytest.mark.parametrize(("program", "expected"), RARE)
def test_now_and_then(program: str, expected: bool) -> None:
    file = model_of(program)
    call = file.calls_by_word["work"][0]
    found = item_loop(file, call.args[0].value, single=False)
    assert found is not None and is_rare(file, call, found) is expected


STEPS = [
    ("for x, y in z:\n    work()", {"x", "y"}),
    ("for x in z:\n    h = f(x)\n    s = g(s, x)\n    work()", {"x", "h"}),
    ("while c:\n    x = next(it)\n    n = tf.random.normal((3,))\n    k = 3\n    work()", {"x", "n"}),
    ("def f(self, x):\n    h = x + 1\n    work()", {"x", "h"}),
]


@pytest.mark.parametrize(("program", "expected"), STEPS)
def test_names_of_the_data_of_a_step(program: str, expected: set[str]) -> None:
    file = model_of(program)
    assert step_names(file, file.module.body[-1]) == expected
