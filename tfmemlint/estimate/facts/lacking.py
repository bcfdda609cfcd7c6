"""What is not known of values, and where it begins: what a user is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.estimate.facts.asked import Asked
from tfmemlint.estimate.facts.graphs import LEFT_OUT
from tfmemlint.estimate.facts.values import Listed, Loop, Object, Open, Origin
from tfmemlint.model.values import Api, Iterator, Mapping, OneOf, Sequence, Value

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.asked import Arguments

DEEPEST = 4
"""Lists in lists that are looked into."""


def of(value: Value) -> tuple[Origin, ...]:
    """Where what is not known of a value begins, also within lists, objects and what they were made with."""
    return tuple(dict.fromkeys(_within(value, 0)))


def _within(value: Value, depth: int) -> Iterable[Origin]:
    if isinstance(value, Open):
        yield from value.origins
    elif depth > DEEPEST:
        return
    elif isinstance(value, Listed):
        yield from _within(value.items, depth)
    elif isinstance(value, (Sequence, Loop, OneOf)):
        for item in value.options if isinstance(value, OneOf) else value.items:
            yield from _within(item, depth + 1)
    elif isinstance(value, Mapping):
        for _, item in value.items:
            yield from _within(item, depth + 1)
    elif isinstance(value, Iterator):
        yield from _within(value.of, depth + 1)
    elif isinstance(value, Api) and not knowledge.exists(value.name):  # of a module that is not there
        yield Origin(value.name)
    elif isinstance(value, Object) and value.of is None:
        yield from of_layer(value, depth + 1)


def of_layer(layer: Object, depth: int = 0) -> Iterable[Origin]:
    """Where the arguments begin that a layer was made with and that are not known."""
    if not isinstance(layer.call, Asked):
        return
    given = layer.call.given_values
    names = dict(zip(layer.call.parameter_names, given.positions, strict=False)) | dict(given.names)
    for name, value in names.items():
        if name.endswith("activation"):
            continue
        if name == "layer" or name.endswith(("shape", "_dim", "_length")) or not LEFT_OUT.fullmatch(name):
            yield from _within(value, depth)


def of_arguments(given: Arguments, tensors: bool = False) -> tuple[Origin, ...]:
    """Where what a call is given begins and is not known. Where what is given would be `tensors`, what decides it: no
    value that one can write down is a tensor."""
    found = (origin for value in (*given.positions, *given.names.values()) for origin in of(value))
    return tuple(dict.fromkeys(origin for origin in found if origin.decides or not tensors))


def of_tensors(value: Value) -> tuple[Origin, ...]:
    """The same of one value that would be a tensor, or several."""
    return tuple(origin for origin in of(value) if origin.decides)
