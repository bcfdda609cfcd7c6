"""Values through objects: attributes set in one method and used in another, inheritance, properties, dataclasses."""

import pytest
from programs import shown_in

CLASS = "class C:\n    def __init__(self, n=3):\n        self.n = n\n"
OF = "    @classmethod\n    def of({}):\n        return {}\n"

ATTRIBUTES = [
    (CLASS + "    def use(self):\n        probe(self.n)\nC(4)", "4"),
    (CLASS + "    def use(self):\n        probe(self.n)", "3"),
    (CLASS + "    def use(self):\n        probe(self.n)\nC(4)\nC(5)", "4 | 5"),
    (CLASS + "c = C(4)\nc.n", "4"),
    (CLASS + "C(4).n + 1", "5"),
    (CLASS + "c = C(4)\nc.n = 6\nc.n", "6"),
    (CLASS + "def f(c: C):\n    probe(c.n)\nf(C(4))", "4"),
    (CLASS + OF.format("cls, x", "cls(x)") + "    def use(self):\n        probe(self.n)\nC.of(4)", "4"),
    (CLASS + OF.format("cls", "cls(n=4)") + "    def use(self):\n        probe(self.n)", "4"),
    (CLASS + OF.format("kind", "kind(4)") + "    def use(self):\n        probe(self.n)\nC(5)", "4 | 5"),
    (CLASS + OF.format("cls", "cls(4)") + "probe(C.of().n)", "4"),
    (CLASS + "    size = 7\n    def use(self):\n        probe(self.n)\nC(4)\nC.size", "4"),
    ("class C:\n    size = 7\n    @classmethod\n    def of(cls):\n        probe(cls.size)", "7"),
    ("class C:\n    @staticmethod\n    def of(n):\n        probe(n)\nC.of(3)", "3"),
    ("class C:\n    size = 7\nC.size", "7"),
    ("class Mixin:\n    pass\nclass C(keras.layers.Layer, Mixin):\n    pass\nC().add_weight",
     "tf.keras.layers.Layer.add_weight"),
    ("class C:\n    size = 7\nC().size", "7"),
    ("class C:\n    size = 7\n    def f(self):\n        probe(self.size)", "7"),
    ("class C:\n    size = 7\n    other = size * 2\nC.other", "14"),
    ("class C:\n    def a(self):\n        self.ds = tf.data.Dataset.range(5)\n"
     "    def b(self):\n        self.ds = self.ds.batch(2)\n        probe(self.ds)",
     "range batch -> tf int64 (2) x 3"),
    ("class C:\n    def __init__(self, n):\n        self.ds = tf.data.Dataset.range(6)\n    def b(self):\n"
     "        self.ds = self.ds.batch(2)\n        self.ds = self.ds.batch(3)\n        probe(self.ds)",
     "range batch batch -> tf int64 (3, 2) x 1"),
    ("class C:\n    def __init__(self):\n        self.x = np.zeros((2, 3))\n"
     "    def b(self):\n        y = self.x.T\n        probe(y)", "np float64 (3, 2)"),
    ("class C:\n    def __init__(self):\n        self.x = np.zeros((2, 3), np.uint8)\n        self.b()\n"
     "    def b(self):\n        probe(self.x)\n        self.x = self.x.reshape(6) / 255.0", "np uint8 (2, 3)"),
    ("class C:\n    def __init__(self):\n        self.x = np.zeros((2, 3), np.uint8)\n"
     "    def b(self):\n        probe(self.x)\n        self.x = self.x.reshape(6) / 255.0\n"
     "c = C()\nfor i in range(3):\n    c.b()", "np float64 (6) | np uint8 (2, 3)"),
    ("class C:\n    def f(self):\n        probe(self.missing)", "?"),
    ("class C:\n    def __init__(self):\n        self.a, self.b = 1, 2\n    def f(self):\n        probe(self.b)", "2"),
    ("class C:\n    def __init__(self):\n        self.a = None\n    def set(self):\n        self.a = 2\n"
     "    def f(self):\n        probe(self.a)", "2"),
    ("class C:\n    def f(self):\n        this = self\n        this.n = 3\n        probe(this.n)", "3"),
    ("class C(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n        probe(self.model)",
     "tf.keras.Model object"),
    ("class Config:\n    BATCH = 32\ncfg = Config\ncfg.BATCH", "32"),
]  # fmt: skip

