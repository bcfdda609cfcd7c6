from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._datasets import earlier_steps, in_memory, on_a_path, reshuffles
from tfmemlint_rules._links import links
from tfmemlint_rules._names import names_or_indices

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Step, move_link, on_call, show_bytes, structure_bytes
from tfmemlint.model.mapped import body
from tfmemlint.query.pipelines import draws_at_random


class CacheAfterRandomStep(Rule):
    """
    ## What it does
    Reports `cache()` in memory that comes after a `shuffle`, or after a `map` whose function draws random numbers.

    ## Why it costs memory
    The cache keeps what the random step made in the first epoch and gives the same in all others: the shuffle or the
    augmentation happens once. What is kept is the expanded data, and the buffer of the shuffle beside it.

    ## Fix safety
    Unsafe: the elements of later epochs change, which is the point of the repair. Only suggested where the random map
    reads or decodes as well: before it the cache would keep names or bytes, so the map is to be split.

    ## When not to use it
    When one fixed draw is wanted, as for an evaluation set or a fixed split of the data.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM306"
    summary = "cache() after a random step freezes the first epoch's draw and keeps what it expanded"
    fix_safety = (Safety.UNSAFE, Safety.DISPLAY)

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        chains = earlier_steps(cache)
        if not in_memory(cache) or not chains:
            return
        found = [self._random(steps, file) for steps in chains]
        first = next((step for step in found if step is not None), None)
        if first is None or first.call is None or (None in found and not on_a_path(first, cache, file)):
            return
        what = "shuffle()" if first.name == "shuffle" else f"the random {first.name}()"
        size = self._bytes(cache)
        kept = f" and keeps {show_bytes(size)} of what it made" if size is not None else ""
        yield self.finding(
            cache,
            file,
            f"cache() after {what} repeats the first epoch's draw in every epoch{kept}; cache before it",
            fix=self._move(first, chains, cache, file),
            related=[(first.call, "drawn here")],
            bytes=size,
        )

    def _random(self, steps: tuple[Step, ...], file: File) -> Step | None:
        """The first step whose draw the cache freezes."""
        for i, step in enumerate(steps):
            if step.name == "cache":
                return None
            if step.name == "shuffle":
                split = any(later.name in ("take", "skip", "shard", "window") for later in steps[i + 1 :])
                if not split and reshuffles(step) and step.call is not None and not names_or_indices(step.call, file):
                    return step
            elif draws_at_random(step):
                return step
        return None

    def _bytes(self, cache: Call) -> int | None:
        ds = cache.datasets()[0]
        size = structure_bytes(ds.element)
        return size * ds.count if size is not None and ds.count is not None and len(cache.datasets()) == 1 else None

    def _move(self, first: Step, chains: tuple[tuple[Step, ...], ...], cache: Call, file: File) -> Fix | None:
        if len(chains) != 1:
            return None
        steps = chains[0]
        chain = links(file, [*(step.call for step in steps[steps.index(first) :]), cache])
        if chain is None:
            return None
        found = body(first)
        little = found.decodes or found.reads  # it would keep what the elements are made of: names, bytes
        safety = Safety.DISPLAY if little and first.name == "map" else Safety.UNSAFE
        return Fix("cache before drawing", move_link(file, chain, len(chain) - 1, 0), safety)
