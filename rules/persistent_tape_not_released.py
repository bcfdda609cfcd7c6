from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Fix, Rule, Safety, fixes, gradients, on


class PersistentTapeNotReleased(Rule):
    """
    ## What it does
    Reports a persistent tape of which several gradients are taken and whose name still holds it while code runs that
    needs activations of its own: another tape's forward pass, training by Keras, a forward pass of many more rows.

    ## Why it costs memory
    A persistent tape holds every activation of its forward pass until nothing refers to it any more. Without
    `del tape` that is when the name is bound again or the function returns. The activations of a second network that
    is trained in the same step come on top of those of the first.

    ## Fix safety
    Safe: nothing reads the tape after the inserted line.

    ## When not to use it
    In traced code it costs nothing, and there it is not reported. Nor are a loop's next forward pass, which the name's
    new tape begins with, updates of the weights, and validation of one batch: they need no more than the gradients
    did, and measured with and without `del` they reach the same peak.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM402"
    summary = "a persistent tape that is not released holds all activations while others are made"
    fix_safety = (Safety.SAFE,)
    in_tests = False

    @on(gradients.tapes)
    def check(self, tape: gradients.Tape, file: File) -> Iterator[Finding]:
        if not tape.persistent or tape.traced or tape.escapes or tape.deleted or not tape.several:
            return
        last = tape.last_use
        if last is None or tape.rebound or tape.inside_another:
            return
        work = gradients.work_while_held(file, tape)
        if work is None:
            return
        alone, held = fixes.statement_lines(file, last) is not None, ", ".join(tape.names)
        yield self.finding(
            tape.block,
            file,
            f"this persistent tape holds every activation until {tape.name} is rebound or goes, beside what is made "
            f"meanwhile; release it with `del {held}` after the last gradient",
            fix=Fix.safe(
                "release the tape after its last use",
                fixes.insert_after(file, last, f"del {held}") if alone else None,
            ),
            related=[(tape.gradients[-1], "the last gradient"), (work, "this runs meanwhile")],
        )
