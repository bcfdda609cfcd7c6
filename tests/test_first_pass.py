"""The first pass sees libcst's tree, without libcst's parser, and changes nothing that is reported."""

from __future__ import annotations

import contextlib
import sys
import sysconfig
from pathlib import Path

import pytest
from daily import share
from first_pass import findings_unlike, results, unlike

from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter
from tfmemlint.syntax.first_pass.layout import Unsupported

FIXTURES = Path(__file__).parents[1] / "fixtures"
SAMPLES = sorted(path for path in FIXTURES.glob("*/*/*") if path.suffix in (".py", ".ipynb", ".md"))
LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
LINTERS = Linter(Config(select=("ALL",))), Linter(Config(select=("ALL",)))
HEAD = "import tensorflow as tf\n"
WASTE = f"{HEAD}ds = tf.data.Dataset.range(9).repeat().cache().batch(3).prefetch(1)\n"

PROGRAMS = r"""
a; b
a; \
    b
a;
a  # comment; with a semicolon
x = (1) ; y = (2);
if a: b; c
if a: b
elif c: d
else:
    if e: f
    else: g
if a:
    b  # behind
elif c:
    (d)
else: pass
while a: b
else: c;
if a:
    b;
for a, in b: c
for a in 1, *b: c
else:
    d
async def f(): await a; return
async def f():
    async for a in b: pass
    async with a as b, c: pass
    return [a async for a in b if await c]
def f(a, /, b: int = 1, *c: str, d, e=2, **f) -> None: yield
def f(*, a): yield a, b
def f(*a: (int), b=(1)): return
@a.b(c)
@(d)
class A(b, *c, metaclass=d, **e): x: int = 1; y: (str)
class A: "text"
lambda: (yield)
lambda a, *b, c=1, **d: a
try: a
except (b, c) as d: e
except f: g
except: h
else: i
finally: j
try:
    a
finally:
    b
with (a, b): pass
with (a as b, c as d): pass
with (a) as b: pass
with (yield): pass
with a as (b, c), d: pass
del a
del a,
del (a)
del (a,)
del (a), b
del a, b
del (a, b)
del a[b],  # a comment, with commas
x = a, = b
x = (a)
x = a, b
x = (a), b
x = (a), (b)
x = ((a), b)
x = ((a, b), c)
x = (a, b), c
x = (a  # one (
     ), b
x = (  # two )
    a, b)
x = ( a , b , )
x = ()
x = (a for a in b), 1
x = f(a for a in b)
x = f((a for a in b))
x = f( a for a in b if (c) )
x = (a for a in (b)  # three
     )
x[1]
x[1, 2]
x[1,]
x[(1, 2)]
x[(1), 2]
x[()]
x[1:2, ..., None]
x[:], x[::], x[a:b:c]
f(*a, b, c=1, *d, e=2, **f)
f(a, *b, c=1)
f((a), b=(c))
f(a=1, *b)
a < b <= c is not d not in e
a and b and (c or d) or e
not -+~a ** -b
a if b else c if d else e
(a := b)
x += 1; x @= y; x //= z; x >>= 1
x: int; x: (int) = (1)
{**a, 'b': c}, {a, *b}, [*a], {}
{a: b for a, b in c if d if e}
{a for a in b for c in d}
'a' 'b' "c"
('a'  # one
 'b' r'\c'
 )
b'a' rb'b'
x = '''a
b''' "c"
f'{a}'
f'{a!r:>{b}} {c=}' 'd' f"{e}"
x = (f'{a}'
     f'{b}')
'\d'
1_000, 0xFF, 1e3, 1j, 0o7
True, None, False, ..., __debug__
global a, b
import a
import a.b.c as d, e
from . import a
from .. a . b import (c as d, e,)
from ... import *
raise
raise A from b
assert a, b
assert (a)
return_ = print
été = "é"; x = (été, "é")  # é
x = (a.
     b
     .c)
(a).b.c(d)
(yield)
x = yield a, b
x = yield from a
x = await_
if a:
    # comment
    b

    # comment
c
"""
"""Statements that are read one by one, each from where a line is no longer indented or goes on."""


def statements() -> list[str]:
    found: list[str] = []
    for line in PROGRAMS.strip("\n").split("\n"):
        goes_on = line[:1] in (" ", ")", "") or line.startswith(("elif", "else", "except", "finally", "b'''"))
        goes_on = goes_on or (found and found[-1].rstrip("\n").rsplit("\n", 1)[-1].startswith("@"))
        if goes_on:
            found[-1] += f"{line}\n"
        else:
            found.append(f"{line}\n")
    return found


@pytest.mark.parametrize("program", ["".join(statements()), *statements()])
def test_the_tree_is_that_of_libcst(program: str) -> None:
    assert unlike(program) == ""
    assert unlike(program.rstrip("\n")) == ""


@pytest.mark.parametrize(
    "program",
    ["match a:\n    case 1: pass\n", "x = ﬁ\n", "if a: \\\n  b\n", "x = (\n", "a\r\nb\n", f"x = {'(' * 300}\n"],
)
def test_what_it_has_no_tree_of_is_left_to_libcst(program: str) -> None:
    with pytest.raises(Unsupported):
        unlike(program)


@pytest.mark.parametrize("path", [*share(SAMPLES, 40), *share(LIBRARY, 20)], ids=lambda path: "/".join(path.parts[-3:]))
def test_trees_and_reports_stay_the_same(path: Path) -> None:
    data = path.read_bytes()
    if path.suffix == ".py":
        with contextlib.suppress(Unsupported):
            assert unlike(data.decode()) == ""
    assert findings_unlike(*results(data, str(path), LINTERS)) == ""


def test_nothing_is_said_of_what_python_warns_of(capfd: pytest.CaptureFixture[str]) -> None:
    LINTERS[1].lint(f"{HEAD}x = '\\d'\nassert (1, 'always')\nx is 'a'\n".encode(), "a.py")
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="the parser of Python 3.12 refuses what is so deep")
def test_a_chain_that_libcst_does_not_read_is_no_finding() -> None:
    chain = f"{HEAD}x = a{'.b(c)' * 3_000}\n"
    assert LINTERS[1].lint(chain.encode(), "a.py").findings == ()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
@pytest.mark.parametrize("program", ["def f[T](a: T): pass\n", "class A[T](b): pass\n", "type X = int\n"])
def test_type_parameters_are_read_or_left_to_libcst(program: str) -> None:
    try:
        assert unlike(program) == ""
    except Unsupported:
        assert program.startswith("type")
