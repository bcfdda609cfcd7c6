from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tapes import tape_of

from tfmemlint.api import Call, Edit, File, Finding, Fix, Node, Rule, Safety, Severity, constant, on_call
from tfmemlint.fix.edits import statement_lines


class UselessDel(Rule):
    """
    ## What it does
    Gives the advice to leave out `del tape` for a tape that is not persistent and whose gradient was taken.

    ## Why it costs memory
    It does not: `gradient()` has released the record already, and the `del` frees nothing.

    ## Example
    ```python
    grads = tape.gradient(loss, variables)
    del tape
    ```
    Leave it out:
    ```python
    grads = tape.gradient(loss, variables)
    ```

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
                yield self.finding(
                    deletion,
                    file,
                    "gradient() has released this tape already: the del frees nothing",
                    fix=self._drop(deletion, file),
                )

    def _drop(self, deletion: Node, file: File) -> Fix | None:
        line = file.tree.statement(deletion)
        block = file.tree.parent(line)
        lines = statement_lines(file, line)
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or lines is None:
            return None
        if len(getattr(block, "body", ())) < 2:
            return None
        return Fix("leave it out", (Edit(lines.start, lines.end, ""),), Safety.SAFE)
