from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._tapes import drop_deletion, tape_of

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Severity, constant, on_call


class UselessDel(Rule):
    """
    ## What it does
    Gives the advice to leave out `del tape` for a tape that is not persistent and whose gradient was taken.

    ## Why it costs memory
    It does not: `gradient()` has released the record already, and the `del` frees nothing.

    ## Fix safety
    Safe: nothing reads the name after it.

    ## When not to use it
    When you like to see where a name ends.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM409"
    summary = "del of a tape that is not persistent frees nothing"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.SAFE,)

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        if not made.lacks("persistent") and constant(made.value_of("persistent")) is not False:
            return
        tape = tape_of(made, file)
        if tape is None or not tape.gradients or tape.escapes:
            return
        for deletion in tape.deleted:
            if file.tree.order(deletion) > file.tree.order(tape.gradients[-1].node):
                edit = drop_deletion(deletion, file)
                yield self.finding(
                    deletion,
                    file,
                    "gradient() has released this tape already: the del frees nothing",
                    fix=Fix("leave it out", (edit,), Safety.SAFE) if edit is not None else None,
                )
