"""Whether the argument of `probe(...)` gives the same in each iteration of the loop around."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.repetition.invariance import bound_anew, definitions_of, passes_unchanging, unchanging
from tfmemlint.syntax.tree import walk

LOOPS = [
    ("x = load()", "probe(x)", True),
    ("", "probe(3)", True),
    ("", "probe(i)", False),
    ("", "probe(np.zeros(3))", True),
    ("", "probe(np.random.rand(3))", False),
    ("x = load()", "x = step(x)\n    probe(x)", False),
    ("x = load()", "y = np.sqrt(x)\n    probe(y)", True),
    ("x = load()", "y = x + i\n    probe(y)", False),
    ("x = []", "x.append(1)\n    probe(x)", False),
    ("x = load()", "probe(lambda y: y + x)", True),
    ("x = load()", "probe(lambda y: y + i)", False),
    ("", "probe((n := 3))", False),
    ("x = 3", "def f():\n        return x\n    probe(f)", True),
    ("", "def f():\n        return i\n    probe(f)", False),
    ("", "import os\n    probe(os.path)", True),
    ("x = load()", "a = x\n    b = a\n    c = b\n    probe(c)", True),
]


@pytest.mark.parametrize(("before", "body", "expected"), LOOPS)
def test_what_is_the_same_in_each_iteration(before: str, body: str, expected: bool) -> None:
    file = model_of(f"{before}\nfor i in range(9):\n    {body}")
    probe = file.calls_by_word["probe"][0]
    assert unchanging(file, [probe.args[0].value], next(walk(file.module, cst.For)), besides=[probe]) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("probe(x)", True),
        ("y = np.sqrt(x)\n    probe(y)", True),
        ("y = np.random.rand(3)\n    probe(y)", False),
        ("y = np.random.rand(3)\n    a, b = np.split(y, 3)\n    probe(np.squeeze(a))", False),
        ("y, z = draw(x)\n    a, b = np.split(y, 3)\n    probe(np.squeeze(a))", False),
        ("y, z = halves(x)\n    a, b = np.split(y, 3)\n    probe(np.squeeze(a))", True),
        ("y = []\n    y.append(np.load(x))\n    probe(y)", True),
        ("y = []\n    y.append(draw(x))\n    probe(y)", False),
        ("y = np.zeros(3)\n    z = draw(x)\n    y[0][1] = z\n    probe(y)", False),
        ("y = np.zeros(3)\n    z = draw(x)\n    w[0] = z\n    probe(y)", True),
        ("y = np.zeros(3)\n    def g():\n        yield y + draw(x)\n    probe(g)", True),
        ("a = x\n    b = a\n    c = b\n    d = c\n    e = d\n    probe(e)", True),
        ("y = 'rows'\n    y += str(x)\n    z = y + '.npy'\n    probe(np.load(z))", True),
        ("y = 'rows'\n    y += load(x)\n    z = y + '.npy'\n    probe(np.load(z))", False),
        ("y = x\n    y += 1\n    z = np.sqrt(y)\n    probe(z)", False),
        ("x += 1\n    z = np.sqrt(x)\n    probe(z)", False),
        ("probe(outside)", True),
        ("probe(unknown(x))", False),
    ],
)
def test_a_function_gives_the_same_for_the_same_arguments(body: str, expected: bool) -> None:
    functions = "def halves(n):\n    return n, n\ndef draw(n):\n    return n, np.random.rand(n)\n"
    file = model_of(f"{functions}outside = load()\ndef f(x):\n    {body}")
    probe = file.calls_by_word["probe"][0]
    function = next(each for each in walk(file.module, cst.FunctionDef) if each.name.value == "f")
    assert unchanging(file, [probe.args[0].value], function, besides=[probe]) is expected


def test_expressions_besides_are_taken_for_pure() -> None:
    file = model_of("for i in range(9):\n    probe(unknown(3))")
    given, loop = file.calls_by_word["probe"][0].args[0].value, next(walk(file.module, cst.For))
    assert unchanging(file, [given], loop)
    assert not unchanging(file, [given], loop, besides=[])


PASSED = [
    ("def f(a, b):\n    return probe(a)", "f(x, 3)", False, True),
    ("def f(a, b):\n    return probe(a)", "f(x, i)", False, True),
    ("def f(a, b):\n    return probe(a)", "f(x, i)", True, False),
    ("def f(a, b):\n    return probe(a)", "f(i, 3)", False, False),
    ("def f(a, b):\n    c = a\n    return probe(c)", "f(i, 3)", False, False),
    ("def f(a, b):\n    c = []\n    c.append(a)\n    return probe(c)", "f(i, 3)", False, False),
    ("def f(a, b):\n    c = []\n    c.append(b)\n    return probe(c)", "f(i, 3)", False, True),
    ("def f(a, b):\n    c = np.zeros(3)\n    c[0] = a\n    return probe(c)", "f(i, 3)", False, False),
    ("def f(a, b):\n    return probe(x)", "f(3, 3); x = 4", False, False),
    ("def f(a, b):\n    return probe(a)", "f(*x)", False, False),
    ("def f(*args):\n    return probe(args[0])", "f(x, i)", False, False),
    ("def f(a, *args):\n    return probe(a)", "f(x, i)", False, True),
    ("def f(a, *args, b=0):\n    return probe(args)", "f(x, 3, b=i)", False, True),
    ("def f(a, **options):\n    return probe(options)", "f(x, b=i)", False, False),
    ("def f(a, **options):\n    return probe(options['b'])", "f(a=i, b=x)", False, True),
    ("class A:\n    def f(self):\n        return probe(self.n)\na = A()", "a.f()", False, True),
    ("class A:\n    def f(self):\n        return probe(self.n)\na = A()", "a.f(); a.n = 4", False, False),
    ("class A:\n    def f(self):\n        return probe(self.n)\na = A()", "a.f(); a.m = 4", False, True),
]


@pytest.mark.parametrize(("function", "body", "whole", "expected"), PASSED)
def test_what_a_loop_passes_to_a_function(function: str, body: str, whole: bool, expected: bool) -> None:
    file = model_of(f"x = load()\n{function}\nfor i in range(9):\n    {body}")
    loop, call = next(walk(file.module, cst.For)), file.call(file.calls_by_word["f"][-1])
    part = file.calls_by_word["probe"][0].args[0].value
    asked = next(walk(file.module, cst.FunctionDef))
    assert passes_unchanging(file, call, asked, loop, [part], whole=whole) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("probe(lambda: x)", set()),
        ("probe(lambda: i)", {"i"}),
        ("y = 3\n    probe(lambda: y)", {"y"}),
        ("def f(): return x\n    probe(lambda: f())", set()),
        ("def f(): return i\n    probe(lambda: f())", {"i"}),
        ("f = lambda: i\n    probe(f)", {"i"}),
        ("f = load(i)\n    probe(lambda: f())", {"f"}),
        ("def f(): return g() + i\n    def g(): return f()\n    probe(f)", {"i"}),
        ("probe(lambda i: i)", set()),
    ],
)
def test_names_that_a_loop_binds_anew(body: str, expected: set[str]) -> None:
    file = model_of(f"x = load()\nfor i in range(9):\n    {body}")
    asked = file.calls_by_word["probe"][0].args[0].value
    assert bound_anew(file, asked, next(walk(file.module, cst.For))) == expected


def test_a_comprehension_binds_its_items() -> None:
    file = model_of("[probe(a, b, c) for a in x for b in y]")
    assert bound_anew(file, file.calls_by_word["probe"][0], next(walk(file.module, cst.ListComp))) == {"a", "b"}


def test_a_name_from_outside_has_all_that_binds_it_there() -> None:
    file = model_of("x = 1\nx = 2\ndef f():\n    probe(x)\nprobe(x)")
    inner, outer = (next(walk(call.args[0], cst.Name)) for call in file.calls_by_word["probe"])
    assert [file.text(d.value) for d in definitions_of(file, inner) if d.value is not None] == ["1", "2"]
    assert [file.text(d.value) for d in definitions_of(file, outer) if d.value is not None] == ["2"]