STORE = "class C:\n    def __init__(self, rows, small=False):\n        self.rows = rows\n"
NARROW = "    def narrow(self):\n        self.rows = self.rows.astype(np.float32)\n"
FIELDS = "from dataclasses import dataclass\n@dataclass\nclass C:\n    rows: np.ndarray\n    def __post_init__(self):\n"
ROWS = "C(np.ones((2, 3))).rows"
SET_ANEW = [
    (STORE + "        self.narrow()\n" + NARROW + ROWS, "np float32 (2, 3)"),
    (STORE + "        self.set()\n    def set(self):\n        self.narrow()\n" + NARROW + ROWS, "np float32 (2, 3)"),
    (STORE + "        self.narrow()\n        probe(self.rows)\n" + NARROW + ROWS, "np float32 (2, 3)"),
    (STORE + "        if small:\n            self.narrow()\n        probe(self.rows)\n" + NARROW + ROWS, "?"),
    (STORE + "        if small:\n            self.narrow()\n" + NARROW + ROWS, "?"),
    (STORE + "        self.set()\n    def set(self):\n        if self.small:\n            self.rows = 0\n" + ROWS, "?"),
    (STORE + "        self.narrow()\n        self.rows = rows\n" + NARROW + ROWS, "np ? (2, 3)"),
    (STORE + NARROW + "c = C(np.ones((2, 3)))\nc.narrow()\nc.rows", "np ? (2, 3)"),
    (STORE + "        self.narrow()\n    def narrow(self):\n        probe(self.rows)\n        self.rows = 1\n" + ROWS,
     "np float64 (2, 3)"),
    (FIELDS + "        self.rows = self.rows.astype(np.float32)\n" + ROWS, "np float32 (2, 3)"),
    (FIELDS + "        self.narrow()\n" + NARROW + ROWS, "np float32 (2, 3)"),
    (FIELDS + "        pass\n" + ROWS, "np float64 (2, 3)"),
]  # fmt: skip

FEED = (
    "class C:\n    def __init__(self, n):\n        self.ds = tf.data.Dataset.range(8)\n{}"
    "    def a(self):\n        self.ds = self.ds.batch(4)\n        return self\n"
    "    def b(self):\n        probe(self.ds)\n        self.ds = self.ds.take(1)\n        return self\n{}"
)
BATCHED, PLAIN = "range batch -> tf int64 (4) x 2", "range -> tf int64 () x 8"
TAKEN = "range batch take -> tf int64 (4) x 1 | range take -> tf int64 () x 1"
RUN = "    def run(self):\n        self.a()\n        self.b()\n"
IN_ORDER = [
    (FEED.format("        self.a()\n        self.b()\n", ""), BATCHED),
    (FEED.format("        self.b()\n        self.a()\n", ""), PLAIN),
    (FEED.format("        self.run()\n" + RUN, ""), BATCHED),
    (FEED.format(RUN, ""), BATCHED),
    (FEED.format(RUN, "C(1).run()"), BATCHED),
    (FEED.format("", "C(1).a().b()"), BATCHED),
    (FEED.format("", "C(1).b().a()"), PLAIN),
    (FEED.format("", "c = C(1)\nc.a()\nc.b()"), BATCHED),
    (FEED.format("", "c = C(1).a()\nc.b()"), BATCHED),
    (FEED.format("", "for c in range(3):\n    d = C(c)\n    d.a()\n    d.b()"), BATCHED),
    (FEED.format("        if n:\n            self.a()\n        self.b()\n", ""), f"{PLAIN} | {BATCHED}"),
    (FEED.format("", "c = C(1)\nif flag:\n    c.a()\nc.b()"), f"{PLAIN} | {BATCHED}"),
    (FEED.format("", "C(1).a().b()\nC(1).b()"), f"{PLAIN} | {BATCHED} | {TAKEN}"),
    (FEED.format("        for _ in range(9):\n            self.a()\n            self.b()\n", ""), "?"),
]  # fmt: skip

