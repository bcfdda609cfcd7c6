"""Layers and models as objects: what a model holds, what its attributes are, what its methods do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.estimate.facts import lacking, objects, origins, training
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.values import NONE, Listed, Loop, Object, Origin, Traced, Variables, leaves, plain
from tfmemlint.model.layers.effects import first_shape
from tfmemlint.model.transfer.table import dtype_of, shape_of
from tfmemlint.model.values import Api, Array, Const, Sequence, Shape, Unknown, Value, constant, integer

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

LAYER, MODEL, SEQUENTIAL = "tf.keras.layers.Layer", "tf.keras.Model", "tf.keras.Sequential"
WEIGHTS = ("trainable_variables", "trainable_weights", "variables", "weights")


def is_layer(value: Value) -> bool:
    """Whether an object is a layer or model of Keras, or of a class that derives from one."""
    if not isinstance(value, Object) or value.type_name is None:
        return False
    return LAYER in (value.type_name, *knowledge.bases(value.type_name)) or is_model(value)


def is_model(value: Value) -> bool:
    """Whether an object is a model."""
    name = value.type_name if isinstance(value, Object) else None
    return name is not None and MODEL in (name, *knowledge.bases(name))


def is_sequential(value: Value) -> bool:
    """Whether an object is a `Sequential`, which may be of a class of the program without a `call` of its own."""
    return isinstance(value, Object) and "#layers" in value.fields


def is_functional(value: Value) -> bool:
    """Whether an object is a model made of its outputs."""
    return isinstance(value, Object) and "#outputs" in value.fields


def named(machine: Machine, made_: Object, word: str) -> None:
    """Give a layer or model the name that Keras gives it: of its class with underscores, and counted."""
    plain = re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", word)).lower()
    said = constant(made_.call.given("name")) if made_.call is not None else None
    if isinstance(said, str):
        made_.fields["name"] = Const(said)
        return
    count = machine.names.get(plain, 0)
    machine.names[plain] = count + 1
    made_.fields["name"] = Const(f"{plain}_{count}" if count else plain)
    if word == "MultiHeadAttention":  # it holds a Dropout
        machine.names["dropout"] = machine.names.get("dropout", 0) + 1


def initialised(machine: Machine, made_: Object, given: Arguments) -> None:
    """What the constructor of a layer or model of Keras keeps."""
    name = made_.type_name or ""
    if "name" in given.names and isinstance(given.names["name"], Const):
        made_.fields["name"] = given.names["name"]
    if "trainable" in given.names:
        made_.fields["trainable"] = given.names["trainable"]
    made_.fields["#policy"] = given.names.get("dtype", machine.settings.get("policy", NONE))
    if is_model(made_):
        start(machine, made_, name, given)
    elif made_.of is not None and name != LAYER and knowledge.is_class(name):
        _derived(machine, made_, name, given)


def _derived(machine: Machine, made_: Object, name: str, given: Arguments) -> None:
    """The layer of Keras that one of a class of the program is, which calls its constructor."""
    at = made_.call.node if made_.call is not None else cst.Call(cst.Name("layer"))
    base = objects.new(machine, name, Asked(at, machine.evaluator, Api(name), given))
    base.fields.update({key: made_.fields[key] for key in ("name", "trainable", "#policy") if key in made_.fields})
    machine.put(made_.fields, "#base", base)


def start(machine: Machine, made: Object, name: str, given: Arguments) -> None:
    """What the constructor of a model keeps."""
    if SEQUENTIAL in (name, *knowledge.bases(name)):
        listed = given.get(0, "layers")
        unknown = listed is not None and listed != NONE and not isinstance(listed, (Listed, Sequence, Loop))
        found = leaves(listed) if listed is not None and listed != NONE and not unknown else ()
        for each in found:
            if isinstance(each, Traced):
                machine.put(made.fields, "#shape", each)
        layers = tuple(each for each in found if not isinstance(each, Traced))
        kept = Listed({"items": Sequence(layers, "list", given.open or unknown)})
        made.fields["#layers"] = kept
        if listed is not None and unknown:
            machine.causes[id(kept.fields), "items"] = lacking.of(listed)
        return
    inputs, outputs = given.get(0, "inputs", "input"), given.get(1, "outputs", "output")
    if inputs is not None and outputs is not None:
        made.fields["#inputs"], made.fields["#outputs"] = inputs, outputs


def add(machine: Machine, model: Object, layer: Value) -> None:
    """`model.add(layer)`."""
    if isinstance(layer, Traced):
        machine.put(model.fields, "#shape", layer)
        return
    listed = model.fields["#layers"]
    assert isinstance(listed, Listed)
    before = listed.items
    assert isinstance(before, Sequence)
    machine.put(listed.fields, "items", before.with_item(layer))


# -- inputs ----------------------------------------------------------------------------------------------------------


def input_tensor(machine: Machine, call: Asked, name: str, node: cst.Call) -> Value:
    """`Input(...)`: a symbolic tensor."""
    tensor = call.given_values.get(None, "tensor", "input_tensor")
    if isinstance(tensor, Array):
        return machine.record.number(tensor)
    shape: Shape | None = None
    for word in ("shape", "input_shape"):
        found = call.given_values.get(0 if word == "shape" else None, word)
        if found is not None and found != NONE:
            inner = shape_of(call.given(word)) if call.arg(word) is not None else None
            shape = (integer(call.given("batch_size")), *inner) if inner is not None else None
    for word in ("batch_shape", "batch_input_shape"):
        if call.arg(word) is not None and call.given(word) != NONE:
            shape = shape_of(call.given(word))
    dtype = dtype_of(call.given("dtype"), "float32") if call.arg("dtype") is not None else "float32"
    made = machine.record.tensor(shape, dtype or "float32")
    machine.record.lacks[made.number] = origins.as_written(machine, lacking.of_arguments(call.given_values))
    return made


def built(machine: Machine, model: Object) -> tuple[list[Traced], list[Traced]] | None:
    """The symbolic inputs and outputs of a `Sequential` that states its input's shape, or of a functional model."""
    if is_functional(model):
        inputs, outputs = leaves(model.fields["#inputs"]), leaves(model.fields["#outputs"])
        given = [each for each in inputs if isinstance(each, Traced)]
        made = [each for each in outputs if isinstance(each, Traced)]
        return (given, made) if len(given) == len(inputs) and len(made) == len(outputs) and made else None
    if not is_sequential(model):
        return None
    key = (model.serial, layers_listed(model))
    if key not in machine.built:
        machine.built[key] = None
        shape = input_shape(machine, model)
        if shape is not None:
            first = model.fields.get("#shape")
            given_ = machine.record.tensor(shape, first.dtype if isinstance(first, Traced) else "float32")
            machine.record.lacks[given_.number] = input_lacks(machine, model)
            kept, machine.record.now = machine.record.now, []
            inside = machine.through(model, given_, None)
            machine.record.now = kept
            if isinstance(inside, Traced):
                machine.built[key] = ([given_], [inside])
    return machine.built[key]


