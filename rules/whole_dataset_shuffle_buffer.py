from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Array,
    AtLeast,
    Call,
    Const,
    Dataset,
    File,
    Finding,
    Rule,
    Value,
    at_most,
    fixes,
    knowledge,
    least,
    limits,
    on_call,
    pipelines,
    show_each,
    total_bytes,
)

MANY = 100_000
"""A literal buffer from which on elements of unknown size are taken for a burden."""

FEW = 5000
"""Elements that mix well, and so a buffer that is no more advised against."""

MUCH = 512 << 20
"""Bytes from which on a buffer is reported whatever its elements are."""

PART = "a constant part of the data"


class WholeDatasetShuffleBuffer(Rule):
    """
    ## What it does
    Reports `shuffle` with a buffer as large as the data (`len(x)`, `x.shape[0]`, a cardinality, or a tenth of these and
    more), with a literal of 100 000 or more, or whose elements are known to take more than 512 MiB. Names of files and
    indices are left out, and what is known to take less than `min-bytes`. Of what a map reads, decodes or makes larger
    TFM308 speaks, unless it comes out of a cache in a file, and of batches TFM307.

    ## Why it costs memory
    The buffer holds its elements all the time, and must be full before the first one comes out. A buffer for the whole
    data is a second copy of it wherever a step before makes new elements: a map, a file, a generator. Rows of an array
    of a size that is known and no multiple of 64 bytes are copied, too; of other rows, and of what a cache in memory
    keeps, the buffer holds references, and nothing is reported.

    ## When not to use it
    When the data is sorted by class in one file and a perfect shuffle is worth the memory; an array is better shuffled
    once, `x[np.random.permutation(len(x))]`. Of at most 5000 elements
    names or records are shuffled, not fewer of them. A length says little of a generator's elements of unknown size.

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
        parts = [pipelines.own_parts(ds) for ds in datasets]
        if argument is None or not any(parts) or pipelines.batched_before(shuffle) is not None:
            return
        saved = any(map(pipelines.is_saved, datasets))
        expands = all(pipelines.expanding_map(ds) for ds in datasets)
        if pipelines.decoded_by_tfds(file, shuffle) is not None:
            return  # as are images that are resized later
        length, count = pipelines.whole_length(argument, share=limits.LEAST_SHARE), pipelines.element_count(datasets)
        if (expands and (length is None or not saved)) or pipelines.never_runs(file, shuffle):
            return  # what a map makes is TFM308's, unless only a smaller buffer helps
        held = length.count if length is not None else least(argument.value)
        held = min(held, count) if held is not None and count is not None else held
        size = self._bytes(parts)
        cost = size * held if size is not None and held is not None else None
        mapped = isinstance(cost, AtLeast) and any("map" in ds.names() for ds in datasets)  # which is TFM308's
        if cost is None or cost <= MUCH or mapped:
            made = size is None and all(ds.source == "tf.data.Dataset.from_generator" for ds in datasets)
            whole = length is not None and not made and not pipelines.is_tiny(length)
            many = held is not None and held >= MANY and all(ds.source is not None for ds in datasets)
            little = at_most(cost, file.config.min_bytes)
            wanted = self._wanted(shuffle, file) or pipelines.counts_choices(argument, datasets)
            if little or not (whole or many) or wanted:
                return
        part = "" if length is None else "all of the data" if pipelines.whole_length(argument) else PART
        holds = self._held(part, held, size, count is not None)
        message = f"this buffer holds {holds}; {self._instead(datasets, held)}"
        least_buffer = fixes.replace_node(file, argument.expression, "1")
        yield self.finding(shuffle, file, message, bytes=cost, contrast=least_buffer)

    def _bytes(self, parts: list[list[Value]]) -> int | None:
        """Bytes that the buffer takes for each element."""
        known = {total_bytes(leaf.bytes if isinstance(leaf, Array) else None for leaf in leaves) for leaves in parts}
        return known.pop() if len(known) == 1 else None

    def _instead(self, datasets: tuple[Dataset, ...], held: int | None) -> str:
        if any(map(pipelines.is_saved, datasets)):
            return "a few thousand mix well"
        if held is not None and held <= FEW:
            return "shuffle names or records, before they are decoded"
        if not all(knowledge.in_group(ds.source, "slices_memory") for ds in datasets):
            return "a few thousand mix well"
        mapped = any("map" in ds.names() for ds in datasets)
        return "shuffle before the map" if mapped else "a few thousand mix well; shuffle sorted data once in NumPy"

    def _held(self, part: str, held: int | None, size: int | None, counted: bool) -> str:
        number = f"{held} elements{show_each(size, held)}"
        return (part if held is None else f"{part} ({number})") if part else number if counted else f"up to {number}"

    def _wanted(self, shuffle: Call, file: File) -> bool:
        """Whether the order is drawn once for good, as for a split, or of names, indices, lines of text, batches."""
        if shuffle.value_of("reshuffle_each_iteration") == Const(False) or pipelines.names_or_indices(file, shuffle):
            return True
        lines = (ds.source == "tf.data.TextLineDataset" and "map" not in ds.names() for ds in shuffle.datasets())
        return any(lines) or any(pipelines.batched(ds) for ds in shuffle.datasets())
