"""Images and raw buffers read outside TensorFlow: OpenCV, Pillow, imageio, and the splits of scikit-learn."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import dtype_of, models
from tfmemlint.model.values import Array, Const, Instance, Method, Sequence, Table, Unknown, Value, constant, integer
from tfmemlint.syntax.numbers import bounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfmemlint.model.calls import Call

PILLOW = "PIL.Image.Image"

BYTE_MODES = frozenset({"L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV"})
"""Pillow's modes of one byte for each channel."""

THREE_COLORS = frozenset({"BGR", "RGB", "HSV", "HLS", "LAB", "Lab", "LUV", "Luv", "YUV", "XYZ", "YCrCb", "YCR_CB"})
"""Spaces of three channels, as OpenCV's codes name them."""


@models("cv2.imread", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread")
def _read(call: Call, target: Value) -> Value:
    flags = call.value_of(1) if call.arg(1) is not None else call.value_of("flags")
    if flags in (Const(0), Const("IMREAD_GRAYSCALE")) or getattr(flags, "name", "") == "cv2.IMREAD_GRAYSCALE":
        return Array("np", "uint8", (None, None), call)
    if flags == Const(-1) or getattr(flags, "name", "") in ("cv2.IMREAD_UNCHANGED", "cv2.IMREAD_ANYDEPTH"):
        return Array("np", None, None, call)
    return Array("np", "uint8", (None, None, 3) if getattr(target, "name", "") == "cv2.imread" else None, call)


@models("cv2.resize")
def _resize(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    if not isinstance(data, Array):
        return data if not data.known else Unknown("resizes something else")
    given = call.value_of(1) if call.arg(1) is not None else call.value_of("dsize")
    size = given.items if isinstance(given, Sequence) and len(given.items) == 2 else None
    if size is None or data.shape is None:
        return replace(data, shape=None)
    return replace(data, shape=(integer(size[1]), integer(size[0]), *data.shape[2:]))


@models("cv2.cvtColor")
def _colors(call: Call, target: Value) -> Value:
    """Other colors: the word behind the 2 says how many of them there are.

    Source: https://docs.opencv.org/4.x/d8/d01/group__imgproc__color__conversions.html
    """
    data = call.value_of(0)
    if not isinstance(data, Array):
        return Unknown("changes something not known")
    code = call.value_of(1) if call.arg(1) is not None else call.value_of("code")
    word = getattr(code, "name", "").rpartition("2")[2]
    rows = data.shape[:2] if data.shape is not None else (None, None)
    colors = {"GRAY": (), "BGRA": (4,), "RGBA": (4,)}.get(word, (3,) if word in THREE_COLORS else None)
    return replace(data, shape=(*rows, *colors) if colors is not None else None)


@models("cv2.flip", "cv2.GaussianBlur", "cv2.blur", "cv2.medianBlur", "cv2.equalizeHist", "cv2.bitwise_not")
def _same_shape(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    return data if isinstance(data, Array) else Unknown("changes something not known")


@models("cv2.rotate", "cv2.warpAffine", "cv2.copyMakeBorder")
def _same_dtype(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    return replace(data, shape=None) if isinstance(data, Array) else Unknown("changes something not known")


@models("PIL.Image.open", "tf.keras.utils.load_img", "tf.keras.preprocessing.image.load_img")
def _open(call: Call, target: Value) -> Value:
    return Instance(PILLOW, call)


@models(*(f"{PILLOW}.{name}" for name in ("resize", "crop", "rotate", "transpose", "copy", "filter", "__enter__")))
def _same_image(call: Call, target: Value) -> Value:
    return target.receiver if isinstance(target, Method) else Unknown("an image")


@models(f"{PILLOW}.convert")
def _convert(call: Call, target: Value) -> Value:
    mode = constant(call.value_of(0)) if call.arg(0) is not None else constant(call.value_of("mode"))
    return Instance(PILLOW, call) if mode in BYTE_MODES else Unknown("an image of another kind of pixels")


@models("np.frombuffer", "np.fromfile")
def _buffer(call: Call, target: Value) -> Value:
    dtype = dtype_of(call.value_of("dtype"), "float64") if call.arg("dtype") is not None else "float64"
    return Array("np", dtype, (None,), call, call.arg("dtype") is not None)


@models("sklearn.model_selection.train_test_split")
def _split(call: Call, target: Value) -> Value:
    parts: list[Value] = []
    for arg in call.node.args:
        if arg.keyword is None and not arg.star:
            part = call.evaluator.value(arg.value, call.frame)
            rows = part.shape[0] if isinstance(part, Array) and part.shape else None
            parts += [_some_rows(part, length) for length in _split_rows(call, rows)]
    return Unknown("parts that are not seen") if call.open else Sequence(tuple(parts), "list")


def _split_rows(call: Call, rows: int | None) -> tuple[int | None, int | None]:
    """The rows for training and for testing: a share of all rows or a number of them, and the rest where one is not
    given. Shares for testing are rounded up, for training down.

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.model_selection.train_test_split.html
    """
    if rows is None:
        return None, None
    train = _share(call, "train_size", rows, math.floor)
    test = _share(call, "test_size", rows, math.ceil)
    if call.lacks("test_size") and call.lacks("train_size"):
        test = math.ceil(rows / 4)
    if call.lacks("train_size") and test is not None:
        train = rows - test
    elif call.lacks("test_size") and train is not None:
        test = rows - train
    return _possible(train), _possible(test)


def _share(call: Call, name: str, rows: int, rounded: Callable[[float], int]) -> int | None:
    """The rows that a parameter asks for; None where it is not given or not known."""
    given = constant(call.value_of(name))
    return rounded(rows * given) if isinstance(given, float) else given if isinstance(given, int) else None


def _possible(length: int | None) -> int | None:
    return bounded(length) if length is not None else None


@models("sklearn.utils.shuffle")
def _shuffled(call: Call, target: Value) -> Value:
    given = [call.evaluator.value(arg.value, call.frame) for arg in call.node.args if arg.keyword is None]
    return given[0] if len(given) == 1 else Sequence(tuple(given), "list")


def _some_rows(data: Value, rows: int | None) -> Value:
    """Some of the rows of an array, with its dtype and its other sizes, or of a table."""
    if isinstance(data, Table):
        return data
    if not isinstance(data, Array):
        return Unknown("rows of something not known")
    return replace(data, shape=(rows, *data.shape[1:]) if data.shape else None)
