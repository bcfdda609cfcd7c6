"""A read-only index over a libcst tree: preorder, parents and buckets by type, in one iterative pass.

libcst's visitors rebuild every node they pass (8-14 thousand lines a second); this walk only reads fields
(150-300 thousand lines a second). Whitespace, punctuation and operators are left out: `node.operator` and its like
stay readable, but they are no nodes of the index.
"""

from __future__ import annotations

import bisect
import copy
import dataclasses
import sys
import typing
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar, overload

import libcst as cst

Node = cst.CSTNode
A = TypeVar("A", bound=cst.CSTNode)
B = TypeVar("B", bound=cst.CSTNode)
C = TypeVar("C", bound=cst.CSTNode)

_LEFT_OUT: tuple[type[Node], ...] = (
    cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Newline, cst.Comment,
    cst.Comma, cst.Colon, cst.Semicolon, cst.Dot, cst.AssignEqual, cst.LeftParen, cst.RightParen,
    cst.LeftSquareBracket, cst.RightSquareBracket, cst.LeftCurlyBrace, cst.RightCurlyBrace,
    cst.BaseBinaryOp, cst.BaseBooleanOp, cst.BaseCompOp, cst.BaseUnaryOp, cst.BaseAugOp,
    cst.Asynchronous, cst.ImportStar, cst.ParamSlash, cst.ParamStar, cst.BitOr, cst.TypeParameters,
)  # fmt: skip


def _types_in(annotation: object) -> Iterator[type]:
    if isinstance(annotation, type):
        yield annotation
    for inner in typing.get_args(annotation):
        yield from _types_in(inner)


def _child_fields(cls: type[Node]) -> tuple[str, ...]:
    hints = typing.get_type_hints(cls, vars(sys.modules[cls.__module__]))
    fields = []
    for field in dataclasses.fields(cls):
        nodes = [t for t in _types_in(hints[field.name]) if issubclass(t, Node)]
        if any(not issubclass(t, _LEFT_OUT) for t in nodes):
            fields.append(field.name)
    return tuple(reversed(fields))


class _Fields(dict[type, tuple[str, ...]]):
    """Fields that hold children, by node class, last field first (the order in which a stack wants them)."""

    def __missing__(self, cls: type[Node]) -> tuple[str, ...]:
        fields = self[cls] = _child_fields(cls)
        return fields


FIELDS = _Fields()


def children(node: Node) -> list[Node]:
    """The indexed children of a node, in source order."""
    found: list[Node] = []
    for name in reversed(FIELDS[node.__class__]):
        value = getattr(node, name)
        if value.__class__ is tuple or value.__class__ is list:
            found.extend(value)
        elif value is not None and value.__class__ is not cst.MaybeSentinel:
            found.append(value)
    return found


def push_children(stack: list[Node], node: Node) -> None:
    """Put the indexed children of a node on a stack, from which the first of them is taken first."""
    for name in FIELDS[node.__class__]:
        value = getattr(node, name)
        if value.__class__ is tuple or value.__class__ is list:
            stack.extend(reversed(value))
        elif value is not None and value.__class__ is not cst.MaybeSentinel:
            stack.append(value)


@overload
def walk(node: Node, /) -> Iterator[Node]: ...
@overload
def walk(node: Node, a: type[A], /) -> Iterator[A]: ...
@overload
def walk(node: Node, a: type[A], b: type[B], /) -> Iterator[A | B]: ...
@overload
def walk(node: Node, a: type[A], b: type[B], c: type[C], /) -> Iterator[A | B | C]: ...
@overload
def walk(node: Node, /, *kinds: type[Node]) -> Iterator[Node]: ...
def walk(node: Node, /, *kinds: type[Node]) -> Iterator[Node]:
    """The node and everything below it, in source order; with `kinds` only nodes of exactly these classes."""
    return _only(node, frozenset(kinds)) if kinds else _all(node)


def _only(node: Node, kinds: frozenset[type[Node]]) -> Iterator[Node]:
    stack = [node]
    while stack:
        top = stack.pop()
        if top.__class__ in kinds:
            yield top
        push_children(stack, top)


