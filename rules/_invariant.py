"""Whether an expression gives the same in every iteration of a loop, or in every call of a function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from tfmemlint_rules._pure import DEEP, pure
from tfmemlint_rules._touched import touched

from tfmemlint.api import (
    Api,
    Binds,
    Const,
    Definition,
    File,
    Node,
    children,
    free_names,
    home_of,
    is_variable,
    walk,
    written,
)

Within = cst.For | cst.While | cst.FunctionDef


def unchanging(parts: Sequence[Node], within: Within, file: File, besides: Sequence[Node] | None = None) -> bool:
    """Whether nothing that these expressions are made of changes in a loop.

    For a function: whether they are made of its parameters, of what stands outside and of pure calls only. What
    `besides` holds, the expressions themselves if it is not given, is not looked at for changes.
    """
    return _Rounds(within, file, parts if besides is None else besides).same(parts, DEEP)


def definitions_of(name: cst.Name, file: File) -> Sequence[Definition]:
    """What may give a name its value; for one of an outer scope, all that binds it there."""
    home = home_of(name, file)
    if file.scope_of(name) is home:
        return written(file.definitions(name))
    return file.flow(home).bindings.get(name.value, ())


def _evaluated(part: Node, file: File) -> Iterator[Node]:
    """The nodes of an expression; of the lambdas in it only the names that they read from outside."""
    if isinstance(part, cst.Lambda):
        yield from free_names(part, file)
        return
    stack = [part]
    while stack:
        node = stack.pop()
        yield node
        for child in reversed(children(node)):
            if isinstance(child, cst.Lambda):
                yield from free_names(child, file)
            else:
                stack.append(child)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The iterations of a loop or the calls of a function, `besides` some expressions in it."""

    within: Within
    file: File
    besides: Sequence[Node]

    def same(self, parts: Sequence[Node], depth: int) -> bool:
        """Whether expressions are the same in all rounds; `depth` local names are followed into each other."""
        return depth > 0 and all(self._fixed(n, depth) for part in parts for n in _evaluated(part, self.file))

    def _fixed(self, node: Node, depth: int) -> bool:
        """Whether this one node of an expression does not keep it from being the same each time."""
        if isinstance(node, (cst.Await, cst.Yield, cst.NamedExpr)):
            return False
        if isinstance(node, cst.Call) and node not in self.besides:
            return pure(node, self.file, depth)
        return not (isinstance(node, cst.Name) and is_variable(node, self.file) and self._changes(node, depth))

    def _changes(self, name: cst.Name, depth: int) -> bool:
        definitions, contains = definitions_of(name, self.file), self.file.tree.contains
        if any(d.value is part or contains(part, d.node) for d in definitions for part in self.besides):
            return False
        inside = [d for d in definitions if contains(self.within, d.node)]
        if isinstance(self.within, cst.FunctionDef):
            return not all(d.binds is Binds.PARAMETER or self._rebound_same(d, depth) for d in inside)
        if inside:
            return not all(self._rebound_same(d, depth) for d in inside)
        fixed = isinstance(self.file.value(name), (Api, Const))
        return not fixed and touched(name, self.besides, self.within, self.file)

    def _rebound_same(self, definition: Definition, depth: int) -> bool:
        """Whether a name bound in the loop or function is bound to the same each time."""
        value = definition.value
        if definition.binds is Binds.IMPORT:
            return True
        if definition.binds is Binds.FUNCTION and isinstance(definition.node, cst.FunctionDef):
            return self.same(list(free_names(definition.node, self.file)), depth - 1)
        if value is None or isinstance(value, cst.AugAssign):
            return False
        if isinstance(self.within, cst.FunctionDef):
            return all(pure(node, self.file, depth) for node in walk(value, cst.Call))
        if definition.binds is not Binds.VALUE or self.file.contexts.loop(definition.node) is not self.within:
            return False
        return self.same([value], depth - 1)
