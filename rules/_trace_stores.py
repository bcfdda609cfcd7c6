"""Statements that store something in a place which outlives the function: containers, globals, attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from tfmemlint_rules._python_numbers import part_of

from tfmemlint.api import Call, Class, File, Mapping, Node, Sequence, dotted, home_of

CONTAINERS = frozenset({
    "builtins.list", "builtins.dict", "builtins.set", "collections.deque", "collections.defaultdict",
    "collections.OrderedDict",
})  # fmt: skip
ADDS = frozenset({"append", "add", "extend", "insert", "appendleft", "update"})


@dataclass(frozen=True)
class Store:
    """One store: the statement or call, where the item goes, and what is stored."""

    where: Call | Node
    node: Node
    target: cst.BaseExpression
    items: tuple[cst.BaseExpression, ...]


def stores(file: File) -> Iterator[Store]:
    """Everything that looks like a store, wherever it stands."""
    for word in sorted(ADDS):
        for node in file.calls_by_word.get(word, ()):
            if isinstance(node.func, cst.Attribute) and node.args:
                target = cst.ensure_type(node.func, cst.Attribute).value
                if is_outer_container(target, file):
                    yield Store(file.call(node), node, target, (node.args[-1].value,))
    for assign in file.tree.of(cst.Assign):
        for target in (t.target for t in assign.targets):
            places, items = _unpacked(target, assign.value)
            found = [(p, i) for p, i in zip(places, items, strict=True) if _is_outer(p, assign, file)]
            if found:
                yield Store(assign, assign, found[0][0], tuple(item for _, item in found))
    for aug in file.tree.of(cst.AugAssign):
        if _is_outer(aug.target, aug, file):
            yield Store(aug, aug, aug.target, (aug.value,))


def _unpacked(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> tuple[list[cst.BaseExpression], list[cst.BaseExpression]]:
    if not isinstance(target, (cst.Tuple, cst.List)):
        return [target], [value]
    places = [element.value for element in target.elements]
    if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(places):
        return places, [element.value for element in value.elements]
    return places, [value] * len(places)


def _is_outer(target: cst.BaseExpression, statement: Node, file: File) -> bool:
    """Whether an assignment's target is an attribute of `self`, an item of an outer container, or a name that the
    function declares as global or nonlocal."""
    if isinstance(target, cst.Attribute):
        return isinstance(target.value, cst.Name) and target.value.value == "self"
    if isinstance(target, cst.Subscript):
        return is_outer_container(target.value, file)
    function = file.contexts.function(statement)
    if not isinstance(target, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    declared: list[cst.Global | cst.Nonlocal] = [*file.tree.of(cst.Global), *file.tree.of(cst.Nonlocal)]
    named = [n for n in declared if any(item.name.value == target.value for item in n.names)]
    if not any(file.contexts.function(n) is function for n in named):
        return False
    outer = next((s for s in file.scopes_around(function) if target.value in file.flow(s).bindings), file.module)
    return not _traced(outer, file)


def is_outer_container(expression: cst.BaseExpression, file: File) -> bool:
    """Whether an expression is (an item of) a list, dictionary or set that outlives its function."""
    while isinstance(expression, (cst.Subscript, cst.Call)):
        if isinstance(expression, cst.Subscript):
            expression = expression.value
        elif isinstance(expression.func, cst.Attribute) and expression.func.attr.value in ("setdefault", "get"):
            expression = expression.func.value
        else:
            return False
    if isinstance(expression, cst.Attribute):
        return is_container(expression, file)
    if not isinstance(expression, cst.Name):
        return False
    home = home_of(expression, file)
    return home is not file.scope_of(expression) and not _traced(home, file) and is_container(expression, file)


def is_container(expression: cst.BaseExpression, file: File) -> bool:
    """Whether a name or an attribute of `self` is given a Python list, dictionary or set."""
    if isinstance(expression, cst.Attribute):
        owner = expression.value
        if isinstance(owner, cst.Name) and owner.value != "self" and home_of(owner, file) is file.scope_of(owner):
            return False
        known = isinstance(file.value(owner), Class) or getattr(file.value(owner), "class_node", None) is not None
        return (dotted(owner) == "self" or known) and _kept_by_class(expression, file)
    if not isinstance(expression, cst.Name):
        return False
    home = home_of(expression, file)
    return any(_makes_container(part_of(d), file) for d in file.flow(home).bindings.get(expression.value, ()))


def _traced(scope: Node, file: File) -> bool:
    return isinstance(scope, cst.FunctionDef) and file.contexts.traced(scope.body.body[0])


def _makes_container(value: Node | None, file: File) -> bool:
    """Whether a name is given a list, dictionary or set (`keras.ops.add` is none)."""
    if isinstance(value, cst.Call):
        return file.call(value).name in CONTAINERS
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Multiply):
        return isinstance(value.left, cst.List)
    return isinstance(value, (cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp))


def _kept_by_class(attribute: cst.Attribute, file: File) -> bool:
    """Whether the attribute is a plain list (Keras' own collections have methods of the same names)."""
    if isinstance(file.value(attribute), (Sequence, Mapping)):
        return True
    path = dotted(attribute)
    made = [a.value for a in file.tree.of(cst.Assign) if any(dotted(t.target) == path for t in a.targets)]
    return bool(made) and all(_makes_container(value, file) for value in made)
