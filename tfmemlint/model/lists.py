"""Lists to which code adds pipelines: what one of their items is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Dataset, Iterator, Sequence, Value, one_of
from tfmemlint.syntax.scopes import Definition

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame

MOST_ADDED = 8
"""Places that add to one list and are looked at."""


def grown(evaluator: Evaluator, definition: Definition, made: Sequence, frame: Frame | None) -> Value:
    """A list of which methods are called that change its length: where all that is put into it are pipelines, as many
    as nobody knows of those; else nothing is known of what it holds."""
    more = replace(made, open=True)
    added = _added(evaluator, definition)
    if not added or len(added) > MOST_ADDED or not all(isinstance(item, Dataset) for item in made.items):
        return more
    items = [*made.items]
    for expression in added:
        value = evaluator.value(expression, frame)
        if not all(isinstance(option, Dataset) for option in value.options):
            return more
        items.append(value)
    item = one_of(items)
    return Iterator(more, item, "list") if item.options else more


def _added(evaluator: Evaluator, definition: Definition) -> list[cst.BaseExpression]:
    """What the code of its scope adds to a list item by item; empty where other code adds to it, too, or several items
    at once."""
    file = evaluator.file
    calls = file.home(definition.node).method_calls
    named = [(word, node) for word in _ADDS for node in calls.get((word, definition.name), ())]
    if any(file.scope_of(node) is not definition.scope for _, node in named):
        return []
    added = [item for _, node in named if (item := _given(node)) is not None]
    return added if len(added) == len(named) else []


_ADDS = ("append", "insert", "extend", "appendleft")


def _given(node: cst.Call) -> cst.BaseExpression | None:
    """The one item that a call adds."""
    if not node.args or any(arg.star or arg.keyword is not None for arg in node.args):
        return None
    item = node.args[-1].value
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "extend":
        return item
    single = isinstance(item, (cst.List, cst.Tuple)) and len(item.elements) == 1
    return item.elements[0].value if single and isinstance(item, (cst.List, cst.Tuple)) else None
