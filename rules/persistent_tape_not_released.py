from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tapes import Tape, of_one_run, tape_of

from tfmemlint.api import Call, File, Finding, Fix, Node, Rule, Safety, constant, insert_after, on_call, statement_lines


class PersistentTapeNotReleased(Rule):
    """
    ## What it does
    Reports a persistent tape of which several gradients are taken and whose name still holds it while later code runs.

    ## Why it costs memory
    A persistent tape holds every activation of its forward pass until nothing refers to it any more. Without
    `del tape` that is when the name is bound again or the function returns: the optimizer's update, validation, or the
    next step's forward pass run with the old activations still in memory.

    ## Fix safety
    Safe: nothing reads the tape after the inserted line.

    ## When not to use it
    In traced code it costs nothing, and there it is not reported.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM402"
    summary = "a persistent tape that is not released holds all activations while later code runs"
    fix_safety = (Safety.SAFE,)
    in_tests = False

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        if constant(made.value_of("persistent")) is not True or file.contexts.traced(made.node):
            return
        tape = tape_of(made, file)
        if tape is None or tape.escapes or tape.deleted or not self._several(tape, file):
            return
        if self._rebound(tape, file) or file.contexts.entered(tape.block, "tf.GradientTape") is not None:
            return
        block, after = self._last_use(tape, file)
        if block is None or not (after or self._in_loop(tape, file)):
            return
        fix = None
        if statement_lines(file, block) is not None:
            edit = insert_after(file, block, f"del {tape.name}")
            fix = Fix("release the tape after its last use", (edit,), Safety.SAFE)
        yield self.finding(
            tape.block,
            file,
            f"this persistent tape holds every activation until {tape.name} is rebound or goes; "
            f"release it with `del {tape.name}` after the last gradient",
            fix=fix,
            related=[(tape.gradients[-1], "the last gradient")],
        )

    def _rebound(self, tape: Tape, file: File) -> bool:
        """Whether the name is bound again after the last gradient."""
        last = file.tree.order(tape.gradients[-1].node)
        definitions = file.flow(file.scope_of(tape.block)).bindings.get(tape.name, ())
        return any(file.tree.order(d.node) > last for d in definitions)

    def _several(self, tape: Tape, file: File) -> bool:
        if len(of_one_run(tape, file)) > 1 or any(file.contexts.comprehension(g.node) for g in tape.gradients):
            return True
        return any(
            not file.tree.contains(loop, tape.block) for g in tape.gradients for loop in file.contexts.loops(g.node)
        )

    def _last_use(self, tape: Tape, file: File) -> tuple[Node | None, list[Node]]:
        """The statement of the tape's own block that uses it last, and the statements that run on after it."""
        parent = file.tree.parent(tape.block)
        body = list(getattr(parent, "body", ()))
        places = [file.tree.holding(body, use) for use in (tape.block, *tape.uses)]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            return None, []
        last = max(known)
        return body[last], [s for s in body[last + 1 :] if not _leaves(s)]

    def _in_loop(self, tape: Tape, file: File) -> bool:
        return file.contexts.loop(tape.block) is not None


def _leaves(statement: Node) -> bool:
    """Whether a statement only leaves the function."""
    if isinstance(statement, cst.If):
        other = statement.orelse
        ends = [
            *statement.body.body,
            *([other] if isinstance(other, cst.If) else other.body.body if other is not None else []),
        ]
        return all(_leaves(s) for s in ends)
    if isinstance(statement, cst.BaseSmallStatement):
        return isinstance(statement, (cst.Return, cst.Raise, cst.Pass))
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], (cst.Return, cst.Raise, cst.Pass)
    )
