from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._datasets import in_memory

from tfmemlint.api import Call, Dataset, File, Finding, Rule, Severity, on_call, show_bytes, structure_bytes
from tfmemlint.model.mapped import body
from tfmemlint.query.pipelines import DIRECTORY_SOURCES, RECORD_SOURCES


class CacheGrowsWithFiles(Rule):
    """
    ## What it does
    Gives the advice to cache on disk where an in-memory `cache()` keeps what was decoded from files.

    ## Why it costs memory
    The cache holds every decoded element after the first epoch. Files on disk are compressed and can be many: 10 000
    JPEG images of 50 KiB are 500 MiB, decoded to 224x224x3 float32 they are 5.6 GiB.

    ## When not to use it
    When the decoded data fits into memory; then the cache saves the most time.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM317"
    summary = "an in-memory cache of decoded files grows with the data set"
    no_fix = "where the cache file should be is yours to say"
    severity = Severity.INFO
    default = False

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        datasets = cache.datasets()
        if not in_memory(cache) or not datasets or not all(self._decoded(ds) for ds in datasets):
            return
        sizes = {structure_bytes(ds.element) for ds in datasets}
        size = sizes.pop() if len(sizes) == 1 else None
        each = f" of {show_bytes(size)}" if size is not None else ""
        yield self.finding(
            cache,
            file,
            f"this cache keeps every decoded element{each} in memory; cache(filename) keeps them on disk",
            bytes=size,
        )

    def _decoded(self, ds: Dataset) -> bool:
        """Whether the elements were made from the contents of files."""
        if any(step.name in ("take", "cache") for step in ds.steps):
            return False
        if ds.source in DIRECTORY_SOURCES:
            return True
        bodies = [body(step) for step in ds.steps if step.name in ("map", "interleave", "flat_map")]
        if ds.source in RECORD_SOURCES or any(found.reads for found in bodies):
            return any(found.decodes for found in bodies)
        return ds.source == "tensorflow_datasets.load"
