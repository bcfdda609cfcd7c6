from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._datasets import earlier_steps, last_before, on_a_path, steps_between
from tfmemlint_rules._links import keeps_names, links

from tfmemlint.api import (
    Call,
    Const,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Step,
    constant,
    move_link,
    on_call,
    show_bytes,
    structure_bytes,
)
from tfmemlint.query.pipelines import draws_at_random, source_draws


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
        if cache.open or (cache.arg("filename") is not None and cache.value_of("filename") != Const("")):
            return
        repeat = last_before(cache, "repeat") or self._sometimes(cache, file)
        if repeat is None or repeat.call is None:
            return
        times = constant(repeat.call.value_of("count"))
        if times in (0, 1):
            return
        between = steps_between(cache, repeat)
        if any(step.name == "take" for step in between):
            return
        copies = (
            f"{times} copies of the data" if isinstance(times, int) and times > 1 else "every epoch again, without end"
        )
        yield self.finding(
            cache,
            file,
            f"cache() after repeat() stores {copies}; cache first, then repeat{self._cost(cache)}",
            fix=self._swap(repeat, between, cache, file),
            related=[(repeat.call, "repeated here")],
            bytes=self._bytes(cache),
        )

    def _sometimes(self, cache: Call, file: File) -> Step | None:
        """A repeat under a condition that does not decide about the cache."""
        steps = [step for steps in earlier_steps(cache) or () for step in steps if step.name == "repeat"]
        return next((step for step in reversed(steps) if on_a_path(step, cache, file)), None)

    def _bytes(self, cache: Call) -> int | None:
        for ds in cache.datasets():
            size = structure_bytes(ds.element)
            if size is not None and ds.count is not None and len(cache.datasets()) == 1:
                return size * ds.count
        return None

    def _cost(self, cache: Call) -> str:
        size = self._bytes(cache)
        return f" (the cache grows to {show_bytes(size)})" if size is not None else ""

    def _swap(self, repeat: Step, between: list[Step], cache: Call, file: File) -> Fix | None:
        calls = [step.call for step in (repeat, *between)]
        moved = [call for call in calls if call is not None] + [cache]
        if len(moved) != len(calls) + 1 or len(cache.datasets()) != 1 or links(file, moved) is None:
            return None
        steps = cache.datasets()[0].steps
        known = source_draws(cache.datasets()[0]) is False and all(draws_at_random(step) is False for step in steps)
        # repeat goes behind the cache; steps between keep their place before it when they act on single elements.
        if any(step.name not in ("map", "filter", "prefetch", "with_options") for step in between):
            return None
        edits = move_link(file, moved, 0, len(moved) - 1)
        safe = known and keeps_names(moved, file)
        return Fix("cache before repeating", edits, Safety.SAFE if safe else Safety.UNSAFE)
