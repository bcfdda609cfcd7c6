"""What reads the data of `fit`, and which loops train with it."""

from __future__ import annotations

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.repetition.read_data import data_reads, trains_in

PLAIN = "class D(keras.utils.Sequence):\n    def __init__(self, p):\n        "
READS = [
    ("x = np.load('x')\nm.fit(x)", ["np.load('x')"]),
    ("m.fit(np.load('x'))", ["np.load('x')"]),
    ("x, y = np.load('x'), np.load('y')\nm.fit(x, y)", ["np.load('y')"]),
    ("x = np.load('x')\nz = x / 2\nw = z[1:]\nm.fit(w)", ["np.load('x')"]),
    ("def f():\n    return np.load('x')\ndef g():\n    return f()\ndef h():\n    return g()\nm.fit(h())",
     ["np.load('x')"]),
    ("def f(m, x):\n    m.fit(x)\nf(keras.Model(), np.load('x'))", ["np.load('x')"]),
    ("def f(m, x):\n    m.fit(x)\nf(keras.Model(), y)", []),
    (PLAIN + "self.x = np.load(p)\nm.fit(D('x'))", ["D('x')"]),
    (PLAIN + "self.fill(p)\n    def fill(self, p):\n        self.x = np.load(p)\nm.fit(D('x'))", ["D('x')"]),
    (PLAIN + "self.x = p\n    def __getitem__(self, i):\n        return np.load(self.x)\nm.fit(D('x'))", []),
    (PLAIN + "self.x = np.load(p)[np.random.randint(9)]\nm.fit(D('x'))", []),
    ("import cv2\n" + PLAIN + "self.x = [cv2.imread(q) for q in p]\nm.fit(D(q))", ["D(q)"]),
    ("import cv2\n" + PLAIN + "self.icon = cv2.imread(p)\nm.fit(D(q))", []),
    ("class D:\n    def __init__(self, p):\n        self.x = np.load(p)\nm.fit(D('x'))", []),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), READS)
def test_reads_behind_fit(program: str, expected: list[str]) -> None:
    file = model_of("m = keras.Model()\n" + program)
    (fit,) = (file.call(node) for node in file.calls_by_word["fit"])
    assert [file.text(each.node) for each in data_reads(file, fit)] == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("for e in r:\n    m.fit(x)", True),
        ("def f():\n    m.fit(x)\ndef g():\n    f()\nfor e in r:\n    g()", True),
        ("for e in r:\n    pass\nm.fit(x)", False),
        ("def f():\n    m.fit(x)\nfor e in r:\n    pass\nf()", False),
    ],
)
def test_loops_that_train(program: str, expected: bool) -> None:
    file = model_of("m = keras.Model()\n" + program)
    (fit,) = (file.call(node) for node in file.calls_by_word["fit"])
    (loop,) = file.tree.of(cst.For)
    assert trains_in(file, fit, loop) is expected


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("pass", True),
        ("m.save('m.keras')", True),
        ("tf.keras.models.save_model(m, 'm.keras')", True),
        ("np.save('x', m.predict(x))", False),
        ("t.to_csv('x')", False),
    ],
)
def test_loops_that_read_what_they_do_not_write(then: str, expected: bool) -> None:
    file = model_of(f"m = keras.Model()\nfor e in r:\n    m.fit(x)\n    {then}")
    (fit,) = (file.call(node) for node in file.calls_by_word["fit"])
    (loop,) = file.tree.of(cst.For)
    assert trains_in(file, fit, loop, read=True) is expected
