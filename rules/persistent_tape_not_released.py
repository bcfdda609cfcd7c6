from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Fix, Rule, Safety, fixes, gradients, on, ordering


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

    @on(gradients.tapes)
    def check(self, tape: gradients.Tape, file: File) -> Iterator[Finding]:
        if not tape.persistent or tape.traced or tape.escapes or tape.deleted or not tape.several:
            return
        last = tape.last_use
        if last is None or tape.rebound or tape.inside_another:
            return
        if not ordering.runs_after(file, last) and file.contexts.loop(tape.block) is None:
            return
        alone, held = fixes.statement_lines(file, last) is not None, ", ".join(tape.names)
        yield self.finding(
            tape.block,
            file,
            f"this persistent tape holds every activation until {tape.name} is rebound or goes; "
            f"release it with `del {held}` after the last gradient",
            fix=Fix.safe(
                "release the tape after its last use",
                fixes.insert_after(file, last, f"del {held}") if alone else None,
            ),
            related=[(tape.gradients[-1], "the last gradient")],
        )
