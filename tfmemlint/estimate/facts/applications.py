"""The networks of `keras.applications`, layer by layer, from the table that was probed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.estimate.facts import applying, networks, objects
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.values import NONE, Object, Traced
from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Api, Array, Const, Sequence, Value, constant, integer

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

L = "tf.keras.layers."
CLASSES = 1000
"""Of ImageNet, for which the networks are made unless they are told otherwise."""

POOLING = {"avg": "GlobalAveragePooling2D", "max": "GlobalMaxPooling2D"}
CHANGE = ("alpha", "depth_multiplier", "minimalistic", "include_preprocessing")
"""Arguments that make other layers than the table has."""


def build(machine: Machine, model: Object, call: Asked, node: cst.Call) -> None:
    """Give a model the layers of a network; none where it is not known which it has."""
    network = knowledge.network(call.name or "")
    given = call.given_values
    if network is None or call.open or any(_changes(call, word) for word in CHANGE):
        return
    top = constant(call.given("include_top")) is not False
    tensor = given.get(None, "input_tensor")
    if not isinstance(tensor, Traced):
        shape = shape_of(call.given("input_shape")) if call.arg("input_shape") is not None else None
        if shape is None or len(shape) != 3:
            side = network.side if top else None
            shape = (side, side, 3)
        tensor = machine.record.tensor((None, *shape))
    kept, machine.record.now = machine.record.now, []
    made: Value = tensor
    tensors: list[Value] = [tensor]
    rows = network.layers if top else network.layers[: network.body]
    for row in rows:
        arguments = dict(row.arguments)
        if top and len(tensors) > network.body:
            arguments = _for_classes(call, arguments)
        made = _row(machine, row.kind, row.name, arguments, [tensors[place] for place in row.inputs], node)
        tensors.append(made)
    pooling = constant(call.given("pooling")) if not top else None
    if pooling in POOLING:
        made = _row(machine, POOLING[str(pooling)], f"{pooling}_pool", {}, [made], node)
    machine.record.now = kept
    machine.put(model.fields, "#inputs", objects.new_list(Sequence((tensor,), "list")))
    machine.put(model.fields, "#outputs", objects.new_list(Sequence((made,), "list")))


def _changes(call: Asked, word: str) -> bool:
    """Whether an argument is passed that is not its default."""
    found = call.given_values.get(None, word)
    return found is not None and constant(found) not in (1, 1.0, True if word == "include_preprocessing" else 1)


def _for_classes(call: Asked, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a layer of the top is made with, for another number of classes than ImageNet's."""
    classes = integer(call.given("classes")) if call.arg("classes") is not None else CLASSES
    if classes == CLASSES:
        return arguments
    found = dict(arguments)
    for word in ("units", "filters"):
        if found.get(word) == CLASSES:
            found[word] = classes
    if found.get("target_shape") == [CLASSES]:
        found["target_shape"] = [classes]
    return found


def _row(
    machine: Machine, kind: str, name: str, arguments: dict[str, Any], given: list[Value], node: cst.Call
) -> Value:
    """One layer, applied."""
    odd = arguments.pop("odd", None)
    if odd and given and isinstance(given[0], Array) and given[0].shape is not None:
        arguments["padding"] = _padded(arguments["padding"], given[0].shape)
    values = {word: _value(each) for word, each in arguments.items()}
    target = Api(L + kind)
    layer = objects.new(machine, target.name, Asked(node, machine.evaluator, target, Arguments((), values)))
    layer.fields["name"] = Const(name)
    layer.fields["#policy"] = machine.settings.get("policy", NONE)
    several = given[0] if len(given) == 1 else Sequence(tuple(given), "list")
    return applying.apply(machine, layer, Arguments((several,)), node)


def _padded(padding: list[list[int]], shape: tuple[int | None, ...]) -> list[list[int]]:
    """A padding that has one row more in front where the side is odd, or not known."""
    return [
        [front + (side is None or side % 2 == 1), behind]
        for (front, behind), side in zip(padding, shape[1:3], strict=True)
    ]


def _value(found: Any) -> Value:
    if isinstance(found, list):
        return Sequence(tuple(map(_value, found)))
    return Const(found)


def pretrained(machine: Machine, call: Asked, node: cst.Call) -> Value:
    """A network of `keras.applications`."""
    model = objects.new(machine, "tf.keras.Model", call)
    networks.named(machine, model, (call.name or "").rpartition(".")[2].lower())
    build(machine, model, call, node)
    return model
