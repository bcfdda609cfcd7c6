"""What a value that depends on itself is: the join of what enters a loop and what one pass makes of it."""

from __future__ import annotations

from tfmemlint.model.values import BOTTOM, Array, Dataset, Instance, Unknown, Value, one_of


def widen(first: Value, second: Value) -> Value:
    """A loop's value from what enters the loop and what one pass makes of it."""
    if first == second:
        return first
    if not first.known or not second.known:
        return second if first is BOTTOM else Unknown("changes in a loop")
    options = dict.fromkeys((*first.options, *second.options))
    if all(isinstance(o, Array) for o in options):
        arrays = [o for o in options if isinstance(o, Array)]
        return _common(arrays)
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


def _common(arrays: list[Array]) -> Array:
    first = arrays[0]
    shapes = {a.shape for a in arrays}
    ranks = {None if s is None else len(s) for s in shapes}
    shape = None
    if len(ranks) == 1 and first.shape is not None:
        columns = zip(*(s for s in shapes if s is not None), strict=True)
        shape = tuple(c[0] if len(set(c)) == 1 else None for c in columns)
    return Array(
        first.library,
        first.dtype if len({a.dtype for a in arrays}) == 1 else None,
        shape,
        first.origin if len({a.origin for a in arrays}) == 1 else None,
        all(a.explicit for a in arrays),
        first.variable,
    )
