"""Asks an installed Keras for the layers of its bundled networks, in the order in which each runs them.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from tfmemlint.dev.probe.values import preload

NAMES = (
    "VGG16", "VGG19", "ResNet50", "ResNet101", "ResNet152", "ResNet50V2", "ResNet101V2", "ResNet152V2", "MobileNet",
    "MobileNetV2", "MobileNetV3Small", "MobileNetV3Large", "DenseNet121", "DenseNet169", "DenseNet201", "InceptionV3",
    "Xception", "NASNetMobile", "EfficientNetB0", "EfficientNetB1", "EfficientNetB2", "EfficientNetB3",
    "EfficientNetB4", "EfficientNetV2B0", "EfficientNetV2B1", "EfficientNetV2B2", "EfficientNetV2B3", "EfficientNetV2S",
)  # fmt: skip

ARGUMENTS = (
    "filters", "kernel_size", "strides", "padding", "dilation_rate", "groups", "activation", "use_bias", "units",
    "rate", "pool_size", "depth_multiplier", "axis", "center", "scale", "cropping", "keepdims", "target_shape", "size",
    "interpolation", "noise_shape", "max_value", "negative_slope", "threshold",
)  # fmt: skip
"""What decides shapes, weights and what is kept of a layer; arguments that have their default are left out."""

SIDES = (224, 229, 193)
"""Sides of images with which a network is made: paddings of some depend on whether a side is even."""


def network_table(only: list[str]) -> dict[str, Any]:
    """The layers of each network, or of those in `only`; what layers are made with stands once, under `arguments`."""
    preload()
    applications, layer = import_module("keras").applications, import_module("keras").layers.Layer
    clear = import_module("keras").backend.clear_session
    kinds: dict[str, int] = {}
    arguments: dict[str, int] = {}
    found: dict[str, Any] = {}
    for name in only or NAMES:
        build = getattr(applications, name)
        clear()  # names are counted anew
        whole = build(weights=None)
        bodies = [build(weights=None, include_top=False, input_shape=(side, side, 3)) for side in SIDES]
        paddings = _paddings(bodies)
        rows: list[list[Any]] = []
        places = {id(tensor): place for place, tensor in enumerate(whole.inputs)}
        for operation in _order(whole):
            node = operation._inbound_nodes[0]
            said = paddings.get(operation.name) or _arguments(operation)
            place = len(rows) + 1
            given = [place - places[id(tensor)] for tensor in node.input_tensors]
            word = type(operation).__name__
            word = word if isinstance(operation, layer) else word.lower()
            kind = kinds.setdefault(word, len(kinds))
            made = arguments.setdefault(json.dumps(said, sort_keys=True), len(arguments))
            rows.append([kind, operation.name, made, *(given if given != [1] else [])])
            places[id(node.output_tensors[0])] = place
        body = len(_order(bodies[0]))
        found[f"tf.keras.applications.{name}"] = {"side": whole.input_shape[1], "body": body, "layers": rows}
    found["kinds"] = list(kinds)
    found["arguments"] = [json.loads(each) for each in arguments]
    return found


def _order(model: Any) -> list[Any]:
    """The operations of a model without its inputs, as it runs them."""
    depths = sorted(model._nodes_by_depth, reverse=True)
    return [node.operation for depth in depths for node in model._nodes_by_depth[depth] if not node.is_input]


def _arguments(operation: Any) -> dict[str, Any]:
    config = operation.get_config()
    default = {"padding": "valid", "groups": 1, "use_bias": True, "activation": "linear", "keepdims": False, "axis": -1,
               "center": True, "scale": True, "depth_multiplier": 1, "noise_shape": None, "negative_slope": 0.0,
               "threshold": 0.0, "interpolation": "nearest"}  # fmt: skip
    kind = type(operation).__name__
    found = {}
    for name in ARGUMENTS:
        if name not in config or config[name] == default.get(name, ...) or (kind, name) in _NONE:
            continue
        value = config[name]
        if name in ("strides", "dilation_rate") and "Conv" in kind and set(value) == {1}:
            continue
        found[name] = value[0] if isinstance(value, (list, tuple)) and _square(kind, value) else value
    scale = config.get("scale")
    if kind == "Rescaling":
        found = {"scale": scale if isinstance(scale, (int, float)) else 1.0}
    if kind == "Normalization":
        found = {}
    return found


_NONE = {("Reshape", "padding"), ("DepthwiseConv2D", "filters")}


def _square(kind: str, value: Any) -> bool:
    """Whether a size is one number for both sides."""
    flat = all(isinstance(each, int) for each in value)
    return len(value) == 2 and flat and len(set(value)) == 1 and kind != "Reshape"


def _paddings(bodies: list[Any]) -> dict[str, dict[str, Any]]:
    """The paddings that have one row and column more in front where the side is odd: what they are for an even one."""
    seen: dict[str, dict[int, Any]] = {}
    for body in bodies:
        for layer in body.layers:
            if type(layer).__name__ == "ZeroPadding2D":
                side = layer.input.shape[1]
                seen.setdefault(layer.name, {})[side % 2] = layer.get_config()["padding"]
    found = {}
    for name, by_side in seen.items():
        if len({json.dumps(each) for each in by_side.values()}) == 2:
            (top, bottom), (left, right) = even = by_side[0]
            if json.loads(json.dumps(by_side[1])) != [[top + 1, bottom], [left + 1, right]]:
                raise ValueError(f"{name} has other paddings for odd sides than are known")
            found[name] = {"padding": even, "odd": 1}
    return found
