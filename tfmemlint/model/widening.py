"""What a value that depends on itself is: the join of what enters a loop and what one pass makes of it."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.model.values import BOTTOM, Array, Dataset, Instance, Unknown, Value, one_of, shared


def widen(first: Value, second: Value) -> Value:
    """A loop's value from what enters the loop and what one pass makes of it."""
    if first == second:
        return first
    if not first.known or not second.known:
        return second if first is BOTTOM else Unknown("changes in a loop")
    options = dict.fromkeys((*first.options, *second.options))
    if all(isinstance(o, Array) for o in options):
        return shared(tuple(options))
    if all(isinstance(o, (Instance, Dataset)) for o in second.options):
        if all(o in first.options or _grown(o, first) for o in second.options):
            return first
    if all(isinstance(o, Dataset) for o in options):
        return _longer(first, second)
    if (
        all(isinstance(o, Instance) for o in options)
        and len({o.type_name for o in options if isinstance(o, Instance)}) == 1
    ):
        return one_of(options)
    return Unknown("changes in a loop")


def _grown(option: Value, first: Value) -> bool:
    """Whether this is a pipeline of `first` with more steps: what the loop does to it is told by one iteration."""
    return isinstance(option, Dataset) and any(
        isinstance(one, Dataset)
        and (one.source, one.call, one.parents) == (option.source, option.call, option.parents)
        and one.steps == option.steps[: len(one.steps)]
        for one in first.options
    )


def _longer(first: Value, second: Value) -> Value:
    """The pipelines of `first`, and those to which a pass joins more: of those the number of elements is not known."""
    kept: list[Value] = []
    for option in second.options:
        if option in first.options or _grown(option, first):
            continue
        if not isinstance(option, Dataset) or not _joins(option, first):
            return Unknown("changes in a loop")
        if not any(isinstance(one, Dataset) and one.call is option.call and one.parents for one in first.options):
            kept.append(replace(option, count=None))
    joined = {id(o.call) for o in second.options if isinstance(o, Dataset) and _joins(o, first)}
    entered = [
        replace(o, count=None) if isinstance(o, Dataset) and o.parents and id(o.call) in joined else o
        for o in first.options
    ]
    return one_of([*entered, *kept])


def _joins(option: Dataset, first: Value) -> bool:
    """Whether this is a pipeline of `first` with others joined to it."""
    return any(
        parent in first.options or (isinstance(parent, Dataset) and _joins(parent, first)) for parent in option.parents
    )
