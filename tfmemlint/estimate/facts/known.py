"""What is known of a value: its items, whether it counts as true, how two compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.estimate.facts.values import (
    NONE,
    Closure,
    Kind,
    Listed,
    Loop,
    Object,
    ancestry,
    api_above,
    plain,
)  # fmt: skip
from tfmemlint.model.kinds import is_instance
from tfmemlint.model.values import (
    Api,
    Class,
    Const,
    Dataset,
    Function,
    Length,
    Mapping,
    Sequence,
    Value,
    constant,
)  # fmt: skip

COMPARED: dict[type, Callable[[Any, Any], bool]] = {
    cst.Equal: lambda a, b: a == b, cst.NotEqual: lambda a, b: a != b, cst.LessThan: lambda a, b: a < b,
    cst.LessThanEqual: lambda a, b: a <= b, cst.GreaterThan: lambda a, b: a > b,
    cst.GreaterThanEqual: lambda a, b: a >= b,
}  # fmt: skip


def items(value: Value) -> tuple[Value, ...] | None:
    """The items of a list, tuple, `range` or dictionary, where all are known."""
    if isinstance(value, Listed):
        return items(value.items)
    if isinstance(value, Sequence):
        return None if value.open else value.items
    if isinstance(value, Loop):
        return value.items
    if isinstance(value, Mapping):
        return None if value.open else tuple(Const(key) for key, _ in value.items)
    if isinstance(value, Const) and isinstance(value.value, str):
        return tuple(map(Const, value.value))
    return None


def element_of(value: Value) -> Value:
    """One item of an iterable of which not all are known."""
    if isinstance(value, Listed):
        return element_of(value.items)
    return value.iterated()


def plain_sequence(value: Value) -> Value:
    """A list as the sequence of what is in it, tensors and objects as they are."""
    return value.items if isinstance(value, Listed) else Sequence(value.items) if isinstance(value, Loop) else value


def compared(operator: cst.BaseCompOp, left: Value, right: Value) -> bool | None:
    """The truth of `left op right`; None where it is not known."""
    if isinstance(operator, (cst.Is, cst.IsNot)) or NONE in (left, right):
        if not left.known or not right.known or len(left.options) > 1 or len(right.options) > 1:
            return None
        same = left is right or left == right
        return same != isinstance(operator, (cst.IsNot, cst.NotEqual))
    if isinstance(operator, (cst.In, cst.NotIn)):
        among = items(right)
        if isinstance(right, Const) and isinstance(right.value, str) and isinstance(left, Const):
            return (str(left.value) in right.value) != isinstance(operator, cst.NotIn)
        if among is None or not all(isinstance(each, Const) for each in (left, *among)):
            return None
        return (left in among) != isinstance(operator, cst.NotIn)
    if isinstance(left, (Sequence, Listed)) and isinstance(right, (Sequence, Listed)):
        pair = items(left), items(right)
        sure = all(side is not None and all(isinstance(each, Const) for each in side) for side in pair)
        same = pair[0] == pair[1]
        if not sure and type(operator) in (cst.Equal, cst.NotEqual) and _differ(pair[0], pair[1]):
            return isinstance(operator, cst.NotEqual)
        return same == isinstance(operator, cst.Equal) if sure and type(operator) in (cst.Equal, cst.NotEqual) else None
    a, b = constant(left), constant(right)
    if a is None or b is None or type(operator) not in COMPARED:
        return None
    try:
        return COMPARED[type(operator)](a, b)
    except TypeError:
        return None


def _differ(one: tuple[Value, ...] | None, other: tuple[Value, ...] | None) -> bool:
    """Whether two lists differ, of which not all items are known."""
    if one is None or other is None:
        return False
    if len(one) != len(other):
        return True
    pairs = zip(one, other, strict=True)
    return any(isinstance(a, Const) and isinstance(b, Const) and a != b for a, b in pairs)


def truth(value: Value) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    if isinstance(value, (Const, Length)):
        return bool(constant(value)) if value != Const(None) and constant(value) is not None else (
            False if isinstance(value, Const) else None
        )  # fmt: skip
    if isinstance(value, (Object, Closure, Kind, Class, Function, Api, Dataset)):
        return True
    known = items(value) if isinstance(value, (Listed, Sequence)) else None
    return None if known is None else bool(known)


def isinstance_of(value: Value, kinds: Value) -> bool | None:
    """What `isinstance(value, kinds)` gives; None where it is not known."""
    several = items(kinds) if isinstance(kinds, (Sequence, Listed)) else None
    if several is not None:
        found = [isinstance_of(value, each) for each in several]
        return True if True in found else None if None in found else False
    if isinstance(value, Object):
        if isinstance(kinds, Kind):
            return value.of is not None and kinds in ancestry(value.of)
        api = api_above(value.of) if value.of is not None else value.type_name
        if isinstance(kinds, Api) and api is not None:
            return kinds.name == api or kinds.name in knowledge.bases(api)
        return None
    if isinstance(value, Listed) and isinstance(kinds, Api):
        return kinds.name == ("builtins.dict" if isinstance(value.items, Mapping) else "builtins.list")
    return is_instance(plain(value), kinds) if isinstance(value, (Const, Sequence)) else None
