"""What moves in front of a loop, and what stays in it."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.finding import Safety
from tfmemlint.fix.hoist import hoist

MOVED = {
    "in front of the loop": ("for i in r:\n    a = f()\n    use(a)\n", "a = f()\nfor i in r:\n    use(a)\n"),
    "out of all loops around": (
        "for i in r:\n    while True:\n        a = f()\n        use(a)\n",
        "a = f()\nfor i in r:\n    while True:\n        use(a)\n",
    ),
    "only out of loops that it does not read": (
        "for i in r:\n    for j in r:\n        a = f(i)\n        use(a)\n",
        "for i in r:\n    a = f(i)\n    for j in r:\n        use(a)\n",
    ),
    "not out of a loop with a condition between": (
        "for i in r:\n    if i:\n        for j in r:\n            a = f()\n            use(a)\n",
        "for i in r:\n    if i:\n        a = f()\n        for j in r:\n            use(a)\n",
    ),
    "with a comment of its own and over several lines": (
        "for i in r:\n    a = f(\n        1,  # one\n    )\n\n    use(a)\n",
        "a = f(\n    1,  # one\n)\nfor i in r:\n    use(a)\n",
    ),
    "a function with its decorator": (
        "for i in r:\n    @d\n    def a(x):\n        return x\n    use(a)\n",
        "@d\ndef a(x):\n    return x\nfor i in r:\n    use(a)\n",
    ),
    "from the end of a file without a line end": (
        "for i in r:\n    print(i)\n    a = f()",
        "a = f()\nfor i in r:\n    print(i)\n",
    ),
}
STAYS = {
    "it reads the loop's name": "for i in r:\n    a = f(i)\n    use(a)\n",
    "it reads what the body binds": "for i in r:\n    b = i\n    a = f(b)\n    use(a)\n",
    "the loop binds the name elsewhere": "for i in r:\n    a = f()\n    a = g(a)\n",
    "a condition stands around it": "for i in r:\n    if i:\n        a = f()\n        use(a)\n",
    "it reads what it bound in the last iteration": "for i in r:\n    a = f(a)\n    use(a)\n",
    "it is all that the loop does": "for i in r:\n    a = f()\n",
    "it shares its line": "for i in r:\n    a = f(); use(a)\n    use(a)\n",
    "it binds no name": "for i in r:\n    f()\n    use(i)\n",
    "it fills a place": "for i in r:\n    x.a = f()\n    use(x)\n",
    "a string runs over lines": 'for i in r:\n    a = f("""1\n    2""")\n    use(a)\n',
    "no loop is around": "if r:\n    a = f()\n    use(a)\n",
}


def moved(source: str) -> str | None:
    """What becomes of a program as the statement around `f(`, or the `def`, moves; None if it stays."""
    file = model_of(source, header="")
    made = list(file.tree.of(cst.FunctionDef)) or [
        file.tree.statement(n) for n in file.tree.of(cst.Call) if file.text(n).startswith("f(")
    ]
    fix = hoist(file, [made[0]], "before the loop")
    if fix is None:
        return None
    assert fix.safety is Safety.UNSAFE
    text = file.source.text
    for edit in sorted(fix.edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.content + text[edit.end :]
    return text


@pytest.mark.parametrize(("before", "after"), MOVED.values(), ids=MOVED)
def test_moves(before: str, after: str) -> None:
    assert moved(before) == after


@pytest.mark.parametrize("program", STAYS.values(), ids=STAYS)
def test_stays(program: str) -> None:
    assert moved(program) is None


def test_statements_that_do_not_follow_each_other_stay() -> None:
    program = textwrap.dedent("""\
        for i in r:
            a = f()
            use(i)
            b = f(a)
            use(b)
    """)
    file = model_of(program, header="")
    calls = [file.tree.statement(n) for n in file.tree.of(cst.Call) if file.text(n).startswith("f(")]
    assert hoist(file, calls, "before the loop") is None
