"""Where Keras has the channels of images for layers that do not say it: what the program sets for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.values import constant
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

DEPTH = 6
"""Functions that are left for their callers, on the way from a layer and from where the format is set."""


def image_data_format(call: Call) -> str | None:
    """Where Keras has the channels for a layer that does not say it: "channels_last" unless the program sets another
    format for all. None where it sets several, or may not yet have set it when the layer is made."""
    file = call.evaluator.file
    setters = list(file.calls("tf.keras.backend.set_image_data_format"))
    found = {constant(setter.value_of("data_format")) for setter in setters} or {"channels_last"}
    if found == {"channels_last"}:
        return "channels_last"
    order = _Order(file)
    before = any(order.before(setter.node, call.node, DEPTH) for setter in setters)
    return "channels_first" if found == {"channels_first"} and before else None


class _Order:
    """Which of two places certainly runs before the other."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[tuple[Node, Node], bool] = {}

    def before(self, first: Node, then: Node, left: int) -> bool:
        """Whether one place certainly runs before another, in its own function or in one that leads to both. What
        nothing in the file calls runs after all of the module."""
        if (first, then) not in self._known:
            self._known[first, then] = False  # until it is known: functions may call each other in a circle
            self._known[first, then] = self._before(first, then, left)
        return self._known[first, then]

    def _before(self, first: Node, then: Node, left: int) -> bool:
        file = self._file
        home, inside = file.contexts.function(first) or file.module, file.contexts.function(then) or file.module
        if file.contexts.conditional(first, home) or not left:
            return False
        if home is inside:
            return file.tree.order(first) < file.tree.order(then)
        to_then = file.call_graph.callers(inside) or ()
        if to_then and all(self.before(first, caller.node, left - 1) for caller in to_then):
            return True
        to_first = file.call_graph.callers(home) or ()
        if any(self.before(caller.node, then, left - 1) for caller in to_first):
            return True
        return not to_then and file.tree.contains(home, inside)
