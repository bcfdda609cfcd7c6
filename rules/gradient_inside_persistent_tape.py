from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tapes import Tape, results_of, tape_of

from tfmemlint.api import Call, File, Finding, Fix, Node, Rule, Safety, constant, dedent, indentation, on_call, walk


class GradientInsidePersistentTape(Rule):
    """
    ## What it does
    Reports gradients that are taken inside the `with` block of the persistent tape that they are taken from.

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

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        if constant(made.value_of("persistent")) is not True or file.contexts.traced(made.node):
            return
        tape = tape_of(made, file)
        if tape is None or self._nested(tape, file):
            return
        inside = [
            g
            for g in tape.gradients
            if file.tree.contains(tape.block.body, g.node) and not self._stopped(g, tape, file)
        ]
        if not inside or self._higher_order(tape, file):
            return
        for i, gradient in enumerate(inside):
            yield self._report(gradient, None if i else self._dedent(gradient, tape, file), tape, file)

    def _report(self, gradient: Call, fix: Fix | None, tape: Tape, file: File) -> Finding:
        return self.finding(
            gradient,
            file,
            "the backward pass is recorded and kept as well: a persistent tape goes on recording inside its block; "
            "take the gradient after it",
            fix=fix,
            related=[(tape.block, "the tape's block")],
        )

    def _nested(self, tape: Tape, file: File) -> bool:
        """Whether another tape records around this one, or is made inside: then second derivatives are meant."""
        around = file.contexts.entered(tape.block, "tf.GradientTape") is not None
        return around or any(
            isinstance(n, cst.With) and file.contexts.entered(n, "tf.GradientTape") is not None
            for n in walk(tape.block.body)
        )

    def _stopped(self, gradient: Call, tape: Tape, file: File) -> bool:
        return any(
            isinstance(item.item, cst.Call) and file.call(item.item).method == "stop_recording"
            for block in file.contexts.withs(gradient.node)
            if block is not tape.block
            for item in block.items
        )

    def _higher_order(self, tape: Tape, file: File) -> bool:
        """Whether a gradient's result is differentiated again."""
        return bool(results_of(tape, file) & self._targets(tape))

    def _targets(self, tape: Tape) -> set[str]:
        """The names in what the tape's gradients differentiate."""
        found: set[str] = set()
        for gradient in tape.gradients:
            target = gradient.arg("target")
            found |= (
                {n.value for n in walk(target.expression) if isinstance(n, cst.Name)} if target is not None else set()
            )
        return found

    def _records(self, moved: list[Node], tape: Tape, file: File) -> bool:
        """Whether the moved statements compute what is differentiated: outside the block it would not be recorded."""
        plain = (cst.Name, cst.Attribute)
        for gradient in tape.gradients:
            target = gradient.arg("target")
            if target is None or not isinstance(target.expression, plain):
                return True
        targets = self._targets(tape)
        bound = (t.target for s in moved for t in walk(s, cst.AssignTarget, cst.AugAssign, cst.For))
        return any(name.value in targets for target in bound for name in walk(target, cst.Name))

    def _dedent(self, gradient: Call, tape: Tape, file: File) -> Fix | None:
        body: list[Node] = list(tape.block.body.body)
        if not isinstance(tape.block.body, cst.IndentedBlock):
            return None
        first = next((i for i, s in enumerate(body) if file.tree.contains(s, gradient.node)), 0)
        inner, outer = indentation(file, body[0]), indentation(file, tape.block)
        if first == 0 or not inner.startswith(outer) or self._records(body[first:], tape, file):
            return None
        edits = dedent(file, body[first:], inner[len(outer) :])
        return Fix("take the gradient after the block", edits, Safety.UNSAFE) if edits else None
