"""Which Python values change from one iteration of a loop to the next."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Api, Binds, Const, Definition, File, Length, Node, Sequence, Value, walk
from tfmemlint.api import Iterator as Items

CONVERTS = frozenset({"builtins.float", "builtins.int", "builtins.str", "builtins.len", "builtins.round"})


def changing_python_value(expression: cst.BaseExpression, file: File) -> bool:
    """Whether an expression is certainly a Python number, string or list that differs between the iterations of a
    loop around it."""
    loops = list(file.contexts.loops(expression))
    return bool(loops) and _changes(expression, loops, file)


def _changes(node: cst.BaseExpression, loops: list[cst.For | cst.While], file: File) -> bool:
    if isinstance(node, cst.Name):
        definitions = file.flow(file.scope_of(node)).uses.get(id(node), ())
        return bool(definitions) and any(_changing_definition(d, loops, file) for d in definitions)
    if isinstance(node, cst.BinaryOperation):
        parts = (node.left, node.right)
        return any(_changes(p, loops, file) for p in parts) and all(_changes(p, loops, file) or _is_python(p, file) for p in parts)
    if isinstance(node, cst.Call):
        call = file.call(node)
        if call.name not in CONVERTS or not node.args:
            return False
        return any(isinstance(n, cst.Name) and _bound_in(n, loops, file) for n in walk(node.args[0].value))
    if isinstance(node, cst.FormattedString):
        return any(isinstance(n, cst.Name) and _changes(n, loops, file) for n in walk(node))
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_changes(e.value, loops, file) for e in node.elements)
    if isinstance(node, cst.Dict):
        return any(isinstance(e, cst.DictElement) and _changes(e.value, loops, file) for e in node.elements)
    return False


def _changing_definition(d: Definition, loops: list[cst.For | cst.While], file: File) -> bool:
    loop = next((loop for loop in loops if file.tree.contains(loop, d.node)), None)
    if loop is None:
        return False
    if d.binds is Binds.ITEM and isinstance(loop, cst.For) and file.tree.contains(loop.target, d.node):
        return _item_changes(file.value(loop.iter), d.path)
    if d.binds is Binds.AUGMENTED and isinstance(d.value, cst.AugAssign):
        return _is_python(d.value.value, file) and _starts_python(d, file)
    if d.binds is Binds.VALUE and not d.path and isinstance(d.value, cst.BaseExpression):
        return _changes(d.value, loops, file) if not _reads(d.value, d.name) else _is_counter(d.value, d.name, file)
    return False


def _item_changes(iterated: Value, path: tuple[int, ...]) -> bool:
    if isinstance(iterated, Items):
        if iterated.function in ("range", "trange"):
            return not path
        if iterated.function == "enumerate":
            return path == (0,) or (len(path) > 1 and path[0] == 1 and _item_changes(iterated.of, path[1:]))
        if iterated.function in ("tqdm", "reversed", "sorted", "list"):
            return _item_changes(iterated.of, path)
    if isinstance(iterated, Sequence) and not path:
        items = set(iterated.items)
        return len(items) > 3 and all(isinstance(i, Const) and isinstance(i.value, (int, float, str)) for i in items)
    return isinstance(iterated, Api) and iterated.name == "builtins.range"


def _starts_python(d: Definition, file: File) -> bool:
    """Whether another definition of the name is a Python number."""
    others = [o for o in file.flow(d.scope).bindings.get(d.name, ()) if o is not d]
    return any(isinstance(o.value, cst.BaseExpression) and isinstance(file.value(o.value), Const) for o in others if o.binds is Binds.VALUE)


def _is_counter(value: Node, name: str, file: File) -> bool:
    if not isinstance(value, cst.BinaryOperation):
        return False
    other = value.right if isinstance(value.left, cst.Name) and value.left.value == name else value.left
    return _is_python(other, file)


def _is_python(node: cst.BaseExpression, file: File) -> bool:
    value = file.value(node)
    return isinstance(value, (Const, Length)) and not isinstance(getattr(value, "value", 0), bool)


def _reads(node: Node, name: str) -> bool:
    return any(isinstance(n, cst.Name) and n.value == name for n in walk(node))


def _bound_in(name: cst.Name, loops: list[cst.For | cst.While], file: File) -> bool:
    definitions = file.flow(file.scope_of(name)).uses.get(id(name), ())
    return any(file.tree.contains(loop, d.node) for d in definitions for loop in loops)


def assigned_names(loop: cst.For | cst.While, file: File) -> Iterator[str]:
    """Names that a loop binds: its target and what its body assigns."""
    for scope_definitions in file.flow(file.scope_of(loop)).bindings.values():
        for d in scope_definitions:
            if file.tree.contains(loop, d.node):
                yield d.name
