"""Names as code reads them: which are variables, which scope binds them, which come from outside."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

import libcst as cst

from tfmemlint.syntax.reaching import Flow
from tfmemlint.syntax.scopes import Definition, ScopeNode
from tfmemlint.syntax.tree import Node, Tree, walk

Loop = cst.For | cst.While


class Scopes(Protocol):
    """What names are looked up in: the scopes of one module. `Program` and `File` are such."""

    @property
    def module(self) -> cst.Module: ...

    @property
    def tree(self) -> Tree: ...

    def scope_of(self, node: Node, /) -> ScopeNode: ...

    def scopes_around(self, scope: ScopeNode, /) -> Iterator[ScopeNode]: ...

    def flow(self, scope: ScopeNode, /) -> Flow: ...

    def bound_within(self, node: Node, /) -> list[Definition]: ...


def is_variable(file: Scopes, name: cst.Name) -> bool:
    """Whether a name stands for a variable: it is no attribute, no keyword, and not what a `def` or parameter is
    called."""
    parent = file.tree.parent(name)
    if type(parent) is cst.Attribute:  # a class test is far cheaper than isinstance where it fails
        return parent.attr is not name
    if type(parent) is cst.Arg:
        return parent.keyword is not name
    return not (isinstance(parent, (cst.Param, cst.FunctionDef, cst.ClassDef)) and parent.name is name)


def home_of(file: Scopes, name: cst.Name) -> ScopeNode:
    """The scope that binds a name where it stands; the module where none does."""
    scope = file.scope_of(name)
    around = (scope, *file.scopes_around(scope))
    return next((each for each in around if name.value in file.flow(each).bindings), file.module)


def assigned_names(file: Scopes, loop: Loop) -> set[str]:
    """The names that a loop binds: its target and what its body assigns."""
    return {definition.name for definition in file.bound_within(loop)}


def variables(file: Scopes, code: Node) -> set[str]:
    """The variables that some code names; what stands behind a dot or is a keyword is none."""
    return {n.value for n in walk(code, cst.Name) if is_variable(file, n)}


def free_names(file: Scopes, code: Node) -> Iterator[cst.Name]:
    """The variables in some code that scopes around it bind: those of functions and lambdas in it are left out."""
    for node in walk(code):
        if isinstance(node, cst.Name) and is_variable(file, node) and not file.tree.contains(code, home_of(file, node)):
            yield node


def names_any(code: Node, names: Collection[str]) -> bool:
    """Whether any of these names stands in some code."""
    return any(name.value in names for name in walk(code, cst.Name))