METHODS = [
    ("class C:\n    def f(self, a):\n        return a + 1\nC().f(2)", "3"),
    ("class C:\n    def f(self, a):\n        return self.g(a)\n    def g(self, a):\n        return a * 2\nC().f(2)", "4"),  # noqa: E501
    ("class C:\n    @staticmethod\n    def f(a):\n        return a\nC.f(2), C().f(3)", "(2, 3)"),
    ("class C:\n    @classmethod\n    def f(cls, a):\n        return a\nC.f(2)", "2"),
    ("class C:\n    @classmethod\n    def make(cls):\n        return cls()\n    def g(self):\n        return 5\n"
     "C.make().g()", "5"),
    ("class C:\n    @property\n    def n(self):\n        return 8\nC().n", "8"),
    ("import functools\nclass C:\n    @functools.cached_property\n    def n(self):\n        return 8\nC().n", "8"),
    ("class C:\n    def __call__(self, a):\n        return a\nC()(4)", "4"),
    ("class C:\n    def f(self):\n        return self\n    def g(self):\n        return 1\nC().f().g()", "1"),
    ("class C:\n    def f(self, a):\n        probe(a)\nC().f(9)", "9"),
    ("class C:\n    def f(self, x):\n        probe(x)\n    def g(self):\n"
     "        return tf.data.Dataset.range(3).map(self.f)", "tf int64 ()"),
    ("class C:\n    def f(self, x, y):\n        probe(y)\n    def g(self):\n        a = np.zeros((5, 2), np.float32)\n"
     "        return tf.data.Dataset.from_tensor_slices((a, a[:, 0])).map(self.f)", "tf float32 ()"),
]  # fmt: skip

BASES = [
    ("class A:\n    n = 1\nclass B(A):\n    pass\nB().n", "1"),
    ("class A:\n    n = 1\nclass B(A):\n    n = 2\nB().n", "2"),
    ("class A:\n    def f(self):\n        return 1\nclass B(A):\n    def f(self):\n        return 2\nB().f()", "2"),
    ("class A:\n    def __init__(self):\n        self.n = 3\nclass B(A):\n    def f(self):\n        probe(self.n)", "3"),  # noqa: E501
    ("class A:\n    def __init__(self, n):\n        self.n = n\nclass B(A):\n    def __init__(self):\n"
     "        super().__init__(6)\nB().n", "6"),
    ("class A:\n    def f(self):\n        return 1\nclass B(A):\n    def f(self):\n        return super().f() + 1\n"
     "B().f()", "2"),
    ("class M(keras.Model):\n    def call(self, x):\n        return x\nM()", "M object"),
    ("class M(keras.Model):\n    pass\nM().fit", "tf.keras.Model.fit"),
    ("class M(keras.Model):\n    pass\nclass N(M):\n    pass\nN().predict", "tf.keras.Model.predict"),
    ("class A(Unseen):\n    pass\nA().n", "?"),
    ("class A(A):\n    pass\nA().n", "?"),
]  # fmt: skip

SIZED = """
class A:
    def __init__(self, n, net=None, *, deep=False):
        self.n = n
        self.net = net
        self.k = 1
        if deep:
            self.k = 2
class B(A):
    def __init__(self, m):
        super().__init__(m * 2, net=keras.Sequential())
    def run(self):
        return self.n if self.net else 0
"""
MADE = [
    (f"{SIZED}A(3)\nA(4).n", "4"),
    (f"{SIZED}A(3, deep=True).k, A(3).k", "(2, 1)"),
    (f"{SIZED}B(3)\nB(4).n", "8"),
    (f"{SIZED}A(9)\nB(4).run()", "8"),
    ("class C:\n    def __init__(self, n):\n        self.n = n\n    def f(self, n):\n        self.n = n\nC(3).n", "?"),
    ("class C:\n    def __init__(self, n=None):\n        self.n = n\n    def f(self):\n"
     "        return 1 if self.n else 2\nC().f(), C(4).f(), C(unknown).f()", "(2, 1, 1 | 2)"),
    ("class C:\n    def __init__(self, n=None):\n        self.n = n\n    def f(self):\n"
     "        return 1 if self.n else 2\nc = C()\nc.n = 5\nc.f()", "1 | 2"),
    ("class C:\n    def __init__(self, n):\n        self.n = n\n        self.inner = C(n + 1)\nC(3).inner.n", "?"),
    ("class C:\n    def __init__(self, n):\n        if self.m:\n            self.n = n\n        if self.n:\n"
     "            self.m = n\n    def f(self):\n        return 1 if self.n else 2\nC(3).f()", "1"),
]  # fmt: skip
"""What an object holds that it was made with, by the call that made it."""

DATA = [
    ("from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int = 4\nC().n", "4"),
    ("from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int = 4\nC(n=5).n", "5"),
    ("from dataclasses import dataclass\n@dataclass\nclass C:\n    m: int\n    n: int = 4\nC(1, 7).n", "7"),
    ("import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    n: int = 4\n"
     "def f(c: C):\n    probe(c.n)", "4"),
    ("from typing import NamedTuple\nclass C(NamedTuple):\n    n: int = 4\nC().n", "4"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), [*ATTRIBUTES, *SET_ANEW, *IN_ORDER, *METHODS, *BASES, *MADE, *DATA])
def test_values_through_objects(program: str, expected: str) -> None:
    assert shown_in(program) == expected
