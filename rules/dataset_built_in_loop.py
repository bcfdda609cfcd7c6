from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test
from tfmemlint_rules._loops import assigned_names

from tfmemlint.api import Call, Dataset, File, Finding, Function, Rule, Safety, on_file, walk

FEW = 3


class DatasetBuiltInLoop(Rule):
    """
    ## What it does
    Reports tf.data sources that are built in a loop from arguments that do not change with it, directly or by a function of
    the module.

    ## Why it costs memory
    Every iteration copies the data into a new tensor and fills its buffers again. Pipelines with `from_generator` or
    `py_function` are never freed on TensorFlow 2.21: each keeps what its Python function closes over.

    ## Example
    ```python
    for epoch in range(epochs):
        ds = tf.data.Dataset.from_tensor_slices(x).batch(32)
        train(ds)
    ```
    Build it once:
    ```python
    ds = tf.data.Dataset.from_tensor_slices(x).batch(32)
    for epoch in range(epochs):
        train(ds)
    ```

    ## Fix safety
    No fix is applied: statements between may change what the pipeline reads.

    ## When not to use it
    When the data changes with the loop in a way that is not seen.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/57690
    """

    code = "TFM312"
    summary = "a pipeline built in each iteration copies its data again"
    fix_safety = (Safety.UNSAFE,)

    @on_file("for", "while")
    def check(self, file: File) -> Iterator[Finding]:
        if is_test(file):
            return
        for node in file.tree.of(cst.Call):
            loop = file.contexts.loop(node)
            if loop is None or file.contexts.traced(node) or file.contexts.mapped(node):
                continue
            count = file.contexts.literal_count(loop)
            if count is not None and count <= FEW:
                continue
            call = file.call(node)
            if self._builds(call) and self._same(call, loop, file):
                yield self.finding(
                    call, file, "this pipeline is built again in each iteration: its data is copied and its buffers are filled anew; build it once",
                    related=[(loop, "the loop")],
                )  # fmt: skip

    def _builds(self, call: Call) -> bool:
        """Whether the call is a source constructor, or a function of the module that makes one."""
        options = call.value.options
        if not all(isinstance(o, Dataset) and o.source is not None for o in options):
            return False
        if all(isinstance(t, Function) for t in call.target.options):
            return True
        return bool(call.names) and all(isinstance(o, Dataset) and o.call is call and not o.steps for o in options)

    def _same(self, call: Call, loop: cst.For | cst.While, file: File) -> bool:
        """Whether nothing that the call reads changes in the loops around it."""
        bound = {name for outer in file.contexts.loops(call.node) for name in assigned_names(outer, file)}
        reads = {n.value for arg in call.node.args for n in walk(arg.value) if isinstance(n, cst.Name)}
        if reads & bound or any(isinstance(n, cst.Call) and self._draws(n, file) for arg in call.node.args for n in walk(arg.value)):
            return False
        if isinstance(call.node.func, cst.Attribute) and isinstance(call.node.func.value, cst.Name) and call.node.func.value.value in bound:
            return False
        if not call.node.args and all(isinstance(t, Function) for t in call.target.options):
            return not any(isinstance(t, Function) and t.receiver is not None for t in call.target.options)
        return True

    def _draws(self, node: cst.Call, file: File) -> bool:
        name = file.call(node).name or ""
        return "random" in name or not file.value(node).known
