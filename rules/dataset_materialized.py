from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test

from tfmemlint.api import (
    Array,
    Call,
    Dataset,
    File,
    Finding,
    Rule,
    Value,
    elements,
    integer,
    on_call,
    on_file,
    show_bytes,
    structure_bytes,
)
from tfmemlint.api import Iterator as Items
from tfmemlint.model.pipelines import FILE_NAME_SOURCES

FEW = 64


class DatasetMaterialized(Rule):
    """
    ## What it does
    Reports `list(ds)`, `tuple(ds)`, `sorted(ds)`, list comprehensions that keep the elements, and `np.array(list(ds))` of a
    whole tf.data pipeline.

    ## Why it costs memory
    All elements are in memory at once, as tensors, and again as one array: the pipeline that was to stream the data is a
    detour.

    ## Example
    ```python
    images = np.array(list(ds.as_numpy_iterator()))
    ```
    Work on one batch after the other:
    ```python
    for batch in ds.as_numpy_iterator():
        metric.update(batch)
    ```

    ## Fix safety
    No fix: what is done with the elements decides.

    ## When not to use it
    For small sets, labels and file names; `take(n)` with a small n is not reported.

    ## References
    - https://www.tensorflow.org/guide/data
    """

    code = "TFM310"
    summary = "collecting a whole pipeline holds all elements at once"

    @on_call("builtins.list", "builtins.tuple", "builtins.sorted")
    def collected(self, call: Call, file: File) -> Iterator[Finding]:
        value = call.value_of(0)
        yield from self._check(call, value, file)

    @on_call("tf.data.Dataset.get_single_element", "tf.data.Dataset.batch")
    def one_batch(self, call: Call, file: File) -> Iterator[Finding]:
        return
        yield

    @on_file("Dataset", "TFRecordDataset", "load", "image_dataset_from_directory")
    def comprehensions(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.ListComp):
            kept = node.for_in
            if kept.inner_for_in is None and self._keeps(node.elt, kept.target):
                consumer = file.tree.parent(node)
                call = file.tree.parent(consumer) if isinstance(consumer, cst.Arg) else None
                if isinstance(call, cst.Call) and file.call(call).name in ("builtins.len", "builtins.sum"):
                    continue
                for finding in self._check(node, file.value(kept.iter), file):
                    yield finding

    def _keeps(self, item: cst.BaseExpression, target: cst.BaseExpression) -> bool:
        """Whether the comprehension's items are the elements or parts of them: `x`, `x.numpy()`, `(x, y)`."""
        if isinstance(item, cst.Call) and isinstance(item.func, cst.Attribute) and item.func.attr.value == "numpy":
            item = item.func.value
        names = {n.value for n in ([target] if isinstance(target, cst.Name) else [e.value for e in getattr(target, "elements", ())]) if isinstance(n, cst.Name)}
        parts = [e.value for e in item.elements] if isinstance(item, cst.Tuple) else [item]
        return all(isinstance(part, cst.Name) and part.value in names for part in parts)

    def _check(self, where: Call | cst.ListComp, value: Value, file: File) -> Iterator[Finding]:
        while isinstance(value, Items) and value.function in ("as_numpy_iterator", "iter", "list", "enumerate"):
            value = value.of
        options = value.options
        if not all(isinstance(o, Dataset) and self._whole(o) for o in options) or is_test(file):
            return
        ds = options[0]
        assert isinstance(ds, Dataset)
        size = structure_bytes(ds.element)
        cost = size * ds.count if size is not None and ds.count is not None else None
        if cost is not None and cost < file.config.min_bytes:
            return
        weigh = f": {show_bytes(cost)}" if cost is not None else ""
        yield self.finding(where, file, f"this holds all elements of the pipeline at once{weigh}; iterate over it instead", bytes=cost)

    def _whole(self, ds: Dataset) -> bool:
        """Whether the pipeline is a whole data set of more than file names, numbers or a peek."""
        if ds.source is None or (ds.source in FILE_NAME_SOURCES and "map" not in ds.names()):
            return False
        if ds.source == "tf.data.Dataset.range" and "map" not in ds.names():
            return False
        if ds.count is not None and ds.count <= FEW:
            return False
        if any(step.name == "take" and not self._large_take(step.call) for step in ds.steps):
            return False
        leaves = elements(ds.element)
        return not all(isinstance(leaf, Array) and leaf.shape is not None and len(leaf.shape) <= (1 if "batch" in ds.names() else 0) for leaf in leaves)

    def _large_take(self, call: Call | None) -> bool:
        count = integer(call.value_of("count")) if call is not None else None
        return count is not None and (count > 1000 or count == -1)
