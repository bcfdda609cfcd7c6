from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, fixes, on_call, pipelines, show_bytes


class CacheOfMemorySource(Rule):
    """
    ## What it does
    Reports `cache()` in memory right after `from_tensor_slices`, `from_tensors` or `range`, or after their `batch` or
    a `map` of plain arithmetic.

    ## Why it costs memory
    The data is in memory already. After a `batch` or a `map` the cache is a second, whole copy of it, float32 where
    the source may be uint8. Directly after the source it copies the rows of which the bytes are no multiple of 64;
    other rows share the memory of their array, and the cache serves nothing. This is said of data that is known to have
    `least-cost` bytes.

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
        if not pipelines.caches_in_memory(cache) or not datasets or not all(map(pipelines.made_of_memory, datasets)):
            return
        direct = all(map(pipelines.takes_no_steps, datasets))
        size = pipelines.all_bytes(datasets)
        if direct and (size is None or size < file.config.least_cost):
            return  # it may share the memory: of data that is not known to be large there is nothing to gain
        if pipelines.never_runs(file, cache):
            return
        copied = pipelines.copied_bytes(datasets[0]) if direct and len(datasets) == 1 else 0
        cost = (copied or None) if direct else size
        copy = f" of {show_bytes(cost)}" if cost is not None else ""
        what = "serves nothing" if direct and not cost else f"is a second copy{copy}"
        edit = fixes.remove_link(file, cache.node) if cache.receiver_node is not None else None
        yield self.finding(
            cache,
            file,
            f"the data is in memory already, so this cache {what}; leave it out",
            fix=Fix.of(Safety.SAFE if direct else Safety.UNSAFE, "leave out the cache", edit),
            related=[(source, "in memory since here") for source in [datasets[0].call] if source is not None],
            bytes=cost,
        )
