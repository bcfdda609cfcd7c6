"""The calls that make an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.values import Instance, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


def makers(value: Value) -> list[Call]:
    """The calls that make an object, one for each of its alternatives, as far as they are seen: fewer than there are
    alternatives where one of them is no object, or is made nobody knows where; none where it may be anything."""
    made = (option.call for option in value.options if isinstance(option, Instance))
    return [call for call in made if call is not None]
