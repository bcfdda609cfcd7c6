from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Instance, Node, Rule, on_call

DENSIFIES = frozenset({
    "tf.convert_to_tensor", "tf.math.add_n", "tf.add_n", "tf.math.reduce_mean", "tf.reduce_mean", "tf.math.reduce_sum",
    "tf.reduce_sum", "tf.add", "tf.math.add", "tf.math.multiply", "tf.multiply",
})  # fmt: skip
EMBEDDING = "tf.keras.layers.Embedding"


class SparseGradientDensified(Rule):
    """
    ## What it does
    Reports arithmetic on the gradient of an embedding table.

    ## Why it costs memory
    That gradient is sparse: it holds only the rows that a batch touched. Sums and conversions make a dense tensor of
    the whole table's size of it (192 MB for a 49 MB table); Python operators raise `TypeError`.

    ## Example
    ```python
    grad = tape.gradient(loss, embedding.embeddings)
    total = tf.add_n([total, grad])
    ```
    Scatter it into an accumulator:
    ```python
    accumulator.scatter_add(grad)
    ```

    ## Fix safety
    No fix: an accumulator variable is needed.

    ## When not to use it
    For small tables.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/IndexedSlices
    """

    code = "TFM706"
    summary = "arithmetic makes the sparse gradient of an embedding dense"

    @on_call("tf.GradientTape.gradient")
    def check(self, gradient: Call, file: File) -> Iterator[Finding]:
        sources = gradient.arg("sources")
        if sources is None or not self._is_table(sources.expression, file):
            return
        for use in self._uses(gradient, file):
            where = self._densified(use, file)
            if where is not None:
                yield self.finding(
                    where, file, "this gradient is sparse, and here it becomes dense: a tensor of the whole table's size, or a TypeError",
                    related=[(gradient, "the sparse gradient")],
                )  # fmt: skip

    def _is_table(self, node: cst.BaseExpression, file: File) -> bool:
        """Whether the expression is an embedding layer's table."""
        if not isinstance(node, cst.Attribute) or node.attr.value != "embeddings":
            return False
        layer = file.value(node.value)
        return isinstance(layer, Instance) and layer.type_name == EMBEDDING

    def _uses(self, gradient: Call, file: File) -> list[Node]:
        assign = file.tree.parent(gradient.node)
        if not isinstance(assign, cst.Assign) or not isinstance(assign.targets[0].target, cst.Name):
            return [gradient.node]
        target = assign.targets[0].target
        made = [d for d in file.flow(file.scope_of(target)).bindings.get(target.value, ()) if d.node is target]
        return [use for d in made for use in file.uses_of(d)]

    def _densified(self, use: Node, file: File) -> Call | Node | None:
        parent = file.tree.parent(use)
        if isinstance(parent, cst.BinaryOperation):
            return parent
        while isinstance(parent, (cst.Element, cst.List, cst.Tuple)):
            parent = file.tree.parent(parent)
        if isinstance(parent, cst.Arg):
            call = file.tree.parent(parent)
            if isinstance(call, cst.Call) and file.call(call).name in DENSIFIES:
                return file.call(call)
        return None
