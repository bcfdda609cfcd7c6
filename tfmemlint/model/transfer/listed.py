"""Lists of like things that are made item by item, and given to a function that makes one array of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import COMPREHENSION, Array, Iterator, Length, Sequence, Unknown, Value, integer
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

LEAVES = (cst.Break, cst.Continue, cst.Return)
"""What keeps an iteration from its end."""


def listed(call: Call, data: Value) -> Value:
    """What each item of the list given to a call is: of a comprehension, or of a list that a loop appends to."""
    if isinstance(data, Iterator) and data.function in ("list", COMPREHENSION):
        made = call.evaluator.file.written(call.node.args[0].value) if call.node.args else None
        return _window(call, made.elt, data.item) if isinstance(made, cst.ListComp) else data.item
    if not isinstance(data, Sequence) or data.kind != "list":
        return Unknown("no list of like things")
    if data.items:  # of those that are written out, no one array stands for the others
        return _alike(call, data) if data.open else Unknown("a list of other things")
    added = [node.args[0].value for node in _appends(call)]
    found = [_window(call, node, call.evaluator.value(node, call.frame)) for node in added]
    first = found[0] if found else None
    if isinstance(first, Array) and all(isinstance(v, Array) and v.dtype == first.dtype for v in found):
        return first if len(found) == 1 else Array("np", first.dtype, None, first.origin, first.explicit)
    return Unknown("a list of other things")


def _alike(call: Call, data: Sequence) -> Value:
    """What each item of a list is of which items are seen: an array, without the sizes in which they differ."""
    first = data.items[0]
    if not isinstance(first, Array) or not all(isinstance(v, Array) and v.dtype == first.dtype for v in data.items):
        return Unknown("a list of other things")
    if all(isinstance(v, Array) and v.shape == first.shape for v in data.items):
        added = [node.args[0].value for node in _appends(call)]
        return _window(call, added[0], first) if len(added) == 1 else first
    return replace(first, shape=None)


def _appends(call: Call) -> list[cst.Call]:
    """The calls that append to the list which a call is given by its name, in the scope of that call."""
    name, file = call.node.args[0].value if call.node.args else None, call.evaluator.file
    if not isinstance(name, cst.Name):
        return []
    found = []
    for node in file.home(name).calls_by_word.get("append", ()):
        func = file.called(node)
        if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name) and func.value.value == name.value:
            if file.scope_of(node) is file.scope_of(name) and node.args:
                found.append(node)
    return found


def _window(call: Call, node: cst.BaseExpression, item: Value) -> Value:
    """An item that is cut out of an array with the first axis that the bounds say, which all items have that become one
    array: 90 numbers for `x[i - 90 : i]`."""
    first = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    if not isinstance(item, Array) or not item.shape or item.shape[0] is not None or not isinstance(first, cst.Slice):
        return item
    (lower, begin), (upper, end) = (_offset(call, bound) for bound in (first.lower, first.upper))
    length = end - begin if lower and lower == upper and first.step is None else 0
    return replace(item, shape=(length, *item.shape[1:])) if length > 0 else item


def _offset(call: Call, bound: cst.BaseExpression | None) -> tuple[str, int]:
    """A bound as the text of what moves and the number that is added to it."""
    if bound is None:
        return "", 0
    if isinstance(bound, cst.BinaryOperation) and isinstance(bound.operator, (cst.Add, cst.Subtract)):
        number = integer(call.evaluator.value(bound.right, call.frame))
        if number is not None:
            text, before = _offset(call, bound.left)
            return text, before + (number if isinstance(bound.operator, cst.Add) else -number)
    return call.evaluator.file.text(bound), 0


def listed_count(call: Call) -> int | None:
    """How many items the comprehension or list given to a call has, where a range says it: a list that is filled by one
    call in one loop, in each of its iterations."""
    given = call.evaluator.value(call.node.args[0].value, call.frame) if call.node.args else None
    if isinstance(given, Sequence) and given.kind == "list" and not given.items:
        return _filled_count(call)
    node = call.evaluator.file.written(call.node.args[0].value) if call.node.args else None
    if not isinstance(node, (cst.ListComp, cst.GeneratorExp)) or node.for_in.ifs or node.for_in.inner_for_in:
        return None
    of = call.evaluator.value(node.for_in.iter, call.frame)
    if isinstance(of, Iterator) and isinstance(of.of, Length) and of.function == "range":
        return of.of.count
    return len(of.items) if isinstance(of, Sequence) and not of.open else None


def _filled_count(call: Call) -> int | None:
    file, appends = call.evaluator.file, _appends(call)
    loops = list(file.contexts.loops(appends[0])) if len(appends) == 1 else []
    if len(loops) != 1 or file.contexts.loop(call.node) is not None or any(walk(loops[0].body, *LEAVES)):
        return None
    return file.contexts.literal_count(loops[0]) if not file.contexts.conditional(appends[0], loops[0]) else None
