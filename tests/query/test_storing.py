"""How a value is stored: what code does it, and whether an attribute lets it go again."""

import libcst as cst
import pytest
from programs import model_of, value_in

from tfmemlint.model.calls import Call
from tfmemlint.query.flow.makers import makers, only_gives_back
from tfmemlint.query.flow.storing import (
    container_of,
    is_assigned,
    lets_go,
    only_binding,
    stands_beside_others,
    storing_code,
)
from tfmemlint.query.flow.uses import Does, uses

STORED = [
    ("kept.append(make())", "kept.append(make())"),
    ("self.kept = make()", "self.kept = make()"),
    ("d[key] = a = make()", "d[key] = a = make()"),
    ("kept += [make()]", "kept += [make()]"),
    ("self.kept: int = make()", "self.kept: int = make()"),
    ("kept = [make() for _ in y]", "make()"),
    ("with make() as self.kept: pass", "make()"),
]


@pytest.mark.parametrize(("program", "expected"), STORED)
def test_what_stores_a_value(program: str, expected: str) -> None:
    file = model_of(program)
    stored = next(use for use in uses(file, file.calls_by_word["make"][0]) if use.does is Does.STORE)
    code = storing_code(file, stored)
    assert file.text(code.node if isinstance(code, Call) else code) == expected


CONTAINERS = [
    ("kept.append(make())", True, "kept"),
    ("d[key] = make()", True, "d"),
    ("d['last'] = make()", False, "d"),
    ("self.kept = make()", False, "self.kept"),
    ("kept = [make() for _ in y]", True, None),
]


@pytest.mark.parametrize(("program", "beside", "container"), CONTAINERS)
def test_what_is_collected_stands_beside_others(program: str, beside: bool, container: str | None) -> None:
    file = model_of(program)
    stored = next(use for use in uses(file, file.calls_by_word["make"][0]) if use.does is Does.STORE)
    found = container_of(file, stored)
    assert (stands_beside_others(file, stored), found and file.text(found)) == (beside, container)


BINDINGS = [
    ("kept = []\nprobe(kept)", "kept"),
    ("kept = []\ndef f():\n    probe(kept)", "kept"),
    ("kept = []\nkept = {}\nprobe(kept)", None),
    ("probe(kept.x)", None),
]


@pytest.mark.parametrize(("program", "expected"), BINDINGS)
def test_names_that_one_place_binds(program: str, expected: str | None) -> None:
    file = model_of(program)
    found = only_binding(file, file.calls_by_word["probe"][0].args[0].value)
    assert (found and file.text(found)) == expected


MAKERS = [
    ("keras.Sequential()", ["keras.Sequential()"]),
    ("m = keras.Sequential() if c else keras.Model(a, b)\nm", ["keras.Sequential()", "keras.Model(a, b)"]),
    ("m = keras.Sequential() if c else 3\nm", ["keras.Sequential()"]),
    ("m = keras.Sequential() if c else make()\nm", []),
    ("3", []),
]


@pytest.mark.parametrize(("program", "expected"), MAKERS)
def test_calls_that_make_an_object(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert [file.text(call.node) for call in makers(value_in(file))] == expected


def test_targets_are_told_from_what_is_read() -> None:
    file = model_of("a.b = c.d")
    target, value = file.tree.of(cst.Attribute)
    assert (is_assigned(file, target), is_assigned(file, value)) == (True, False)


LETTING_GO = [
    ("class A:\n    def f(self): self.x = make()", False),
    ("class A:\n    def __init__(self): self.x = None\n    def f(self): self.x = make()", False),
    ("class A:\n    def f(self): self.x = make()\n    def g(self): self.x = None", True),
    ("class A:\n    def f(self): self.x = make()\n    def g(self): self.y = None", False),
    ("class A:\n    def f(self): self.x = make()\na.x = None", False),
    ("class A:\n    def f(self): self.x = make()\ndel a.x", True),
]


@pytest.mark.parametrize(("program", "expected"), LETTING_GO)
def test_attributes_let_go_what_they_hold(program: str, expected: bool) -> None:
    file = model_of(program)
    attribute = next(node for node in file.tree.of(cst.Attribute) if node.attr.value == "x")
    assert lets_go(file, attribute) is expected


GIVING = [
    ("def f():\n    return make()", True),
    ("def f():\n    if c:\n        return None\n    return make()", False),
    ("def f():\n    m = make()\n    return m", False),
    ("def f():\n    return g(make())", False),
    ("def f():\n    make()", False),
    ("make()", False),
]


@pytest.mark.parametrize(("program", "expected"), GIVING)
def test_functions_that_are_there_to_make_something(program: str, expected: bool) -> None:
    file = model_of(program)
    assert only_gives_back(file, file.calls_by_word["make"][0]) is expected
