"""What a value that depends on itself is: the join of what enters a loop and what one pass makes of it."""

from __future__ import annotations

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
