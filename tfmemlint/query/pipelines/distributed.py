"""Which pipelines a distribution strategy takes: it keeps batches ready on each of its devices by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.mapped import whole
from tfmemlint.model.values import Function
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.uses import uses
from tfmemlint.query.limits import FOLLOWED_CALLS

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

DISTRIBUTES = (
    "experimental_distribute_dataset", "distribute_datasets_from_function",
    "experimental_distribute_datasets_from_function",
)  # fmt: skip
"""Methods of a strategy, by which they are found where the strategy itself is a parameter."""


def is_distributed(file: File, function: cst.FunctionDef) -> bool:
    """Whether what a function makes certainly goes to a strategy: its callers hand it on, or the function itself, to a
    strategy or to functions that give one what they are given, as training loops do."""
    callers = file.call_graph.callers(function)
    if callers:
        return all(any(_takes(file, use.call) for use in uses(file, each.node) if use.call) for each in callers)
    names = (name for name in file.tree.of(cst.Name) if name.value == function.name.value)
    return any(_takes(file, call) for name in names if (call := _taker(file, name, function)) is not None)


def _taker(file: File, name: cst.Name, function: cst.FunctionDef) -> Call | None:
    """The call that is given a function by its name, with or without some of its arguments."""
    argument = file.tree.parent(name)
    outer = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(outer, cst.Call) or not _is(file, name, function):
        return None
    call = file.call(outer)
    if call.name != "functools.partial":
        return call
    return next((use.call for use in uses(file, outer) if use.call is not None), None)


def _is(file: File, name: cst.Name, function: cst.FunctionDef) -> bool:
    value = whole(file.value(name))
    return isinstance(value, Function) and value.node is function


def _takes(file: File, call: Call) -> bool:
    """Whether a call distributes what it is given, itself or in functions that are seen."""
    if call.method in DISTRIBUTES:
        return True
    target = call.target
    return isinstance(target, Function) and any(calls(file, target.node, *DISTRIBUTES, through=FOLLOWED_CALLS))
