"""What `x.set_shape(...)` says of a tensor whose shape was not known, from there on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Array, Value

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame


def with_set_shape(evaluator: Evaluator, node: cst.Name, value: Value, frame: Frame | None) -> Value:
    """The value of a name in a function, with the sizes that a statement in front of it certainly sets."""
    file = evaluator.file
    for call in file.calls_by_word.get("set_shape", ()):
        held = call.func.value if isinstance(call.func, cst.Attribute) else None
        if not isinstance(held, cst.Name) or held.value != node.value or len(call.args) != 1:
            continue
        function = file.contexts.function(node)
        before = evaluator.tree.order(call) < evaluator.tree.order(node) and not evaluator.tree.contains(call, node)
        if function is None or file.contexts.function(call) is not function or not before:
            continue
        same = file.definitions(held) and file.definitions(held) == file.definitions(node)
        if same and not file.contexts.conditional(call, function):
            value = _shaped(value, evaluator.value(call.args[0].value, frame))
    return value


def _shaped(value: Value, given: Value) -> Value:
    sizes = shape_of(given)
    if sizes is None or not isinstance(value, Array) or value.library != "tf":
        return value
    known = value.shape if value.shape is not None else (None,) * len(sizes)
    if len(known) != len(sizes):
        return value
    return replace(value, shape=tuple(a if a is not None else b for a, b in zip(known, sizes, strict=True)))
