"""What becomes of an error that code raises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Api, Const
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import FUNCTIONS
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File

ABOVE_ALL = frozenset({"Exception", "BaseException"})


@dataclass(frozen=True, slots=True)
class Dropped:
    """A place that catches an error and does nothing about it: the handler, or the `with suppress(...)`. `inside` is
    the call in its block: the one that raises, or the one through which it is reached."""

    place: cst.ExceptHandler | cst.With
    inside: cst.Call


def dropped(file: File, node: cst.Call, error: str) -> Iterator[Dropped]:
    """The places that certainly drop an error of this name, raised by a call: by `except ...: pass` or `suppress`,
    around the call itself or around calls of its function, `FOLLOWED_CALLS` deep.

    Nothing is yielded for a handler that does anything with the error, and behind it. The name is that of a direct
    subclass of `Exception`.
    """
    yield from _dropped(file, node, error, FOLLOWED_CALLS)


def _dropped(file: File, node: cst.Call, error: str, left: int) -> Iterator[Dropped]:
    inside: Node = node
    for above in file.tree.ancestors(node):
        if isinstance(above, (cst.ClassDef, *FUNCTIONS)):
            break
        if isinstance(above, cst.Try) and inside is above.body:
            catching = next((each for each in above.handlers if _catches(file, each.type, error)), None)
            if catching is not None:
                if _does_nothing(file, catching.body):
                    yield Dropped(catching, node)
                return
        if isinstance(above, cst.With) and inside is above.body:
            if any(_suppresses(file, item.item, error) for item in above.items):
                yield Dropped(above, node)
                return
        inside = above
    function = file.contexts.function(node)
    callers = file.call_graph.callers(function) if function is not None and left else ()
    for caller in callers or ():
        yield from _dropped(file, caller.node, error, left - 1)


def _catches(file: File, kind: cst.BaseExpression | None, error: str) -> bool:
    if kind is None:
        return True
    named = [element.value for element in kind.elements] if isinstance(kind, cst.Tuple) else [kind]
    values = [file.value(expression) for expression in named]
    return any(isinstance(v, Api) and v.name.rpartition(".")[2] in {error, *ABOVE_ALL} for v in values)


def _suppresses(file: File, entered: cst.BaseExpression, error: str) -> bool:
    if not isinstance(entered, cst.Call) or file.call(entered).name != "contextlib.suppress":
        return False
    return any(_catches(file, arg.value, error) for arg in entered.args)


def _does_nothing(file: File, body: cst.BaseSuite) -> bool:
    """Whether a block holds nothing but `pass`, `continue`, a bare `return` and texts."""
    for statement in body.body:
        for node in statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]:
            text = isinstance(node, cst.Expr) and isinstance(node.value, (cst.SimpleString, cst.Ellipsis))
            empty = isinstance(node, cst.Return) and (node.value is None or file.value(node.value) == Const(None))
            if not (text or empty or isinstance(node, (cst.Pass, cst.Continue))):
                return False
    return True
