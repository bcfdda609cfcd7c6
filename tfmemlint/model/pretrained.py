"""How many parameters the networks of `tf.keras.applications` have."""

from __future__ import annotations

from tfmemlint.model.calls import Call
from tfmemlint.model.values import Const, Sequence, Value, constant, integer

WITHOUT_TOP = {
    "Xception": (20_861_480, 2048), "ResNet50": (23_587_712, 2048), "ResNet101": (42_658_176, 2048),
    "ResNet152": (58_370_944, 2048), "ResNet50V2": (23_564_800, 2048), "ResNet101V2": (42_626_560, 2048),
    "ResNet152V2": (58_331_648, 2048), "InceptionV3": (21_802_784, 2048), "InceptionResNetV2": (54_336_736, 1536),
    "MobileNet": (3_228_864, 1024), "MobileNetV2": (2_257_984, 1280), "DenseNet121": (7_037_504, 1024),
    "DenseNet169": (12_642_880, 1664), "DenseNet201": (18_321_984, 1920), "NASNetMobile": (4_269_716, 1056),
    "EfficientNetB0": (4_049_571, 1280), "EfficientNetB1": (6_575_239, 1280), "EfficientNetB2": (7_768_569, 1408),
    "EfficientNetB3": (10_783_535, 1536), "EfficientNetB4": (17_673_823, 1792), "EfficientNetB5": (28_513_527, 2048),
}  # fmt: skip
"""Parameters without the top, and the channels that the top's one layer is given."""


def parameters(model: Call) -> int | None:
    """The number of parameters of such a network, or None where it is not known."""
    known = WITHOUT_TOP.get((model.name or "").rpartition(".")[2])
    changed = any(model.arg(name) is not None for name in ("alpha", "depth_multiplier", "input_tensor"))
    if known is None or model.open or changed:
        return None
    if model.arg("input_shape") is not None and not _of_colours(model.value_of("input_shape")):
        return None
    body, channels = known
    if constant(model.value_of("include_top")) is False:
        return body
    classes = integer(model.value_of("classes")) if model.arg("classes") is not None else 1000
    return None if classes is None else body + (channels + 1) * classes


def _of_colours(shape: Value) -> bool:
    """Whether an input's shape ends in three channels."""
    return isinstance(shape, Sequence) and len(shape.items) == 3 and shape.items[-1] == Const(3)
