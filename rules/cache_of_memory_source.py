from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    fixes,
    knowledge,
    on_call,
    pipelines,
    show_bytes,
)

CHEAP = frozenset({"batch", "padded_batch", "enumerate", "take", "skip", "prefetch", "with_options", "unbatch"})
"""Steps that cost less than what a cache of their results holds."""


class CacheOfMemorySource(Rule):
    """
    ## What it does
    Reports `cache()` in memory right after `from_tensor_slices`, `from_tensors` or `range`, or after their `batch` or
    a `map` of plain arithmetic.

    ## Why it costs memory
    The data is in memory already. After a `batch` or a `map` the cache is a second, whole copy of it, float32 where
    the source may be uint8; directly after the source it shares the memory and serves nothing.

    ## Fix safety
    Safe directly after the source: nothing is computed there. Unsafe after other steps, which run in every epoch then.

    ## When not to use it
    When a map before the cache is slow; maps that do more than arithmetic are not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM318"
    summary = "cache() of data that is in memory already is a second copy"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        datasets = cache.datasets()
        if not pipelines.caches_in_memory(cache) or not datasets or not all(self._in_memory(ds) for ds in datasets):
            return
        direct = all(self._bare(ds) for ds in datasets)
        cost = None if direct else pipelines.all_bytes(datasets)
        copy = f" of {show_bytes(cost)}" if cost is not None else ""
        what = "serves nothing" if direct else f"is a second copy{copy}"
        edit = fixes.remove_link(file, cache.node) if cache.receiver_node is not None else None
        yield self.finding(
            cache,
            file,
            f"the data is in memory already, so this cache {what}; leave it out",
            fix=Fix.of(Safety.SAFE if direct else Safety.UNSAFE, "leave out the cache", edit),
            related=[(source, "in memory since here") for source in [datasets[0].call] if source is not None],
            bytes=cost,
        )

    def _in_memory(self, ds: Dataset) -> bool:
        """Whether the data is in memory already, and what was done to it costs little to do again."""
        zipped = ds.source == "tf.data.Dataset.zip" and bool(ds.parents)
        if not zipped and not knowledge.in_group(ds.source, "slices_memory"):
            return False
        if not all(isinstance(part, Dataset) and self._in_memory(part) for part in ds.parents):
            return False
        return all(step.name in CHEAP or (step.name == "map" and pipelines.cheap(step)) for step in ds.steps)

    def _bare(self, ds: Dataset) -> bool:
        """Whether nothing is computed between the source and here."""
        return not ds.steps and all(isinstance(part, Dataset) and self._bare(part) for part in ds.parents)
