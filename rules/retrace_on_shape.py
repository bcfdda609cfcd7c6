from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._growing import Rounds
from tfmemlint_rules._resized import resized
from tfmemlint_rules._traced_calls import says, traced_calls

from tfmemlint.api import Edit, File, Finding, Fix, Rule, Safety, Severity, on_file

SAID = frozenset({"reduce_retracing", "experimental_relax_shapes", "input_signature", "jit_compile"})
"""Keywords of `tf.function` that say already how shapes are to be treated."""


class RetraceOnShape(Rule):
    """
    ## What it does
    Gives the advice to relax shapes where a traced function is called in a loop with arrays of changing length: slices,
    arrays that are made that long, lists that get longer.

    ## Why it costs memory
    Each distinct shape is a trace of its own, and its graph is never freed.

    ## Fix safety
    Unsafe: shapes inside the function are not known at tracing time then.

    ## When not to use it
    With `jit_compile=True`, which needs static shapes.

    ## References
    - https://www.tensorflow.org/guide/function#controlling_retracing
    """

    code = "TFM509"
    summary = "every new shape makes a new graph"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.UNSAFE,)

    @on_file("function")
    def check(self, file: File) -> Iterator[Finding]:
        seen: set[int] = set()
        for call, function in traced_calls(file):
            if id(function.node) in seen or file.contexts.traced(call.node) or not Rounds.around(call.node, file).any:
                continue
            if not any(resized(arg.value, file) for arg in call.node.args if not arg.star):
                continue
            seen.add(id(function.node))
            if says(function, SAID, file):
                continue
            yield self.finding(
                call,
                file,
                "every new length of this argument makes a new graph; let the function relax shapes",
                fix=self._relax(function.node, file) if isinstance(function.node, cst.FunctionDef) else None,
            )

    def _relax(self, function: cst.FunctionDef, file: File) -> Fix | None:
        for decorator in function.decorators:
            expression = decorator.decorator
            if not isinstance(expression, cst.Call):
                end = file.span(expression).end
                return Fix("relax shapes", (Edit(end, end, "(reduce_retracing=True)"),), Safety.UNSAFE)
        return None
