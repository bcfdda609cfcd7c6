from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, Const, File, Finding, Rule, Severity, on_call
from tfmemlint.model.pipelines import calls_in_map, expensive_source

DECODES = ("tf.io.decode_", "tf.image.decode_", "tf.io.parse_", "tf.audio.decode_", "tf.image.resize")


class CacheGrowsWithFiles(Rule):
    """
    ## What it does
    Gives the advice to look at in-memory `cache()` of decoded files.

    ## Why it costs memory
    The cache holds every decoded element of the data set: many times the size of the files on disk.

    ## Example
    ```python
    ds = tf.data.TFRecordDataset(files).map(decode).cache()
    ```
    Cache on disk, or before decoding:
    ```python
    ds = tf.data.TFRecordDataset(files).cache().map(decode)
    ```

    ## Fix safety
    No fix: whether the data fits is not in the code.

    ## When not to use it
    When the decoded data fits; then it is the fastest way.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM317"
    summary = "an in-memory cache of decoded files grows with the data set"
    severity = Severity.INFO
    default = False

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        if cache.open or (cache.arg("filename") is not None and cache.value_of("filename") != Const("")):
            return
        datasets = cache.datasets()
        if datasets and all(expensive_source(ds) and any(self._decodes(step) for step in ds.steps) for ds in datasets):
            yield self.finding(cache, file, "the cache holds every decoded element of these files; cache on disk, or before decoding")

    def _decodes(self, step: object) -> bool:
        return getattr(step, "name", "") == "map" and any(name.startswith(DECODES) for name in calls_in_map(step))  # type: ignore[arg-type]
