"""Where what is not known begins: the expressions of a program that a user can give values for with `--set`.

A value that is not known carries the expressions that it rests on (`Open`), through names, arithmetic and calls of the
program's functions. What is read of such a value, an attribute, an item or what a call gives, begins anew: that is what
the program needs to know, and mostly a number, where the whole is none.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.estimate.facts import objects
from tfmemlint.estimate.facts.operations import line_of
from tfmemlint.estimate.facts.values import EXITS, Listed, Open, Origin, Traced, plain
from tfmemlint.model import arguments
from tfmemlint.model.values import (
    BOTTOM,
    Api,
    Array,
    Const,
    Instance,
    Length,
    Mapping,
    OneOf,
    Sequence,
    Unknown,
    Value,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfmemlint.estimate.facts.machine import Machine

READ = frozenset({cst.Name, cst.Attribute, cst.Subscript, cst.Call})
"""The expressions that values can be given for."""

LONGEST = 60
"""Letters of an expression that is given a value; what a longer one is assigned to is named in its place."""


def text_of(machine: Machine, node: cst.CSTNode) -> str | None:
    """An expression as Python prints it, so that quotes and blanks do not matter; None for one of another Python."""
    key = id(node)
    if key not in machine.texts:
        try:
            machine.texts[key] = canonical(machine.file.text(node))
        except (KeyError, ValueError, SyntaxError, RecursionError, MemoryError):
            machine.texts[key] = None
    return machine.texts[key]


def canonical(text: str) -> str:
    """An expression as Python prints it, but with the quotes that a shell leaves alone within its own. Raises
    SyntaxError and ValueError."""
    found = ast.unparse(ast.parse(f"({text})", mode="eval").body)
    return found if '"' in found or "\\" in found else found.replace("'", '"')


# -- what is read ----------------------------------------------------------------------------------------------------


def read(machine: Machine, node: cst.CSTNode, found: Value) -> Value:
    """What an expression is, of which `found` is what the program says: where that leaves it open, what the user says,
    else with the expression as its origin."""
    if found.__class__ is Array and _is_number(found):
        found = Unknown("a number of an array")
    if found.__class__ is Api and machine.given.facts and not knowledge.exists(found.name):
        said = _stated(machine, node)
        return found if said is None else said
    if found.__class__ not in _OPEN or found is EXITS or found is BOTTOM:
        return _shaped(machine, node, found) if machine.given.facts and isinstance(found, Array) else found
    if machine.given.facts and not _is_sure(found):
        stated = _stated(machine, node)
        if stated is not None:
            return stated
    nameless = found.__class__ is Unknown or (isinstance(found, Length) and found.count is None)
    return begun(machine, node) if nameless else found


_OPEN = frozenset({Unknown, Open, OneOf, Length})


def _is_number(found: Array) -> bool:
    """Whether this is one number that NumPy computes, such as the largest of an array, and not a tensor."""
    return found.shape == () and found.library == "np"


def _is_sure(found: Value) -> bool:
    return isinstance(found, Length) and found.count is not None


def _stated(machine: Machine, node: cst.CSTNode) -> Value | None:
    """What the user says of an expression, or of its shape."""
    text = text_of(machine, node)
    if text is None:
        return None
    if text in machine.given.facts:
        return stated(machine, text)
    if f"{text}.shape" in machine.given.facts:
        return _shaped(machine, node, Array("np", "float32", None))
    return None


def stated(machine: Machine, text: str) -> Value:
    """What the user says of the expression with this text."""
    machine.used.add(text)
    return _value(machine.given.facts[text])


def _shaped(machine: Machine, node: cst.CSTNode, found: Array) -> Value:
    """An array whose shape is not known, with the one that the user says."""
    if found.shape is not None and None not in found.shape[1:]:
        return found
    key = f"{text_of(machine, node)}.shape"
    sizes = machine.given.facts.get(key)
    if not isinstance(sizes, (tuple, list)) or not all(n is None or isinstance(n, int) for n in sizes):
        return found
    machine.used.add(key)
    if not isinstance(found, Traced):
        return Array(found.library, found.dtype, tuple(sizes))
    sized = machine.record.tensors[found.number] = replace(found, shape=tuple(sizes))
    return sized


def of_command_line(machine: Machine, node: cst.CSTNode, base: Value, found: Value) -> Value:
    """An argument of the command line, whose default holds as long as nobody says otherwise."""
    if not machine.given.facts or not (base in arguments.FLAGS or _is_namespace(base)):
        return found
    text = text_of(machine, node)
    return stated(machine, text) if text is not None and text in machine.given.facts else found


def _is_namespace(base: Value) -> bool:
    return isinstance(base, Instance) and base.type_name == arguments.NAMESPACE


def filled(machine: Machine, node: cst.CSTNode, found: Value) -> Value:
    """What the model says of an expression, in which it is as the user says where that leaves it open."""
    if node.__class__ is cst.Attribute:
        assert isinstance(node, cst.Attribute)
        found = plain(of_command_line(machine, node, machine.evaluator.value(node.value), found))
    if node.__class__ not in READ or found.__class__ not in _OPEN or found is BOTTOM or _is_sure(found):
        return found
    said = _stated(machine, node)
    return found if said is None else plain(said)


def _value(said: Any) -> Value:
    if isinstance(said, dict):
        return Listed({"items": Mapping(tuple((key, _value(item)) for key, item in said.items()))})
    if isinstance(said, list):
        return objects.new_list(Sequence(tuple(map(_value, said)), "list"))
    if isinstance(said, (tuple, set)):
        return Sequence(tuple(map(_value, said)))
    return Const(said)


# -- where it begins -------------------------------------------------------------------------------------------------


def begun(machine: Machine, node: cst.CSTNode, why: str = "") -> Open:
    """What is not known, and begins at an expression."""
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape":
        node = node.value  # all sizes of a shape are said at once
    text = text_of(machine, node)
    if text is None or "\n" in text:
        return Open(why)
    return Open(why, (Origin(text, line_of(machine, node), isinstance(node, cst.Call)),))


def of_part(machine: Machine, node: cst.CSTNode, base: Value, found: Value) -> Value:
    """What is read of a value that is not known: an attribute or item, which begins here. Sizes are part of a shape,
    and of one of several values nothing begins."""
    if not isinstance(found, Unknown) or found is BOTTOM or not isinstance(base, Open):
        return found
    if not base.origins or (isinstance(node, cst.Subscript) and base.origins[0].text.endswith(".shape")):
        return base
    return Unknown(found.why)


def named(machine: Machine, target: cst.CSTNode, value: Value) -> Value:
    """What is assigned: of a call, or of a long expression, the name that it gets says more. A length is said by what
    it is the length of."""
    if not isinstance(value, Open) or len(value.origins) != 1:
        return value
    (origin,) = value.origins
    if not (origin.call and not origin.text.startswith("len(")) and len(origin.text) <= LONGEST:
        return value
    return begun(machine, target, value.why)


def as_written(machine: Machine, several: Iterable[Origin]) -> tuple[Origin, ...]:
    """The same, names of modules that are not there as the program has them: `from config import SIZE` is `SIZE`."""
    names = machine.modules[id(machine.file)].names if id(machine.file) in machine.modules else {}
    return tuple(dict.fromkeys(_as_written(each, names) for each in several))


def _as_written(origin: Origin, names: dict[str, Value]) -> Origin:
    word = origin.text.rpartition(".")[2]
    return replace(origin, text=word) if names.get(word) == Api(origin.text) else origin


# -- what a user may name --------------------------------------------------------------------------------------------


def is_readable(text: str) -> bool:
    """Whether this is an expression that a value can be given for. Raises SyntaxError for what is none."""
    return isinstance(ast.parse(text, mode="eval").body, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
