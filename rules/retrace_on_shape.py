from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Edit,
    File,
    Finding,
    Fix,
    Function,
    Node,
    Rule,
    Safety,
    Severity,
    on_file,
    repeats,
    resizes,
    traced_calls,
    tracing_options,
)

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
        reported: set[Node] = set()
        for call, function in traced_calls(file):
            if function.node in reported or file.contexts.traced(call.node) or not repeats(file, call.node, calls=0):
                continue
            if not any(resizes(file, arg.value) for arg in call.node.args if not arg.star):
                continue
            reported.add(function.node)
            if SAID.isdisjoint(tracing_options(file, function)):
                yield self.finding(
                    call,
                    file,
                    "every new length of this argument makes a new graph; let the function relax shapes",
                    fix=Fix.unsafe("relax shapes", self._option(function, file)),
                )

    def _option(self, function: Function, file: File) -> Edit | None:
        """The option for a plain decorator; None where there is none."""
        plain = (d.decorator for d in getattr(function.node, "decorators", ()) if not isinstance(d.decorator, cst.Call))
        end = next((file.span(decorator).end for decorator in plain), None)
        return Edit(end, end, "(reduce_retracing=True)") if end is not None else None
