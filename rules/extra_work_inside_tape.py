from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tape_work import move_below, needed_statements, nested_lines, shown, updates_metric
from tfmemlint_rules._tapes import Tape, tape_of

from tfmemlint.api import Call, File, Finding, Instance, Node, Rule, Safety, constant, on_call, walk


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
    so is logging of what is there already, which costs nothing.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM408"
    summary = "work inside a tape that no gradient needs keeps its intermediate results"
    fix_safety = (Safety.SAFE,)

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        tape = tape_of(made, file)
        if tape is None or file.contexts.traced(made.node) or not isinstance(tape.block.body, cst.IndentedBlock):
            return
        if made.node is not tape.block.items[0].item and self._beside(made, tape.block, file):
            return  # the first of several tapes speaks for all of them
        tapes = self._all(tape.block, file)
        if any(t is None or t.escapes or not t.gradients for t in tapes) or self._nested(tape, file):
            return
        needed = needed_statements([t for t in tapes if t is not None], file)
        reads, keeps = self._results_read(tape, needed, file), self._keeps_losses(tape)
        for statement in self._recorded(tape, made, file):
            for line in [statement] if isinstance(statement, cst.SimpleStatementLine) else nested_lines(statement):
                updates = list(self._update(line, statement, needed, reads, tape, file))
                yield from updates
                if not updates and id(statement) not in needed and not keeps:
                    yield from self._unneeded(line, needed, tape, file)

    def _beside(self, made: Call, block: cst.With, file: File) -> bool:
        others = (item.item for item in block.items if item.item is not made.node)
        return any(isinstance(other, cst.Call) and file.call(other).name == "tf.GradientTape" for other in others)

    def _all(self, block: cst.With, file: File) -> list[Tape | None]:
        calls = [file.call(item.item) for item in block.items if isinstance(item.item, cst.Call)]
        return [tape_of(call, file) for call in calls if call.name == "tf.GradientTape"] or [None]

    def _nested(self, tape: Tape, file: File) -> bool:
        inner = any(isinstance(n, cst.Call) and file.call(n).name == "tf.GradientTape" for n in walk(tape.block.body))
        return inner or file.contexts.entered(tape.block, "tf.GradientTape") is not None

    def _recorded(self, tape: Tape, made: Call, file: File) -> list[Node]:
        """The statements of the block; of a tape that is not persistent, those before its gradient."""
        body: list[Node] = list(tape.block.body.body)
        if constant(made.value_of("persistent")) is True:
            return body
        places = (file.tree.holding(body, gradient.node) for gradient in tape.gradients)
        return body[: min((place for place in places if place is not None), default=len(body))]

    def _unneeded(self, line: cst.SimpleStatementLine, needed: set[int], tape: Tape, file: File) -> Iterator[Finding]:
        """A forward pass of a model, or what is computed to be shown, in a line that no gradient depends on."""
        calls = [file.call(node) for node in walk(line, cst.Call)]
        forward = next((call for call in calls if self._forward(call)), None)
        call = forward or shown(line, needed, tape.block, file)
        what = "records this forward pass and keeps its activations" if forward else "keeps what is computed here"
        if call is not None:
            yield self.finding(
                call,
                file,
                f"the tape {what}, which no gradient needs; move it below the block",
                related=[(tape.block, "the tape's block")],
            )

    def _update(
        self,
        line: cst.SimpleStatementLine,
        statement: Node,
        needed: set[int],
        reads: dict[str, int],
        tape: Tape,
        file: File,
    ) -> Iterator[Finding]:
        """A metric's update that stands on a line of its own; `statement` is the statement of the block around it."""
        small = line.body[0]
        unneeded = id(statement) not in needed
        value = small.value if isinstance(small, cst.Expr) or (isinstance(small, cst.Assign) and unneeded) else None
        if len(line.body) != 1 or not isinstance(value, cst.Call):
            return
        call = file.call(value)
        movable = line is statement and isinstance(small, cst.Expr)
        if updates_metric(call) and not self._read_later(statement, call, reads, file):
            yield self.finding(
                call,
                file,
                "the tape records this metric update and keeps its intermediate results, which no gradient needs; "
                "move it below the block",
                fix=move_below(statement, call, tape, file) if movable else None,
                related=[(tape.block, "the tape's block")],
            )

    def _read_later(self, statement: Node, update: Call, reads: dict[str, int], file: File) -> bool:
        """Whether what a gradient needs reads the metric after its update."""
        metric = update.receiver_node if update.method == "update_state" else update.node.func
        name = file.text(metric) if metric is not None else ""
        return reads.get(f"{name}.result", -1) > file.tree.last(statement)

    def _results_read(self, tape: Tape, needed: set[int], file: File) -> dict[str, int]:
        """Where the results of metrics are last read by what a gradient needs, by how they are written."""
        statements = (statement for statement in tape.block.body.body if id(statement) in needed)
        nodes = (node for statement in statements for node in walk(statement, cst.Attribute))
        return {file.text(node): file.tree.order(node) for node in nodes if node.attr.value == "result"}

    def _forward(self, call: Call) -> bool:
        """Whether the call runs a model of which the kind is known."""
        kinds = ("tf.keras.Model", "tf.keras.Sequential")
        return all(
            isinstance(t, Instance)
            and (
                t.type_name in kinds
                or (t.class_node is not None and call.evaluator.classes.derives(t.class_node, "tf.keras.Model"))
            )
            for t in call.target.options
        )

    def _keeps_losses(self, tape: Tape) -> bool:
        """Whether the block reads `model.losses`, which a forward pass fills."""
        return any(isinstance(n, cst.Attribute) and n.attr.value == "losses" for n in walk(tape.block.body))
