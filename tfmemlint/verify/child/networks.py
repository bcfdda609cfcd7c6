"""Stands in for the networks of libraries that are not there, which take the arguments of those of Keras; loaded by
`main.py`. One small layer gives what the network would give, by its shape."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

ASKED = frozenset({"encoder_weights", "include_top", "input_shape", "input_tensor", "pooling", "weights"})
"""Arguments of which two tell a network."""

IMAGE, STRIDE, FEATURES, CLASSES = (224, 224, 3), 32, 512, 1000
"""Of an image where none is told, and of what a network makes of it."""


class Networks:
    """Makes them; `made_up` is told of each, as it has a size of its own."""

    def __init__(self, made_up: Callable[[str], None]) -> None:
        self._made_up = made_up

    def make(self, path: str, options: Mapping[str, Any]) -> Any:
        """The network for a call with these named arguments; None for a call of something else."""
        if len(ASKED & options.keys()) < 2:
            return None
        try:
            made = _network(sys.modules["tensorflow"].keras, options)
        except (TypeError, ValueError):
            return None
        self._made_up(f"{path}() is not installed: a network of one small layer stands for it")
        return made


def _network(keras: Any, options: Mapping[str, Any]) -> Any:
    layers, image = keras.layers, options.get("input_tensor")
    if image is None:
        image = keras.Input(tuple(options.get("input_shape") or IMAGE))
    if "encoder_weights" in options:  # of a segmentation: what it gives is as large as the image
        classes = int(options.get("classes", 1))
        return keras.Model(image, layers.Conv2D(classes, 1, activation=options.get("activation"))(image))
    made = layers.Conv2D(FEATURES, 3, strides=STRIDE, padding="same")(image)
    top = options.get("include_top", True)
    if top or options.get("pooling"):
        made = layers.GlobalAveragePooling2D()(made)
    if top:
        made = layers.Dense(int(options.get("classes", CLASSES)), activation="softmax")(made)
    return keras.Model(image, made)
