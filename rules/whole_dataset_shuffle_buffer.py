from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._datasets import last_before
from tfmemlint_rules._lengths import TINY, is_tiny, whole_length
from tfmemlint_rules._names import names_or_indices

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
    show_bytes,
    structure_bytes,
)
from tfmemlint.query.pipelines import batched

MANY = 100_000
"""A literal buffer from which on elements of unknown size are taken for a burden."""

FEW = 5000

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
    When the data is small, or sorted by class in one file and a perfect shuffle is worth the memory.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle
    """

    code = "TFM309"
    summary = "a shuffle buffer for the whole data is a second copy of it"
    no_fix = "the right size depends on how the data is ordered"
    in_tests = False

    @on_call("tf.data.Dataset.shuffle")
    def check(self, shuffle: Call, file: File) -> Iterator[Finding]:
        argument = shuffle.arg("buffer_size")
        datasets = shuffle.datasets()
        if argument is None or not datasets or last_before(shuffle, "batch") is not None:
            return
        length, literal = whole_length(argument), least(argument.value)
        buffer = length.count if length is not None else literal
        counts = {ds.count for ds in datasets}
        count = counts.pop() if len(counts) == 1 else None
        held = min(buffer, count) if buffer is not None and count is not None else buffer
        sizes = {structure_bytes(ds.element) for ds in datasets}
        size = sizes.pop() if len(sizes) == 1 else None
        fewest = min(_known_bytes(ds) for ds in datasets)
        if size is None and held is not None and fewest * held > MUCH:
            size = fewest  # beside names or numbers whose size is not known
        cost = size * held if size is not None and held is not None else None
        if cost is None or cost <= MUCH:
            if cost is not None and cost <= TINY:
                return
            whole = length is not None and not is_tiny(length)
            if not whole and (held is None or held < MANY or any(ds.source is None for ds in datasets)):
                return
            if self._splits(shuffle):
                return
            if names_or_indices(shuffle, file) or any(batched(ds) for ds in datasets) or self._lines(shuffle):
                return
        yield self.finding(
            shuffle,
            file,
            f"{self._held(length is not None, held, size, cost, count is not None)}; {self._instead(held)}",
            bytes=cost,
        )

    def _held(self, whole: bool, held: int | None, size: int | None, cost: int | None, counted: bool) -> str:
        number = f"{held} elements" if held is not None else "elements"
        if size is not None and cost is not None:
            number = f"{number} of {show_bytes(size)}: {show_bytes(cost)}"
        number = number if counted or held is None else f"up to {number}"
        if whole:
            return (
                f"this buffer holds all of the data ({number.removeprefix('up to ')})"
                if held is not None
                else "this buffer holds all of the data"
            )
        return f"this buffer holds {number}"

    def _instead(self, held: int | None) -> str:
        return (
            "a few thousand mix well"
            if held is None or held > FEW
            else "shuffle names or records, before they are decoded"
        )

    def _splits(self, shuffle: Call) -> bool:
        """Whether the order is drawn once for good, as for a split of the data: that needs all of it."""
        return shuffle.value_of("reshuffle_each_iteration") == Const(False)

    def _lines(self, shuffle: Call) -> bool:
        """Lines of text as they are read: small."""
        return any(ds.source == "tf.data.TextLineDataset" and "map" not in ds.names() for ds in shuffle.datasets())


def _known_bytes(ds: Dataset) -> int:
    """Bytes of those parts of an element whose size is known; what a map makes larger is a rule of its own."""
    if "map" in ds.names():
        return 0
    return sum(leaf.bytes or 0 for leaf in elements(ds.element) if isinstance(leaf, Array))
