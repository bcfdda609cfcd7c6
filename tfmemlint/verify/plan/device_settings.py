"""What a program about device settings holds, and what stands for what starts TensorFlow in it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.file import File
from tfmemlint.model.happened import Happened
from tfmemlint.query.runtime.environment import settings
from tfmemlint.query.runtime.runtime import INITIALISED, initialisation
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.metrics import FIRST

STARTS = "tfmemlint_initialise()"
STARTED = "TensorFlow was started before what is flagged, so that it fails"
READ_AT_START = knowledge.group("read_at_start")


def cards(claim: Claim) -> int:
    """How many graphics cards are simulated: one where who makes their devices counts, of which each has to say the
    same; else two, since settings can differ."""
    return 1 if claim.metric in FIRST else 2


def settings_before(file: File, flagged: Node) -> Iterator[Node]:
    """The statements that set variables of the cards before a place, at module level or in its own function."""
    start, scopes = file.span(flagged).start, (file.scope_of(flagged), file.module)
    for setting in settings.of(file):
        statement = file.tree.statement(setting.node)
        known = setting.variable in READ_AT_START and statement is not None and file.span(setting.node).start < start
        if known and file.is_own(setting.node) and file.scope_of(setting.node) in scopes:
            yield statement


def handlers(file: File, flagged: Node) -> Iterator[Node]:
    """What stands in the handlers of a `try` that is flagged itself, so that they do what they do."""
    for handler in getattr(flagged, "handlers", ()):
        yield from (each for each in handler.body.body if isinstance(each, cst.SimpleStatementLine))


def starter(file: File, flagged: Node) -> Happened | None:
    """The first call before a simple statement that starts TensorFlow; None where none has."""
    node = flagged.body[0] if isinstance(flagged, cst.SimpleStatementLine) else flagged
    return initialisation(file).before(node, INITIALISED)


def left_out(statement: Node) -> tuple[Node, str] | None:
    """What stands for a statement that raised in a program that can do without it; None where that is not simple."""
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if isinstance(small, cst.Assign):
        return small.value, "None"
    return (small, "pass") if isinstance(small, (cst.Expr, cst.Import, cst.ImportFrom)) else None


def head(file: File, statement: Node) -> Node:
    """The statement before which a line can be put that runs before this one: of an `elif` the whole `if`."""
    parent = file.tree.parent(statement)
    while isinstance(parent, cst.If) and parent.orelse is statement:
        statement, parent = parent, file.tree.parent(parent)
    return statement


def begun(source: str) -> str:
    """A program that starts TensorFlow before all else."""
    lines = source.split("\n")
    first = next((row for row, line in enumerate(lines) if not line.startswith("from __future__")), 0)
    return "\n".join((*lines[:first], STARTS, *lines[first:]))


def started(file: File, node: Node) -> tuple[Node, tuple[Node, str]] | None:
    """The statement of a call that starts TensorFlow, the expression there that is replaced and what by: an operation
    that needs nothing. None where the call stands in the head of a block."""
    statement = file.tree.statement(node)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    value = getattr(statement.body[0], "value", None)
    if value is None or not isinstance(statement.body[0], (cst.Expr, cst.Assign, cst.AnnAssign, cst.Return)):
        return None
    return statement, (value, STARTS)
