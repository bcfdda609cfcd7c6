"""What kind of Python value an expression gives: "int", "float" or "str"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const, Length
from tfmemlint.query.tracing.python_values import part_of
from tfmemlint.syntax.scopes import Binds, Definition, written

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

NESTED = 4
"""Operands, and names bound to them, that are looked at inside each other."""

GIVES = {
    "builtins.float": "float", "builtins.str": "str", "builtins.int": "int", "builtins.len": "int",
    "time.time": "float", "time.perf_counter": "float", "time.monotonic": "float", "random.random": "float",
    "random.uniform": "float", "random.gauss": "float", "random.randint": "int", "random.randrange": "int",
    "os.path.join": "str",
}  # fmt: skip
"""What functions of Python's own library return."""

CHOOSES = frozenset({"builtins.min", "builtins.max"})
FLOATS = ("np.linspace", "np.logspace", "np.geomspace")
"""What makes arrays of floats, whose items a loop takes."""


Kinds = frozenset[str]


def number_kinds(file: File, node: cst.BaseExpression) -> Kinds | None:
    """The kinds that a Python value may have: of a counter that starts as 0 and grows by 0.1 both "int" and "float".

    None where one of them is not known. The caller knows that the expression is no tensor or array: a division gives
    a float then.
    """
    return _kinds(file, node, NESTED)


def _kinds(file: File, node: cst.BaseExpression, left: int) -> Kinds | None:
    if left == 0:
        return None
    options = file.value(node).options
    if all(isinstance(option, (Const, Length)) for option in options):
        found = [_of_constant(o.value) if isinstance(o, Const) else "int" for o in options]
        return frozenset(kind for kind in found if kind is not None) if None not in found else None
    if isinstance(node, cst.FormattedString):
        return frozenset({"str"})
    if isinstance(node, cst.Call):
        return _of_call(file.call(node), left)
    if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
        return _kinds(file, node.expression, left - 1)
    if isinstance(node, cst.BinaryOperation):
        return _combined(node.operator, _kinds(file, node.left, left - 1), _kinds(file, node.right, left - 1))
    if isinstance(node, cst.IfExp):
        return _joined([_kinds(file, side, left - 1) for side in (node.body, node.orelse)])
    if isinstance(node, (cst.Name, cst.Attribute)):
        return _joined([_defined(file, d, left - 1) for d in written(file.definitions(node))])
    return None


def _of_call(call: Call, left: int) -> Kinds | None:
    kind = GIVES.get(call.name or "")
    if kind is not None:
        return frozenset({kind})
    if call.name in CHOOSES:
        return _joined([_kinds(call.evaluator.file, arg.value, left - 1) for arg in call.node.args])
    return None


def _of_constant(value: object) -> str | None:
    kinds = {int: "int", float: "float", str: "str"}
    return kinds.get(type(value))


def _combined(operator: cst.BaseBinaryOp, a: Kinds | None, b: Kinds | None) -> Kinds | None:
    if isinstance(operator, cst.Divide):
        return frozenset({"float"})
    if a is None or b is None:
        known = a or b or frozenset()
        return frozenset({"float"}) if known == {"float"} else None  # Python has no number that undoes it
    if "str" in a | b:
        return frozenset({"str"})
    return frozenset({"float"}) if {"float"} in (a, b) else a | b


def _joined(kinds: list[Kinds | None]) -> Kinds | None:
    known = [each for each in kinds if each is not None]
    return frozenset().union(*known) if known and len(known) == len(kinds) else None


def _defined(file: File, d: Definition, left: int) -> Kinds | None:
    if d.binds is Binds.AUGMENTED and isinstance(d.value, cst.AugAssign):
        step = _kinds(file, d.value.value, left)
        return frozenset({"float"}) if isinstance(d.value.operator, cst.DivideAssign) else step
    made = part_of(d)
    if d.binds is Binds.VALUE:
        return _kinds(file, made, left) if isinstance(made, cst.BaseExpression) else None
    if d.binds is not Binds.ITEM or not isinstance(d.value, cst.Call):
        return None
    name = file.call(d.value).name or ""
    if (name == "builtins.range" and not d.path) or (name == "builtins.enumerate" and d.path == (0,)):
        return frozenset({"int"})
    return frozenset({"float"}) if name in FLOATS and not d.path else None