def layers_listed(model: Object) -> tuple[Value, ...] | None:
    """The layers of a `Sequential`; None where not all are known."""
    listed = model.fields.get("#layers")
    items = listed.items if isinstance(listed, Listed) else None
    return items.items if isinstance(items, Sequence) and not items.open else None


def input_shape(machine: Machine, model: Object) -> Shape | None:
    """The shape, examples first, of what a `Sequential` takes, where it states one."""
    stated = model.fields.get("#shape")
    if isinstance(stated, Traced):
        return stated.shape
    listed = layers_listed(model) or ()
    first = listed[0] if listed else None
    if isinstance(first, Object) and is_model(first):
        inner = built(machine, first)
        return inner[0][0].shape if inner is not None and len(inner[0]) == 1 else None
    said = first.call.given_values.names.get("input_shape") if isinstance(first, Object) and isinstance(
        first.call, Asked) and not is_layer(first) else None  # fmt: skip
    if said is not None:  # a layer of another library
        sizes = shape_of(plain(said))
        return (None, *sizes) if sizes is not None else None
    found = first_shape(first) if first is not None else None
    if found is not None and isinstance(first, Object) and (first.type_name or "").endswith("Embedding"):
        return found if found[-1] is not None else None
    if found is None and isinstance(first, Object) and first.call is not None:
        wrapped = first.call.given("layer")  # Bidirectional(LSTM(..), input_shape=...) states it itself
        found = first_shape(wrapped)
    return found


