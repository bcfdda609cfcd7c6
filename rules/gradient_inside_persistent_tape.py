from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Shows, fixes, gradients, on, ordering


class GradientInsidePersistentTape(Rule):
    """
    ## What it does
    Reports gradients that are taken inside the `with` block of the persistent tape that they are taken from.
    A tape is reported once, at the first.

    ## Why it costs memory
    A persistent tape goes on recording: the whole backward pass, and the optimizer's update if it follows, are
    recorded too and kept as long as the tape. A tape that is not persistent stops at `gradient()`.

    ## Fix safety
    Unsafe: statements that follow in the block are not recorded any more.

    ## When not to use it
    For second derivatives, which differentiate the recorded backward pass; they are not reported.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM403"
    summary = "a persistent tape records the backward pass that is computed inside its block"
    fix_safety = (Safety.UNSAFE,)

    @on(gradients.tapes)
    def check(self, tape: gradients.Tape, file: File) -> Iterator[Finding]:
        if not tape.persistent or tape.traced or tape.inside_another or tape.holds_another:
            return
        inside = (each for each in tape.gradients if file.tree.contains(tape.block.body, each.node))
        recorded = [each for each in inside if not tape.stopped(each.node)]
        if recorded and not tape.of_higher_order:
            fix = _after_the_block(file, recorded[0], tape)
            paused = fixes.wrap_unrecorded(file, recorded[0].node, tape.name) if fix is None else None
            yield self.finding(
                recorded[0],
                file,
                "the backward pass is recorded and kept as well: a persistent tape goes on recording inside its block; "
                "take the gradient after it",
                fix=fix,
                related=[(tape.block, "the tape's block"), *((each, "and this one") for each in recorded[1:])],
                contrast=paused,
                shows=Shows(metric="left") if paused is not None else None,
            )


def _after_the_block(file: File, gradient: Call, tape: gradients.Tape) -> Fix | None:
    """End the block before the gradient, where nothing behind that is differentiated."""
    first = file.tree.holding(tape.body, gradient.node)
    if not first:
        return None
    moved = tape.body[first:]
    targets = [each.arg("target") for each in tape.gradients]
    named = all(target is not None and isinstance(target.expression, (cst.Name, cst.Attribute)) for target in targets)
    if not named or any(ordering.written_names(file, statement) & tape.targets for statement in moved):
        return None
    inner, outer = fixes.indentation(file, moved[0]), fixes.indentation(file, tape.block)
    if not inner.startswith(outer):
        return None
    return Fix.unsafe("take the gradient after the block", fixes.dedent(file, moved, inner[len(outer) :]))
