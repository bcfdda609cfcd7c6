"""What a gradient tape records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.query.limits import FOLLOWED_CALLS

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

TAPE = "tf.GradientTape"


def recorded(file: File, node: Node, through: int = FOLLOWED_CALLS, *, traced: bool = False) -> bool:
    """Whether a tape certainly records a place: it is entered around it, or around every call of its function that is
    seen, `FOLLOWED_CALLS` deep. With `traced` traced code counts, too. False where nothing calls the function."""
    if file.contexts.entered(node, TAPE) is not None or (traced and file.contexts.traced(node)):
        return True
    function = file.contexts.function(node)
    callers = file.call_graph.callers(function) if function is not None and through else None
    return bool(callers) and all(recorded(file, each.node, through - 1, traced=traced) for each in callers or ())
