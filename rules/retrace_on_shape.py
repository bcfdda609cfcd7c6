from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Edit, File, Finding, Fix, Function, Rule, Safety, Severity, on, repetition, tracing

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

    @on(tracing.traced_calls)
    def check(self, traced: tracing.TracedCall, file: File) -> Iterator[Finding]:
        if not self._resized(traced, file) or not SAID.isdisjoint(tracing.tracing_options(file, traced.function)):
            return
        same = (each for each in tracing.traced_calls.of(file) if each.function.node is traced.function.node)
        if next(each for each in same if self._resized(each, file)) is traced:  # once a function
            yield self.finding(
                traced.call,
                file,
                "every new length of this argument makes a new graph; let the function relax shapes",
                fix=Fix.unsafe("relax shapes", self._option(traced.function, file)),
            )

    def _resized(self, traced: tracing.TracedCall, file: File) -> bool:
        node = traced.call.node
        if file.contexts.traced(node) or repetition.repeats(file, node, calls=0) is None:
            return False
        return any(repetition.resizes(file, arg.value) for arg in node.args if not arg.star)

    def _option(self, function: Function, file: File) -> Edit | None:
        """The option for a plain decorator; None where there is none."""
        plain = (d.decorator for d in getattr(function.node, "decorators", ()) if not isinstance(d.decorator, cst.Call))
        end = next((file.span(decorator).end for decorator in plain), None)
        return Edit(end, end, "(reduce_retracing=True)") if end is not None else None
