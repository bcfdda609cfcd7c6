from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._changing import changing_python_value
from tfmemlint_rules._traced_calls import traced_calls

from tfmemlint.api import Edit, File, Finding, Fix, Rule, Safety, Severity, on_file


class RetraceOnShape(Rule):
    """
    ## What it does
    Gives the advice to relax shapes where a traced function is called in a loop with slices of changing length.

    ## Why it costs memory
    Each distinct shape is a trace of its own, and its graph is never freed.

    ## Example
    ```python
    @tf.function
    def score(x):
        return tf.reduce_sum(x)

    for n in range(1, 100):
        score(data[:n])
    ```
    Let the function generalize over shapes:
    ```python
    @tf.function(reduce_retracing=True)
    def score(x):
        return tf.reduce_sum(x)
    ```

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
            loops = [loop for loop in file.contexts.loops(call.node) if isinstance(loop, cst.For)]
            if not loops or not isinstance(function.node, cst.FunctionDef) or id(function.node) in seen:
                continue
            if not any(self._grows(arg.value, loops, file) for arg in call.node.args):
                continue
            seen.add(id(function.node))
            if self._relaxed(function.node):
                continue
            yield self.finding(
                call,
                file,
                "each length of this slice makes a new graph; let the function relax shapes",
                fix=self._relax(function.node, file),
            )

    def _grows(self, node: cst.BaseExpression, loops: list[cst.For], file: File) -> bool:
        """Whether the expression is, or names, a slice of which exactly one bound is a number that changes with the
        loop."""
        if isinstance(node, cst.Name):
            definitions = file.definitions(node)
            made = definitions[0] if len(definitions) == 1 else None
            inside = made is not None and any(file.tree.contains(loop, made.node) for loop in loops)
            if made is None or not inside or made.path or not isinstance(made.value, cst.Subscript):
                return False
            node = made.value
        if not isinstance(node, cst.Subscript):
            return False
        changes = False
        for part in (element.slice for element in node.slice):
            if isinstance(part, cst.Slice):
                ends = [e is not None and changing_python_value(e, file) for e in (part.lower, part.upper)]
                changes = changes or sum(ends) == 1
        return changes

    def _relaxed(self, function: cst.FunctionDef) -> bool:
        """Whether the decorator says already how shapes are to be treated."""
        said = ("reduce_retracing", "experimental_relax_shapes", "input_signature", "jit_compile")
        calls = [d.decorator for d in function.decorators if isinstance(d.decorator, cst.Call)]
        return any(a.keyword is not None and a.keyword.value in said for c in calls for a in c.args)

    def _relax(self, function: cst.FunctionDef, file: File) -> Fix | None:
        for decorator in function.decorators:
            expression = decorator.decorator
            if not isinstance(expression, cst.Call):
                end = file.span(expression).end
                return Fix("relax shapes", (Edit(end, end, "(reduce_retracing=True)"),), Safety.UNSAFE)
        return None
