"""Pipelines of which nothing is ever read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import MOST_STEPS
from tfmemlint.query.ordering.conditions import is_switched_off
from tfmemlint.query.pipelines.chains import chain_root, following

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node


def never_runs(file: File, call: Call) -> bool:
    """Whether nothing is ever read of the pipeline that a call makes: with the steps that follow at once it is a
    statement of its own, whose result nobody takes (`ds.shuffle(1000)`), or has a name that nothing reads while
    training takes the data without these steps, or every call of its function in this file switches it off by an
    argument (`if shuffle:`)."""
    last = [call, *following(file, call)][-1]
    above = file.tree.parent(last.node)
    return isinstance(above, cst.Expr) or _is_left(file, above) or is_switched_off(file, call.node)


def _is_left(file: File, assign: Node | None) -> bool:
    """Whether what is assigned is a name that nothing reads, for steps on a data set that trains without them."""
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    made = file.definition(target) if isinstance(target, cst.Name) else None
    if made is None or file.readers(made):
        return False
    for _ in range(MOST_STEPS):
        root = chain_root(made.value) if isinstance(made.value, cst.Call) else None
        made = file.only_definition(root) if isinstance(root, cst.Name) else None
        if made is None:
            return False
        if any(_is_trained_on(file, use) for use in file.readers(made)):
            return True
    return False


def _is_trained_on(file: File, use: Node) -> bool:
    arg = file.tree.parent(use)
    call = file.tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and file.call(call).name == "tf.keras.Model.fit"
