"""What the functions of a module change outside of themselves: names, arguments, attributes of their object."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Function, Node, dotted, own_nodes

FILLS = frozenset({
    "random.shuffle", "np.random.shuffle", "np.random.Generator.shuffle", "np.random.RandomState.shuffle", "np.copyto",
    "np.put", "np.place", "np.fill_diagonal", "np.putmask",
})  # fmt: skip
"""Functions that change the array or list that they are given."""

IN_PLACE = frozenset({
    "sort", "fill", "resize", "partition", "put", "itemset", "append", "extend", "insert", "pop", "remove", "clear",
    "update", "reverse", "setdefault", "popitem", "appendleft", "popleft", "add", "discard", "assign", "assign_add",
    "assign_sub", "setflags", "shuffle",
})  # fmt: skip
"""Methods that change the object before the dot."""

DEEP = 2
"""Calls of methods that are followed into each other."""


def assigns(target: Node, path: str) -> bool:
    for each in _targets(target):
        written = dotted(each) or dotted(getattr(each, "value", each)) or ""
        if (
            written == path
            or written.startswith((path + ".", path + "["))
            or path.startswith((written + ".", written + "["))
        ):
            return bool(written)
    return False


def _targets(target: Node) -> Iterator[Node]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _targets(element.value)
    else:
        yield target


def changes_outer(function: Function, path: str, file: File, depth: int = DEEP) -> bool:
    """Whether a function of the module changes what a name outside of it stands for, or calls another that does."""
    root = path.partition(".")[0].partition("[")[0]
    if depth <= 0 or not isinstance(function.node, cst.FunctionDef):
        return False
    declared = any(own_nodes(function.node, cst.Global, cst.Nonlocal))
    if root in file.flow(function.node).bindings and not declared:
        return False
    for node in own_nodes(function.node, cst.AssignTarget, cst.AugAssign, cst.Call):
        if isinstance(node, cst.Call):
            inner = [t for t in file.call(node).target.options if isinstance(t, Function)]
            if _changes_local(node, path, file) or any(changes_outer(t, path, file, depth - 1) for t in inner):
                return True
        elif assigns(getattr(node, "target", node), path):
            return True
    return False


def changes_argument(call: Call, path: str, file: File) -> bool:
    """Whether a function of the module changes the object that it is given, as far as its own body shows."""
    for target in call.target.options:
        if not isinstance(target, Function):
            continue
        names = [
            name for name in call.parameter_names
            if (argument := call.arg(name)) is not None and dotted(argument.expression) == path
        ]  # fmt: skip
        for node in own_nodes(target.node, cst.AssignTarget, cst.AugAssign, cst.Call):
            if any(_changes_local(node, name, file) for name in names):
                return True
    return False


def _changes_local(node: Node, name: str, file: File) -> bool:
    if isinstance(node, cst.Call):
        call = file.call(node)
        receiver = dotted(call.receiver_node) if call.receiver_node is not None else None
        given = name in {dotted(arg.value) for arg in node.args}
        return (receiver == name and call.method in IN_PLACE) or (
            given and bool(call.names) and FILLS.issuperset(call.names)
        )
    target = getattr(node, "target", None)
    return isinstance(target, (cst.Subscript, cst.Attribute)) and (dotted(target.value) or "") == name


def writes_attribute(function: Function, rest: str, file: File, depth: int = DEEP) -> bool:
    """Whether a method assigns the attribute, calls a method of it, or calls another one that does."""
    attribute = rest.split(".")[0].split("[")[0]
    for node in own_nodes(function.node, cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Call):
        if attribute in _attributes(node) and not (isinstance(node, cst.Call) and file.call(node).names):
            return True
        if isinstance(node, cst.Call) and depth > 0 and isinstance(node.func, cst.Attribute):
            inner = [t for t in file.call(node).target.options if isinstance(t, Function) and t.receiver is not None]
            if any(writes_attribute(t, rest, file, depth - 1) for t in inner if t.node is not function.node):
                return True
    return False


def _attributes(node: Node) -> Iterator[str]:
    """The attributes that a statement assigns, or whose method a call calls."""
    if isinstance(node, cst.Call):
        targets: list[Node] = [node.func.value] if isinstance(node.func, cst.Attribute) else []
    else:
        targets = list(_targets(getattr(node, "target", node)))
    for target in targets:
        while isinstance(target, cst.Subscript):
            target = target.value
        if isinstance(target, cst.Attribute):
            yield target.attr.value
