from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test
from tfmemlint_rules._invariant import hoist, unchanging

from tfmemlint.api import Call, Dataset, File, Finding, Node, Rule, Safety, on_file, own_nodes

SOURCES = (
    *(f"tf.data.Dataset.{name}" for name in (
        "from_tensor_slices", "from_tensors", "from_generator", "range", "list_files",
    )),
    "tf.data.TFRecordDataset", "tf.data.TextLineDataset", "tf.data.FixedLengthRecordDataset",
    "tf.data.experimental.make_csv_dataset", "tf.data.experimental.CsvDataset",
    "tf.keras.utils.image_dataset_from_directory", "tf.keras.utils.text_dataset_from_directory",
    "tf.keras.utils.audio_dataset_from_directory", "tf.keras.utils.timeseries_dataset_from_array",
    "tensorflow_datasets.load",
)  # fmt: skip

FEW = 3
"""Iterations of a loop over literals up to which a pipeline may be built in each."""


class DatasetBuiltInLoop(Rule):
    """
    ## What it does
    Reports a source of a pipeline (`from_tensor_slices`, `TFRecordDataset`, ...) inside the loop over epochs or steps,
    where nothing that it is made of changes with the loop. A function that makes one and is called in the loop counts.

    ## Why it costs memory
    Each pipeline copies its arrays again and fills its buffers again, while the one before is still alive. Pipelines
    from `from_generator` are never freed as a whole: their Python functions stay registered until the process ends,
    with all that they refer to.

    ## Example
    ```python
    for epoch in range(epochs):
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(32)
        for batch in ds:
            train_step(batch)
    ```
    Build it once; each loop over it starts it anew, and shuffles anew:
    ```python
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(32)
    for epoch in range(epochs):
        for batch in ds:
            train_step(batch)
    ```

    ## Fix safety
    Unsafe: with global seeds a pipeline that is built anew draws other numbers than one that is started anew.

    ## When not to use it
    When the data behind the same names changes in the loop in a way that the code does not show.

    ## References
    - https://www.tensorflow.org/guide/data#basic_mechanics
    """

    code = "TFM312"
    summary = "a pipeline built in each iteration copies its data and fills its buffers again"
    fix_safety = (Safety.UNSAFE,)

    @on_file("for", "while")
    def check(self, file: File) -> Iterator[Finding]:
        if is_test(file):
            return
        for source in file.calls(*SOURCES):
            if file.contexts.mapped(source.node) or file.contexts.traced(source.node):
                continue
            place, loop = self._loop(source, file)
            if place is None or loop is None:
                continue
            related: list[tuple[Call | Node, str]] = [(loop, "built again in each iteration")]
            if place is not source:
                related.insert(0, (place, "called in the loop"))
            leak = ", and its Python function is never freed" if source.name == "tf.data.Dataset.from_generator" else ""
            yield self.finding(
                source,
                file,
                "this pipeline is built again in each iteration: it copies its data and fills its buffers "
                f"anew{leak}; build it once",
                fix=hoist(file, source, loop) if place is source else None,
                related=related,
            )

    def _loop(self, source: Call, file: File) -> tuple[Call | None, cst.For | cst.While | None]:
        """The call in a loop that builds the pipeline each time, the same each time, and that loop."""
        loop = file.contexts.loop(source.node)
        if loop is not None:
            return (source, loop) if self._again(source, loop, file) else (None, None)
        function = file.contexts.function(source.node)
        if not isinstance(function, cst.FunctionDef) or any(own_nodes(function, (cst.Yield,))):
            return None, None
        if function.name.value == "__init__" or not unchanging(source, function, file):
            return None, None
        for caller in file.values.functions.callers(function) or ():
            loop = file.contexts.loop(caller.node)
            if loop is not None and self._returns(caller) and self._again(caller, loop, file):
                return caller, loop
        return None, None

    def _again(self, call: Call, loop: cst.For | cst.While, file: File) -> bool:
        count = file.contexts.literal_count(loop)
        if (count is not None and count <= FEW) or not self._plain(loop, file):
            return False
        return all(
            unchanging(call, each, file)
            for each in file.contexts.loops(call.node)
            if file.tree.contains(loop, each) or each is loop
        )

    def _plain(self, loop: cst.For | cst.While, file: File) -> bool:
        """Not a loop that retries or waits: `while True` with a `try`, or one that ends in its first iteration."""
        body = loop.body.body if isinstance(loop.body, cst.IndentedBlock) else ()
        last = body[-1] if body else None
        ends = isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], (cst.Break, cst.Return))
        return not ends and not (
            isinstance(loop, cst.While) and any(isinstance(statement, cst.Try) for statement in body)
        )

    def _returns(self, caller: Call) -> bool:
        """Whether what the called function gives is the pipeline, or several."""
        values = caller.value.options
        return all(
            isinstance(v, Dataset) or any(isinstance(i, Dataset) for i in getattr(v, "items", ())) for v in values
        )
