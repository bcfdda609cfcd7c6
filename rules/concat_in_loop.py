from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._collected import collect_in_list
from tfmemlint_rules._dtypes import is_test
from tfmemlint_rules._items import few_iterations
from tfmemlint_rules._loops import assigned_names

from tfmemlint.api import Array, Call, File, Finding, Node, Rule, Safety, on_call, walk

TENSOR = (
    "tf.concat", "tf.stack", "tf.keras.ops.concatenate", "tf.keras.ops.append", "tf.keras.ops.vstack",
    "tf.keras.ops.hstack",
)  # fmt: skip
NUMPY = ("np.concatenate", "np.append", "np.vstack", "np.hstack", "np.stack", "np.row_stack")
FEW = 8


class ConcatInLoop(Rule):
    """
    ## What it does
    Reports results that a loop over data or steps collects by `acc = tf.concat([acc, x], 0)`, also with NumPy where
    the parts come from TensorFlow.

    ## Why it costs memory
    Every iteration copies all that was collected before: quadratic work. Under a gradient tape every prefix stays in
    memory: 2238 MB against 192 MB in a measurement with 64 parts.

    ## Example
    ```python
    for batch in dataset:
        scores = tf.concat([scores, model(batch)], 0)
    ```
    Collect a list and join it once:
    ```python
    parts = []
    for batch in dataset:
        parts.append(model(batch))
    scores = tf.concat(parts, 0)
    ```

    ## Fix safety
    Unsafe: the name holds the whole result only after the loop, and the parts must agree in dtype. It is offered
    where the loop does nothing else with the name.

    ## When not to use it
    For a handful of parts, or where each iteration reads what was collected; such loops are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/TensorArray
    """

    code = "TFM702"
    summary = "concatenating in a loop copies everything again in each iteration"
    fix_safety = (Safety.UNSAFE,)

    @on_call(*TENSOR, *NUMPY)
    def check(self, concat: Call, file: File) -> Iterator[Finding]:
        assign = file.tree.parent(concat.node)
        if isinstance(assign, cst.IfExp):
            assign = file.tree.parent(assign)
        if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or is_test(file):
            return
        target = assign.targets[0].target
        if not isinstance(target, (cst.Name, cst.Attribute)):
            return
        name = file.text(target)
        parts = self._parts(concat)
        if parts is None or not any(file.text(part) == name for part in parts):
            return
        others = [part for part in parts if file.text(part) != name]
        if not others or any(_names(part, name, file) for part in others):
            return
        loop = next((loop for loop in file.contexts.loops(concat.node) if not few_iterations(loop, file, FEW)), None)
        if (
            loop is None
            or self._used_otherwise(name, assign, loop, file)
            or not self._collects(concat, others, loop, file)
        ):
            return
        yield self.finding(
            concat,
            file,
            f"each iteration copies all of {name} again, and a tape keeps every copy; collect a list and join it once",
            fix=collect_in_list(concat, assign, loop, file),
            related=[(loop, "the loop")],
        )

    def _parts(self, concat: Call) -> list[cst.BaseExpression] | None:
        arguments = [
            a.value
            for a in concat.node.args
            if a.keyword is None or a.keyword.value in ("values", "arrays", "tup", "arr")
        ]
        if concat.name == "np.append":
            return arguments[:2]
        first = arguments[0] if arguments else None
        return [e.value for e in first.elements] if isinstance(first, (cst.List, cst.Tuple)) else None

    def _used_otherwise(self, name: str, assign: cst.Assign, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the loop reads, cuts back or starts again what is collected; printing it does not count."""
        for node in walk(loop.body):
            if (
                not isinstance(node, (cst.Name, cst.Attribute))
                or file.tree.contains(assign, node)
                or file.text(node) != name
            ):
                continue
            if not self._initial_branch(node, assign, loop, file) and not self._printed(node, file):
                return True
        return isinstance(loop, cst.While) and _names(loop.test, name, file)

    def _printed(self, node: cst.CSTNode, file: File) -> bool:
        line = file.tree.statement(node)
        first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        call = first.value if isinstance(first, cst.Expr) else None
        return isinstance(call, cst.Call) and file.call(call).method in ("print", "info", "debug")

    def _initial_branch(self, node: cst.CSTNode, assign: cst.Assign, loop: cst.For | cst.While, file: File) -> bool:
        """`if acc is None: acc = x else: acc = concat(...)`: the first part is taken as it is."""
        branch = next(
            (a for a in file.tree.ancestors(assign) if isinstance(a, cst.If) and file.tree.contains(loop, a)), None
        )
        if branch is None:
            outer = next((a for a in file.tree.ancestors(assign) if isinstance(a, cst.Else)), None)
            parent = file.tree.parent(outer) if outer is not None else None
            branch = parent if isinstance(parent, cst.If) else None
        return branch is not None and file.tree.contains(branch, node)

    def _collects(self, concat: Call, others: list[cst.BaseExpression], loop: cst.For | cst.While, file: File) -> bool:
        """Whether the parts are made from the loop's data: not layers' outputs in a model that is being built."""
        values = [file.value(part) for part in others]
        if any(isinstance(v, Array) and v.library == "keras" for v in values):
            return False
        function = file.contexts.function(concat.node)
        owner = file.class_of(function) if function is not None else None
        if owner is not None and file.values.classes.derives(owner, "tf.keras.layers.Layer"):
            return False
        if isinstance(loop, cst.For):
            items = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
            if any(
                isinstance(n, cst.Call) and isinstance(n.func, cst.Name) and n.func.value in items
                for n in walk(loop.body)
            ):
                return False
        over_data = file.contexts.over_data(loop)
        from_tensorflow = any(self._from_tensorflow(part, file) for part in others)
        if concat.name in NUMPY:
            bound = set(assigned_names(loop, file))
            return from_tensorflow or (over_data and any(_names(part, name, file) for part in others for name in bound))
        return over_data or from_tensorflow

    def _from_tensorflow(self, part: cst.BaseExpression, file: File) -> bool:
        """Whether a part is known to come out of TensorFlow."""
        value = file.value(part)
        if isinstance(value, Array):
            made = value.origin.name if value.origin is not None else None
            if value.library == "tf" or (made or "").startswith("tf."):
                return True
        names = (name for n in walk(part) if isinstance(n, cst.Call) for name in file.call(n).names)
        return any(name.startswith("tf.") for name in names)


def _names(node: Node, name: str, file: File) -> bool:
    """Whether an expression reads this name or attribute."""
    return any(isinstance(n, (cst.Name, cst.Attribute)) and file.text(n) == name for n in walk(node))
