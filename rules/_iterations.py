"""How often loops run, where the code says it."""

from __future__ import annotations

from math import prod

import libcst as cst

from tfmemlint.api import (
    Array,
    Binds,
    Const,
    File,
    Iterator,
    Length,
    Mapping,
    Node,
    Sequence,
    Value,
    integer,
    range_length,
    walk,
)

WRAPPERS = frozenset(f"builtins.{name}" for name in ("reversed", "enumerate", "list", "tuple", "sorted", "iter"))
VIEWS = frozenset({"items", "values", "keys"})


def few_iterations(loop: Node, file: File, most: int) -> bool:
    """Whether a loop certainly has at most `most` iterations: over a display, a constant range or a dictionary."""
    count = iterations(loop, file)
    return count is not None and count <= most


def iterations(loop: Node, file: File) -> int | None:
    """The number of iterations of a `for` loop or a comprehension, or the most it can be, where the code says it."""
    if isinstance(loop, cst.BaseComp):
        counts = [count_of(made.iter, file) for made in walk(loop, cst.CompFor)]
        return None if None in counts else prod(count for count in counts if count is not None)
    if not isinstance(loop, cst.For):
        return None
    count = file.contexts.literal_count(loop)
    count = _taken(loop.iter, file) if count is None else count
    value = file.contexts.iterated(loop) if count is None else None
    if isinstance(value, Iterator) and isinstance(value.of, Sequence) and not value.of.open:
        count = _shortest(value.of) if value.function == "zip" else len(value.of.items)  # else of a comprehension
    if count is None:
        held = file.value(view(loop.iter) or loop.iter)
        count = len(held.items) if isinstance(held, Mapping) and not held.open else None
    return count


def _shortest(zipped: Sequence) -> int | None:
    """The number of items of the shortest part of a `zip` whose number is known: it has no more."""
    counts = [_items(part) for part in zipped.items]
    return min((count for count in counts if count is not None), default=None)


def _items(value: Value) -> int | None:
    if isinstance(value, Iterator):
        return value.of.count if isinstance(value.of, Length) else None
    if isinstance(value, Array):
        return value.shape[0] if value.shape else None
    return len(value.items) if isinstance(value, Sequence) and not value.open else None


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


def count_of(iterated: cst.BaseExpression, file: File) -> int | None:
    """The number of items of a `range`, a display or an array, also under `reversed`, `enumerate`, `zip`."""
    iterated = file.written(iterated)
    if isinstance(iterated, cst.Call):
        name, given = file.call(iterated).name, [arg.value for arg in iterated.args]
        if name == "builtins.range":
            return range_length(integer(file.value(bound)) for bound in given)
        if name in WRAPPERS and given:
            return count_of(given[0], file)
        if name == "builtins.zip" and given:
            counts = [count_of(part, file) for part in given]
            return None if None in counts else min(c for c in counts if c is not None)
    value = file.value(iterated)
    if isinstance(value, Sequence) and not value.open:
        return len(value.items)
    if isinstance(value, Array) and value.library == "np" and value.shape:
        return value.shape[0]
    return None


def rounds_of(loop: cst.While, file: File) -> int | None:
    """The number of rounds of `while i < 1000`, where `i` starts at a number and a number is added to it."""
    test = loop.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return None
    if not isinstance(test.comparisons[0].operator, (cst.LessThan, cst.LessThanEqual)):
        return None
    limit = integer(file.value(test.comparisons[0].comparator))
    if limit is None or not starts_number(test.left, file):
        return None
    definitions = file.definitions(test.left)
    starts = [integer(file.value(d.value)) for d in definitions if d.binds is Binds.VALUE and d.value is not None]
    steps = [integer(file.value(d.value.value)) for d in definitions
             if isinstance(d.value, cst.AugAssign) and isinstance(d.value.operator, cst.AddAssign)]  # fmt: skip
    if len(starts) != 1 or len(steps) != 1 or starts[0] is None or not steps[0] or steps[0] < 0:
        return None
    return max(0, (limit - starts[0]) // steps[0])


def starts_number(node: cst.BaseExpression, file: File) -> bool:
    """Whether one of the definitions of a name is a Python number and all others add to it."""
    definitions = file.definitions(node)
    numbers = [d for d in definitions if d.binds is Binds.VALUE and isinstance(file.value(d.value), Const)]  # type: ignore[arg-type]
    return bool(numbers) and all(d in numbers or d.binds is Binds.AUGMENTED for d in definitions)
