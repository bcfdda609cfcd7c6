"""The networks of `tf.keras.applications`: their parameters, and the shape of what comes out of them."""

from __future__ import annotations

from tfmemlint import knowledge
from tfmemlint.model.calls import Call
from tfmemlint.model.layers.arguments import word
from tfmemlint.model.layers.data_formats import image_data_format
from tfmemlint.model.transfer.table import shape_of
from tfmemlint.model.values import Array, Const, Instance, Sequence, Shape, Value, constant, integer

PREFIX = "tf.keras.applications."
CLASSES = 1000
"""Of ImageNet, for which the networks are made unless they are told otherwise."""


def is_pretrained(model: Call) -> bool:
    """Whether a call makes one of these networks."""
    return (model.name or "").startswith(PREFIX)


def parameters(model: Call) -> int | None:
    """The number of parameters of such a network, or None where it is not known."""
    known = knowledge.application(model.name or "")
    changed = any(model.arg(name) is not None for name in ("alpha", "depth_multiplier", "input_tensor"))
    if known is None or model.open or changed:
        return None
    if model.arg("input_shape") is not None and not _of_colours(model.value_of("input_shape")):
        return None
    if constant(model.value_of("include_top")) is False:
        return known.features or None
    classes = integer(model.value_of("classes")) if model.arg("classes") is not None else CLASSES
    if known.parameters - known.features == (known.channels + 1) * CLASSES:  # a top of one dense layer
        return None if classes is None else known.features + (known.channels + 1) * classes
    return known.parameters if classes == CLASSES and model.arg("input_shape") is None else None


def _of_colours(shape: Value) -> bool:
    """Whether an input's shape ends in three channels."""
    return isinstance(shape, Sequence) and len(shape.items) == 3 and shape.items[-1] == Const(3)


def input_sizes(model: Call) -> Shape | None:
    """The image's height, width and channels that such a network is made for."""
    found = shape_of(model.value_of("input_shape")) if model.arg("input_shape") is not None else None
    if found is None and model.arg("input_tensor") is not None:
        tensor = model.value_of("input_tensor")
        found = tensor.shape[1:] if isinstance(tensor, Array) and tensor.shape else None
    return found if found is not None and len(found) == 3 else None


def output_shape(model: Call) -> Shape | None:
    """The shape of what comes out of such a network that is made without its top, or None."""
    known = knowledge.application(model.name or "")
    if known is None or constant(model.value_of("include_top")) is not False or model.arg("alpha") is not None:
        return None
    if image_data_format(model) != "channels_last":
        return None
    pooling = word(model, "pooling", "none") if model.value_of("pooling") != Const(None) else "none"
    if pooling in ("avg", "max"):
        return (None, known.channels)
    sizes = input_sizes(model)
    if pooling != "none" or sizes is None or not known.stride or any(n is None or n % known.stride for n in sizes[:2]):
        return None
    return (None, *((n or 0) // known.stride for n in sizes[:2]), known.channels)


def output(model: Value) -> Value | None:
    """`model.output` of such a network without its top, where its shape is known."""
    if isinstance(model, Instance) and model.call is not None and is_pretrained(model.call):
        shape = output_shape(model.call)
        return None if shape is None else Array("keras", "float32", shape, model.call)
    return None
