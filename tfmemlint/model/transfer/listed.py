"""Lists of like things that are made item by item, and given to a function that makes one array of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import COMPREHENSION, Array, Iterator, Length, Sequence, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


def listed(call: Call, data: Value) -> Value:
    """What each item of the list given to a call is: of a comprehension, or of a list that a loop appends to."""
    if isinstance(data, Iterator) and data.function in ("list", COMPREHENSION):
        return data.item
    name = call.node.args[0].value if call.node.args else None
    if not isinstance(data, Sequence) or data.items or data.kind != "list" or not isinstance(name, cst.Name):
        return Unknown("no list of like things")
    file, found = call.evaluator.file, []
    for node in file.home(name).calls_by_word.get("append", ()):
        func = file.called(node)
        if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name) and func.value.value == name.value:
            if file.scope_of(node) is file.scope_of(name) and node.args:
                found.append(call.evaluator.value(node.args[0].value, call.frame))
    first = found[0] if found else None
    if isinstance(first, Array) and all(isinstance(v, Array) and v.dtype == first.dtype for v in found):
        return first if len(found) == 1 else Array("np", first.dtype, None, first.origin, first.explicit)
    return Unknown("a list of other things")


def listed_count(call: Call) -> int | None:
    """How many items the comprehension given to a call makes."""
    node = call.evaluator.file.written(call.node.args[0].value) if call.node.args else None
    if not isinstance(node, (cst.ListComp, cst.GeneratorExp)) or node.for_in.ifs or node.for_in.inner_for_in:
        return None
    of = call.evaluator.value(node.for_in.iter, call.frame)
    if isinstance(of, Iterator) and isinstance(of.of, Length) and of.function == "range":
        return of.of.count
    return len(of.items) if isinstance(of, Sequence) and not of.open else None
