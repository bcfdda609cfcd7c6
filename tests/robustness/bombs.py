"""Code that is small or simple and that a parser may take for ever for, or all memory.

Each is a function of its size: what grows is nesting, the length of a chain or the number of items. All are Python as
far as Python itself has no limit for them.
"""

from __future__ import annotations

from collections.abc import Callable

Bomb = Callable[[int], str]


def around(before: str, after: str, *, start: str = "x = ", inside: str = "a", end: str = "") -> Bomb:
    """Something inside of itself `n` times."""
    return lambda n: start + before * n + inside + after * n + end


def repeated(item: str, *, start: str = "x = a", end: str = "") -> Bomb:
    """`n` items one behind the other."""
    return lambda n: start + item * n + end


def pattern(before: str, after: str, inside: str = "a") -> Bomb:
    """A pattern of a `case` inside of itself."""
    return around(before, after, start="match x:\n    case ", inside=inside, end=":\n        pass")


def indented(*lines: str) -> Bomb:
    """Blocks inside of each other."""

    def made(n: int) -> str:
        return "".join(f"{' ' * depth}{line}\n" for depth in range(n) for line in lines) + " " * n + "pass"

    return made


NESTED: dict[str, Bomb] = {
    "parentheses": around("(", ")"),
    "lists": around("[", "]"),
    "dicts": around("{1: ", "}"),
    "tuples": around("(", ",)"),
    "calls": around("f(", ")"),
    "keyword arguments": around("f(a=", ")"),
    "starred arguments": around("f(*", ")"),
    "subscripts in each other": around("a[", "]"),
    "slices": around("a[1:2:", "]"),
    "comprehensions": around("[", " for a in b]"),
    "comprehensions of comprehensions": around("[a for a in ", "]"),
    "generators": around("f(", " for a in b)"),
    "lambdas in brackets": around("(lambda: ", ")"),
    "defaults of lambdas": around("lambda a=", ": 1", inside="1"),
    "defaults of lambdas with commas": around("lambda a, b=", ": 1", inside="1"),
    "conditions in brackets": around("(a if b else ", ")"),
    "assignment expressions": around("(a := ", ")"),
    "yields": around("(yield ", ")", start="def f():\n    x = "),
    "awaits": around("(await ", ")", start="async def f():\n    x = "),
    "targets": around("[", "]", start="", end=" = 1"),
    "deleted tuples": around("(", ",)", start="del "),
    "deleted tuples behind a colon": around("(", ",)", start="if a: del "),
    "loop targets": around("(", ",)", start="for ", end=" in x: pass"),
    "with targets": around("(", ",)", start="with a as ", end=": pass"),
    "decorator calls": around("f(", ")", start="@", end="\ndef g(): pass"),
    "annotations": around("f[", "]", start="def g(a: ", end="): pass"),
    "type parameters": around("f[", "]", start="def g[T: ", end="](): pass"),
    "type aliases": around("f[", "]", start="type X = "),
    "formatted strings": around("f'{", "}'"),
    "brackets in a formatted string": around("(", ")", start="x = f'{", end="}'"),
    "calls in a formatted string": around("f(", ")", start="x = f'''\n{", end="}'''"),
    "formats of formatted strings": around("{a:", "}", start="x = f'"),
    "list patterns": pattern("[", "]"),
    "group patterns": pattern("(", ")"),
    "tuple patterns": pattern("(", ",)"),
    "class patterns": pattern("A(", ")"),
    "keyword patterns": pattern("A(b=", ")"),
    "mapping patterns": pattern("{1: ", "}"),
    "or patterns": pattern("(1 | ", ")", "2"),
    "invalid patterns": pattern("(", ",)", "a=1"),
    "ifs": indented("if a:"),
    "functions": indented("@d", "def f():"),
    "classes": indented("class A:"),
    "withs": indented("with (a as b):"),
    "matches": indented("match a:", " case b:"),
    "unclosed calls": repeated("f(", start="x = "),
    "unclosed patterns": repeated("A(b=[", start="match x:\n    case "),
}
"""What Python takes up to a depth of a hundred or two."""

