"""Whether a model takes its batch apart by a number of rows that it keeps of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Instance
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.model.values import Value


def takes_certain_rows(file: File, model: Value) -> bool:
    """Whether a model of a class of the program goes over the rows of what it is called with by a number of its own,
    `for i in range(len(self.sizes)): inputs[i]`: a batch with fewer rows fails."""
    owners = [each.class_node for each in model.options if isinstance(each, Instance)]
    forwards = [file.values.classes.method(owner, "call") for owner in owners if owner is not None]
    return bool(forwards) and all(each is not None and _takes_certain_rows(each) for each in forwards)


def _takes_certain_rows(forward: cst.FunctionDef) -> bool:
    inputs = [each.name.value for each in parameters(forward)][1:2]
    return any(_goes_by_own_number(loop) and _takes_row(loop, inputs) for loop in walk(forward, cst.For))


def _goes_by_own_number(loop: cst.For) -> bool:
    """Whether a loop counts to what an attribute of the object says."""
    counted = loop.iter
    if not isinstance(counted, cst.Call) or not isinstance(counted.func, cst.Name) or counted.func.value != "range":
        return False
    names = {each.value for each in walk(counted, cst.Name)}
    return "self" in names and len(counted.args) == 1


def _takes_row(loop: cst.For, inputs: list[str]) -> bool:
    counter = loop.target.value if isinstance(loop.target, cst.Name) else None
    return any(
        isinstance(taken.value, cst.Name)
        and taken.value.value in inputs
        and isinstance(index := taken.slice[0].slice, cst.Index)
        and isinstance(index.value, cst.Name)
        and index.value.value == counter
        for taken in walk(loop.body, cst.Subscript)
    )
