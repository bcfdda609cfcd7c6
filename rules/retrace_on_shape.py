from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Edit, File, Finding, Fix, Function, Rule, Safety, Severity, on_file, walk


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
        for node in file.tree.of(cst.Call):
            loop = file.contexts.loop(node) if node.args else None
            if loop is None or not isinstance(loop, cst.For):
                continue
            call = file.call(node)
            target = call.target
            if not isinstance(target, Function) or not target.traced or not isinstance(target.node, cst.FunctionDef):
                continue
            bound = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
            if id(target.node) in seen or not any(self._grows(arg.value, bound) for arg in node.args):
                continue
            seen.add(id(target.node))
            if self._relaxed(target.node):
                continue
            yield self.finding(
                call,
                file,
                "each length of this slice makes a new graph; let the function relax shapes",
                fix=self._relax(target.node, file),
            )

    def _grows(self, node: cst.BaseExpression, bound: set[str]) -> bool:
        """Whether the expression is a slice of which exactly one bound changes with the loop."""
        if (
            not isinstance(node, cst.Subscript)
            or len(node.slice) != 1
            or not isinstance(node.slice[0].slice, cst.Slice)
        ):
            return False
        part = node.slice[0].slice
        changing = [
            e is not None and any(isinstance(n, cst.Name) and n.value in bound for n in walk(e))
            for e in (part.lower, part.upper)
        ]
        return sum(changing) == 1

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