CHAINED: dict[str, Bomb] = {
    "minuses": repeated("-", start="x = ", end="1"),
    "minuses apart": repeated("- ", start="x = ", end="1"),
    "inversions": repeated("~-", start="x = ", end="1"),
    "nots": repeated("not ", start="x = ", end="1"),
    "nots in lines": repeated("not\n", start="x = (", end="1)"),
    "powers": repeated("**1", start="x = 1"),
    "negative powers": repeated("**-1", start="x = 1"),
    "lambdas": repeated("lambda: ", start="x = ", end="1"),
    "conditions": repeated("a if b else ", start="x = ", end="1"),
    "conditions of attributes": repeated("a.b if c.d else ", start="x = ", end="1"),
    "conditions of sums": repeated("1+1 if b else ", start="x = ", end="1"),
    "conditions of strings": repeated("'a' if b else ", start="x = ", end="1"),
    "lambdas of conditions": repeated("lambda: a if b else ", start="x = ", end="1"),
    "comparisons": repeated("<1"),
    "ands": repeated(" and 1"),
    "sums": repeated("+1"),
    "attributes": repeated(".b"),
    "empty calls": repeated("()"),
    "methods": repeated(".b()"),
    "methods with a function": repeated(".map(lambda x: x + 1, b=[1, f(3)])"),
    "methods of a long list": lambda n: "x = [" + "1, " * n + "]" + ".b()" * (n // 4),
    "subscripts": repeated("[0]"),
    "attributes of a target": repeated(".b", start="a", end=" = 1"),
    "attributes of a loop's target": repeated(".b", start="for a", end=" in x: pass"),
    "attributes in a pattern": repeated(".b", start="match x:\n    case a", end=": pass"),
    "dots of an import": repeated(".", start="from ", end=" import a"),
    "elifs": repeated("elif a:\n    pass\n", start="if a:\n    pass\n"),
    "joined strings": repeated("'a' ", start="x = (", end=")"),
    "joined strings in lines": repeated("'a\\n'\n", start="x = (", end=")"),
    "joined formatted strings": repeated("f'{a}' ", start="x = (", end=")"),
}
"""What Python takes up to a depth of some thousands, or any."""

LONG: dict[str, Bomb] = {
    "a list": repeated("1,", start="x = [", end="]"),
    "a dict": repeated("1:1,", start="x = {", end="}"),
    "arguments": repeated("a,", start="x = f(", end=")"),
    "slices of one subscript": repeated("1:2,", start="x = a[", end="]"),
    "fields of a string": repeated("{a}", start="x = f'", end="'"),
    "comprehension clauses": repeated("for a in b ", start="x = [a ", end="]"),
    "with items": repeated(", a", start="with a", end=": pass"),
    "targets in a row": repeated("x = ", start="", end="1"),
    "alternatives": repeated(" | 1", start="match x:\n    case 1", end=": pass"),
    "cases": repeated("    case 1: pass\n", start="match x:\n"),
    "decorators": repeated("@a\n", start="", end="def f(): pass"),
    "exceptions": repeated("except A:\n    pass\n", start="try:\n    pass\n"),
    "parameters": lambda n: "def f(" + "".join(f"a{i}=1," for i in range(n)) + "): pass",
    "type parameters in a row": lambda n: "def f[" + "".join(f"T{i}," for i in range(n)) + "](): pass",
    "names of an import": repeated(", a", start="from b import a"),
    "statements in a line": repeated("a;", start=""),
    "statements": repeated("a = b\n", start=""),
    "calls in lines": repeated("a.b.c.d()\n", start=""),
    "small patterns": repeated("    case [[[a]]]: pass\n", start="match x:\n"),
    "comments": repeated("# a\n", start="", end="a"),
    "blank lines in brackets": repeated("\n", start="x = (", end="a)"),
    "continued lines": repeated("\\\n", start="x = ", end="a"),
    "digits": repeated("1", start="x = "),
    "a string": repeated("a\\'", start="x = '", end="'"),
    "an unclosed string": repeated("a\\\"'", start='x = """'),
}
"""What only takes room."""

BOMBS: dict[str, Bomb] = {**NESTED, **CHAINED, **LONG}
