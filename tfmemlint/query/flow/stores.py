"""Statements that store something where it outlives the function: in containers, globals, attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Class, Instance, Mapping, Sequence
from tfmemlint.query.facts import TRACES, Fact
from tfmemlint.query.tracing.eager import runs_eagerly
from tfmemlint.query.tracing.python_values import part_of
from tfmemlint.syntax.names import Loop, home_of
from tfmemlint.syntax.scopes import dotted
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

CONTAINERS = frozenset({
    "builtins.list", "builtins.dict", "builtins.set", "collections.deque", "collections.defaultdict",
    "collections.OrderedDict",
})  # fmt: skip
ADDS = frozenset({"append", "add", "extend", "insert", "appendleft", "update"})
TAKES_OUT = frozenset({"setdefault", "get"})


@dataclass(frozen=True, slots=True)
class Store:
    """One store: the statement or call, the container, attribute or global where it goes, and what is stored.

    A call of a container's method is `where` as well, to be pointed at by its word.
    """

    where: Call | Node
    node: Node
    target: cst.BaseExpression
    items: tuple[cst.BaseExpression, ...]

    @property
    def replaces(self) -> bool:
        """Whether it is an assignment, also to an item of a container, not a call of a method."""
        return not isinstance(self.node, cst.Call)

    @property
    def place(self) -> cst.BaseExpression:
        """The container, attribute or name that has what is stored: of `kept[0] = x` it is `kept`."""
        return self.target.value if self.replaces and isinstance(self.target, cst.Subscript) else self.target


def _traced_stores(file: File) -> Iterator[Store]:
    traced = (store for store in stores(file) if file.contexts.traced(store.node))
    return (store for store in traced if not runs_eagerly(file, store.node))


traced_stores = Fact(_traced_stores, *TRACES)
"""Each store that runs while a function is traced, once, in a place that outlives the trace."""


def stores(file: File) -> Iterator[Store]:
    """Everything in the file that certainly stores something in a place which outlives its function: a list,
    dictionary or set from outside, an attribute of `self`, a name declared global or nonlocal."""
    for word in sorted(ADDS):
        for node in file.calls_by_word.get(word, ()):
            called = file.called(node)
            if isinstance(called, cst.Attribute) and node.args and outlives(file, called.value):
                yield Store(file.call(node), node, called.value, (node.args[-1].value,))
    for assign in file.tree.of(cst.Assign):
        for target in (t.target for t in assign.targets):
            pairs = zip(*_unpacked(target, assign.value), strict=True)
            found = [(place, item) for place, item in pairs if _is_outer(file, place, assign)]
            if found:
                yield Store(assign, assign, found[0][0], tuple(item for _, item in found))
    for aug in file.tree.of(cst.AugAssign):
        if _is_outer(file, aug.target, aug):
            yield Store(aug, aug, aug.target, (aug.value,))


def outlives(file: File, container: cst.BaseExpression) -> bool:
    """Whether an expression is certainly (an item of) a list, dictionary or set that outlives the function it is used
    in, and was not made while a function is traced."""
    while isinstance(container, (cst.Subscript, cst.Call)):
        if isinstance(container, cst.Subscript):
            container = container.value
        elif isinstance(container.func, cst.Attribute) and container.func.attr.value in TAKES_OUT:
            container = container.func.value
        else:
            return False
    if not isinstance(container, cst.Name):
        return is_container(file, container)
    home = home_of(file, container)
    return home is not file.scope_of(container) and not _traced(file, home) and is_container(file, container)


def is_container(file: File, expression: cst.BaseExpression) -> bool:
    """Whether a name or an attribute of `self` is certainly given a Python list, dictionary or set.

    False also for Keras' own collections, whose methods have the same names.
    """
    if isinstance(expression, cst.Attribute):
        owner = expression.value
        if isinstance(owner, cst.Name) and owner.value != "self" and home_of(file, owner) is file.scope_of(owner):
            return False
        kept = file.value(owner)
        known = isinstance(kept, Class) or (isinstance(kept, Instance) and kept.class_node is not None)
        return (dotted(owner) == "self" or known) and _kept_by_class(file, expression)
    if not isinstance(expression, cst.Name):
        return False
    home = home_of(file, expression)
    return any(_makes_container(file, part_of(d)) for d in file.flow(home).bindings.get(expression.value, ()))


def fills(file: File, loop: Loop, container: cst.BaseExpression, *, columns: bool = True) -> bool:
    """Whether the body of a loop puts items into a container that is named so, itself; `columns`: also such that are a
    part of each of its rows, `x[:, i] = column`."""
    path = dotted(container)
    targets = (each.target for each in walk(loop.body, cst.AssignTarget))
    written = [each for each in targets if isinstance(each, cst.Subscript) and dotted(each.value) == path]
    if any(columns or not _is_column(each) for each in written):
        return True
    methods = (file.called(each) for each in walk(loop.body, cst.Call))
    return any(isinstance(m, cst.Attribute) and m.attr.value in ADDS and dotted(m.value) == path for m in methods)


def _is_column(target: cst.Subscript) -> bool:
    rows = target.slice[0].slice
    return len(target.slice) > 1 and isinstance(rows, cst.Slice) and rows.lower is None and rows.upper is None


def _unpacked(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> tuple[list[cst.BaseExpression], list[cst.BaseExpression]]:
    if not isinstance(target, (cst.Tuple, cst.List)):
        return [target], [value]
    places = [element.value for element in target.elements]
    if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(places):
        return places, [element.value for element in value.elements]
    return places, [value] * len(places)


def _is_outer(file: File, target: cst.BaseExpression, statement: Node) -> bool:
    """Whether an assignment's target is an attribute of `self`, an item of an outer container, or a name that the
    function declares as global or nonlocal."""
    if isinstance(target, cst.Attribute):
        return isinstance(target.value, cst.Name) and target.value.value == "self"
    if isinstance(target, cst.Subscript):
        return outlives(file, target.value)
    function = file.contexts.function(statement)
    if not isinstance(target, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    if id(function) not in file.declared.get(target.value, ()):
        return False
    outer = next((s for s in file.scopes_around(function) if target.value in file.flow(s).bindings), file.module)
    return not _traced(file, outer)


def _traced(file: File, scope: Node) -> bool:
    return isinstance(scope, cst.FunctionDef) and file.contexts.traced(scope.body.body[0])


def _makes_container(file: File, value: Node | None) -> bool:
    """Whether a name is given a list, dictionary or set (`keras.ops.add` is none)."""
    if isinstance(value, cst.Call):
        return file.call(value).name in CONTAINERS
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Multiply):
        return isinstance(value.left, cst.List)
    return isinstance(value, (cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp))


def _kept_by_class(file: File, attribute: cst.Attribute) -> bool:
    """Whether the attribute is a plain list (Keras' own collections have methods of the same names)."""
    if isinstance(file.value(attribute), (Sequence, Mapping)):
        return True
    assigned = file.assigned_paths.get(dotted(attribute) or "", ())
    return bool(assigned) and all(_makes_container(file, assign.value) for assign in assigned)
