"""Operations on images that are applied to a whole data set at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import ITEM_BYTES, Array, Instance, Shape, Value, integer
from tfmemlint.query.facts import Fact

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

DATA_SETS = "tf.keras.datasets."
"""The beginning of what loads a data set of known size."""

LAYERS = "tf.keras.layers."

FOLLOWED_OPS = 4
"""Casts behind each other that are seen through."""

SIDES = frozenset({"Resizing", "CenterCrop", "RandomCrop"})
"""Preprocessing layers that are told the height and width of what they give."""

KEEPS_SIZE = frozenset({
    "Rescaling", "Normalization", "RandomFlip", "RandomRotation", "RandomZoom", "RandomContrast", "RandomBrightness",
    "RandomTranslation",
})  # fmt: skip
"""Preprocessing layers that give float32 in the shape of what they are given."""

OF_DTYPES = ("tf.cast", "tf.image.convert_image_dtype")
CONVERTS = (*OF_DTYPES, "tf.one_hot")

CHANNELS = {"tf.image.grayscale_to_rgb": 3, "tf.image.rgb_to_grayscale": 1}
"""Functions that give another number of channels."""

SAME = frozenset({
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation", "flip_left_right",
    "flip_up_down", "random_brightness", "random_contrast", "random_flip_left_right", "random_flip_up_down",
    "random_hue", "random_saturation", "rgb_to_hsv", "rot90",
})  # fmt: skip
"""Functions of `tf.image` that give an image of the same size and dtype."""


@dataclass(frozen=True, slots=True)
class WholeOp:
    """A call that computes something of each example of a data set at once: the call that loads the data, the number of
    examples, and the bytes of what it gives."""

    call: Call
    loaded: Call
    rows: int
    bytes: int


def _whole_ops(file: File) -> Iterator[WholeOp]:
    named = [call for name in _functions() for call in file.calls(name)]
    objects = (file.call(node) for node in file.tree.of(cst.Call))
    layers = [call for call in objects if _layer(call) is not None]
    eager = [call for call in [*named, *layers] if not file.contexts.traced(call.node)]
    for call in sorted(eager, key=lambda call: file.tree.order(call.node)):
        data = call.node.args[0].value if call.node.args and not call.node.args[0].star else None
        value = call.evaluator.value(data, call.frame) if data is not None else None
        loaded = _loaded(value) if value is not None else None
        size = _bytes(call, value) if loaded is not None and isinstance(value, Array) else None
        if loaded is not None and size is not None and isinstance(value, Array) and value.shape and value.shape[0]:
            yield WholeOp(call, loaded, value.shape[0], size)


whole_ops = Fact(_whole_ops, "tf.image.", "tf.cast", "tf.one_hot", *(f"{LAYERS}{name}" for name in SIDES | KEEPS_SIZE))
"""Each call of `tf.image`, `tf.cast`, `tf.one_hot` or of a preprocessing layer that is given a data set of
`keras.datasets`, or rows of it, as one array of known size, outside of traced code and of maps."""


def _loaded(value: Value) -> Call | None:
    """The call that loads the data of which an array is made, by these functions alone."""
    for _ in range(FOLLOWED_OPS):
        made = value.origin if isinstance(value, Array) else None
        if made is None or (made.name or "").startswith(DATA_SETS):
            return made
        if made.name not in _functions():
            return None
        value = made.value_of(0)
    return None


def _functions() -> tuple[str, ...]:
    changes = ("tf.image.resize", "tf.image.resize_with_pad", "tf.image.resize_with_crop_or_pad")
    standard = ("tf.image.per_image_standardization",)
    return (*CONVERTS, *CHANNELS, *changes, *standard, *(f"tf.image.{word}" for word in sorted(SAME)))


def _layer(call: Call) -> str | None:
    """The class of the preprocessing layer that is called."""
    made = call.target
    name = made.type_name or "" if isinstance(made, Instance) else ""
    word = name.removeprefix(LAYERS)
    return word if name.startswith(LAYERS) and word in SIDES | KEEPS_SIZE else None


def _bytes(call: Call, data: Array) -> int | None:
    """The bytes of what a call gives for all of the data."""
    layer, name = _layer(call), call.name or ""
    if layer in SIDES and isinstance(call.target, Instance) and call.target.call is not None:
        made = call.target.call
        sides = (integer(made.value_of("height")), integer(made.value_of("width")))
        return _size((*(data.shape or ())[:1], *sides, *(data.shape or ())[3:]), "float32")
    if layer in KEEPS_SIZE or name == "tf.image.per_image_standardization":
        return _size(data.shape, "float32")
    if name in CHANNELS:
        return _size((*(data.shape or ())[:-1], CHANNELS[name]), data.dtype)
    if name.rpartition(".")[2] in SAME:
        return data.bytes
    if not isinstance(call.value, Array):
        return None
    if name in OF_DTYPES and data.library == "tf" and data.dtype == call.value.dtype:
        return None  # a tensor that has this dtype is given back as it is
    return call.value.bytes


def _size(shape: Shape | None, dtype: str | None) -> int | None:
    sizes = [size for size in shape or () if size is not None]
    if shape is None or len(sizes) < len(shape) or dtype not in ITEM_BYTES:
        return None
    return math.prod(sizes) * ITEM_BYTES[dtype or ""]
