from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst
from tfmemlint_rules._extra_work_inside_tape import metric_update, moved_below, of_numbers, result_needed

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    Shows,
    calls,
    fixes,
    gradients,
    keras,
    knowledge,
    on,
    walk,
)


class ExtraWorkInsideTape(Rule):
    """
    ## What it does
    Reports metric updates, and forward passes and logging whose results the gradient does not depend on, inside a
    tape's block.

    ## Why it costs memory
    The tape records every differentiable op in its block and keeps its inputs. A metric's intermediate results, or
    the activations of a validation pass, stay in memory for a gradient that never asks for them.

    ## Fix safety
    Safe for a metric's update at the end of the block or followed only by statements that do not read the metric.

    ## When not to use it
    When the metric's result is part of the loss; then it is not reported. Traced code keeps nothing and is silent, and
    so are logging of what is there already and the mean of a loss, which cost nothing.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM408"
    summary = "work inside a tape that no gradient needs keeps its intermediate results"
    fix_safety = (Safety.SAFE,)

    @on(gradients.tapes)
    def check(self, tape: gradients.Tape, file: File) -> Iterator[Finding]:
        if tape.traced or tape.inside_another or tape.holds_another:
            return
        together = tape.together
        if not together or together[0] is not tape or any(each.escapes or not each.gradients for each in together):
            return  # the first of several tapes speaks for all of them
        losses = any(node.attr.value == "losses" for node in walk(tape.block.body, cst.Attribute))
        for statement in tape.recorded:
            for line in tape.lines(statement):
                update = metric_update(file, line, tape)
                if update is not None and of_numbers(file, update, tape):
                    continue
                if update is not None and not result_needed(file, update, tape):
                    what = "records this metric update and keeps its intermediate results"
                    yield self._report(file, update, what, tape, moved_below(file, update, tape))
                elif update is None and statement not in tape.needed and not losses:
                    yield from self._unneeded(file, line, tape)

    def _unneeded(self, file: File, line: Node, tape: gradients.Tape) -> Iterator[Finding]:
        """A forward pass of a model, or what is computed to be shown, in a line that no gradient depends on."""
        forward = next((call for call in calls(file, line) if keras.runs_model(file, call)), None)
        shown = next(calls(file, line), None)
        if forward is not None:
            yield self._report(file, forward, "records this forward pass and keeps its activations", tape)
        elif shown is not None and _computed_to_show(file, shown, tape):
            yield self._report(file, shown, "keeps what is computed here", tape)

    def _report(self, file: File, where: Call, what: str, tape: gradients.Tape, fix: Fix | None = None) -> Finding:
        paused = fixes.wrap_unrecorded(file, where.node, tape.name) if fix is None else None
        return self.finding(
            where,
            file,
            f"the tape {what}, which no gradient needs; move it below the block",
            fix=fix,
            related=[(tape.block, "the tape's block")],
            contrast=paused,
            shows=Shows(metric="left") if paused is not None else None,
        )


def _computed_to_show(file: File, shown: Call, tape: gradients.Tape) -> bool:
    """Whether a call only shows something, which the block computes for that from tensors in several steps."""
    if not isinstance(file.tree.parent(shown.node), cst.Expr) or not knowledge.in_group(shown.name, "shows"):
        return False

    def computed(arguments: Iterable[cst.Arg]) -> list[Node]:
        """What arguments stand for, where the block computes it and no gradient needs it."""
        values = (file.written(arg.value) for arg in arguments)
        inside = [value for value in values if file.tree.contains(tape.block, value)]
        return [value for value in inside if tape.needed.isdisjoint(file.tree.ancestors(value))]

    ops = [op for value in computed(shown.node.args) for op in calls(file, value, "tf.") if _makes_tensor(op)]
    inputs = [value for op in ops for value in computed(op.node.args)]
    arithmetic = any(any(walk(value, cst.BinaryOperation)) for value in inputs)
    return arithmetic or any(_makes_tensor(op) for value in inputs for op in calls(file, value, "tf."))


def _makes_tensor(call: Call) -> bool:
    return isinstance(call.value, Array) and call.value.library == "tf"
