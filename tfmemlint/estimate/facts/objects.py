"""Objects and lists: their attributes and items, read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.estimate.facts.known import items
from tfmemlint.estimate.facts.values import Bound, Closure, Kind, Listed, Object, Super, ancestry, api_above
from tfmemlint.model.values import Api, Instance, Mapping, Sequence, Unknown, Value, constant
from tfmemlint.model.values.callables import method_of

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine
    from tfmemlint.model.calls import Call


def new(machine: Machine, type_name: str | None, call: Call | None = None, of: Kind | None = None) -> Object:
    """An object that was not there before."""
    machine.serial += 1
    node = of.node if of is not None else None
    return Object(type_name, call, node, serial=machine.serial, of=of)


def new_list(items: Sequence) -> Listed:
    """A list that was not there before."""
    return Listed({"items": Sequence(items.items, "list", items.open)})


def extend(machine: Machine, listed: Listed, added: Value) -> None:
    """`listed += added`, in place."""
    before, more = listed.items, items(added)
    if isinstance(before, Sequence):
        if more is not None and len(more) == 1:
            after = before.with_item(more[0])
        else:
            after = Sequence((*before.items, *(more or ())), "list", before.open or more is None)
        machine.put(listed.fields, "items", after)


def set_item(machine: Machine, listed: Listed, key: Value, value: Value) -> None:
    """`listed[key] = value`."""
    before, at = listed.items, constant(key)
    if isinstance(before, Mapping):
        kept = dict(before.items)
        if at is None:
            machine.put(listed.fields, "items", Mapping((), open=True))
        else:
            kept[at] = value
            machine.put(listed.fields, "items", Mapping(tuple(kept.items()), before.open))
    elif isinstance(at, int) and -len(before.items) <= at < len(before.items) and not before.open:
        changed = list(before.items)
        changed[at] = value
        machine.put(listed.fields, "items", Sequence(tuple(changed), "list"))
    else:
        machine.put(listed.fields, "items", Sequence((), "list", open=True))


# -- attributes ------------------------------------------------------------------------------------------------------


def set_attribute(machine: Machine, owner: Object, name: str, value: Value) -> None:
    """`owner.name = value`."""
    machine.put(owner.fields, name, value)
    if name == "trainable":
        for each in machine.parts(owner):
            set_attribute(machine, each, name, value)


def attribute(machine: Machine, base: Value, name: str) -> Value:
    """`base.name` of an object, a class of the program or `super()`."""
    if isinstance(base, Super):
        return _behind(machine, base, name)
    if isinstance(base, Kind):
        for kind in ancestry(base):
            if name in kind.env.names:
                return kind.env.names[name]
        api = api_above(base)
        return Api(f"{api}.{name}") if api is not None else Unknown(f"{name} of a class")
    assert isinstance(base, Object)
    if name in base.fields:
        return base.fields[name]
    if name == "__class__" and base.of is not None:
        return base.of
    for kind in ancestry(base.of) if base.of is not None else ():
        if name in kind.env.names:
            found = kind.env.names[name]
            return _bound(machine, base, found)
    shown = machine.shown(base, name)
    if shown is not None:
        return shown
    if base.type_name is None:
        return Unknown(f"attribute {name}")
    if base.type_name.startswith("argparse."):
        return machine.evaluator.attribute(Instance(base.type_name, base.call), name)
    if is_keras(base):
        return Bound(base, name)
    return method_of(base, base.type_name, name)


def _bound(machine: Machine, base: Object, found: Value) -> Value:
    if not isinstance(found, Closure):
        return found
    if found.frame in ("property", "cached_property"):
        return machine.run(with_receiver(found, base), (), {}, None)
    return found if found.frame == "staticmethod" else with_receiver(found, base)


def with_receiver(function: Closure, receiver: Value) -> Closure:
    """A method of one object."""
    return Closure(
        function.node, receiver, function.traced, function.frame, function.partial, env=function.env,
        owner=function.owner,
    )  # fmt: skip


def _behind(machine: Machine, base: Super, name: str) -> Value:
    """A method that stands behind a class in the ancestry of an object."""
    receiver = base.receiver
    line = ancestry(receiver.of) if isinstance(receiver, Object) and receiver.of is not None else []
    place = line.index(base.owner) + 1 if base.owner in line else len(line)
    for kind in line[place:]:
        found = kind.env.names.get(name)
        if isinstance(found, Closure):
            return with_receiver(found, receiver)
    return Bound(receiver, name) if isinstance(receiver, Object) else Unknown("super()")


def is_keras(value: Object) -> bool:
    """Whether an object is of Keras, whose methods are followed here."""
    name = value.type_name or ""
    return name.startswith("tf.keras.") or name in ("tf.GradientTape", "tf.Module", "tf.train.Checkpoint")
