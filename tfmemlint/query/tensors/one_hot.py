"""One-hot rows: the call that makes them, of what, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Const, integer

if TYPE_CHECKING:
    from tfmemlint.model.calls import Argument, Call
    from tfmemlint.model.file import File

FOLLOWED_OPS = 6
"""Casts and reshapes behind each other that are seen through: code has one or two."""


@dataclass(frozen=True, slots=True)
class OneHot:
    """One-hot rows and the call that makes them."""

    call: Call

    @property
    def depth(self) -> Argument | None:
        """The argument that says how long a row is."""
        return self.call.arg("depth", "num_classes")

    @property
    def length(self) -> int | None:
        """The numbers of a row; None where that is not known."""
        return integer(self.call.given("depth", "num_classes"))

    @property
    def usual_length(self) -> int | None:
        """The same; where a parameter says it, the parameter's default."""
        if self.length is not None or self.depth is None:
            return self.length
        file = self.depth.evaluator.file
        found = [definition.value for definition in file.definitions(self.depth.expression)]
        default = found[0].default if len(found) == 1 and isinstance(found[0], cst.Param) else None
        return integer(file.value(default)) if default is not None else None

    @property
    def ids(self) -> cst.BaseExpression | None:
        """What the rows are made of; None where further arguments say more about them."""
        given = self.call.arg("indices", "x")
        return given.expression if given is not None and len(self.call.node.args) <= 3 else None

    @property
    def bytes(self) -> int | None:
        """The bytes of all rows; None where they are not known."""
        return self.call.value.bytes if isinstance(self.call.value, Array) else None


def one_hot(file: File, node: cst.BaseExpression) -> OneHot | None:
    """The one-hot rows that an expression certainly is, through names, casts and reshapes that keep the rows; None
    where it is anything else, or not known."""
    for _ in range(FOLLOWED_OPS):
        node = file.written(node)
        if isinstance(node, cst.Subscript):
            plain = all(isinstance(each.slice, cst.Slice) or _is_none(file, each.slice) for each in node.slice)
            if not plain:
                return None
            node = node.value
            continue
        call = file.call(node) if isinstance(node, cst.Call) else None
        if call is None or knowledge.in_group(call.name, "makes_one_hot"):
            return OneHot(call) if call is not None and _rows_of_ones(call) else None
        inner = call.arg(0)
        if inner is None or not _keeps_rows(file, call, inner.expression):
            return None
        node = inner.expression
    return None


def _rows_of_ones(call: Call) -> bool:
    """Whether each row, along the last axis, holds a one among zeros."""
    given = [call.given(name) for name in ("on_value", "off_value") if call.arg(name) is not None]
    usual = all(value in (Const(1), Const(1.0), Const(0), Const(0.0)) for value in given)
    axis = call.arg("axis")
    return usual and (axis is None or integer(axis.value) == -1)


def _keeps_rows(file: File, call: Call, rows: cst.BaseExpression) -> bool:
    """Whether what a call makes of one-hot rows are the same rows."""
    if knowledge.in_group(call.name, "keeps_values"):
        return True
    if knowledge.in_group(call.name, "inserts_axis"):
        return integer(call.value_of("axis")) in (0, 1, -2)
    shape = call.arg("shape", "newshape") if call.name in ("tf.reshape", "tf.keras.ops.reshape") else None
    display = file.written(shape.expression) if shape is not None else None
    if not isinstance(display, (cst.List, cst.Tuple)) or not display.elements:
        return False
    made, last = one_hot(file, rows), display.elements[-1].value
    if made is None or made.depth is None:
        return False
    same = made.length is not None and integer(file.value(last)) == made.length
    return same or file.reads_alike(last, made.depth.expression)


def _is_none(file: File, index: cst.BaseSlice) -> bool:
    return isinstance(index, cst.Index) and file.value(index.value) == Const(None)
