"""What a cache of a pipeline would hold: what is in memory already, what a random step drew, the same in each epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.mapped import body, draws
from tfmemlint.model.transfer.structures import rows
from tfmemlint.model.transfer.table import map_structure, structure_bytes
from tfmemlint.model.values import Dataset, Step
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.query.pipelines.chains import possible_later_steps
from tfmemlint.query.pipelines.mapped import cheap
from tfmemlint.query.pipelines.pipelines import (
    MAPPING,
    batched,
    decoded_from_files,
    draws_at_random,
    reshuffles,
    source_draws,
)
from tfmemlint.query.pipelines.small import names_or_indices

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

CHEAP = frozenset({"batch", "padded_batch", "enumerate", "take", "skip", "prefetch", "with_options", "unbatch"})
"""Steps that cost less than what a cache of their results holds."""

PICKS = frozenset({"take", "skip", "with_options"})
"""Steps that hand on elements as they are given to them, some or all, in their order."""

SEEDED = frozenset(("tf.image", "tf.nn", "tf.random"))
"""Modules whose ops draw by the global seed."""

SETS_SEED = ("tf.random.set_seed", "tf.keras.utils.set_random_seed")

SPLITS = frozenset({"take", "skip", "shard", "window"})
"""Steps after which a shuffle has drawn a part of the data: a split is wanted once for good."""


def holds_media(ds: Dataset) -> bool:
    """Whether the elements are certainly images, sounds or videos that were decoded from files, or what functions that
    are seen make of them. A resized image of `tfds.load` is one, too."""
    bodies = [body(step) for step in ds.steps if step.name in MAPPING]
    if not knowledge.in_group(ds.source, "decodes_media"):
        decoding = [i for i, each in enumerate(bodies) if each.does("decodes_media")]
        if not decoding or not decoded_from_files(ds):
            return False
        bodies = bodies[decoding[-1] + 1 :]
    return not any(each.unseen for each in bodies)


def example_bytes(ds: Dataset) -> int | None:
    """Bytes of one example, where they are known: of a row of a batch."""
    return structure_bytes(map_structure(rows, ds.element) if batched(ds) else ds.element)


def made_of_memory(ds: Dataset) -> bool:
    """Whether the source is certainly in memory already, and what was done to it costs little to do again: batching,
    picking, plain arithmetic."""
    zipped = ds.source == "tf.data.Dataset.zip" and bool(ds.parents)
    if not zipped and not knowledge.in_group(ds.source, "slices_memory"):
        return False
    if not all(isinstance(part, Dataset) and made_of_memory(part) for part in ds.parents):
        return False
    return all(step.name in CHEAP or (step.name == "map" and cheap(step)) for step in ds.steps)


def takes_no_steps(ds: Dataset) -> bool:
    """Whether a pipeline is certainly its source as it is, or a part of it: neither it nor one that it is made of took
    a step that makes elements of its own."""
    picked = all(step.name in PICKS for step in ds.steps)
    return picked and all(isinstance(part, Dataset) and takes_no_steps(part) for part in ds.parents)


def draws_nothing(ds: Dataset) -> bool:
    """Whether the source and all steps certainly give the same elements in the same order each time."""
    return source_draws(ds) is False and all(draws_at_random(step) is False for step in ds.steps)


def repeats_by_seed(file: File, ds: Dataset, cache: Call) -> bool:
    """Whether all that a pipeline draws is drawn by TensorFlow's ops in a program that certainly sets the global seed:
    each new iterator, and so each epoch, then draws the same without a cache, too, but for what `repeat` goes through.
    Layers with seeds of their own, shuffles and NumPy draw anew."""
    if any(step.name in ("repeat", "shuffle") for step in ds.steps) or possible_later_steps(file, cache, "repeat"):
        return False
    drawing = [body(step) for step in ds.steps if draws_at_random(step)]
    drawn = [name for each in drawing for name in each.names if draws(name)]
    if not drawn or any(each.unseen for each in drawing) or not all(map(_by_global_seed, drawn)):
        return False
    return any(next(conditions(file, call.node), None) is None for call in file.calls(*SETS_SEED))


def _by_global_seed(name: str) -> bool:
    return name.rpartition(".")[0] in SEEDED


def frozen_draw(file: File, ds: Dataset) -> Step | None:
    """The first step that certainly draws anew in each epoch, and of which a cache at the end of the pipeline keeps the
    first draw. None also where a cache in between keeps it already, and for shuffles of names or before a split."""
    for i, step in enumerate(ds.steps):
        if step.name == "cache":
            return None
        if step.name == "shuffle" and step.call is not None:
            split = SPLITS.intersection(later.name for later in ds.steps[i:])
            if not split and reshuffles(step) and not names_or_indices(file, step.call):
                return step
        elif draws_at_random(step):
            return step
    return None
