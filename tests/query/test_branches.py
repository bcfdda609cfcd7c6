"""Conditions around a place, and what runs whenever something else did."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.ordering.branches import always_follows, is_condition, under_condition
from tfmemlint.query.ordering.conditions import asks_name, asks_parameter, asks_type

CONDITIONS = [
    ("if a():\n    pass", True),
    ("while a() and b: pass", True),
    ("x = 1 if a() else 2", True),
    ("x = a() if c else 2", False),
    ("x = not a()", True),
    ("x = a() or 2", False),
    ("assert a()", True),
    ("assert c, a()", False),
    ("[x for x in y if a()]", True),
    ("if a() > 1:\n    pass", False),
    ("print(a())", False),
]


@pytest.mark.parametrize(("program", "expected"), CONDITIONS)
def test_only_the_truth_is_asked(program: str, expected: bool) -> None:
    file = model_of(program)
    assert is_condition(file, file.calls_by_word["a"][0]) is expected


PLACES = [
    ("a()", False),
    ("if c:\n    a()", True),
    ("if __name__ == '__main__':\n    a()", False),
    ("try:\n    a()\nexcept E:\n    pass", False),
    ("try:\n    pass\nexcept E:\n    a()", False),
    ("for x in y:\n    a()", False),
    ("if c:\n    def f():\n        a()", False),
    ("c and a()", True),
    ("a() if c else b()", True),
    ("match c:\n    case 1:\n        a()", True),
    ("def f():\n    if c:\n        return\n    a()", True),
    ("def f():\n    if c:\n        b()\n    a()", False),
    ("def f():\n    a()\n    if c:\n        return", False),
]


@pytest.mark.parametrize(("program", "expected"), PLACES)
def test_what_keeps_a_place_from_running(program: str, expected: bool) -> None:
    file = model_of(program)
    assert under_condition(file, file.calls_by_word["a"][0]) is expected


FOLLOWS = [
    ("first()\nthen()", True),
    ("then()\nfirst()", False),
    ("first()\nif c:\n    then()", False),
    ("if c:\n    first()\n    then()", True),
    ("if c:\n    first()\nif d:\n    then()", True),
    ("try:\n    first()\nfinally:\n    then()", True),
    ("first()\ntry:\n    b()\nexcept E:\n    then()", False),
    ("first()\ntry:\n    then()\nexcept E:\n    raise", True),
    ("first()\ntry:\n    then()\nexcept E:\n    pass", False),
    ("first()\ntry:\n    then()\nexcept E:\n    print(1)\n    tf.then()", False),
    ("first()\nif c:\n    return 1\nthen()", False),
    ("first()\nif c:\n    raise E\nthen()", False),
    ("try:\n    first()\n    if c:\n        raise E\nexcept E:\n    pass\nthen()", True),
    ("if c:\n    return 1\nfirst()\nthen()", True),
]


@pytest.mark.parametrize(("body", "expected"), FOLLOWS)
def test_what_runs_whenever_something_else_did(body: str, expected: bool) -> None:
    file = model_of("def f():\n" + "".join(f"    {line}\n" for line in body.split("\n")))
    first, then = (file.call(file.calls_by_word[word][0]) for word in ("first", "then"))
    assert always_follows(file, first, then) is expected


def test_a_handler_may_make_the_call_itself() -> None:
    stop = "tf.profiler.experimental.stop()"
    file = model_of(f"first()\ntry:\n    b()\n    {stop}\nexcept E:\n    {stop}")
    assert always_follows(file, file.call(file.calls_by_word["first"][0]), file.call(file.calls_by_word["stop"][0]))


ASKS = [
    ("def f(p):\n    if p:\n        a()", True),
    ("def f(p):\n    return a() if p > 1 else b", True),
    ("def f(p):\n    if c:\n        a()", False),
    ("def f(p):\n    if p:\n        b()\n    a()", False),
    ("def f(p):\n    if p:\n        def g():\n            a()", False),
    ("if c:\n    a()", False),
]


@pytest.mark.parametrize(("program", "expected"), ASKS)
def test_who_calls_the_function_decides(program: str, expected: bool) -> None:
    file = model_of(program)
    assert asks_parameter(file, file.calls_by_word["a"][0]) is expected


NAMED = [
    ("class A:\n    def f(self):\n        if self.kept is None:\n            a()", True),
    ("class A:\n    def f(self):\n        if not hasattr(self, 'kept'):\n            a()", True),
    ("class A:\n    def f(self):\n        if self.other:\n            a()", False),
    ("class A:\n    def f(self):\n        a()\n        if self.kept:\n            b()", False),
    ("def g():\n    a()\ndef f():\n    if not kept:\n        g()", True),
    ("def g():\n    a()\ndef f():\n    g()\ndef e():\n    if not kept:\n        f()", True),
    ("def g():\n    a()\nif not kept:\n    g()", False),
]


@pytest.mark.parametrize(("program", "expected"), NAMED)
def test_what_asks_for_a_name_first(program: str, expected: bool) -> None:
    file = model_of(program)
    assert asks_name(file, file.calls_by_word["a"][0], "kept") is expected


OF_TYPE = [
    ("for v in values:\n    if isinstance(v, A):\n        a()", True),
    ("for v in values:\n    if isinstance(v, A):\n        b()\n    elif v:\n        a()", True),
    ("if isinstance(values, A):\n    for v in values:\n        a()", False),
    ("for v in values:\n    if v:\n        a()", False),
    ("for v in values:\n    if isinstance(a(), A):\n        b()", False),
]


@pytest.mark.parametrize(("program", "expected"), OF_TYPE)
def test_what_runs_for_things_of_a_type(program: str, expected: bool) -> None:
    file = model_of(program)
    assert asks_type(file, file.calls_by_word["a"][0], file.tree.of(cst.For)[0]) is expected
