from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Does,
    Edit,
    File,
    Finding,
    Node,
    Rule,
    Use,
    constant,
    fixes,
    flow,
    gradients,
    on_call,
    uses,
)


class TapeEscapes(Rule):
    """
    ## What it does
    Reports gradient tapes that are stored on an object, in a container or a global, or returned or yielded, while they
    still hold what they recorded.

    ## Why it costs memory
    A tape holds every activation of its forward pass until its gradient is taken; a persistent one until it goes.
    Stored, it keeps them from step to step; in a list, those of all steps.

    ## When not to use it
    For helpers that hand a tape to their caller on purpose; say so with a comment.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM405"
    summary = "a stored tape keeps all activations of its forward pass"
    no_fix = "the program's structure must change"

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        if file.contexts.traced(made.node):
            return
        home, persistent = file.contexts.function(made.node), constant(made.value_of("persistent")) is True
        found = list(uses(file, made.node, containers=True, attributes=True))
        here = [use for use in found if file.contexts.function(use.node) is home]
        if any(use.does is Does.DELETE or (gradients.takes_gradient(use) and not persistent) for use in here):
            return
        way = _way_out(file, made, found, here, persistent)
        if way is not None:
            where, into = way
            message = f"this tape goes into {into} while it holds all activations of its forward pass; "
            yield self.finding(
                where, file, message + "take its gradient first", contrast=_emptied(file, made, where)
            )


def _emptied(file: File, made: Call, where: Call | Node) -> Edit | None:
    """What lets the record of a tape go before it is given away, where it has a name."""
    tape = gradients.tape_of(file, made)
    statement = file.tree.statement(where.node if isinstance(where, Call) else where)
    if tape is None or not isinstance(statement, cst.SimpleStatementLine):
        return None
    return fixes.insert_before(file, statement, f"{tape.name}._tape = None")


def _way_out(
    file: File, made: Call, found: list[Use], here: list[Use], persistent: bool
) -> tuple[Call | Node, str] | None:
    """What gives the tape away while it holds its record, and into what."""
    entered = any(use.does is Does.ENTER for use in here)
    for use in here:
        if use.does is Does.STORE and use.node is made.node and isinstance(use.place, cst.Attribute):
            if isinstance(file.tree.parent(use.place), cst.AsName):
                return made, "an attribute"
            if (persistent or _left_open(file, found)) and not flow.lets_go(file, use.place):
                return file.tree.statement(use.place), "an attribute"
        elif use.does is Does.STORE and entered:
            code = flow.storing_code(file, use)
            return made if code is made.node else code, _into(file, use)
        elif use.does is Does.RETURN and entered and use.place is not None:
            return use.place, "the generator's items" if isinstance(use.place, cst.Yield) else "the function's result"
    inner = {file.contexts.function(use.node) for use in found if use.captured and entered}
    for leaving in (use for function in inner if function is not None for use in uses(file, function)):
        if leaving.does is Does.RETURN and leaving.place is not None:
            return leaving.place, "a function that is returned"
    return None


def _into(file: File, use: Use) -> str:
    above = file.tree.parent(use.place) if use.place is not None else None
    if use.call is not None or isinstance(above, cst.AugAssign) or isinstance(use.place, cst.BaseComp):
        return "a container"
    return "a global" if isinstance(use.place, cst.Name) else "an attribute or container"


def _left_open(file: File, found: list[Use]) -> bool:
    """Whether methods enter the tape of an attribute, and only others take its gradient."""
    enters = [use for use in found if use.does is Does.ENTER or use.word == "__enter__"]
    entering = {file.contexts.function(use.node) for use in enters}
    taking = {file.contexts.function(use.node) for use in found if gradients.takes_gradient(use)}
    return bool(entering) and bool(taking) and not entering & taking
