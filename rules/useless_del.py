from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Fix, Rule, Safety, Severity, fixes, gradients, on


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

    @on(gradients.tapes)
    def check(self, tape: gradients.Tape, file: File) -> Iterator[Finding]:
        if tape.persistent is not False or not tape.gradients or tape.escapes:
            return
        last = file.tree.order(tape.gradients[-1].node)
        for deletion in (each for each in tape.deleted if file.tree.order(each) > last):
            alone = file.text(deletion) == f"del {tape.name}"
            yield self.finding(
                deletion,
                file,
                "gradient() has released this tape already: the del frees nothing",
                fix=Fix.safe("leave it out", fixes.remove_statement(file, deletion) if alone else None),
            )