def _all(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        push_children(stack, top)


_NUMBERS: list[int] = []


def _numbers(count: int) -> list[int]:
    """The numbers from 0 on, at least so many: all trees have the same ones, or each kept tree had its own."""
    _NUMBERS.extend(range(len(_NUMBERS), count))
    return _NUMBERS


class Tree:
    """The index of one module. It answers for nodes of the trees in `linked`, too, those of modules that it imports;
    `base` is what their places begin with there."""

    base: int = 0

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        self.linked: list[Tree] = []
        self._owners: dict[int, Tree] = {}
        self._recent: Tree | None = None  # not this one: a tree that nobody has any more is free at once
        self._order: dict[int, int] = {}
        self._above: list[Node | None] = []
        self._buckets: dict[type, list[Node]] = defaultdict(list)
        self._last: list[int] = []
        self._index()

    def _index(self) -> None:
        buckets, fields = self._buckets, FIELDS
        sentinel = cst.MaybeSentinel  # libcst's mark for "not written"; a class test is far cheaper than isinstance
        nodes: list[Node] = []
        stack: list[Node] = [self.module]
        over: list[Node | None] = [None]
        add, add_above = nodes.append, self._above.append
        pop, push, pop_over, push_over = stack.pop, stack.append, over.pop, over.append
        while stack:
            node = pop()
            cls = node.__class__
            add(node)
            add_above(pop_over())
            buckets[cls].append(node)
            for name in fields[cls]:
                value = getattr(node, name)
                if value.__class__ is tuple or value.__class__ is list:
                    if value:
                        stack += reversed(value)
                        over += [node] * len(value)
                elif value is not None and value.__class__ is not sentinel:
                    push(value)
                    push_over(node)
        self._order = dict(zip(map(id, nodes), _numbers(len(nodes)), strict=False))

    def alone(self) -> Tree:
        """The same index with no other trees linked."""
        tree = copy.copy(self)
        tree.linked, tree._owners, tree._recent, tree.base = [], {}, None, 0
        return tree

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, node: Node) -> bool:
        """Whether the node is one of this module itself."""
        return id(node) in self._order

    def owner(self, node: Node) -> Tree:
        """The tree that holds a node: this one, or one of those that are linked."""
        key = id(node)
        if key in self._order:
            return self
        found = self._owners.get(key)
        if found is None:
            found = self._recent  # what is asked next mostly stands in the same module
            if found is None or key not in found._order:
                found = next((tree for tree in self.linked if key in tree._order), None)
                if found is None:
                    return self
                self._recent = found
            self._owners[key] = found
        return found

    @overload
    def of(self, a: type[A], /) -> list[A]: ...
    @overload
    def of(self, a: type[A], b: type[B], /) -> list[A | B]: ...
    @overload
    def of(self, a: type[A], b: type[B], c: type[C], /) -> list[A | B | C]: ...
    @overload
    def of(self, /, *kinds: type[Node]) -> list[Node]: ...
    def of(self, /, *kinds: type[Node]) -> Any:
        """All nodes of exactly these classes, in source order."""
        if len(kinds) == 1:
            return self._buckets.get(kinds[0], [])
        return sorted((node for kind in kinds for node in self._buckets.get(kind, ())), key=self.order)

    def all(self) -> Iterator[Node]:
        """All nodes, by their classes."""
        return chain.from_iterable(self._buckets.values())

    def parent(self, node: Node) -> Node | None:
        """The node above, or None for the module."""
        place = self._order.get(id(node))
        if place is None:
            tree = self.owner(node) if self.linked else self
            return tree.parent(node) if tree is not self else None
        return self._above[place]

    def ancestors(self, node: Node) -> Iterator[Node]:
        """The nodes above, nearest first, the module last."""
        tree = self if id(node) in self._order else self.owner(node)
        places, aboves = tree._order, tree._above
        place = places.get(id(node))
        while place is not None:
            above = aboves[place]
            if above is None:
                return
            yield above
            place = places[id(above)]

    def order(self, node: Node) -> int:
        """The node's place in source order (preorder), for comparing two nodes."""
        place = self._order.get(id(node))
        if place is None:
            tree = self.owner(node)
            return tree.base + tree._order[id(node)]
        return place

    def contains(self, outer: Node, inner: Node) -> bool:
        """Whether `inner` is `outer` or lies below it."""
        first, place = self._order.get(id(outer)), self._order.get(id(inner))
        if first is None or place is None:
            tree = self.owner(outer)
            return inner is outer or (tree is not self and tree.contains(outer, inner))
        return first <= place <= self.last(outer)

    def holding(self, statements: Sequence[Node], node: Node) -> int | None:
        """The index of the statement of a block that is the node or holds it, or None."""
        place = self._order.get(id(node))
        if place is None:
            tree = self.owner(node)
            of_one = tree is not self and bool(statements) and statements[0] in tree
            return tree.holding(statements, node) if of_one else None
        index = bisect.bisect_right(statements, place, key=self.order) - 1
        return index if index >= 0 and self.contains(statements[index], node) else None

    def last(self, node: Node) -> int:
        """The place in source order of the last node below a node, or of the node itself."""
        tree = self.owner(node)
        if tree is not self:
            return tree.base + tree.last(node)
        if not self._last:
            last, order, aboves = list(_numbers(len(self._order))[: len(self._order)]), self._order, self._above
            for place in range(len(last) - 1, 0, -1):
                above = order[id(aboves[place])]
                if last[above] < last[place]:
                    last[above] = last[place]
            self._last = last
        return self._last[self._order[id(node)]]

    def statement(self, node: Node) -> Node:
        """The smallest statement that holds the node: a simple statement line or a compound statement."""
        if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            return node
        for above in self.ancestors(node):
            if isinstance(above, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                return above
        return self.owner(node).module


def called_word(node: cst.Call) -> str:
    """The last part of what is called, as it is written: `identity` of `tf.identity(x)`; "" of `make()(x)`."""
    func = node.func
    return func.attr.value if type(func) is cst.Attribute else func.value if type(func) is cst.Name else ""
