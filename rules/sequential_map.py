from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Function,
    Node,
    Rule,
    Safety,
    Severity,
    Step,
    add_argument,
    autotune_text,
    integer,
    on_call,
    walk,
)
from tfmemlint.model.mapped import body, function_of

ON_PURPOSE = re.compile(
    r"#.*\b(sequential|serial|in order|one (at a|by one)|single[- ]thread|not parallel|no parallel|order)", re.I
)


FEW = 100
"""Elements that are made fast enough one after the other."""


class SequentialMap(Rule):
    """
    ## What it does
    Gives the advice to pass `num_parallel_calls=tf.data.AUTOTUNE` to `map` and `interleave` that run one call at a
    time.

    ## Why it costs memory
    It costs time, not memory: without the argument one element is made after the other on one processor, and the model
    waits. In parallel each call holds one element more.

    ## Fix safety
    Safe where the function is seen to hold no state and to draw nothing at random: elements and order stay the same.
    Unsafe where it draws, calls Python, or is not seen, and for an interleave that leaves its cycle to TensorFlow.

    ## When not to use it
    When the calls must follow each other; a comment at the call that says so (`# sequential: ...`) is enough.

    ## References
    - https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """

    code = "TFM313"
    summary = "map() without num_parallel_calls makes one element at a time"
    severity = Severity.INFO
    fix_safety = (Safety.SAFE, Safety.UNSAFE)
    in_tests = False

    @on_call("tf.data.Dataset.map", "tf.data.Dataset.interleave")
    def check(self, step: Call, file: File) -> Iterator[Finding]:
        if not step.datasets() or not step.lacks("num_parallel_calls"):
            return
        if file.contexts.mapped(step.node) or self._trivial(step) or self._on_purpose(step, file):
            return
        if all(ds.count is not None and ds.count <= FEW for ds in step.datasets()):
            return
        spelled = autotune_text(file, step)
        edit = add_argument(file, step.node, f"num_parallel_calls={spelled}") if spelled is not None else None
        fix = Fix("run it in parallel", (edit,), self._safety(step)) if edit is not None else None
        yield self.finding(
            step,
            file,
            f"{step.method}() makes one element at a time; num_parallel_calls uses all processors (this costs time, "
            "not memory)",
            fix=fix,
        )

    def _trivial(self, step: Call) -> bool:
        """Whether the function only picks or reorders parts, so that there is nothing to do in parallel."""
        value = function_of(Step(step.method or "map", step))
        if value is None or not all(isinstance(option, Function) for option in value.options):
            return False
        return not any(self._works(n) for o in value.options if isinstance(o, Function) for n in walk(o.node.body))

    def _works(self, node: Node) -> bool:
        """Whether a node computes something; the `-1` of an index does not."""
        if isinstance(node, cst.UnaryOperation):
            return not isinstance(node.expression, cst.Integer)
        return isinstance(node, (cst.Call, cst.BinaryOperation, cst.Comparison, cst.IfExp))

    def _on_purpose(self, step: Call, file: File) -> bool:
        """Whether a comment at the call or the line above says that it runs in sequence on purpose."""
        span = file.span(step.name_node)
        line = file.source.line_span(span.start)
        above = file.source.line_span(max(0, line.start - 1))
        below = file.source.line_span(file.span(step.node).end)
        comment = file.source.text[above.start : above.end].strip()
        text = file.source.text[line.start : below.end]
        return bool(ON_PURPOSE.search(text)) or (comment.startswith("#") and bool(ON_PURPOSE.search(comment)))

    def _safety(self, step: Call) -> Safety:
        found = body(Step(step.method or "map", step))
        keeps = not found.unseen and not found.random and not found.does("runs_python") and not self._writes(step)
        if step.method == "interleave" and integer(step.value_of("cycle_length")) is None:
            keeps = False
        return Safety.SAFE if keeps else Safety.UNSAFE

    def _writes(self, step: Call) -> bool:
        """Whether the function changes something outside of itself when it is called."""
        value = function_of(Step(step.method or "map", step))
        nodes = [n for o in value.options if isinstance(o, Function) for n in walk(o.node)] if value is not None else []
        if any(isinstance(n, (cst.Global, cst.Nonlocal)) for n in nodes):
            return True
        words = {n.func.attr.value for n in nodes if isinstance(n, cst.Call) and isinstance(n.func, cst.Attribute)}
        return bool(words & {"assign", "assign_add", "assign_sub", "append", "update_state"})
