"""Small programs, one for each form of Python's grammar, and the same with blanks before each token."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator

CONSTRUCTS = (
    "import a.b as c, d",
    "from . import e",
    "from .f import (g, h as i)",
    "from j import *",
    "x = y = 1",
    "x: int = 2",
    "x[0] += 3",
    "del x, y[0]",
    "assert x, 'm'",
    "def f(a, /, b: int = 1, *c, d=2, **e) -> int: global q; return a",
    "def f(): x = yield; y = yield a; yield from b",
    "async def g(*, a): await f(a)",
    "async def g():\n    async with b as c, d: pass\n    async for e in f: await g",
    "async def g(): return [x async for x in y if z]",
    "@deco(1)\nclass A(B, metaclass=C): pass",
    "if a: b\nelif c: d\nelse: e",
    "for a, b in c: continue\nelse: pass",
    "while a: break\nelse: pass",
    "try: a\nexcept B: c\nexcept (B, C) as d: e\nelse: f\nfinally: g",
    "try: a\nexcept* B: c\nexcept* C as d: e",
    "with a as b, f(c): d",
    "with (a as b, f(c)): d",
    "raise A(1) from b",
    "x = lambda a, *b, c=1, **d: f(a)",
    "x = a if b else c",
    "x = not a and b or f(c)",
    "x = a < b <= c is not d not in f(e)",
    "x = a + b // c % f(d) ** e @ g",
    "x = -a; y = ~f(b)",
    "x = a.b[c:d:e, f, ...](g, *h, k=i, **j)",
    "x = (a, *f(b)); y = [a, *b]; z = {a, *b}; w = {a: b, **c}",
    "x = [a for b, c in d if e if f for g in f(h)]",
    "x = {a: b for c in d}; y = {a for b in c}; z = f(a for b in c)",
    "x = f'a{f(b)!r:>{c}}d{e=}' 'f' f'{a}'",
    "x = (y := f(1))",
    "match a, f(b):\n    case 1 | -2 if f(b): c\n    case [a, *b, _] as c: d",
    "match a:\n    case {'a': b, **c}: d\n    case A(b, c=d): e\n    case (a.b): f(c)",
    "class A[T: int, *S, **P]: pass",
    "def f[T](a: T) -> f(T): pass",
    "type X[T] = f(T)",
)

FILLERS = (" ", "\t", "\\\n", " \\\n\\\n ", "\f", "\n", "# c\n", "  # c\n\n")


def programs() -> Iterator[str]:
    """Each construct that the running Python knows, with each filler before each of its tokens where that is Python."""
    for construct in CONSTRUCTS:
        if parses(construct):
            yield from spaced(f"{construct}\n")


def spaced(program: str) -> Iterator[str]:
    """The program with each filler before each of its tokens, as far as that is Python."""
    starts = [0]
    for line in program.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        offset = starts[token.start[0] - 1] + token.start[1]
        for filler in FILLERS:
            text = program[:offset] + filler + program[offset:]
            if parses(text):
                yield text


def parses(text: str) -> bool:
    """Whether the running Python takes the text for a program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError:
        return False
    return True
