"""Values through functions of the module: parameters, defaults, returns, closures, lambdas, recursion."""

import pytest
from programs import shown_in

PARAMETERS = [
    ("def f(a):\n    probe(a)\nf(3)", "3"),
    ("def f(a):\n    probe(a)\nf(3)\nf(4)", "3 | 4"),
    ("def f(a, b=8):\n    probe(b)\nf(3)", "8"),
    ("def f(a, b=8):\n    probe(b)\nf(3, b=9)\nf(1)", "8 | 9"),
    ("def f(*, size=16):\n    probe(size)\nf()", "16"),
    ("def f(a, /, b):\n    probe(b)\nf(1, 2)", "2"),
    ("def f(*args):\n    probe(args)\nf(1, 2)", "(1, 2)"),
    ("def f(*args):\n    probe(args[1])\nf(1, 2)", "2"),
    ("def f(a, *args):\n    probe(args)\nf(1, 2)", "(2)"),
    ("def f(**kwargs):\n    probe(kwargs)\nf(a=1, b=2)", "{a: 1, b: 2}"),
    ("def f(**kwargs):\n    probe(kwargs['b'])\nf(a=1, b=2)", "2"),
    ("def f(a=False):\n    return 1 if a else 2\nprobe(f(a=True))", "1"),
    ("def f(a=False):\n    return 1 if a else 2\nprobe(f())", "2"),
    ("def f(a=False):\n    return 1 if a else 2\nprobe(f(unknown))", "1 | 2"),
    ("def f(a):\n    probe(a)", "?"),
    ("def f(a=3):\n    probe(a)", "3"),
    ("def f(a={'n': 3}):\n    probe(a['n'])", "3"),
    ("def f(a=(3, None)):\n    probe(a[0])", "?"),
    ("def f(a=[]):\n    probe(a)", "?"),
    ("def f(a=None):\n    probe(a)", "?"),
    ("def f(a=True):\n    probe(a)", "?"),
    ("def f(a):\n    probe(a)\nf(3)\nexecutor.submit(f, 4)", "?"),
    ("def f(a):\n    probe(a)\nf(*given)", "?"),
    ("def f(a, b):\n    probe(b)\nsizes = (1, 2)\nf(*sizes)", "2"),
    ("def f(a, b):\n    probe(b)\noptions = {'b': 5}\nf(1, **options)", "5"),
    ("def f(a):\n    probe(a)\nf(3)\nf(b=4)", "3"),
    ("def f(a):\n    probe(a)\nf(3)\nf(4, 5)", "3"),
    ("def f(a, *b, c=1):\n    probe(c)\nf(3, 4, 5)", "1"),
    ("def f(ds: tf.data.Dataset):\n    probe(ds)", "? -> ?"),
    ("def f(x: np.ndarray):\n    probe(x)", "np ? ..."),
    ("def f(x: 'tf.Tensor'):\n    probe(x)", "tf ? ..."),
    ("from typing import Optional\ndef f(x: Optional[tf.Tensor]):\n    probe(x)", "tf ? ..."),
    ("from tensorflow import Tensor\ndef f(x: Tensor | None):\n    probe(x)", "tf ? ..."),
    ("def f(x: tf.Tensor | None = None):\n    probe(x)", "tf ? ..."),
    (
        "def most(a, b=1):\n    a = tf.cast(a, tf.float64)\n    low = tf.reduce_min(a, b) - 1\n"
        "    most = tf.multiply(a - low, 2.0)\n    top = tf.argmax(most, b)\n    most = tf.reduce_max(most, b) + low\n"
        "    probe(tf.cast(most, a.dtype))",
        "tf float64 ...",
    ),
    ("def f(batch):\n    for x in g(batch):\n        pass\ndef g(n):\n    probe(n)\nf(32)", "32"),
]

RETURNS = [
    ("def f():\n    return 3\nf()", "3"),
    ("def f():\n    pass\nf()", "None"),
    ("def f(a):\n    return a\nf(1), f(2)", "(1, 2)"),
    ("def f(a):\n    return g(a) + 1\ndef g(a):\n    return a * 2\nf(5)", "11"),
    ("def f(a):\n    return g(a)\ndef g(a):\n    return h(a)\ndef h(a):\n    return a\nf(5)", "5"),
    ("def f(flag):\n    if flag:\n        return 1\n    return 2\nf(x)", "1 | 2"),
    ("def f():\n    return 1, 'a'\na, b = f()\nb", "'a'"),
    ("def f():\n    return {'train': 1, 'test': 2}\nf()['test']", "2"),
    ("def f(a):\n    return 3\nf(b=3)", "?"),
    ("if x:\n    def f(a):\n        return 3\nelse:\n    def f(b):\n        return 4\nf(b=3)", "4"),
    ("def f(n):\n    return f(n - 1) if n else 0\nf(3)", "?"),
    ("def f(n):\n    return g(n)\ndef g(n):\n    return f(n)\nf(3)", "?"),
    ("def f():\n    yield 1\nf()", "?"),
    ("async def f():\n    return 1\nf()", "?"),
    ("def f(x):\n    y = x.astype('float32')\n    return y / 255\nf(np.zeros((4, 4), np.uint8))", "np float32 (4, 4)"),
    ("def f(n=2):\n    return tf.data.Dataset.range(10).batch(n)\nf()", "range batch -> tf int64 (2) x 5"),
    ("@tf.function\ndef f(x):\n    return x\nf", "traced f"),
    ("@tf.function(jit_compile=True)\ndef f(x):\n    return x\nf", "traced f"),
    ("def f(x):\n    return x\ng = tf.function(f)\ng", "traced f"),
    ("@timed\ndef f():\n    return 3\nf()", "3"),
    ("import functools\n@functools.lru_cache\ndef f():\n    return 3\nf()", "3"),
    ("import contextlib\n@contextlib.contextmanager\ndef f():\n    yield 3\nf()", "?"),
]

