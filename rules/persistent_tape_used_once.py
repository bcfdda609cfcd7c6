from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    calls,
    fixes,
    gradients,
    keras,
    on,
    ordering,
    repetition,
)


class PersistentTapeUsedOnce(Rule):
    """
    ## What it does
    Reports `GradientTape(persistent=True)` of which only one gradient is taken.

    ## Why it costs memory
    A tape that is not persistent frees its record, and with it every activation of the forward pass, as soon as
    `gradient()` is called. A persistent one holds them until the tape itself goes: through the optimizer's update and
    into the next forward pass.

    ## Fix safety
    Safe: the one gradient is the same.

    ## When not to use it
    In traced code it costs nothing, and there it is not reported. Nor where the tape records single numbers, or a few
    named ops in a script, once (measured: 2 KiB).

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM401"
    summary = "a persistent tape of which one gradient is taken holds all activations for nothing"
    fix_safety = (Safety.SAFE,)

    @on(gradients.tapes)
    def check(self, tape: gradients.Tape, file: File) -> Iterator[Finding]:
        if not tape.persistent or tape.traced or tape.escapes:
            return
        if not tape.gradients or tape.several or _needs_persistent(tape.gradients) or _records_little(file, tape):
            return
        persistent = tape.made.arg("persistent")  # None: in a dictionary of options
        deletions = [
            fixes.remove_statement(file, each) for each in tape.deleted if file.text(each) == f"del {tape.name}"
        ]
        yield self.finding(
            tape.made,
            file,
            "only one gradient is taken of this persistent tape: it keeps every activation until the tape goes, where "
            "a plain tape frees them at gradient()",
            fix=Fix.safe(
                "make the tape a plain one",
                fixes.remove_argument(file, tape.made.node, persistent) if persistent is not None else None,
                [edit for edit in deletions if edit is not None],
            ),
            related=[(tape.gradients[0], "the only gradient")],
        )


def _records_little(file: File, tape: gradients.Tape) -> bool:
    """Whether a block of a script that nothing is seen to run again records a few named ops, no network, or all is
    differentiated by single numbers: a lesson, of which the tape keeps some bytes."""
    if gradients.of_numbers(file, tape):
        return True
    if not ordering.in_script(file, tape.block):
        return False
    named = all((call.name or "").startswith(("tf.", "np.", "builtins.")) for call in calls(file, tape.block.body))
    networks = any(keras.runs_model(file, call) for call in calls(file, tape.block.body))
    return named and not networks and repetition.repeats(file, tape.block) is None


def _needs_persistent(taken: tuple[Call, ...]) -> bool:
    """Whether a Jacobian is asked for in a way that only a persistent tape allows."""
    return any(not g.lacks("parallel_iterations") or not g.lacks("experimental_use_pfor") for g in taken)
