from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Fix, Instance, Node, Rule, Safety, on_file, walk
from tfmemlint.fix.edits import append_method

REDUCES = re.compile(r"\.(reduce_\w+|argmax|argmin|norm|global_norm|mean|max|sum)$")
FEW = 10
"""Iterations that are heads, stages or members of an ensemble rather than steps."""

GRADIENTS = frozenset({"tf.GradientTape.gradient", "tf.GradientTape.jacobian", "tf.GradientTape.batch_jacobian"})


class TensorsKeptAcrossSteps(Rule):
    """
    ## What it does
    Reports predictions, activations and gradients that a training or evaluation loop puts into a list or dictionary
    that outlives its steps.

    ## Why it costs memory
    Each of these tensors stays in device memory until the loop is over: the outputs of all steps together instead of
    those of one. Scalars such as losses are a few bytes each, do not hold anything else, and are not reported.

    ## Example
    ```python
    for x, y in dataset:
        predictions.append(model(x, training=False))
    ```
    Keep them in host memory:
    ```python
    for x, y in dataset:
        predictions.append(model(x, training=False).numpy())
    ```

    ## Fix safety
    Unsafe: the list holds NumPy arrays then.

    ## When not to use it
    When all outputs fit and are used as tensors afterwards.

    ## References
    - https://www.tensorflow.org/guide/gpu
    """

    code = "TFM406"
    summary = "outputs kept as tensors fill device memory step by step"
    fix_safety = (Safety.UNSAFE,)

    @on_file("append", "extend", "for", "while")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.calls_by_word.get("append", ()):
            if isinstance(node.func, cst.Attribute) and len(node.args) == 1:
                yield from self._kept(file.call(node), node.func.value, node.args[0].value, node, file)
        for aug in file.tree.of(cst.AugAssign):
            if (
                isinstance(aug.operator, cst.AddAssign)
                and isinstance(aug.value, cst.List)
                and len(aug.value.elements) == 1
            ):
                yield from self._kept(aug, aug.target, aug.value.elements[0].value, aug, file)
        for assign in file.tree.of(cst.Assign):
            target = assign.targets[0].target
            if isinstance(target, cst.Subscript):
                yield from self._kept(assign, target.value, assign.value, assign, file)

    def _kept(
        self, where: Call | Node, container: cst.BaseExpression, item: cst.BaseExpression, node: Node, file: File
    ) -> Iterator[Finding]:
        loop = file.contexts.loop(node)
        if loop is None or not isinstance(loop, cst.For) or file.contexts.traced(node):
            return
        if any(file.tree.contains(block, loop) and self._tapes(block, file) for block in file.contexts.withs(node)):
            return  # the loss is made of them; a tape around the loop is another rule's business
        if isinstance(file.value(container), Array) or not self._outlives(container, loop, file):
            return
        what = self._large(item, loop, file)
        if what is None:
            return
        fix = None
        if what == "outputs":
            fix = Fix("keep them in host memory", (append_method(file, item, ".numpy()"),), Safety.UNSAFE)
        yield self.finding(
            where,
            file,
            f"the {what} of every step stay in device memory; keep .numpy() of them, or a metric",
            fix=fix,
            related=[(loop, "the loop")],
        )

    def _tapes(self, block: cst.With, file: File) -> bool:
        calls = (item.item for item in block.items)
        return any(isinstance(call, cst.Call) and file.call(call).name == "tf.GradientTape" for call in calls)

    def _outlives(self, container: cst.BaseExpression, loop: cst.For, file: File) -> bool:
        """Whether the container was made before the loop."""
        if not isinstance(container, cst.Name):
            return isinstance(container, cst.Attribute)
        definitions = file.flow(file.scope_of(container)).uses.get(id(container), ())
        return bool(definitions) and not any(
            file.tree.contains(loop, d.node) and not isinstance(d.value, cst.AugAssign) for d in definitions
        )

    def _large(self, item: cst.BaseExpression, loop: cst.For, file: File) -> str | None:
        """What the kept item is: outputs of a model on this step's data, gradients of this step, or neither."""
        if isinstance(item, (cst.Name, cst.Call)):
            made = self._made_by(item, file)
            if made is not None and made.name in GRADIENTS and self._of_this_step(made, loop, file):
                return "gradients"
        count = file.contexts.literal_count(loop)
        if count is not None and count <= FEW:
            return None
        reduced = self._made_by(item, file) if isinstance(item, (cst.Name, cst.Call)) else None
        if reduced is not None and REDUCES.search(reduced.name or ""):
            return None  # a number for each example at most
        value = file.value(item)
        if not isinstance(value, Array) or value.library != "tf" or value.shape == () or value.origin is None:
            return None
        call = value.origin
        if not file.tree.contains(loop, call.node) or not self._is_model(call):
            return None
        bound = self._of_items(loop)
        return (
            "outputs"
            if any(isinstance(n, cst.Name) and n.value in bound for a in call.node.args for n in walk(a.value))
            else None
        )

    def _of_this_step(self, gradient: Call, loop: cst.For, file: File) -> bool:
        """Whether the loop makes the tape as well: rows of one Jacobian are no steps."""
        return file.tree.contains(loop, gradient.node) and any(
            isinstance(n, cst.Call) and file.call(n).name == "tf.GradientTape" for n in walk(loop.body)
        )

    def _made_by(self, item: cst.BaseExpression, file: File) -> Call | None:
        if isinstance(item, cst.Call):
            return file.call(item)
        definitions = file.flow(file.scope_of(item)).uses.get(id(item), ())
        values = [d.value for d in definitions if not d.path]
        return file.call(values[0]) if len(values) == 1 and isinstance(values[0], cst.Call) else None

    def _is_model(self, call: Call) -> bool:
        for target in call.target.options:
            if not isinstance(target, Instance):
                return False
            if target.class_node is not None:
                if not call.evaluator.classes.derives(target.class_node, "tf.keras.Model"):
                    return False
            elif target.type_name not in ("tf.keras.Model", "tf.keras.Sequential"):
                return False
        return True

    def _of_items(self, loop: cst.For) -> set[str]:
        """The names that hold this step's data: the loop's target and what its body makes from it, not what it carries
        from step to step."""
        found = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
        for node in walk(loop.body):
            if isinstance(node, cst.Assign):
                read = {n.value for n in walk(node.value) if isinstance(n, cst.Name)}
                bound = {n.value for t in node.targets for n in walk(t.target) if isinstance(n, cst.Name)}
                drawn = (
                    isinstance(node.value, cst.Call)
                    and isinstance(node.value.func, cst.Name)
                    and node.value.func.value == "next"
                )
                if drawn or (read & found and not read & bound):
                    found |= bound
        return found
