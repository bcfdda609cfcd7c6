"""Definitions and scopes: what binds a name, and where names live."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import overload

import libcst as cst

from tfmemlint.syntax.tree import A, B, C, Node, Tree, push_children

ScopeNode = cst.Module | cst.FunctionDef | cst.Lambda | cst.ClassDef
SCOPES = (cst.Module, cst.FunctionDef, cst.Lambda, cst.ClassDef)
SCOPE_CLASSES = frozenset(SCOPES)
FUNCTIONS = (cst.FunctionDef, cst.Lambda)
COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)


class Binds(enum.Enum):
    """How a definition gives its name a value."""

    VALUE = enum.auto()
    """`name = value`, with `path` naming the item for an unpacked target."""
    ITEM = enum.auto()
    """`for name in value`, also in comprehensions."""
    ENTERED = enum.auto()
    """`with value as name`."""
    AUGMENTED = enum.auto()
    """`name += ...`; `value` is the whole AugAssign."""
    IMPORT = enum.auto()
    """`api` is the dotted path that was imported."""
    PARAMETER = enum.auto()
    """`value` is the Param."""
    FUNCTION = enum.auto()
    CLASS = enum.auto()
    UNKNOWN = enum.auto()
    """An exception, a match capture, a deleted name, a star target, a declaration with no value."""


@dataclass(frozen=True, slots=True, eq=False)
class Reaching:
    """What may have given a name its value where the name is read: a `Definition`, or `OUTER`.

    Only a `Definition` stands somewhere in the file: `isinstance` or `written` tells the two apart, and a type checker
    asks for it where `node` or `scope` is read.
    """

    name: str
    binds: Binds
    value: Node | None = field(default=None, kw_only=True)
    path: tuple[int | slice, ...] = field(default=(), kw_only=True)
    api: str = field(default="", kw_only=True)
    annotation: Node | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class Definition(Reaching):
    """One place that binds a name (or a dotted path such as `self.ds`) in one scope.

    `node` is the statement or target that does it, `value` the expression behind it, `path` the indices that lead to
    this name in an unpacked value.
    """

    node: Node
    scope: ScopeNode


OUTER = Reaching("", Binds.UNKNOWN)
"""Stands for "not bound here on some path": the name's value comes from outside the scope, or it has none."""

Definitions = tuple[Reaching, ...]


class Further(Definition):
    """Stands for all definitions of a name that reach a place beyond those that are told apart there."""


def written(found: Iterable[Reaching]) -> list[Definition]:
    """Those of them that the file holds."""
    return [each for each in found if isinstance(each, Definition)]


def dotted(node: Node) -> str | None:
    """`self.model.ds` for that expression, `d['train']` for a constant key; None for anything not built of these."""
    if type(node) is cst.Name:  # a class test is far cheaper than isinstance where it fails
        return node.value
    if type(node) is cst.Attribute:
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    if type(node) is cst.Subscript and len(node.slice) == 1:
        index = node.slice[0].slice
        if isinstance(index, cst.Index) and isinstance(index.value, (cst.SimpleString, cst.Integer)):
            base = dotted(node.value)
            key = index.value
            shown = repr(key.evaluated_value) if isinstance(key, cst.SimpleString) else key.value
            return None if base is None else f"{base}[{shown}]"
    return None


def enclosing_scope(tree: Tree, node: Node, known: dict[int, ScopeNode]) -> ScopeNode:
    """The scope in which an expression or statement is evaluated; `known` takes those of the nodes on the way, too.

    Decorators, defaults, annotations and base classes belong to the scope around the definition that they decorate.
    """
    below, passed = node, [id(node)]
    found: ScopeNode | None = None
    for above in tree.ancestors(node):
        if above.__class__ in SCOPE_CLASSES and _inside(above, below):
            found = above
            break
        below = above
        found = known.get(id(above))
        if found is not None:
            break
        passed.append(id(above))
    scope = tree.module if found is None else found
    known.update(dict.fromkeys(passed, scope))
    return scope


def _inside(scope: ScopeNode, child: Node) -> bool:
    return scope.__class__ is cst.Module or child is scope.body


def decorated(function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    """Whether a function has a plain decorator of this name."""
    decorators = function.decorators if isinstance(function, cst.FunctionDef) else ()
    return any(isinstance(each.decorator, cst.Name) and each.decorator.value == name for each in decorators)


def parameters(function: cst.FunctionDef | cst.Lambda) -> Iterator[cst.Param]:
    """All parameters in order: positional-only, positional, `*args`, keyword-only, `**kwargs`."""
    params = function.params
    yield from params.posonly_params
    yield from params.params
    if isinstance(params.star_arg, cst.Param):
        yield params.star_arg
    yield from params.kwonly_params
    if params.star_kwarg is not None:
        yield params.star_kwarg


def positional(function: cst.FunctionDef | cst.Lambda) -> tuple[cst.Param, ...]:
    """The parameters that positions fill, one each."""
    return (*function.params.posonly_params, *function.params.params)


@overload
def own_nodes(function: ScopeNode, a: type[A], /) -> Iterator[A]: ...
@overload
def own_nodes(function: ScopeNode, a: type[A], b: type[B], /) -> Iterator[A | B]: ...
@overload
def own_nodes(function: ScopeNode, a: type[A], b: type[B], c: type[C], /) -> Iterator[A | B | C]: ...
@overload
def own_nodes(function: ScopeNode, /, *kinds: type[Node]) -> Iterator[Node]: ...
def own_nodes(function: ScopeNode, /, *kinds: type[Node]) -> Iterator[Node]:
    """Nodes of exactly the given classes in a scope's body, nested functions and classes left out."""
    stack: list[Node] = [function.body] if not isinstance(function, cst.Module) else [function]
    while stack:
        node = stack.pop()
        cls = node.__class__
        if cls in kinds:
            yield node
        if cls not in SCOPE_CLASSES or node is function:
            push_children(stack, node)
