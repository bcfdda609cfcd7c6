from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Const,
    Dataset,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    on_call,
    show_bytes,
    structure_bytes,
)
from tfmemlint.fix.edits import link_span

SOURCES = frozenset({"tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.range", "tf.data.Dataset.from_tensors"})
CHEAP = frozenset({"batch", "prefetch", "with_options"})


class CacheOfMemorySource(Rule):
    """
    ## What it does
    Reports `cache()` of data that is in memory already: directly after `from_tensor_slices` or `range`, or after their
    `batch`.

    ## Why it costs memory
    The cache is a second copy. Directly after the source its elements share the array's memory, but nothing is saved
    either; after `batch` every batch is copied.

    ## Example
    ```python
    ds = tf.data.Dataset.from_tensor_slices(x).batch(32).cache()
    ```
    Leave the cache out:
    ```python
    ds = tf.data.Dataset.from_tensor_slices(x).batch(32)
    ```

    ## Fix safety
    Safe directly after the source; unsafe after other steps, which run again in each epoch then.

    ## When not to use it
    After an expensive `map`; that is not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM318"
    summary = "caching data that is in memory already makes a second copy"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        if cache.open or (cache.arg("filename") is not None and cache.value_of("filename") != Const("")):
            return
        datasets = cache.datasets()
        if not datasets or not all(ds.source in SOURCES and CHEAP.issuperset(ds.names()) for ds in datasets):
            return
        cost = self._bytes(datasets)
        direct = all(not ds.steps for ds in datasets)
        weigh = f" of {show_bytes(cost)}" if cost is not None and not direct else ""
        what = "serves nothing" if direct else f"is a second copy{weigh}"
        edit = None
        if cache.receiver_node is not None:
            span = link_span(file, cache.node)
            edit = Edit(span.start, span.end, "")
        fix = Fix("leave the cache out", (edit,), Safety.SAFE if direct else Safety.UNSAFE) if edit is not None and not self._alone(cache, file) else None
        yield self.finding(cache, file, f"the data is in memory already: this cache {what}", fix=fix, bytes=None if direct else cost)

    def _alone(self, cache: Call, file: File) -> bool:
        """Whether the link stands on a line of its own, which would stay behind empty."""
        span = link_span(file, cache.node)
        line = file.source.line_span(span.start)
        return file.source.text[line.start : line.end].strip() == file.source.text[span.start : span.end]

    def _bytes(self, datasets: tuple[Dataset, ...]) -> int | None:
        if len(datasets) != 1 or datasets[0].count is None:
            return None
        size = structure_bytes(datasets[0].element)
        return size * datasets[0].count if size is not None else None
