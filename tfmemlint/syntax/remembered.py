"""What is worked out once for a tree, though several programs are made of it: the file that is linted, and the module
that others import."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeVar, overload

import libcst as cst

from tfmemlint.syntax.scopes import ScopeNode, own_nodes

T = TypeVar("T")


class once_per_tree(cached_property[T]):
    """A property of a program that rests on its tree alone."""

    @overload
    def __get__(self, program: None, owner: type[Any] | None = None) -> once_per_tree[T]: ...
    @overload
    def __get__(self, program: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, program: object, owner: type[Any] | None = None) -> once_per_tree[T] | T:
        known = getattr(program, "known", None)
        if known is None or self.attrname is None:
            return super().__get__(program, owner)
        found: T = getattr(known, self.attrname)
        program.__dict__[self.attrname] = found
        return found


class Own(NamedTuple):
    """What stands in a scope itself, functions and classes in it left out; in source order."""

    calls: list[cst.Call]
    returns: list[cst.Return]
    yields: bool


def own(scope: ScopeNode) -> Own:
    """The calls and ends of a scope."""
    found = Own([], [], False)
    for node in own_nodes(scope, cst.Call, cst.Return, cst.Yield):
        if isinstance(node, cst.Call):
            found.calls.append(node)
        elif isinstance(node, cst.Return):
            found.returns.append(node)
        else:
            found = found._replace(yields=True)
    return found