CLOSURES = [
    ("N = 4\ndef f():\n    return N\nf()", "4"),
    ("def f():\n    return N\nN = 4\nf()", "4"),
    ("def f():\n    return N\nN = 4\na = f()\nN = 5\na", "4"),
    ("def outer(n):\n    def inner():\n        return n\n    return inner()\nouter(6)", "6"),
    ("def outer(n):\n    def inner(m):\n        return n + m\n    return inner\nouter(6)(1)", "7"),
    ("def outer(n):\n    return lambda m: n * m\nouter(6)(2)", "12"),
    ("f = lambda a, b=2: a + b\nf(1)", "3"),
    ("(lambda a: a)(9)", "9"),
    ("count = 0\ndef f():\n    global count\n    count = 5\nf()\ncount", "0 | 5"),
    ("def f():\n    n = 1\n    def g():\n        nonlocal n\n        n = 2\n    g()\n    return n\nf()", "1 | 2"),
    ("from functools import partial\ndef f(a, b):\n    return a - b\ng = partial(f, 10)\ng(3)", "7"),
    ("from functools import partial\ndef f(a, b):\n    return a - b\ng = partial(f, b=10)\ng(3)", "-7"),
    ("def f(g):\n    return g(2)\nf(lambda v: v * 5)", "10"),
    ("def shout(x):\n    return x\nhandlers = {'a': shout}\nhandlers['a'](3)", "3"),
    ("def print(x):\n    return 4\nprint(3)", "4"),
    ("tf = 3\ntf", "3"),
    ("def f(tf):\n    probe(tf.zeros([2]))", "?"),
    ("def f():\n    np = other()\n    probe(np.zeros(2))", "?"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), [*PARAMETERS, *RETURNS, *CLOSURES])
def test_values_through_functions(program: str, expected: str) -> None:
    assert shown_in(program) == expected


CHOICE = """
def f(a, size=None, fast=True):
    a = 1
    if size is not None:
        a = 2
    return a
"""
EITHER = """
def f(kind, deep=False):
    if kind == 'a':
        found = 1
    elif not deep:
        found = 2
    else:
        found = 3
    return found
"""
NESTED = """
def f(a, device=None, size=None):
    a = 1
    if device:
        a = 2
    else:
        if size is not None and size != 0:
            a = 3
    return a
"""
EARLY = """
def f(size=None):
    if size is None:
        return 1
    return 2
"""
DECIDED = [
    (f"{CHOICE}f(0)", "1"),
    (f"{CHOICE}f(0, 8)", "2"),
    (f"{CHOICE}f(0, size=unknown)", "1 | 2"),
    (f"{CHOICE}f(0, *given)", "1 | 2"),
    (f"{EITHER}f('a')", "1"),
    (f"{EITHER}f('b')", "2"),
    (f"{EITHER}f('b', deep=True)", "3"),
    (f"{EITHER}f(unknown)", "1 | 2"),
    (f"{NESTED}f(0, size=8)", "3"),
    (f"{NESTED}f(0, size=0)", "1"),
    (f"{NESTED}f(0, 'gpu', 8)", "2"),
    (f"{NESTED}f(0, unknown, 8)", "1 | 2 | 3"),
    (f"{EARLY}f()", "1"),
    (f"{EARLY}f(unknown)", "1 | 2"),
    (f"{EARLY}f(3)", "2"),
    ("def f(n=None):\n    n = n or 3\n    a = 1\n    if n is None:\n        a = 2\n    return a\nf()", "1 | 2"),
    ("def f(n):\n    a = 1\n    for x in y:\n        if n:\n            a = 2\n    return a\nf(True)", "1 | 2"),
    ("def f(n):\n    a = 1\n    for x in y:\n        if n:\n            a = 2\n    return a\nf(False)", "1"),
    ("def f(n):\n    a = 1\n    if n:\n        with x:\n            a = 2\n    return a\nf(True)", "1 | 2"),
]


@pytest.mark.parametrize(("program", "value"), DECIDED)
def test_branches_that_a_call_decides(program: str, value: str) -> None:
    assert shown_in(program) == value


STYLES = """
def f(x, style=0):
    y = x
    if style == 0:
        {first}
    elif style in (1, 2):
        {second}
    else:
        {third}
f(3)
f(4, style=1)
"""
GUARDED = """
def f(x, sizes=None):
    if sizes is None:
        return
    probe(x)
f(3)
f(4, [1, 2])
"""
ADDED = """
def f(x, twice=False):
    if twice:
        x = unknown(x)
    probe(x)
f(3)
"""
TYPED = """
def f(x: np.ndarray, deep=False):
    if deep:
        probe(x)
f(np.zeros(3))
"""
SOME = [
    (STYLES.format(first="probe(x)", second="pass", third="pass"), "3"),
    (STYLES.format(first="pass", second="probe(x)", third="pass"), "4"),
    (STYLES.format(first="pass", second="probe(y)", third="pass"), "4"),
    (STYLES.format(first="pass", second="pass", third="probe(x)"), "?"),
    (f"{STYLES.format(first='pass', second='pass', third='probe(x)')}f(5, unknown)", "5"),
    (f"{STYLES.format(first='pass', second='pass', third='probe(x)')}submit(f)", "?"),
    (GUARDED, "4"),
    (ADDED, "3"),
    (f"{ADDED}f(4, True)", "?"),
    (TYPED, "np ? ..."),
]


@pytest.mark.parametrize(("program", "value"), SOME)
def test_values_where_only_some_calls_come(program: str, value: str) -> None:
    assert shown_in(program) == value
