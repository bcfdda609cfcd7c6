"""What the methods of layers and models of Keras do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import listing, networks
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.values import NONE, Object, plain
from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Array, Method, Unknown, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

QUIET = ("summary", "save", "save_weights", "load_weights", "plot_model", "evaluate", "build_from_config", "adapt",
         "test_on_batch", "get_weights", "set_weights", "export", "reset_states", "reset_metrics", "get_config",
         "to_json", "count_params", "add_loss", "add_metric", "compute_mask", "finalize_state")  # fmt: skip
"""Methods that change nothing of what a step is made of."""


def method(machine: Machine, model: Object, name: str, given: Arguments, node: cst.Call) -> Value | None:
    """What a method of a layer or model gives; None for one that is not known here."""
    if name == "add" and networks.is_sequential(model):
        layer = given.get(0, "layer")
        networks.add(machine, model, layer if layer is not None else Unknown("a layer"))
        return NONE
    if name == "pop" and networks.is_sequential(model):
        listed = model.fields["#layers"]
        return listing.called(machine, listing.ListMethod(listed, "pop"), Arguments())  # type: ignore[arg-type]
    if name == "get_layer":
        return _named_layer(machine, model, given)
    if name == "build":
        shape = given.get(0, "input_shape")
        found = shape_of(plain(shape)) if shape is not None else None
        if found is not None and networks.is_model(model):
            machine.put(model.fields, "#shape", machine.record.tensor(found))
        return NONE
    if name in QUIET:
        return NONE
    if name in ("add_weight", "add_variable"):
        return _weight(machine, model, given, node)
    return None


def _weight(machine: Machine, owner: Object, given: Arguments, node: cst.Call) -> Value:
    found = machine.asked(Method(owner, "tf.keras.layers.Layer.add_weight"), given, node)
    return found if isinstance(found, Array) else Array("tf", "float32", None)


def _named_layer(machine: Machine, model: Object, given: Arguments) -> Value:
    name, index = given.get(0, "name"), given.get(1, "index")
    held = [*networks.input_layers(machine, model), *networks.parts(machine, model)]
    place = constant(index) if index is not None else constant(name) if name is not None else None
    if isinstance(place, int):
        return held[place] if -len(held) <= place < len(held) else Unknown("no such layer")
    return next((each for each in held if each.fields.get("name") == name), Unknown("a layer by its name"))
