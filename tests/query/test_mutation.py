"""Whether a loop may change what its body reads as the argument of `probe(...)`."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.repetition.mutation import mutates
from tfmemlint.syntax.tree import walk

CLASS = "class Box:\n    def __init__(self):\n        self.x = 1\n    "

LOOPS = [
    ("v = make()", "probe(v)", "other = 3", False),
    ("v = make()", "probe(v)", "v = 3", True),
    ("v = make()", "probe(v)", "a, v = pair", True),
    ("v = make()", "probe(v)", "v += 1", True),
    ("v = make()", "probe(v)", "v[0] = 1", True),
    ("v = make()", "probe(v)", "v.rate = 1", True),
    ("v = make()", "probe(v)", "del v", True),
    ("v = make()", "probe(v.rate)", "v.rate = 1", True),
    ("v = make()", "probe(v.rate)", "v.other = 1", False),
    ("v = make()", "probe(v.rate)", "v = 1", True),
    ("v = make()", "probe(v)", "v.append(1)", True),
    ("v = make()", "probe(v)", "v.keys()", False),
    ("v = make()", "probe(v)", "v.unknown()", True),
    ("v = make()", "probe(v)", "np.sum(v)", False),
    ("v = make()", "probe(v)", "np.random.shuffle(v)", True),
    ("v = make()", "probe(v)", "unknown(v)", True),
    ("v = np.zeros(3)", "probe(v)", "unknown(v)", False),
    ("v = np.zeros(3)", "probe(v)", "np.copyto(v, w)", True),
    ("v = np.zeros(3)", "probe(v)", "v.sort()", True),
    ("v = np.zeros(3)", "probe(v)", "v.mean()", False),
    ("def f(x):\n    x.append(1)\nv = make()", "probe(v)", "f(v)", True),
    ("def f(x):\n    return x.size\nv = make()", "probe(v)", "f(v)", False),
    ("def f():\n    global v\n    v = 3\nv = make()", "probe(v)", "f()", True),
    ("def g():\n    v.append(3)\ndef f():\n    g()\nv = make()", "probe(v)", "f()", True),
    ("def f():\n    v = 3\nv = make()", "probe(v)", "f()", False),
    (f"{CLASS}def set(self):\n        self.x = 2\nv = Box()", "probe(v.x)", "v.set()", True),
    (f"{CLASS}def set(self):\n        self.y = 2\nv = Box()", "probe(v.x)", "v.set()", False),
    (f"{CLASS}def set(self):\n        self.deep()\n    def deep(self):\n        self.x = 2\nv = Box()", "probe(v.x)",
     "v.set()", True),
    ("v = make()", "probe(v.x)", "unknown(v)", True),
    ("v = make()", "probe(v.x)", "print(v)", False),
]  # fmt: skip


@pytest.mark.parametrize(("before", "read", "changed", "expected"), LOOPS)
def test_what_a_loop_may_change(before: str, read: str, changed: str, expected: bool) -> None:
    file = model_of(f"{before}\nfor i in range(9):\n    {read}\n    {changed}")
    loop, probe = next(walk(file.module, cst.For)), file.calls_by_word["probe"][0]
    name = next(walk(probe.args[0], cst.Name))
    assert mutates(file, loop, name, besides=[probe]) is expected


def test_the_path_may_be_another_than_the_one_read() -> None:
    file = model_of("v = make()\nfor i in range(9):\n    probe(v)\n    v.rate = 3")
    loop, probe = next(walk(file.module, cst.For)), file.calls_by_word["probe"][0]
    name = next(walk(probe.args[0], cst.Name))
    assert mutates(file, loop, name, besides=[probe], path="v.rate")
    assert not mutates(file, loop, name, besides=[probe], path="v.size")
