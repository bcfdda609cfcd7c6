"""Methods of lists and dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.estimate.facts import objects
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.values import NONE, Listed, Loop
from tfmemlint.model.values import Const, Mapping, Sequence, Unknown, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine


@dataclass(frozen=True, slots=True, eq=False)
class ListMethod(Value):
    """A method of a list or dictionary."""

    receiver: Listed
    name: str


def called(machine: Machine, method: ListMethod, given: Arguments) -> Value:
    """A method of a list or dictionary."""
    inside = method.receiver.items
    if isinstance(inside, Mapping):
        return _dict_method(machine, method, inside, given)
    return _list_method(machine, method, inside, given)


def _list_method(machine: Machine, method: ListMethod, inside: Sequence, given: Arguments) -> Value:
    name, listed, first = method.name, method.receiver, given.get(0)
    items = list(inside.items)
    place = constant(first) if first is not None else None
    if name == "append" and first is not None:
        items.append(first)
    elif name == "extend" and first is not None:
        objects.extend(machine, listed, first)
        return NONE
    elif name == "insert" and isinstance(place, int) and len(given.positions) == 2:
        items.insert(place, given.positions[1])
    elif name == "pop" and not inside.open and items and (first is None or isinstance(place, int)):
        at = place if isinstance(place, int) else -1
        taken = items.pop(at) if -len(items) <= at < len(items) else Unknown("no such item")
        machine.put(listed.fields, "items", Sequence(tuple(items), "list"))
        return taken
    elif name == "reverse":
        items.reverse()
    elif name == "copy":
        return objects.new_list(inside)
    elif name == "clear":
        items.clear()
    elif name == "index" and first in items:
        return Const(items.index(first))
    elif name in ("index", "count"):
        return Unknown(f"{name} of a list")
    else:
        machine.put(listed.fields, "items", Sequence((), "list", open=True))
        return Unknown(f"{name} of a list")
    machine.put(listed.fields, "items", Sequence(tuple(items), "list", inside.open))
    return NONE


def _dict_method(machine: Machine, method: ListMethod, inside: Mapping, given: Arguments) -> Value:
    name, first = method.name, given.get(0)
    if name in ("keys", "values", "items") and not inside.open:
        pairs: dict[str, list[Value]] = {
            "keys": [Const(key) for key, _ in inside.items], "values": [value for _, value in inside.items],
            "items": [Sequence((Const(key), value)) for key, value in inside.items],
        }  # fmt: skip
        return Loop(tuple(pairs[name]))
    if name in ("get", "pop", "setdefault") and first is not None:
        kept = dict(inside.items)
        key = constant(first)
        other = given.get(1) or NONE
        found = kept.get(key, Unknown("no such key") if inside.open else other)
        if name == "pop" and key in kept:
            del kept[key]
            machine.put(method.receiver.fields, "items", Mapping(tuple(kept.items()), inside.open))
        return found
    if name == "update" and (isinstance(first, Listed) or first is None):
        kept = dict(inside.items)
        kept.update(first.items.items if first is not None and isinstance(first.items, Mapping) else ())
        kept.update(given.names)
        machine.put(method.receiver.fields, "items", Mapping(tuple(kept.items()), inside.open))
        return NONE
    if name == "copy":
        return Listed({"items": inside})
    return Unknown(f"{name} of a dictionary")
