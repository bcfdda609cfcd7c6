"""How a value is stored: what code does it, and whether an attribute lets it go again."""

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.calls import Call
from tfmemlint.query.flow.storing import is_assigned, lets_go, storing_code
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
