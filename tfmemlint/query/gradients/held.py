"""What runs while the name of a persistent tape still holds its record, though no gradient is taken of it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Sequence
from tfmemlint.query.calls import calls
from tfmemlint.query.gradients.tapes import TAPE, Tape
from tfmemlint.query.keras.models import runs_model
from tfmemlint.query.limits import FEW_ROWS, FOLLOWED_CALLS
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

TRAINS = (TAPE, "tf.keras.Model.fit", "tf.keras.Model.train_on_batch")
"""What keeps activations of its own, in a tape or in a graph that trains."""


def work_while_held(file: File, tape: Tape) -> Call | None:
    """The first call that needs memory for activations beside those which a tape still holds after its last gradient:
    another forward pass that is recorded, training by Keras, or a forward pass of many more rows. In a loop that may
    stand in front of the block: the name holds the record until the block is entered again.

    None where no such call is seen. An update of the weights, a validation pass of the same size and the next forward
    pass of the same tape need no more than the gradients did: measured, they raise no peak.
    """
    last, bound = tape.last_use, file.flow(file.scope_of(tape.block)).bindings.get(tape.name, ())
    if last is None or tape.rebound or of_numbers(file, tape):
        return None
    function, loops = file.contexts.function(tape.block), list(file.contexts.loops(tape.block))
    begin, end, around = file.tree.order(tape.block), file.tree.last(last), loops[-1] if loops else None
    if around is not None and sum(file.tree.contains(around, d.node) for d in bound) > 1:
        around = None  # another tape of the same name lets this one go
    for call in calls(file, function if function is not None else file.module):
        before = around is not None and file.tree.contains(around, call.node) and file.tree.order(call.node) < begin
        if before or file.tree.order(call.node) > end:
            if next(calls(file, call.node, *TRAINS, through=FOLLOWED_CALLS), None) is not None:
                return call
            if not loops and (_of_many(file, call, tape) or _is_given_model(file, call, tape)):
                return call
    return None


def of_numbers(file: File, tape: Tape) -> bool:
    """Whether all that is differentiated by is certainly single numbers."""
    given = [gradient.value_of("sources") for gradient in tape.gradients]
    values = [item for value in given for item in (value.items if isinstance(value, Sequence) else (value,))]
    return bool(values) and all(isinstance(value, Array) and value.shape == () for value in values)


def _applied(file: File, tape: Tape) -> set[str]:
    """What the block calls, as it is written: `model` of `model(x)`."""
    applied = (call for call in calls(file, tape.block.body) if not call.names or runs_model(file, call))
    return {file.text(call.node.func) for call in applied}


def _of_many(file: File, call: Call, tape: Tape) -> bool:
    """Whether what the block applied is applied to an array with the rows of a data set."""
    given = file.value(call.node.args[0].value) if call.node.args else None
    rows = given.shape[0] if isinstance(given, Array) and given.shape else None
    return rows is not None and rows >= FEW_ROWS and file.text(call.node.func) in _applied(file, tape)


def _is_given_model(file: File, call: Call, tape: Tape) -> bool:
    """Whether code that is not seen is given what the block applied: `validate(model)`, on nobody knows how much."""
    if call.target.known or call.names or not isinstance(call.node.func, cst.Name):
        return False
    given: list[Node] = [arg.value for arg in call.node.args if isinstance(arg.value, cst.Name)]
    return not _applied(file, tape).isdisjoint(file.text(node) for node in given)
