"""Whether a call makes the same thing in every iteration of a loop."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._touched import PURE_METHODS, path_of, touched

from tfmemlint.api import (
    Api,
    Binds,
    Call,
    Class,
    Definition,
    File,
    Function,
    Node,
    children,
    own_nodes,
    parameters,
    walk,
)
from tfmemlint.model.mapped import READS, draws

Within = cst.For | cst.While | cst.FunctionDef

PURE = (
    "np.", "builtins.", "os.path.", "os.listdir", "glob.", "pathlib.", "pandas.read_", "tf.data.", "tf.keras.datasets.",
    "tf.keras.utils.", "tf.keras.preprocessing.", "tf.keras.applications.", "tf.io.", "tf.math.", "tf.strings.",
    "tf.image.", "tf.nest.", "tf.ragged.", "tf.sparse.", "tf.cast", "tf.constant", "tf.convert_to_tensor",
    "tf.expand_dims", "tf.squeeze", "tf.reshape", "tf.transpose", "tf.TensorSpec", "tf.TensorShape", "tf.one_hot",
    "tf.zeros", "tf.ones", "tf.fill", "tf.range", "tf.stack", "tf.concat", "tf.split", "tf.gather", "tf.identity",
    "tf.reduce_", "tf.size", "tf.shape", "tf.Tensor.", "tf.float", "tf.int", "tensorflow_datasets.",
)  # fmt: skip
"""Beginnings of names of calls that give the same for the same arguments."""

IMPURE = frozenset({"builtins.input", "builtins.next", "builtins.iter", "builtins.open"})

DEEP = 4
"""Local names and functions of the module that are followed into each other."""


def unchanging(parts: list[Node], within: Within, file: File, depth: int = DEEP) -> bool:
    """Whether nothing that these expressions are made of changes in a loop.

    For a function: whether they are made of its parameters, of what stands outside and of pure calls only.
    """
    return depth > 0 and all(
        _fixed(node, parts, within, file, depth) for part in parts for node in _evaluated(part, file)
    )


def _evaluated(part: Node, file: File) -> Iterator[Node]:
    """The nodes of an expression; of the lambdas and functions in it only the names that they read from outside."""
    stack = [part]
    while stack:
        node = stack.pop()
        yield node
        for child in reversed(children(node)):
            if isinstance(child, cst.Lambda):
                yield from _free(child, file)
            else:
                stack.append(child)


def _free(function: cst.Lambda | cst.FunctionDef, file: File) -> Iterator[cst.Name]:
    """The names that a function reads and does not bind itself."""
    for node in walk(function.body):
        if isinstance(node, cst.Name) and _is_read(node, file) and not file.tree.contains(function, _home(node, file)):
            yield node


def _home(name: cst.Name, file: File) -> Node:
    """The scope that binds a name, or the module."""
    scope = file.scope_of(name)
    for each in (scope, *file.scopes_around(scope)):
        if name.value in file.flow(each).bindings:
            return each
    return file.module


def _fixed(node: Node, parts: list[Node], within: Within, file: File, depth: int) -> bool:
    """Whether this one node of an expression does not keep it from being the same each time."""
    if isinstance(node, (cst.Await, cst.Yield, cst.NamedExpr)):
        return False
    if isinstance(node, cst.Call) and node not in parts:
        return pure(node, file, depth)
    return not (isinstance(node, cst.Name) and _is_read(node, file) and _changes(node, parts, within, file, depth))


def pure(node: cst.Call, file: File, depth: int = DEEP) -> bool:
    """Whether a call gives the same for the same arguments."""
    call = file.call(node)
    if call.names:
        return all(_pure_name(name) for name in call.names)
    functions = [t for t in call.target.options if isinstance(t, Function)]
    if functions:
        return len(functions) == len(call.target.options) and all(_pure_body(f, file, depth - 1) for f in functions)
    return call.receiver_node is not None and call.method in PURE_METHODS


def _pure_name(name: str) -> bool:
    return name not in IMPURE and not draws(name) and (name.startswith(PURE) or name in READS)


def draws_inside(function: cst.FunctionDef, file: File) -> bool:
    """Whether a function itself draws at random, the functions in it left out."""
    calls = (node for node in own_nodes(function, (cst.Call,)) if isinstance(node, cst.Call))
    return any(draws(name) for call in calls for name in file.call(call).names)


def _pure_body(function: Function, file: File, depth: int) -> bool:
    """Whether a function of the module gives what it computes of its arguments by pure calls, and writes nothing."""
    if depth <= 0 or any(own_nodes(function.node, (cst.Global, cst.Nonlocal, cst.Yield, cst.Await))):
        return False
    calls = [node for node in own_nodes(function.node, (cst.Call,)) if isinstance(node, cst.Call)]
    return all(pure(node, file, depth) or _fills(node, function, file) for node in calls)


def _fills(node: cst.Call, function: Function, file: File) -> bool:
    """Whether a call fills a list or dictionary that the function made itself, prints or logs."""
    call = file.call(node)
    receiver = call.receiver_node
    if not isinstance(receiver, cst.Name) or call.names or not isinstance(function.node, cst.FunctionDef):
        return False
    made = file.flow(function.node).uses.get(id(receiver), ())
    displays = (cst.List, cst.Dict, cst.Set)
    return bool(made) and all(d.binds is Binds.VALUE and isinstance(d.value, displays) for d in made)


def _is_read(node: cst.Name, file: File) -> bool:
    parent = file.tree.parent(node)
    if isinstance(parent, cst.Attribute) and parent.attr is node:
        return False
    return not (isinstance(parent, cst.Arg) and parent.keyword is node) and not isinstance(parent, cst.Param)


def _definitions(name: cst.Name, file: File) -> list[Definition]:
    """What may give a name its value; for one of an outer scope, all that binds it there."""
    scope, home = file.scope_of(name), _home(name, file)
    if scope is home:
        return list(file.flow(scope).uses.get(id(name), ()))
    return list(file.flow(home).bindings.get(name.value, ()))  # type: ignore[arg-type]


def _changes(name: cst.Name, parts: list[Node], within: Within, file: File, depth: int) -> bool:
    definitions = _definitions(name, file)
    if any(_holds(part, d, file) for d in definitions for part in parts):
        return False
    inside = [d for d in definitions if file.tree.contains(within, d.node)]
    if isinstance(within, cst.FunctionDef):
        inside = [d for d in inside if d.binds is not Binds.PARAMETER]
        return not all(_same(d, parts, within, file, depth) for d in inside)
    if not all(_same(d, parts, within, file, depth) for d in inside):
        return True
    return not inside and not isinstance(file.value(name), Api) and touched(name, parts, within, file)


def _holds(part: Node, definition: Definition, file: File) -> bool:
    """Whether a definition stands in an expression, or gives a name just this value."""
    return definition.value is part or file.tree.contains(part, definition.node)


def _same(definition: Definition, parts: list[Node], within: Within, file: File, depth: int) -> bool:
    """Whether a name bound in the loop or function is bound to the same each time."""
    value = definition.value
    if definition.binds is Binds.IMPORT:
        return True
    if definition.binds is Binds.FUNCTION and isinstance(definition.node, cst.FunctionDef):
        names: list[Node] = list(_free(definition.node, file))
        return depth > 1 and all(_fixed(node, parts, within, file, depth - 1) for node in names)
    if value is None or isinstance(value, cst.AugAssign):
        return False
    if isinstance(within, cst.FunctionDef):
        return all(pure(node, file, depth) for node in walk(value) if isinstance(node, cst.Call))
    if definition.binds is not Binds.VALUE or file.contexts.loop(definition.node) is not within:
        return False
    return depth > 1 and all(_fixed(node, [], within, file, depth - 1) for node in _evaluated(value, file))


def passes_unchanging(
    call: Call, function: cst.FunctionDef, loop: cst.For | cst.While, file: File, parts: list[Node], whole: bool
) -> bool:
    """Whether these parts of a function are made of the same in each iteration of the loop that calls it.

    Of the object whose method is called only the attributes count that the method reads; of the arguments those of
    which the parts are made, or all of them for the `whole` result.
    """
    read, outer = made_of(parts, function, file)
    only = None if whole else read
    given = [arg for arg in call.node.args if only is None or _is_for(arg, only, call)]
    if (only is not None and call.open) or not all(
        _fixed(node, [call.node], loop, file, DEEP) for arg in given for node in _evaluated(arg.value, file)
    ):
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


def _is_for(arg: cst.Arg, wanted: frozenset[str], call: Call) -> bool:
    return any((a := call.arg(name)) is not None and a.node is arg for name in wanted)


def made_of(parts: list[Node], function: cst.FunctionDef, file: File) -> tuple[frozenset[str], tuple[cst.Name, ...]]:
    """What expressions in a function are made of: names of its parameters, and one place for each name from outside."""
    found: set[str] = set()
    outer: dict[str, cst.Name] = {}
    seen: set[int] = set()
    waiting = list(parts)
    while waiting:
        for name in (n for n in walk(waiting.pop()) if isinstance(n, cst.Name) and _is_read(n, file)):
            if not file.tree.contains(function, _home(name, file)):
                if not isinstance(file.value(name), (Api, Class, Function)):
                    outer[name.value] = name
                continue
            for d in _definitions(name, file):
                if d.binds is Binds.PARAMETER and d.scope is function:
                    found.add(d.name)
                elif d.scope is function and d.value is not None and id(d) not in seen:
                    seen.add(id(d))
                    waiting.append(d.value)
    return frozenset(found), tuple(outer.values())


def _attributes_of(name: str, function: cst.FunctionDef, file: File) -> set[str]:
    """The dotted paths that a function reads of its first parameter, methods that it calls left out."""
    found = {path_of(n, file) for n in walk(function.body) if isinstance(n, cst.Name) and n.value == name}
    return {path for path in found if path != name}
