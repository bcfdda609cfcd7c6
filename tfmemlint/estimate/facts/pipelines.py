"""Pipelines and generators: what a batch of them is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.values import NONE, Closure, Held, Object, leaves, plain
from tfmemlint.model.transfer import transfer
from tfmemlint.model.transfer.structures import as_tensor
from tfmemlint.model.transfer.table import map_structure, shape_of
from tfmemlint.model.values import (
    Api,
    Array,
    Const,
    Dataset,
    Iterator,
    Method,
    Sequence,
    Unknown,
    Value,
    constant,
    integer,
)  # fmt: skip

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

FLOWS = ("flow_from_directory", "flow_from_dataframe", "flow")
GENERATOR = "ImageDataGenerator"


def method(machine: Machine, target: Method, given: Arguments, node: cst.Call) -> Value:
    """A method of a pipeline."""
    dataset = target.receiver
    assert isinstance(dataset, Dataset)
    done = Asked(node, machine.evaluator, target, given)
    found = transfer(done, target)
    name = target.name.rpartition(".")[2]
    function = given.get(0, "map_func", "transformation_func")
    if not isinstance(found, Dataset) or not isinstance(function, (Closure, Held)) or name not in ("map", "apply"):
        return found
    if name == "apply":
        made = machine.call(function, Arguments((dataset,)), node)
        return made if isinstance(made, Dataset) else found
    element = dataset.element
    parts = element.items if isinstance(element, Sequence) and element.kind == "tuple" else (element,)
    kept, machine.record.now = machine.record.now, []
    made = plain(machine.call(function, Arguments(tuple(parts)), node))
    machine.record.now = kept
    if made.known and all(leaf.known for leaf in leaves(made)):
        return replace(found, element=map_structure(as_tensor, _as_tuple(made)))
    return found


BATCHES = frozenset({"batch", "padded_batch"})
"""Methods that only pipelines have."""


def batched(machine: Machine, given: Arguments, name: str, node: cst.Call) -> Value:
    """What is not known, put into batches of a known size: a pipeline, of which is known how many examples it gives."""
    size = given.get(0, "batch_size")
    if size is None or integer(size) is None:
        return machine.unknown(Unknown(name), given, node)
    made = Dataset("a pipeline", Asked(node, machine.evaluator, Unknown("a pipeline"), given), (), Unknown("element"))
    return machine.call(plain(made).attribute(name), given, node)


def _as_tuple(value: Value) -> Value:
    return value


def made(machine: Machine, target: Api, given: Arguments, node: cst.Call) -> Value | None:
    """A pipeline whose elements the model does not say; None for what is none."""
    name = target.name
    if name.rpartition(".")[2] == "from_generator":
        found = machine.asked(target, given, node)
        return found
    return None


def of_object(machine: Machine, receiver: Object, name: str, given: Arguments, node: cst.Call) -> Value | None:
    """The batches of an `ImageDataGenerator`."""
    if not (receiver.type_name or "").endswith(GENERATOR) or name not in FLOWS:
        return None
    said = given.get(None, "batch_size")
    if said is None and name == "flow":
        said = given.get(2)
    batch = 32 if said is None or said == NONE else integer(said)
    x, y = given.get(0, "x"), given.get(1, "y")
    if name == "flow":
        image, label = (plain(x) if x is not None else Unknown("x")), plain(y) if y is not None else NONE
        parts = [_batched(each, batch) for each in (image, label) if isinstance(each, Array)]
        known = isinstance(image, Array)
        element: Value = (parts[0] if len(parts) == 1 else Sequence(tuple(parts))) if known else Unknown("a batch")
    else:
        element = _images(given, batch)
    return Iterator(Unknown("a generator of images"), element, "flow")


def _batched(array: Value, batch: int | None) -> Value:
    shape = array.shape if isinstance(array, Array) else None
    return Array("np", "float32", (batch, *shape[1:]) if shape else None)


def _images(given: Arguments, batch: int | None) -> Value:
    size = given.get(None, "target_size")
    if size is None and len(given.positions) > 1 and isinstance(given.positions[1], Sequence):
        size = given.positions[1]
    sides = shape_of(plain(size)) if size is not None else (256, 256)
    if sides is None:
        sides = (None, None)
    mode = constant(given.names.get("color_mode", Const("rgb")))
    channels = {"grayscale": 1, "rgba": 4}.get(str(mode), 3)
    images = Array("np", "float32", (batch, *sides, channels))
    kind = given.names.get("class_mode", Const("categorical"))
    said = constant(kind)
    classes = given.names.get("classes")
    if kind == NONE:
        return images
    count = len(leaves(classes)) if classes is not None and classes.known else None
    labels: Value = Array("np", "float32", (batch, count) if said == "categorical" else (batch,))
    return Sequence((images, images if said == "input" else labels))


