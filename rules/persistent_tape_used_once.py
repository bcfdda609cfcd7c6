from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tapes import Tape, drop_deletion, of_one_run, tape_of

from tfmemlint.api import Argument, Call, Edit, File, Finding, Fix, Rule, Safety, constant, on_call, remove_argument


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
    In traced code it costs nothing, and there it is not reported.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM401"
    summary = "a persistent tape of which one gradient is taken holds all activations for nothing"
    fix_safety = (Safety.SAFE,)

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        persistent = made.arg("persistent")
        if persistent is None or constant(persistent.value) is not True or file.contexts.traced(made.node):
            return
        tape = tape_of(made, file)
        if tape is None or tape.escapes or len(of_one_run(tape, file)) != 1:
            return
        if any(self._repeated(gradient, tape, file) for gradient in tape.gradients):
            return
        yield self.finding(
            made,
            file,
            "only one gradient is taken of this persistent tape: it keeps every activation until the tape goes, "
            "where a "
            "plain tape frees them at gradient()",
            fix=Fix("make the tape a plain one", self._edits(made, persistent, tape, file), Safety.SAFE),
            related=[(tape.gradients[0], "the only gradient")],
        )

    def _repeated(self, gradient: Call, tape: Tape, file: File) -> bool:
        """Whether a gradient may be taken several times, or in a way that needs a persistent tape."""
        if not gradient.lacks("parallel_iterations") or not gradient.lacks("experimental_use_pfor"):
            return True
        loop = file.contexts.loop(gradient.node)
        if loop is not None and not file.tree.contains(loop, tape.block):
            return True
        if isinstance(file.tree.statement(gradient.node), cst.FunctionDef):
            return True
        return file.contexts.comprehension(gradient.node) is not None

    def _edits(self, made: Call, persistent: Argument, tape: Tape, file: File) -> tuple[Edit, ...]:
        """Drop the argument, and the `del` that nothing needs then."""
        edits = [remove_argument(file, made.node, persistent)]
        edits += [edit for d in tape.deleted if (edit := drop_deletion(d, file)) is not None]
        return tuple(sorted(edits, key=lambda edit: edit.start))
