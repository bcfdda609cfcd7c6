"""What a function that a loop calls is given: the same in every iteration, as far as some parts of it read it."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._invariant import definitions_of, unchanging
from tfmemlint_rules._touched import path_of, touched

from tfmemlint.api import Api, Binds, Call, Class, File, Function, Node, home_of, is_variable, parameters, walk


def passes_unchanging(
    call: Call, function: cst.FunctionDef, loop: cst.For | cst.While, file: File, parts: list[Node], whole: bool
) -> bool:
    """Whether these parts of a function are made of the same in each iteration of the loop that calls it.

    Of the object whose method is called only the attributes count that the method reads; of the arguments those of
    which the parts are made, or all of them for the `whole` result.
    """
    read, outer = _made_of(parts, function, file)
    if not whole and call.open:
        return False
    given = [arg.value for arg in call.node.args if whole or any(call.receives(name, arg) for name in read)]
    if not unchanging(given, loop, file, besides=[call.node]):
        return False
    if any(touched(name, [call.node], loop, file) for name in outer):
        return False
    receiver, owner = call.receiver_node, next(parameters(function), None)
    if receiver is None or owner is None or file.class_of(function) is None:
        return True
    if not isinstance(receiver, cst.Name):
        return False
    paths = _attributes_of(owner.name.value, function, file)
    return not any(
        touched(receiver, [call.node], loop, file, receiver.value + path.removeprefix(owner.name.value))
        for path in paths
    )


def _made_of(parts: list[Node], function: cst.FunctionDef, file: File) -> tuple[set[str], list[cst.Name]]:
    """What expressions in a function are made of: names of its parameters, and one place for each name from outside."""
    found: set[str] = set()
    outer: dict[str, cst.Name] = {}
    seen: set[int] = set()
    waiting = list(parts)
    while waiting:
        for name in (n for n in walk(waiting.pop(), cst.Name) if is_variable(n, file)):
            if not file.tree.contains(function, home_of(name, file)):
                if not isinstance(file.value(name), (Api, Class, Function)):
                    outer[name.value] = name
                continue
            for d in definitions_of(name, file):
                if d.binds is Binds.PARAMETER and d.scope is function:
                    found.add(d.name)
                elif d.scope is function and d.value is not None and id(d) not in seen:
                    seen.add(id(d))
                    waiting.append(d.value)
    return found, list(outer.values())


def _attributes_of(name: str, function: cst.FunctionDef, file: File) -> set[str]:
    """The dotted paths that a function reads of its first parameter, methods that it calls left out."""
    found = {path_of(n, file) for n in walk(function.body, cst.Name) if n.value == name}
    return found - {name}
