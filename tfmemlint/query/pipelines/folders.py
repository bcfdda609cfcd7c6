"""Folders of images that one of Keras' iterators reads as a single batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.layers.arguments import numbers, whole, word
from tfmemlint.model.values import integer
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.use import Does, Use
from tfmemlint.query.flow.uses import uses

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

GENERATOR = "tf.keras.preprocessing.image.ImageDataGenerator"
READERS = (f"{GENERATOR}.flow_from_directory", f"{GENERATOR}.flow_from_dataframe")
CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
ASKS = ("builtins.len", "builtins.type")
TARGET_SIZE = (256, 256)
"""The size of images where the program says none."""


@dataclass(frozen=True, slots=True)
class WholeFolder:
    """An iterator of which the first batch alone is taken: the call that makes it, the most images that the batch may
    have, the bytes of an image in float32, and the places `reads` that take the batch, each of which reads the files
    again."""

    made: Call
    most: int
    image: int
    reads: list[cst.Subscript]


def _whole_folders(file: File) -> Iterator[WholeFolder]:
    for made in file.calls(*READERS):
        most, image = whole(made, "batch_size"), _image_bytes(made)
        if most is None or image is None:
            continue
        taken = [(use, _first_item(file, use)) for use in uses(file, made.node)]
        reads = [item for _, item in taken if item is not None]
        if reads and all(item is not None or _looks(use) for use, item in taken):
            yield WholeFolder(made, most, image, reads)


whole_folders = Fact(_whole_folders, *READERS)
"""Each iterator over a folder of which certainly only the first batch is taken, by `data[0]`, so that the batch is the
data; none that a model or a loop is given."""


def _first_item(file: File, use: Use) -> cst.Subscript | None:
    """The place of a use that takes the first batch; None of other uses."""
    if use.does is not Does.ITEM or not isinstance(use.place, cst.Subscript) or len(use.place.slice) != 1:
        return None
    index = use.place.slice[0].slice
    return use.place if isinstance(index, cst.Index) and integer(file.value(index.value)) == 0 else None


def _looks(use: Use) -> bool:
    """Whether a use asks for a name, a number or a printed form of the iterator, and for no batch."""
    if use.does is Does.PASS:
        name = use.call.name if use.call is not None else None
        return name in ASKS or knowledge.in_group(name, "shows")
    return use.does is Does.READ


def _image_bytes(made: Call) -> int | None:
    """Bytes of one image in float32; None where its size is not known."""
    size = numbers(made.value_of("target_size")) if made.arg("target_size") is not None else TARGET_SIZE
    channels = CHANNELS.get(word(made, "color_mode", "rgb") or "")
    return 4 * size[0] * size[1] * channels if size is not None and len(size) == 2 and channels is not None else None
