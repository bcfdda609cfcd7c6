"""Models of TensorFlow Hub: those that are networks of `keras.applications`, by what their handles say.

Handles name the network (`.../imagenet/mobilenet_v2_100_224/feature_vector/5`), as https://tfhub.dev lists them. Of all
others is known at most what they are said to give.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import applications, networks, objects, operations
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import NONE, Object, Traced, leaves, plain
from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Api, Const, Sequence, Shape, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

LAYER = "KerasLayer"
APPLICATIONS = "tf.keras.applications."
CLASSES = 1001
"""Of ImageNet, with one for the background."""

NETWORKS = (
    (r"mobilenet_v2(?:_100_(\d+))?", "MobileNetV2"), (r"mobilenet_v1_100_(\d+)", "MobileNet"),
    (r"inception_v3", "InceptionV3"), (r"resnet_v2_(50|101|152)", "ResNet{}V2"),
    (r"resnet_(?:v1_)?(50|101|152)", "ResNet{}"), (r"efficientnet[/_](?:lite)?(b[0-7])", "EfficientNet{}"),
    (r"efficientnet_v2_imagenet1k_(b[0-3])", "EfficientNetV2{}"),
)  # fmt: skip
WIDTHS = re.compile(r"(?:dim(\d+)|-(\d+)dim)(?:-with-normalization)?(?:/\d+)?/?$|universal-sentence-encoder")
SENTENCES = 512
"""Numbers that the universal sentence encoder gives for a text."""


def made(machine: Machine, given: Arguments, node: cst.Call) -> Object:
    """What `hub.KerasLayer(handle, ...)` makes."""
    handle = constant(given.positions[0]) if given.positions else constant(given.names.get("handle", NONE))
    name = network(handle) if isinstance(handle, str) else None
    if name is None or not isinstance(handle, str):
        target = Api(f"tensorflow_hub.{LAYER}")
        return objects.new(machine, target.name, Asked(node, machine.evaluator, target, given))
    top = "classification" in handle
    names: dict[str, Value] = {"include_top": Const(top), "weights": NONE}
    names |= {"classes": Const(CLASSES)} if top else {"pooling": Const("avg")}
    side = re.search(r"_(\d{3})/", handle)
    names["input_shape"] = given.names.get("input_shape") or _square(int(side.group(1)) if side else _side(name))
    target = Api(APPLICATIONS + name)
    call = Asked(node, machine.evaluator, target, Arguments((), names))
    model = objects.new(machine, "tf.keras.Model", call)
    networks.named(machine, model, "KerasLayer")
    applications.build(machine, model, call, node)
    objects.set_attribute(machine, model, "trainable", given.names.get("trainable", Const(False)))
    return model


def network(handle: str) -> str | None:
    """The network of `keras.applications` that a handle names; None for others, and for those of other widths."""
    if "feature" not in handle and "classification" not in handle:
        return None
    for pattern, name in NETWORKS:
        found = re.search(rf"(?<![a-z0-9_]){pattern}(?![a-z0-9_])", handle)
        if found is not None and "lite" not in handle:
            size = found.group(1) if found.groups() else None
            return name.format((size or "").upper())
    return None


def _side(name: str) -> int:
    return 299 if name.startswith("Inception") else 224


def _square(side: int) -> Sequence:
    return Sequence((Const(side), Const(side), Const(3)))


def is_unknown(layer: Object) -> bool:
    """Whether a layer is one of TensorFlow Hub of which is not known what is in it."""
    return (layer.type_name or "").endswith(f"hub.{LAYER}") and isinstance(layer.call, Asked)


def applied(machine: Machine, layer: Object, given: Arguments, node: cst.Call) -> Value:
    """What such a layer gives: for each example what it is said to give."""
    tensors = [t for value in given.positions for t in leaves(value) if isinstance(t, Traced)]
    shape = _given_back(layer)
    if shape is None:
        return operations.unknown(machine, LAYER, tensors, node)
    output = machine.record.tensor((None, *shape), "float32")
    line = operations.line_of(machine, node)
    numbers = tuple(t.number for t in tensors)
    why = f"what is in `{LAYER}`"
    machine.record.add(Node(LAYER, line, numbers, (output.number,), arguments=dict(given.names), why=why))
    return output


def _given_back(layer: Object) -> Shape | None:
    assert isinstance(layer.call, Asked)
    said = layer.call.given_values.names.get("output_shape")
    if said is not None:
        return shape_of(plain(said))
    handle = constant(layer.call.given_values.get(0, "handle") or NONE)
    found = WIDTHS.search(handle) if isinstance(handle, str) else None
    return (int(found.group(1) or found.group(2) or SENTENCES),) if found is not None else None