def input_lacks(machine: Machine, model: Object) -> tuple[Origin, ...]:
    """What the shape rests on that a model states for its input and that is not known."""
    stated = model.fields.get("#shape")
    if isinstance(stated, Traced):
        return machine.record.lacks.get(stated.number, ())
    listed = layers_listed(model) or ()
    first = listed[0] if listed else None
    if not isinstance(first, Object) or not isinstance(first.call, Asked):
        return ()
    if is_sequential(first):
        return input_lacks(machine, first)
    names = first.call.given_values.names
    said = (value for name, value in names.items() if name.startswith(("input_", "batch_", "shape")))
    return tuple(dict.fromkeys(origin for value in said for origin in lacking.of(value)))


# -- what a model holds ----------------------------------------------------------------------------------------------


def parts(machine: Machine, owner: Object) -> list[Object]:
    """The layers and models that one holds, each once."""
    if is_sequential(owner):
        found: Iterable[Value] = layers_listed(owner) or ()
    elif is_functional(owner):
        found = _applied(machine, owner)
    else:
        held = (value for key, value in owner.fields.items() if not key.startswith("#"))
        found = [leaf for value in held for leaf in leaves(value)]
        wrapped = owner.call.given_values.get(0, "layer") if isinstance(owner.call, Asked) else None
        found = [*found, wrapped] if wrapped is not None and owner.of is None else found
        found = [*found, owner.fields["#base"]] if "#base" in owner.fields else found
    unique = {each.serial: each for each in found if isinstance(each, Object) and is_layer(each)}
    return [each for each in unique.values() if each is not owner]


def _applied(machine: Machine, model: Object) -> list[Object]:
    ends = built(machine, model)
    order = machine.record.order((t.number for t in ends[0]), (t.number for t in ends[1])) if ends is not None else None
    return [node.op for node in order or () if node.op is not None]


def shown(machine: Machine, owner: Object, name: str) -> Value | None:
    """An attribute that Keras gives a layer or model; None for others."""
    if not is_layer(owner):
        return None
    if name in WEIGHTS:
        return Variables((owner,))
    if name in ("layers", "_layers", "submodules"):
        held = [*input_layers(machine, owner), *parts(machine, owner)]
        unknown = is_sequential(owner) and layers_listed(owner) is None
        return objects.new_list(Sequence(tuple(held), "list", unknown))
    if name in ("input", "inputs", "output", "outputs"):
        return _end(machine, owner, name)
    if name in ("input_shape", "output_shape"):
        end = _end(machine, owner, name.partition("_")[0])
        shape = end.shape if isinstance(end, Traced) else None
        return None if shape is None else Sequence(tuple(Const(n) for n in shape))
    if name == "trainable":
        return Const(True)
    if name == "optimizer":
        return training.compiled_optimizer(owner)
    base = owner.fields.get("#base")
    if isinstance(base, Object):
        return shown(machine, base, name)
    argument = owner.call.given(name) if owner.call is not None and owner.of is None else None
    return argument if argument is not None and argument.known else None


def input_layers(machine: Machine, owner: Object) -> list[Object]:
    """The input layers that Keras makes for a functional model."""
    ends = built(machine, owner) if is_functional(owner) else None
    return [objects.new(machine, "tf.keras.layers.InputLayer") for _ in ends[0]] if ends is not None else []


def _end(machine: Machine, owner: Object, name: str) -> Value:
    ends = built(machine, owner)
    if ends is None:
        kept = owner.fields.get("#in" if name.startswith("input") else "#out")
        return kept if kept is not None else Unknown(f"{name} of a layer")
    found = ends[0] if name.startswith("input") else ends[1]
    if name.endswith("s"):
        return objects.new_list(Sequence(tuple(found), "list"))
    return found[0] if len(found) == 1 else objects.new_list(Sequence(tuple(found), "list"))
