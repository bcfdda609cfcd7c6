from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Array,
    Call,
    Dataset,
    File,
    Finding,
    Length,
    Rule,
    elements,
    integer,
    on_call,
    show_bytes,
    structure_bytes,
)
from tfmemlint.model.pipelines import FILE_NAME_SOURCES

MANY = 100_000
LARGE = 512 * 1024 * 1024


class WholeDatasetShuffleBuffer(Rule):
    """
    ## What it does
    Reports shuffle buffers as long as the data set (`len(x)`, `x.shape[0]`, `ds.cardinality()`), or of 100 000 and more
    elements that are not file names or indices, or known to pass 512 MiB.

    ## Why it costs memory
    The buffer is filled before the first element comes out, so a copy of the whole data set is in memory beside its source,
    and the first step waits for all of it.

    ## Example
    ```python
    ds = ds.shuffle(len(images))
    ```
    A few thousand elements, or shuffled file names, mix well enough:
    ```python
    ds = ds.shuffle(10_000)
    ```

    ## Fix safety
    No fix: how well the data must be mixed is yours to say.

    ## When not to use it
    For small elements such as numbers and file names; they are not reported where they are known.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle
    """

    code = "TFM309"
    summary = "a shuffle buffer of the whole data set holds a copy of it"

    @on_call("tf.data.Dataset.shuffle")
    def check(self, shuffle: Call, file: File) -> Iterator[Finding]:
        value = shuffle.value_of("buffer_size")
        datasets = shuffle.datasets()
        if not datasets or any(self._small_elements(ds) for ds in datasets):
            return
        count = integer(value)
        sizes = {structure_bytes(ds.element) for ds in datasets}
        size = sizes.pop() if len(sizes) == 1 else None
        whole = isinstance(value, Length) and (value.count is None or not isinstance(value.of, Dataset) or value.of.count == value.count)
        cost = size * count if size is not None and count is not None else None
        if cost is not None and cost < file.config.min_bytes:
            return
        if not whole and not (count is not None and count >= MANY) and not (cost is not None and cost > LARGE):
            return
        held = "the whole data set" if whole else f"{count} elements"
        weigh = f": {show_bytes(cost)}" if cost is not None else ""
        yield self.finding(
            shuffle, file, f"the buffer holds {held}{weigh} before the first element comes out; a few thousand mix well enough", bytes=cost
        )

    def _small_elements(self, ds: Dataset) -> bool:
        """Whether the elements are file names, indices or single numbers."""
        if ds.source in FILE_NAME_SOURCES | {"tf.data.Dataset.range"} and "map" not in ds.names():
            return True
        leaves = elements(ds.element)
        return all(isinstance(leaf, Array) and leaf.shape == () for leaf in leaves)
