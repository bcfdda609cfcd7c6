"""Names as code reads them: which are variables, which scope binds them, which come from outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.scopes import ScopeNode
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.syntax.program import Program

Loop = cst.For | cst.While


def is_variable(name: cst.Name, file: Program) -> bool:
    """Whether a name stands for a variable: it is no attribute, no keyword, and not what a `def` or parameter is
    called."""
    parent = file.tree.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.attr is not name
    if isinstance(parent, cst.Arg):
        return parent.keyword is not name
    return not (isinstance(parent, (cst.Param, cst.FunctionDef, cst.ClassDef)) and parent.name is name)


def home_of(name: cst.Name, file: Program) -> ScopeNode:
    """The scope that binds a name where it stands; the module where none does."""
    scope = file.scope_of(name)
    around = (scope, *file.scopes_around(scope))
    return next((each for each in around if name.value in file.flow(each).bindings), file.module)


def assigned_names(loop: Loop, file: Program) -> set[str]:
    """The names that a loop binds: its target and what its body assigns."""
    return {definition.name for definition in file.bound_within(loop)}


def variables(code: Node, file: Program) -> set[str]:
    """The variables that some code names; what stands behind a dot or is a keyword is none."""
    return {n.value for n in walk(code, cst.Name) if is_variable(n, file)}


def free_names(code: Node, file: Program) -> Iterator[cst.Name]:
    """The variables in some code that scopes around it bind: those of functions and lambdas in it are left out."""
    for node in walk(code):
        if isinstance(node, cst.Name) and is_variable(node, file) and not file.tree.contains(code, home_of(node, file)):
            yield node
