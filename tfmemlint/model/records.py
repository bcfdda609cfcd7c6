"""Records of the standard library, which hold under names what they are made with: `SimpleNamespace(batch=32)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.binding import given_by
from tfmemlint.model.values import Const, Instance, Sequence, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

RECORD = "types.SimpleNamespace"
NAMED_TUPLE = "collections.namedtuple"
"""The type of a class that `namedtuple` makes; the type of its objects is RECORD."""


def attribute(record: Instance, name: str) -> Value:
    """What a record was given under a name when it was made."""
    if record.call is None:
        return Unknown("a record that is made elsewhere")
    passed = given_by(record.call, None, None, None).field(name, _fields(record.call.target))
    return Unknown(f"{name} is not given") if passed is None else passed


def _fields(target: Value) -> list[str]:
    """The names of the fields of a named tuple, which may be given by position."""
    if not isinstance(target, Instance) or target.type_name != NAMED_TUPLE or target.call is None:
        return []
    names = target.call.value_of("field_names") if target.call.arg("field_names") else target.call.value_of(1)
    if isinstance(names, Const) and isinstance(names.value, str):
        return names.value.replace(",", " ").split()
    items = names.items if isinstance(names, Sequence) and not names.open else ()
    return [str(item.value) for item in items if isinstance(item, Const)]


def made(call: Call) -> Value:
    """The record that a call makes."""
    return Instance(RECORD, call)
