"""Where pipelines end: what arrives at their consumers, and where one step more reaches each of them once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tfmemlint.query.facts import Fact
from tfmemlint.query.pipelines.chains import last_call, possible_later_steps
from tfmemlint.query.pipelines.consumers import Consumption, Given, consumptions
from tfmemlint.query.pipelines.pipelines import BATCHING, PIPELINES
from tfmemlint.query.pipelines.together import path, same_so_far

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.model.values import Dataset
    from tfmemlint.syntax.tree import Node


class Arrival(NamedTuple):
    """A pipeline that arrives where it is consumed: `given` are all that may arrive there, this one among them."""

    dataset: Dataset
    given: Given
    use: Consumption


def _consumed(file: File) -> Iterator[list[Arrival]]:
    """Arrivals in groups: those of the same batches, and those that the same expression gives."""
    groups: dict[Node, list[Arrival]] = {}
    for use in consumptions.of(file):
        for given in (*use.given, use.validation):
            made = [(batch, Arrival(ds, given, use)) for ds in given.datasets if (batch := _batch_of(ds)) is not None]
            for batch, arrival in made:
                groups.setdefault(batch, []).append(arrival)
            if made and _chosen_there(file, given, [batch for batch, _ in made]):
                _join(groups, [batch for batch, _ in made])
    yield from {id(group): group for group in groups.values()}.values()


def _chosen_there(file: File, given: Given, batches: list[Node]) -> bool:
    """Whether the function that is given several pipelines makes them itself, as branches of one."""
    if given.expression is None:
        return False
    scope = file.scope_of(given.expression)
    return all(file.scope_of(batch) is scope for batch in batches)


def _join(groups: dict[Node, list[Arrival]], batches: list[Node]) -> None:
    first = groups[batches[0]]
    for batch in batches[1:]:
        if groups[batch] is not first:
            first += groups[batch]
            groups.update({node: first for node, each in groups.items() if each is groups[batch]})


def _batch_of(ds: Dataset) -> Node | None:
    """The call of the last step that makes batches."""
    last = next((step for step in reversed(ds.steps) if step.name in BATCHING), None)
    return last.call.node if last is not None and last.call is not None else None


consumed = Fact(_consumed, *PIPELINES)
"""Each pipeline that is made of batches and consumed, as all places at which it arrives: those to which the same
`batch` leads, with and without steps more. Branches that a function makes for one consumer count as one."""


def ends(file: File, arrivals: Sequence[Arrival]) -> list[cst.BaseExpression]:
    """The expressions behind which one step more reaches each of these pipelines, and none of them twice, in the order
    of the code.

    That is the last call of a pipeline, unless others of them go on from there: then it is what gives the pipeline to
    its consumer, as where several of them may arrive. None where that is not seen, or gives other pipelines too.
    """
    outer = _outermost(arrivals)
    found: dict[int, cst.BaseExpression] = {}
    for given in {id(each.given): each.given for each in outer}.values():
        lasts = {call.node: call for each in outer if each.given is given and (call := last_call(file, each.dataset))}
        only = all(any(ds is each.dataset for each in arrivals) for ds in given.datasets)
        own = bool(lasts) and all(_is_leaf(file, last, arrivals) for last in lasts.values())
        if own and (len(lasts) == 1 or not only or given.expression is None):
            found |= {id(node): node for node in lasts}
        elif only and given.expression is not None:
            found[id(given.expression)] = given.expression
        else:
            return []
    return sorted(found.values(), key=file.tree.order)


def _is_leaf(file: File, last: Call, arrivals: Sequence[Arrival]) -> bool:
    """Whether none of the pipelines goes on from a call, nor does one that is prefetched."""
    inner = (step.call for each in arrivals for step in each.dataset.steps[:-1])
    on = any(call is not None and call.node is last.node for call in inner)
    return not on and not possible_later_steps(file, last, "prefetch")


def _outermost(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Without those that come to their consumer from a function which returns them as they are, and without what a
    function returns where its caller takes it further."""
    taken = [each for each in arrivals if not each.use.returned]
    kept = [each for each in arrivals if each.use.returned and not any(_takes_further(other, each) for other in taken)]
    return kept + [each for each in taken if not any(_among(each.dataset, other.given) for other in kept)]


def _takes_further(taken: Arrival, returned: Arrival) -> bool:
    """Whether a consumer gets more steps than a function returns, and not as another of its ways."""
    return same_so_far(taken.dataset, returned.dataset) and not _among(taken.dataset, returned.given)


def _among(ds: Dataset, given: Given) -> bool:
    return any(path(ds) == path(each) for each in given.datasets)
