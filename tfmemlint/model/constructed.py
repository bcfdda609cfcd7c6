"""What making an object leaves in its attributes, where its constructor calls methods that set them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.scopes import Definition, ScopeNode, dotted
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.file import File

DEPTH = 4
"""Methods of one object that call each other and are followed."""

Defined = list[Definition]
OwnCall = tuple[cst.Call, str, bool]


def constructor(evaluator: Evaluator, node: cst.ClassDef) -> cst.FunctionDef | None:
    """The code of the file that runs last when an object is made: `__init__`, of a dataclass `__post_init__`."""
    init = evaluator.classes.method(node, "__init__")
    if init is None and evaluator.classes.is_data(node):
        return evaluator.classes.method(node, "__post_init__")
    return init


def left(evaluator: Evaluator, node: cst.ClassDef, found: Defined, reader: ScopeNode | None) -> Defined | None:
    """The definitions of an attribute that stand when its object is made, and those of methods that run later.

    What the constructor, or a field of a dataclass, gives it first is left out where a method that the constructor
    always calls then gives it something else; None where it may do so. A method that the constructor runs sees them
    all, as it may be the one that reads what stood there first.
    """
    init = constructor(evaluator, node) if len({d.scope for d in found}) > 1 else None
    if init is None:
        return found
    run: list[ScopeNode] = []
    last = last_set(evaluator, node, init, found, run)
    if reader in run or last == []:
        return found
    if last is None:
        return None
    first = [*run, *(d.scope for d in found if isinstance(d.scope, cst.ClassDef))]
    return [d for d in found if d in last or d.scope not in first]


def standing(evaluator: Evaluator, read: cst.CSTNode, before: Defined) -> Defined | None:
    """The definitions of `self.x` that stand where a method reads it that has set it itself (`before`): those of a
    method of the object that it has called since; None where that may have set it."""
    function = before[0].scope
    owner = evaluator.file.class_of(function) if isinstance(function, cst.FunctionDef) else None
    if owner is None or not isinstance(function, cst.FunctionDef) or not isinstance(read, cst.Attribute):
        return before
    calls = evaluator.classes.own_calls(function) if dotted(read.value) == receiver(function) else []
    since, order = max(evaluator.tree.order(d.node) for d in before), evaluator.tree.order
    between = [(word, certain) for call, word, certain in calls if since < order(call) < order(read)]
    found = evaluator.classes.definitions(owner, read.attr.value) if between else []
    result: Defined | None = before
    for method, certain in ((evaluator.classes.method(owner, word), certain) for word, certain in between):
        last = last_set(evaluator, owner, method, found, [function]) if method is not None else []
        if last is None or (last and not certain):
            return None
        result = last or result
    return result


def last_set(
    evaluator: Evaluator, node: cst.ClassDef, function: cst.FunctionDef, found: Defined, run: list[ScopeNode]
) -> Defined | None:
    """The definitions with which a method leaves an attribute, its own or those of a method that it calls; empty where
    it does not set it, None where that depends on what happens. `run` gathers the methods that were looked at."""
    run.append(function)
    own = [d for d in found if d.scope is function]
    at = max((evaluator.tree.order(d.node) for d in own), default=-1)
    for call, word, certain in reversed(evaluator.classes.own_calls(function)):
        method = evaluator.classes.method(node, word)
        if method is None or method in run or len(run) > DEPTH or evaluator.tree.order(call) < at:
            continue
        last = last_set(evaluator, node, method, found, run)
        if last is None or (last and not certain):
            return None
        if last:
            return last
    return own if _always(evaluator, function, own) or function.name.value == "__init__" else None


def _always(evaluator: Evaluator, method: cst.FunctionDef, own: Defined) -> bool:
    """Whether a method that sets an attribute does so on each way through it."""
    end = evaluator.file.flow(method).end
    return all(isinstance(each, Definition) for d in own for each in end.get(d.name, ()))


def own_calls(file: File, function: cst.FunctionDef) -> list[OwnCall]:
    """The calls of methods of its own object in a method, by their words in source order, each with whether it runs
    whenever the method does, as far as nothing returns before."""
    first = f"{receiver(function)}."
    calls: list[OwnCall] = []
    for statement in function.body.body:
        for call in walk(statement, cst.Call):
            path = dotted(call.func) or ""
            word = path.removeprefix(first)
            if len(word) < len(path) and "." not in word:
                calls.append((call, word, isinstance(statement, cst.SimpleStatementLine)))
    return sorted(calls, key=lambda each: file.tree.order(each[0]))


def receiver(method: cst.FunctionDef) -> str:
    """What a method calls its object; "" where it takes none."""
    return method.params.params[0].name.value if method.params.params else ""
