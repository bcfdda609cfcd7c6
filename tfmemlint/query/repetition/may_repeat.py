"""Whether anything may run a function again: told by where its name stands, before anything is evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.query.repetition.servers import handles_requests
from tfmemlint.syntax.scopes import COMPREHENSIONS
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.query.facts import FunctionNode

_LOOPS = frozenset((cst.For, cst.While, *COMPREHENSIONS))


def may_repeat(file: File, node: Node, calls: int) -> bool:
    """Whether some code may run again: a loop or comprehension stands around it, or something may run its function
    again, up to `calls` functions further out. False where no way to write that is seen."""
    if any(above.__class__ in _LOOPS for above in file.tree.ancestors(node)):
        return True
    function = file.contexts.function(node)
    return function is not None and may_run_again(file, function, calls)


@once_per_file
def may_run_again(file: File, function: FunctionNode, calls: int) -> bool:
    """Whether a server, a loop, or what takes functions may run a function more than once, or a call of it in such
    code, up to `calls` functions further out. False where its name stands only in calls that run once themselves."""
    if isinstance(function, cst.Lambda) or function.name.value == "__init__" or handles_requests(file, function):
        return True  # the uses of a lambda and of a class have other names
    home = file.home(function)
    if any(_again(file, use, calls) for use in home.loads(function.name.value)):
        return True
    return home is not file and _again_here(file, function, calls)


def _again_here(file: File, function: cst.FunctionDef, calls: int) -> bool:
    """The same for a function of another module, by what this file does."""
    words = (function.name.value, *file.renamed.get(function.name.value, ()))
    return any(_again(file, use, calls) for word in words for use in file.loads(word))


def _again(file: File, use: cst.Name, calls: int) -> bool:
    tree = file.tree
    parent = tree.parent(use)
    func: Node = parent if isinstance(parent, cst.Attribute) and parent.attr is use else use
    call = tree.parent(func)
    if not isinstance(call, cst.Call) or call.func is not func:
        return True  # it is given away, and what it is given to may call it
    return calls > 0 and may_repeat(file, call, calls - 1)
