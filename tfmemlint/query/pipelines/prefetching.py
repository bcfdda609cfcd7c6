"""What a prefetch keeps ready: the steps that should stand before it, and batches in place of examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.model.values import Const, Dataset, Step, integer, least
from tfmemlint.query.limits import FEW_BATCHES
from tfmemlint.query.pipelines.chains import following, later_steps, possible_later_steps, thrown_away
from tfmemlint.query.pipelines.mapped import only_regroups
from tfmemlint.query.pipelines.pipelines import BATCHES, batched, batched_before, element_bytes, element_count
from tfmemlint.query.pipelines.shuffling import kept_by_cache

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

ENOUGH = 2
"""Batches that overlap input with compute."""

WORK = ("batch", "padded_batch", "map", "shuffle", "repeat", "cache", "filter")
"""Steps that are better done before the buffer than after it."""


HANDS_ON = frozenset({"repeat", "take", "skip", "enumerate", "with_options"})
"""Steps that wait for nothing but the step before them."""


@dataclass(frozen=True, slots=True)
class KeptBatches:
    """Batches that a prefetch keeps ready: `count` is None where it is as many as a batch has examples, and that is not
    known; `size` are the bytes of one. The data may have fewer of them, unless it is `enough`."""

    batch: Call
    count: int | None
    size: int | None
    enough: bool

    @property
    def bytes(self) -> int | None:
        """What they weigh together."""
        return self.count * self.size if self.count is not None and self.size is not None else None


def runs_ahead(ds: Dataset) -> bool:
    """Whether the last step that makes something of the elements is told to run several calls at once
    (`num_parallel_calls`): their results wait in a buffer of its own, so that it goes on while the model works."""
    last = next((step.call for step in reversed(ds.steps) if step.name not in HANDS_ON), None)
    told = last.arg("num_parallel_calls") if last is not None else None
    return told is not None and told.value != Const(None)


def work_after(file: File, prefetch: Call) -> list[Call]:
    """The steps that certainly follow a prefetch in the same pipeline and should stand before it; none where another
    prefetch may come, or where it buffers nothing. A map that only regroups the parts of an element is no work."""
    if integer(prefetch.value_of("buffer_size")) == 0 or possible_later_steps(file, prefetch, "prefetch"):
        return []
    after = later_steps(file, prefetch, *WORK)
    return [call for call in after if call.method != "map" or not only_regroups(Step("map", call))]


def kept_batches(file: File, prefetch: Call) -> KeptBatches | None:
    """The batches that a prefetch certainly keeps ready, where they are more than people mean: over `FEW_BATCHES`, or
    as many as a batch has examples; of data that has no more of them, those. None too where it stands before another
    `batch`, is made and not used, or refers to batches that a cache in memory keeps anyway."""
    argument, batch = prefetch.arg("buffer_size"), batched_before(prefetch)
    if argument is None or batch is None or not all(batched(ds) for ds in prefetch.datasets()):
        return None
    if all(kept_by_cache(ds) for ds in prefetch.datasets()):
        return None
    if thrown_away(file, prefetch) or any(step.method in BATCHES for step in following(file, prefetch)):
        return None
    count, batch_size = least(argument.value), batch.arg("batch_size")
    same = batch_size is not None and file.reads_alike(argument.expression, batch_size.expression)
    if same and count is not None and count <= ENOUGH:
        # One of several callers passes so few, or a number that stands for "choose one", such as -1.
        sizes = [integer(option) for option in argument.value.options]
        same, count = any(size is None or size > ENOUGH for size in sizes), None
    if not (count is not None and count > FEW_BATCHES) and not same:
        return None
    there = element_count(prefetch.datasets())
    if there is not None and there <= FEW_BATCHES:
        return None
    kept = min(count, there) if count is not None and there is not None else count
    enough = there is not None or all("repeat" in ds.names() for ds in prefetch.datasets())
    return KeptBatches(batch, kept, element_bytes(prefetch.datasets()), enough)
