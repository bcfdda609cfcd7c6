from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Step, constant, fixes, on_call, pipelines, show_bytes

ONE_BY_ONE = frozenset({"map", "filter", "prefetch", "with_options"})
"""Steps that act on single elements: before a cache they may stand on either side of a repeat."""


class CacheAfterRepeat(Rule):
    """
    ## What it does
    Reports `cache()` in memory that comes after `repeat()` in a tf.data pipeline.

    ## Why it costs memory
    The cache stores every element that passes it. After `repeat(n)` each element passes n times, so the cache holds n
    copies of the data. After an endless `repeat()` the end of the data never comes: the cache is never complete, is
    never read from, and grows until the process is killed.

    ## Fix safety
    Safe where all steps before the cache are seen to be deterministic: the elements and their order stay the same.
    Unsafe where a step before draws at random or is not seen, because each epoch then repeats the first one's draw,
    and where a name of the module in between then stands for another step.

    ## When not to use it
    When you want the random draws of several epochs frozen on purpose and the data is small.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM305"
    summary = "cache() after repeat() keeps one copy of the data per epoch"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        repeat = pipelines.surely_before(file, cache, "repeat")
        if repeat is None or repeat.call is None or not pipelines.caches_in_memory(cache):
            return
        times, between = constant(repeat.call.value_of("count")), pipelines.steps_between(cache, repeat)
        if times in (0, 1) or any(step.name == "take" for step in between) or pipelines.never_runs(file, cache):
            return
        endless = not isinstance(times, int) or times < 0
        copies = "every epoch again, without end" if endless else f"{times} copies of the data"
        size = pipelines.all_bytes(cache.datasets())
        grows = f" (the cache grows to {show_bytes(size)})" if size is not None else ""
        yield self.finding(
            cache,
            file,
            f"cache() after repeat() stores {copies}; cache first, then repeat{grows}",
            fix=self._swap(repeat, between, cache, file),
            related=[(repeat.call, "repeated here")],
            bytes=size,
            contrast=fixes.leave_out(file, cache),
        )

    def _swap(self, repeat: Step, between: list[Step], cache: Call, file: File) -> Fix | None:
        """The repeat behind the cache; steps between keep their place before it."""
        moved = pipelines.links(file, [*(step.call for step in (repeat, *between)), cache])
        if moved is None or len(cache.datasets()) != 1 or any(step.name not in ONE_BY_ONE for step in between):
            return None
        same = pipelines.draws_nothing(cache.datasets()[0]) and pipelines.keeps_names(file, moved)
        safety = Safety.SAFE if same else Safety.UNSAFE
        return Fix.of(safety, "cache before repeating", fixes.move_link(file, moved, 0, -1))
