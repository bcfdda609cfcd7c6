from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Shows,
    Step,
    body,
    fixes,
    on_call,
    pipelines,
    show_bytes,
)


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
    When one fixed draw is wanted, as for an evaluation set or a fixed split of the data. A pipeline that the program is
    seen to go over once is not reported: it has no second epoch. Nor is a map whose ops draw by the global seed that
    the program sets (`tf.random.set_seed`): without `repeat()` they draw the same in each epoch, cached or not.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache
    """

    code = "TFM306"
    summary = "cache() after a random step freezes the first epoch's draw and keeps what it expanded"
    worth_in_bytes = False  # every epoch sees the same draw, too
    fix_safety = (Safety.UNSAFE, Safety.DISPLAY)

    @on_call("tf.data.Dataset.cache")
    def check(self, cache: Call, file: File) -> Iterator[Finding]:
        datasets = cache.datasets()
        if not pipelines.caches_in_memory(cache):
            return
        again = pipelines.possible_later_steps(file, cache, "shuffle")
        found = [None if each is not None and each.name == "shuffle" and again else each
                 for each in (pipelines.frozen_draw(file, ds) for ds in datasets)]  # fmt: skip
        first = next((step for step in found if step is not None), None)
        if first is None or first.call is None or (None in found and not pipelines.surely_together(file, first, cache)):
            return
        if pipelines.never_runs(file, cache) or pipelines.gone_over_once(file, cache):
            return
        if all(pipelines.repeats_by_seed(file, ds, cache) for ds in datasets):
            return
        what = "shuffle()" if first.name == "shuffle" else f"the random {first.name}()"
        size = pipelines.all_bytes(datasets)
        kept = f" and keeps {show_bytes(size)} of what it made" if size is not None else ""
        yield self.finding(
            cache,
            file,
            f"cache() after {what} repeats the first epoch's draw in every epoch{kept}; cache before it",
            fix=self._move(first, cache, file) if len(datasets) == 1 else None,
            related=[(first.call, "drawn here")],
            bytes=size,
            contrast=fixes.leave_out(file, cache),
            shows=Shows(metric="repeating"),
        )

    def _move(self, first: Step, cache: Call, file: File) -> Fix | None:
        """The cache before the random step; of a map that reads or decodes it would keep names or bytes."""
        split_first = first.name == "map" and (body(first).decodes or body(first).reads)
        steps = cache.datasets()[0].steps
        calls = [*(step.call for step in steps[steps.index(first) :]), cache]
        safety = Safety.DISPLAY if split_first else Safety.UNSAFE
        return Fix.of(safety, "cache before drawing", fixes.move_link(file, calls, -1, 0))
