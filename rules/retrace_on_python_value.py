from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._loops import changing_python_value

from tfmemlint.api import Api, Call, File, Finding, Fix, Function, Node, Rule, Safety, on_file, parameters, walk
from tfmemlint.fix.edits import api_text, replace_node

SHAPES = frozenset(
    {
        "getattr",
        "isinstance",
        "get",
        "get_layer",
        "range",
        "zeros",
        "ones",
        "reshape",
        "fill",
        "one_hot",
        "normal",
        "uniform",
        "eye",
        "tile",
    }
)


class RetraceOnPythonValue(Rule):
    """
    ## What it does
    Reports traced functions that are called in a loop with a Python number, string or list that changes, or with a new
    lambda each time.

    ## Why it costs memory
    Each distinct Python value is a trace of its own: another graph, which is never freed. Time and host memory grow
    with every iteration. `reduce_retracing` does not help for Python values.

    ## Example
    ```python
    for step, batch in enumerate(dataset):
        train_step(batch, step)
    ```
    Pass a tensor:
    ```python
    for step, batch in enumerate(dataset):
        train_step(batch, tf.constant(step))
    ```

    ## Fix safety
    Unsafe: inside the function the parameter is a tensor then, also in `if` and in f-strings.

    ## When not to use it
    When the function needs the value as a Python number, for a shape or `range`; such uses are seen and not reported.

    ## References
    - https://www.tensorflow.org/guide/function#controlling_retracing
    """

    code = "TFM501"
    summary = "a Python value that changes makes a new graph each time"
    fix_safety = (Safety.UNSAFE,)

    @on_file("function")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.Call):
            if not node.args or file.contexts.loop(node) is None:
                continue
            call = file.call(node)
            targets = call.target.options
            if (
                not all(isinstance(t, Function) and t.traced for t in targets)
                or file.contexts.traced(node)
                or self._few(node, file)
            ):
                continue
            function = targets[0]
            if isinstance(function, Function) and not self._signed(function, file):
                yield from self._arguments(call, function, file)

    def _few(self, node: cst.Call, file: File) -> bool:
        counts = [file.contexts.literal_count(loop) for loop in file.contexts.loops(node)]
        return all(count is not None and count <= 3 for count in counts)

    def _signed(self, function: Function, file: File) -> bool:
        """Whether an `input_signature` turns Python numbers into tensors."""
        makers = [d.decorator for d in getattr(function.node, "decorators", ())]
        for call in file.calls("tf.function"):
            wrapped = call.value_of(0, "func").options
            makers += [call.node] if any(isinstance(o, Function) and o.node is function.node for o in wrapped) else []
        return any(
            isinstance(m, cst.Call) and any(a.keyword and a.keyword.value == "input_signature" for a in m.args)
            for m in makers
        )

    def _arguments(self, call: Call, function: Function, file: File) -> Iterator[Finding]:
        for index, arg in enumerate(call.node.args):
            fresh = isinstance(arg.value, cst.Lambda)
            if not fresh and not changing_python_value(arg.value, file):
                continue
            name = (
                arg.keyword.value
                if arg.keyword
                else (call.parameter_names[index] if index < len(call.parameter_names) else None)
            )
            if name is None or self._needs_python(function, name, file):
                continue
            what = "a new lambda" if fresh else f"the Python value {file.text(arg.value)}"
            spelled = api_text(file, "tf.constant")
            fix = None
            if spelled is not None and not fresh:
                edit = replace_node(file, arg.value, f"{spelled}({file.text(arg.value)})")
                fix = Fix("pass a tensor", (edit,), Safety.UNSAFE)
            traced = function.node.name if isinstance(function.node, cst.FunctionDef) else None
            yield self.finding(
                call,
                file,
                f"{what} differs in each iteration, and each makes a new graph that is never freed; pass a tensor",
                fix=fix,
                related=[(traced, "the traced function")] if traced is not None else [],
            )
            return

    def _needs_python(self, function: Function, name: str, file: File) -> bool:
        """Whether the parameter is used as a Python number or flag: in a shape, `range`, an index, a comparison with a
        string."""
        if all(p.name.value != name for p in parameters(function.node)):
            return True
        for node in walk(function.node.body):
            if isinstance(node, cst.Name) and node.value == name and self._as_number(node, function.node, file):
                return True
        return False

    def _as_number(self, use: cst.Name, function: Node, file: File) -> bool:
        for above in file.tree.ancestors(use):
            if above is function:
                return False
            if isinstance(above, (cst.Subscript, cst.SubscriptElement)):
                return True
            if isinstance(above, cst.Comparison):
                sides = (above.left, *(c.comparator for c in above.comparisons))
                return any(isinstance(side, (cst.SimpleString, cst.List, cst.Tuple, cst.Set)) for side in sides)
            if isinstance(above, cst.Call):
                word = file.call(above).method
                if word in SHAPES:
                    return file.value(above.func) != Api("tf.range")
        return False
