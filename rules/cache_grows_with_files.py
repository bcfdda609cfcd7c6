from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Rule,
    Severity,
    at_most,
    fixes,
    limits,
    on_call,
    ordering,
    pipelines,
    show_bytes,
)


class CacheGrowsWithFiles(Rule):
    """
    ## What it does
    Gives the advice to cache on disk where an in-memory `cache()` keeps what was decoded from files: images, sounds and
    videos, and other elements that are known to be over 64 KiB each.

    ## Why it costs memory
    The cache holds every decoded element after the first epoch. Files on disk are compressed and can be many: 10 000
    JPEG images of 50 KiB are 500 MiB, decoded to 224x224x3 float32 they are 5.6 GiB.

    ## When not to use it
    When the decoded data fits into memory; then the cache saves the most time. What is known to take no more than 256
    MiB in all is not reported, nor is a cache that is an option, off unless a caller asks for it, where no caller is
    seen that does.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM317"
    summary = "an in-memory cache of decoded files grows with the data set"
    worth_in_bytes = False  # they are those of one element
    no_fix = "where the cache file should be is yours to say"
    severity = Severity.INFO

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        datasets = cache.datasets()
        if not datasets or not pipelines.caches_in_memory(cache) or not all(self._large(ds) for ds in datasets):
            return
        if ordering.is_off_by_default(file, cache.node):
            return  # whoever asks for it has chosen it
        size, whole = pipelines.element_bytes(datasets), pipelines.all_bytes(datasets)
        if at_most(whole, limits.FITS_IN_CACHE) or pipelines.never_runs(file, cache):
            return
        each = f" of {show_bytes(size)}" if size is not None else ""
        what = "batch" if all(pipelines.batched(ds) for ds in datasets) else "element"
        yield self.finding(
            cache,
            file,
            f"this cache keeps every decoded {what}{each} in memory{{cost}}; cache(filename) keeps them on disk",
            bytes=whole,
            contrast=fixes.leave_out(file, cache),
        )

    def _large(self, ds: Dataset) -> bool:
        """Whether the elements are certainly decoded from files and large."""
        if {"take", "cache"}.intersection(ds.names()) or pipelines.is_small(ds):
            return False
        size = pipelines.example_bytes(ds)
        return pipelines.holds_media(ds) or (
            pipelines.decoded_from_files(ds) and size is not None and size > limits.SMALL_DATA
        )
