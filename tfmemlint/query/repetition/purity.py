"""Which calls give the same for the same arguments, and which draw at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.mapped import draws
from tfmemlint.model.values import Function
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import Binds, own_nodes

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def pure(file: File, node: cst.Call, *, through: int = FOLLOWED_CALLS) -> bool:
    """Whether a call certainly gives the same for the same arguments, as reading a file does that nobody writes.

    False where nothing says so: for a call of what is not known, for one that draws at random, and for functions of the
    module that write, or call something impure, `through` calls deep.
    """
    call = file.call(node)
    if call.names:
        return all(_pure_name(name) for name in call.names)
    functions = [target for target in call.target.options if isinstance(target, Function)]
    if not functions:
        return call.receiver_node is not None and pure_method(call)
    known = len(functions) == len(call.target.options)
    return known and all(_pure_body(file, function, through) for function in functions)


def pure_method(call: Call) -> bool:
    """Whether a method, of whichever library, is known by its word to give the same for the same object, which it
    leaves as it is."""
    if call.method == "get":  # of a dictionary, not of a queue
        return any(arg.keyword is None for arg in call.node.args)
    return knowledge.in_group(call.method, "keeps_object")


def draws_itself(file: File, function: cst.FunctionDef) -> bool:
    """Whether a function draws at random in its own code, functions in it left out; False where no draw is seen."""
    return any(draws(name) for node in own_nodes(function, cst.Call) for name in file.call(node).names)


def draws_anew(file: File, node: cst.Call, *, through: int = FOLLOWED_CALLS) -> bool:
    """Whether a call draws at random, itself or in functions of the module, `through` calls deep; False where no draw
    is seen."""
    call = file.call(node)
    if any(draws(name) for name in call.names):
        return True
    entered = [target.node for target in call.target.options if isinstance(target, Function)] if through > 0 else []
    inner = (each for function in entered for each in own_nodes(function, cst.Call))
    return any(draws_anew(file, each, through=through - 1) for each in inner)


def _pure_name(name: str) -> bool:
    return not draws(name) and knowledge.in_group(name, "gives_same")


def _pure_body(file: File, function: Function, left: int) -> bool:
    """Whether a function of the module gives what it computes of its arguments by pure calls, and writes nothing."""
    if left <= 0 or any(own_nodes(function.node, cst.Global, cst.Nonlocal, cst.Yield, cst.Await)):
        return False
    calls = own_nodes(function.node, cst.Call)
    return all(pure(file, node, through=left - 1) or _fills_own(file, node, function) for node in calls)


def _fills_own(file: File, node: cst.Call, function: Function) -> bool:
    """Whether a call fills a list or dictionary that the function made itself."""
    call = file.call(node)
    receiver = call.receiver_node
    if not isinstance(receiver, cst.Name) or call.names or not isinstance(function.node, cst.FunctionDef):
        return False
    made = file.definitions(receiver)
    displays = (cst.List, cst.Dict, cst.Set)
    return bool(made) and all(d.binds is Binds.VALUE and isinstance(d.value, displays) for d in made)
