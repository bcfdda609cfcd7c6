"""Which steps belong to one pipeline, wherever they stand, and which pipelines go on from which."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from tfmemlint.query.facts import Fact

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.model.values import Dataset
    from tfmemlint.syntax.tree import Node


@cache
def steps_by_pipeline(*names: str) -> Fact[list[Call]]:
    """The steps of these names in groups, each in the order in which a pipeline goes through it: two steps are in one
    group where some pipeline goes through both, in one chain, over several names or in functions that it is given to.

    Steps of a function that several pipelines go through bring these into one group. What `zip` and its like join, and
    what an `interleave` makes, are pipelines of their own.
    """
    apis = tuple(f"tf.data.Dataset.{name}" for name in names)

    def groups(file: File) -> Iterator[list[Call]]:
        calls = list(file.calls(*apis))
        group: dict[Node, list[Call]] = {call.node: [call] for call in calls}
        for call in calls:
            for earlier in _before(call):
                first, second = group.get(earlier), group[call.node]
                if first is not None and first is not second:
                    first += second
                    group.update({each.node: first for each in second})
        found = {id(each): each for each in group.values()}
        for each in found.values():
            yield sorted(each, key=lambda call: (len(_before(call)), file.tree.order(call.name_node)))

    return Fact(groups, *apis)


def _before(call: Call) -> dict[Node, Call]:
    """The steps that some pipeline has gone through when it comes to a call, by their nodes."""
    return {step.call.node: step.call for ds in call.datasets() for step in ds.steps if step.call is not None}


def path(ds: Dataset) -> tuple[Node | None, ...]:
    """The calls through which a pipeline went from its source on, the same in whatever call of a function."""
    return tuple(call.node if call is not None else None for call in (ds.call, *(step.call for step in ds.steps)))


def same_so_far(ds: Dataset, start: Dataset) -> bool:
    """Whether a pipeline is another one, or goes on from where that ends."""
    begun = path(start)
    return path(ds)[: len(begun)] == begun
