"""How often loops run, where the code says it."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._growing import rounds

from tfmemlint.api import File, Iterator, Mapping, Node, Sequence, integer

VIEWS = frozenset({"items", "values", "keys"})


def few_iterations(loop: Node, file: File, most: int) -> bool:
    """Whether a loop certainly has at most `most` iterations: over a display, a constant range or a dictionary."""
    count = iterations(loop, file)
    return count is not None and count <= most


def iterations(loop: Node, file: File) -> int | None:
    """The number of iterations of a `for` loop or a comprehension, where the code says it."""
    if isinstance(loop, cst.BaseComp):
        return rounds(loop, file)
    if not isinstance(loop, cst.For):
        return None
    count = file.contexts.literal_count(loop)
    count = _taken(loop.iter, file) if count is None else count
    value = file.contexts.iterated(loop) if count is None else None
    if isinstance(value, Iterator) and isinstance(value.of, Sequence) and not value.of.open:
        count = len(value.of.items)  # of a comprehension
    if count is None:
        held = file.value(view(loop.iter) or loop.iter)
        count = len(held.items) if isinstance(held, Mapping) and not held.open else None
    return count


def _taken(node: cst.BaseExpression, file: File) -> int | None:
    """The count of `ds.take(n)`, inside `enumerate` too, where it is known."""
    if isinstance(node, cst.Call) and file.call(node).name == "builtins.enumerate" and node.args:
        node = node.args[0].value
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value != "take":
        return None
    counts = [integer(option) for option in file.call(node).value_of(0, "count").options] if node.args else []
    known = [count for count in counts if count is not None and count >= 0]
    return max(known) if known and len(known) == len(counts) else None


def view(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The dictionary of `d.items()` and its like."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.value if node.func.attr.value in VIEWS else None
    return None
