from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tapes import Tape, tape_of

from tfmemlint.api import Call, Edit, File, Finding, Fix, Node, Rule, Safety, on_call, walk
from tfmemlint.fix.edits import indentation, statement_lines


class ExtraWorkInsideTape(Rule):
    """
    ## What it does
    Reports metric updates, and forward passes whose result the gradient does not depend on, inside a tape's block.

    ## Why it costs memory
    The tape records every differentiable op in its block and keeps its inputs. A metric's intermediate results, or
    the activations of a validation pass, stay in memory for a gradient that never asks for them.

    ## Example
    ```python
    with tf.GradientTape() as tape:
        prediction = model(x)
        loss = loss_fn(y, prediction)
        accuracy.update_state(y, prediction)
    grads = tape.gradient(loss, model.trainable_variables)
    ```
    Update the metric after the block:
    ```python
    with tf.GradientTape() as tape:
        prediction = model(x)
        loss = loss_fn(y, prediction)
    accuracy.update_state(y, prediction)
    grads = tape.gradient(loss, model.trainable_variables)
    ```

    ## Fix safety
    Safe for a metric's update at the end of the block or followed only by statements that do not read the metric.

    ## When not to use it
    When the metric's result is part of the loss; then it is not reported. Traced code keeps nothing and is silent.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM408"
    summary = "work inside a tape that no gradient needs keeps its intermediate results"
    fix_safety = (Safety.SAFE,)

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        tape = tape_of(made, file)
        if tape is None or not tape.gradients or file.contexts.traced(made.node):
            return
        body = tape.block.body
        for statement in body.body if isinstance(body, cst.IndentedBlock) else ():
            update = self._metric_update(statement, file)
            if update is not None and update.receiver_node is not None:
                yield self.finding(
                    update,
                    file,
                    "the tape records this metric update and keeps its intermediate results, which no gradient needs; move it below the block",
                    fix=self._move(statement, update, tape, file),
                    related=[(tape.block, "the tape's block")],
                )

    def _metric_update(self, statement: Node, file: File) -> Call | None:
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            return None
        small = statement.body[0]
        if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
            return None
        call = file.call(small.value)
        names = call.names
        return call if names and all(n.startswith("tf.keras.metrics.") and n.endswith(".update_state") for n in names) else None

    def _move(self, statement: Node, update: Call, tape: Tape, file: File) -> Fix | None:
        body = list(tape.block.body.body)
        later = body[body.index(statement) + 1 :]
        metric = file.text(update.receiver_node) if update.receiver_node is not None else ""
        read = {n.value for n in walk(statement) if isinstance(n, cst.Name)}
        for other in later:
            written = {t.target.value for n in walk(other) if isinstance(n, cst.Assign) for t in n.targets if isinstance(t.target, cst.Name)}
            if metric in file.text(other) or written & read:
                return None
        lines, block = statement_lines(file, statement), statement_lines(file, tape.block)
        if lines is None or block is None or len(body) == 1:
            return None
        text = file.source.text[lines.start : lines.end]
        inner, outer = indentation(file, statement), indentation(file, tape.block)
        if "\n" in text.rstrip("\n"):
            return None
        moved = outer + text[len(inner) :]
        end = file.source.line_span(file.span(body[-1]).end).end
        if statement is body[-1]:
            return Fix("move it below the block", (Edit(lines.start, lines.start + len(inner), outer),), Safety.SAFE)
        edits = (Edit(lines.start, lines.end, ""), Edit(end, end, "\n" + moved.rstrip("\n")))
        return Fix("move it below the block", edits, Safety.SAFE)
