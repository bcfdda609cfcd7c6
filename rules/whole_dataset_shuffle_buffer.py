from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Array,
    Call,
    Const,
    Dataset,
    File,
    Finding,
    Rule,
    elements,
    least,
    on_call,
    pipelines,
    show_each,
)

MANY = 100_000
"""A literal buffer from which on elements of unknown size are taken for a burden."""

FEW = 5000
"""Elements that mix well, and so a buffer that is no more advised against."""

MUCH = 512 << 20
"""Bytes from which on a buffer is reported whatever its elements are."""


class WholeDatasetShuffleBuffer(Rule):
    """
    ## What it does
    Reports `shuffle` with a buffer as large as the data (`len(x)`, `x.shape[0]`, a cardinality), with a literal of
    100 000 or more, or whose elements are known to take more than 512 MiB. Names of files and indices are left out.

    ## Why it costs memory
    The buffer holds its elements all the time, and must be full before the first one comes out. A buffer for the whole
    data is a second copy of it wherever a step before makes new elements: a map, a file, a generator. Slices of an
    array share the array's memory, but every epoch still starts by filling the buffer.

    ## When not to use it
    When the data is small, or sorted by class in one file and a perfect shuffle is worth the memory. Where at most
    5000 elements are held, the advice is to shuffle names or records instead, not fewer elements.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle
    """

    code = "TFM309"
    summary = "a shuffle buffer for the whole data is a second copy of it"
    no_fix = "the right size depends on how the data is ordered"
    in_tests = False

    @on_call("tf.data.Dataset.shuffle")
    def check(self, shuffle: Call, file: File) -> Iterator[Finding]:
        argument, datasets = shuffle.arg("buffer_size"), shuffle.datasets()
        if argument is None or not datasets or pipelines.last_before(shuffle, "batch") is not None:
            return
        length, count = pipelines.whole_length(argument), pipelines.element_count(datasets)
        held = length.count if length is not None else least(argument.value)
        held = min(held, count) if held is not None and count is not None else held
        size, fewest = pipelines.element_bytes(datasets), min(self._known_bytes(ds) for ds in datasets)
        if size is None and held is not None and fewest * held > MUCH:
            size = fewest  # beside names or numbers whose size is not known
        cost = size * held if size is not None and held is not None else None
        if cost is None or cost <= MUCH:
            whole = length is not None and not pipelines.is_tiny(length)
            many = held is not None and held >= MANY and all(ds.source is not None for ds in datasets)
            if not (whole or many) or self._wanted(shuffle, file):
                return
        few = held is not None and held <= FEW
        instead = "shuffle names or records, before they are decoded" if few else "a few thousand mix well"
        held_of_it = self._held(length is not None, held, size, count is not None)
        yield self.finding(shuffle, file, f"this buffer holds {held_of_it}; {instead}", bytes=cost)

    def _held(self, whole: bool, held: int | None, size: int | None, counted: bool) -> str:
        if held is None:
            return "all of the data"
        number = f"{held} elements{show_each(size, held)}"
        return f"all of the data ({number})" if whole else number if counted else f"up to {number}"

    def _wanted(self, shuffle: Call, file: File) -> bool:
        """Whether the order is drawn once for good, as for a split of the data, or the elements are small or another
        rule's: names of files, indices, lines of text, batches."""
        if shuffle.value_of("reshuffle_each_iteration") == Const(False) or pipelines.names_or_indices(file, shuffle):
            return True
        datasets = shuffle.datasets()
        lines = any(ds.source == "tf.data.TextLineDataset" and "map" not in ds.names() for ds in datasets)
        return lines or any(pipelines.batched(ds) for ds in datasets)

    def _known_bytes(self, ds: Dataset) -> int:
        """Bytes of those parts of an element whose size is known; what a map makes larger is a rule of its own."""
        leaves = elements(ds.element) if "map" not in ds.names() else ()
        return sum(leaf.bytes or 0 for leaf in leaves if isinstance(leaf, Array))
