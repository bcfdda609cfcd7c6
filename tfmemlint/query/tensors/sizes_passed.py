"""Whether the calls of a function say how large the tensors in it are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.values import Array, Value
from tfmemlint.syntax.scopes import parameters

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node


def is_unsized(file: File, node: Node, value: Value) -> bool:
    """Whether some code computes a tensor of which no size but 1 is known, in a function that its own module calls, or
    others of its project do: the calls are seen, and show no size that would be worth a word.

    False in a function that nobody is seen to call: a library has users with data of all sizes.
    """
    if isinstance(value, Array) and any(length not in (None, 1) for length in value.shape or ()):
        return False
    function = file.contexts.function(node)
    if function is None or next(parameters(function), None) is None:
        return False  # nothing is passed
    return bool(file.call_graph.callers(function) or file.call_graph.callers_elsewhere(function))
