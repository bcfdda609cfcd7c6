"""Which arrays certainly have another shape in each iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence as Several
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Sequence
from tfmemlint.query.limits import FEW_RUNS
from tfmemlint.query.repetition.changing import around, differs, few
from tfmemlint.query.repetition.growing import grows
from tfmemlint.query.repetition.repeats import Repetition
from tfmemlint.syntax.scopes import Binds, Definition, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

NESTED = 4
"""Conversions, and names bound to them, that are looked at inside each other."""


def resizes(file: File, expression: cst.BaseExpression) -> bool:
    """Whether an array or tensor certainly has another shape in each iteration of a loop around.

    It is made that long, sliced that long, joined to what there was, or converted from a list that grows. False also
    where it is not known, for Python's own lists, and in loops of at most `FEW_RUNS` iterations.
    """
    if isinstance(expression, cst.Name):
        made = [d for d in file.definitions(expression) if d.binds is Binds.VALUE]
        lists = any(isinstance(d.value, (cst.List, cst.Tuple, cst.Dict, cst.BaseComp)) for d in made)
        return bool(made) and not lists and _resizes(file, expression, NESTED)
    return isinstance(expression, (cst.Subscript, cst.Call)) and _resizes(file, expression, NESTED)


def _resizes(file: File, node: cst.BaseExpression, left: int) -> bool:
    if left == 0:
        return False
    if isinstance(node, cst.Name):
        loops = around(file, node)
        found = written(file.definitions(node))
        return grows(file, node) or any(_defined(file, d, loops, left - 1) for d in found)
    if isinstance(node, cst.Subscript):
        return _sliced(file, node) or (_adds_axes(node) and _resizes(file, node.value, left - 1))
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_resizes(file, element.value, left - 1) for element in node.elements)
    if not isinstance(node, cst.Call):
        return False
    call = file.call(node)
    if call.method in ("astype", "copy") and call.receiver_node is not None:
        return _resizes(file, call.receiver_node, left - 1)
    if knowledge.in_group(call.name, "keeps_length"):
        return bool(node.args) and _resizes(file, node.args[0].value, left - 1)
    return knowledge.in_group(call.name, "makes_length") and _made_longer(file, call)


def _defined(file: File, d: Definition, loops: Several[Repetition], left: int) -> bool:
    holding = [loop for loop in loops if file.tree.contains(loop.place, d.node)]
    if not holding or d.path or few(holding) or not isinstance(d.value, cst.BaseExpression):
        return False
    if d.binds is Binds.ITEM:
        return _ragged(file, d.value)
    if d.binds is not Binds.VALUE:
        return False
    if isinstance(d.value, cst.Call) and knowledge.in_group(file.call(d.value).name, "joins"):
        return bool(d.value.args) and _names(d.value.args[0].value, d.name)
    return not _names(d.value, d.name) and _resizes(file, d.value, left)


def _names(node: Node, name: str) -> bool:
    return any(each.value == name for each in walk(node, cst.Name))


def _ragged(file: File, iterated: cst.BaseExpression) -> bool:
    """Whether a loop runs over lists of more than a few different lengths."""
    rows = file.value(iterated)
    if not isinstance(rows, Sequence) or rows.open:
        return False
    closed = [len(row.items) for row in rows.items if isinstance(row, Sequence) and not row.open]
    return len(closed) == len(rows.items) and len(set(closed)) > FEW_RUNS


def _sliced(file: File, node: cst.Subscript) -> bool:
    """Whether exactly one bound of a slice is a number that differs: of two the distance may be the same."""
    for part in (element.slice for element in node.slice):
        if isinstance(part, cst.Slice):
            ends = [end is not None and differs(file, end) for end in (part.lower, part.upper)]
            if sum(ends) == 1:
                return True
    return False


def _adds_axes(node: cst.Subscript) -> bool:
    """Whether a subscript adds axes alone: `x[None]`, `x[tf.newaxis, :]`."""
    indices = (e.slice.value for e in node.slice if isinstance(e.slice, cst.Index))
    return all(
        (isinstance(index, cst.Name) and index.value == "None")
        or (isinstance(index, cst.Attribute) and index.attr.value == "newaxis")
        for index in indices
    )


def _made_longer(file: File, call: Call) -> bool:
    """Whether the shape that an array is made with holds a Python number that differs."""
    names = knowledge.group_parameters("makes_length").get(call.name or "", ())
    given = [argument for name in names if (argument := call.arg(name)) is not None]
    sizes = [argument.expression for argument in given] if names else [arg.value for arg in call.node.args]
    return any(differs(file, part) for size in sizes for part in _parts(size))


def _parts(size: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [e.value for e in size.elements] if isinstance(size, (cst.List, cst.Tuple)) else [size]
