"""Images and other arrays that are read from a file each: which call reads one, and what is known of its pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.transfer.table import dtype_of, shape_of
from tfmemlint.model.values import ITEM_BYTES, Api, Const, Function, Sequence, Value, integer
from tfmemlint.query.flow.endings import ending
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import Binds, Definition, written

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

    Seen = set[tuple[cst.BaseExpression, tuple[Call, ...]]]

FOLLOWED_STEPS = 100
"""Expressions that are looked at for one array, on all the ways that branches leave: reading, colours, size and dtype
with a name each are some ten."""

METHODS = frozenset({
    "resize", "convert", "crop", "astype", "numpy", "reshape", "transpose", "copy", "rotate", "squeeze", "filter",
    "get_fdata", "get_data", "swapaxes", "flatten", "ravel",
})  # fmt: skip
"""Methods of images and arrays, by their words, that give an image again."""

OF_MATPLOTLIB = {".png": "float32", ".jpg": "uint8", ".jpeg": "uint8"}
FLOATS = "floats"
"""A dtype of floats, of which is not known how wide they are."""

GRAY, COLOUR = frozenset({"L", "1", "P", "grayscale"}), frozenset({"RGB", "rgb"})
"""Modes of Pillow and of Keras with one and with three channels."""


@dataclass(frozen=True, slots=True)
class ReadArray:
    """An array that is read from a file: by which call, and what is known of its height and width, its channels and
    its dtype (`floats` for some float), after what is done with it; each None where it is not known."""

    read: Call
    sides: tuple[int, int] | None = None
    channels: int | None = None
    dtype: str | None = None

    @property
    def floats(self) -> bool:
        """Whether it is certainly of floats."""
        return self.dtype is not None and "float" in self.dtype

    def bytes(self, dtype: str) -> int | None:
        """Its bytes in a dtype, where its size is known."""
        if self.sides is None or self.channels is None:
            return None
        return math.prod(self.sides) * self.channels * ITEM_BYTES[dtype]


def read_array(file: File, node: cst.BaseExpression) -> ReadArray | None:
    """The array read from a file of its own that an expression certainly is, perhaps resized, converted or scaled;
    None where it may be anything else, such as features computed of it.

    Names, functions of the module (`FOLLOWED_CALLS` deep) and parameters, by what the callers pass, are seen through.
    """
    return _behind(file, node, (), set())


def one_picture(file: File, node: cst.BaseExpression) -> ReadArray | None:
    """The same where it is the picture of one file. None for volumes and files of arrays, which may hold a whole data
    set, and where nothing shows that it is one."""
    found = read_array(file, node)
    return found if found is not None and knowledge.in_group(found.read.name, "reads_picture") else None


def _behind(file: File, node: cst.BaseExpression, calls: tuple[Call, ...], seen: Seen) -> ReadArray | None:
    if (node, calls) in seen or len(seen) >= FOLLOWED_STEPS:
        return None
    seen.add((node, calls))
    if isinstance(node, cst.Call):
        return _of_call(file, file.call(node), calls, seen)
    if isinstance(node, cst.BinaryOperation):
        found = _behind(file, node.left, calls, seen) or _behind(file, node.right, calls, seen)
        return _scaled(found, node)
    if isinstance(node, cst.Subscript):
        return _cut(_behind(file, node.value, calls, seen), node)
    if isinstance(node, cst.IfExp):
        return _behind(file, node.body, calls, seen) or _behind(file, node.orelse, calls, seen)
    if isinstance(node, cst.Attribute) and node.attr.value in ("pixel_array", "T", "dataobj"):
        return _behind(file, node.value, calls, seen)
    if not isinstance(node, cst.Name):
        return None
    bound = written(file.definitions(node))
    return _first(_bound(file, each, calls, seen) for each in bound)


def _bound(file: File, found: Definition, calls: tuple[Call, ...], seen: Seen) -> ReadArray | None:
    """What an assignment, a `with` or a parameter gives its name."""
    if isinstance(found.value, cst.AugAssign):
        earlier = _behind(file, found.value.target, calls, seen)
        return replace(earlier, dtype=_float_of(earlier.dtype)) if earlier is not None else None
    if found.binds is Binds.PARAMETER:
        if calls:
            given = calls[-1].arg(found.name)
            return _behind(file, given.expression, calls[:-1], seen) if given is not None else None
        home = file.contexts.function(found.node) or found.scope
        passed = (call.arg(found.name) for call in file.call_graph.callers(home) or ())
        return _first(_behind(file, each.expression, (), seen) for each in passed if each is not None)
    if found.path or found.binds is Binds.ITEM or not isinstance(found.value, cst.BaseExpression):
        return None
    return _behind(file, found.value, calls, seen)


def _first(found: Iterable[ReadArray | None]) -> ReadArray | None:
    return next((each for each in found if each is not None), None)


# -- calls -----------------------------------------------------------------------------------------------------------


def _of_call(file: File, call: Call, calls: tuple[Call, ...], seen: Seen) -> ReadArray | None:
    if knowledge.in_group(call.name, "reads_array"):
        by_ending = (call.name or "").startswith("matplotlib.") and call.node.args
        dtype = _of_matplotlib(file, call.node.args[0].value, calls) if by_ending else None
        return replace(_read(call), dtype=dtype) if by_ending else _read(call)
    function = call.target.node if isinstance(call.target, Function) else None
    if isinstance(function, cst.FunctionDef):
        if len(calls) >= FOLLOWED_CALLS or file.yields(function):
            return None
        gives = (each.value for each in file.returns(function) if each.value is not None)
        return _first(_behind(file, each, (*calls, call), seen) for each in gives)
    receiver = call.receiver_node
    prepared = (call.name or "").startswith("tf.keras.applications.") and call.method == "preprocess_input"
    if prepared or knowledge.in_group(call.name, "keeps_pixels"):
        first = call.node.args[0].value if call.node.args else None
        if isinstance(first, (cst.List, cst.Tuple)) and first.elements:
            first = first.elements[0].value  # of `np.stack([gray] * 3)` and its like, one of the channels
        found = _behind(file, first, calls, seen) if first is not None else None
        return replace(found, dtype=_float_of(found.dtype)) if prepared and found is not None else _changed(found, call)
    if receiver is None or call.method not in METHODS:
        return None
    return _by_method(_behind(file, receiver, calls, seen), call)


def _read(call: Call) -> ReadArray:
    word = (call.name or "").rpartition(".")[2]
    if word == "load_img":
        sides = shape_of(call.given("target_size"))
        gray = call.given("color_mode") == Const("grayscale") or call.given("grayscale") == Const(True)
        return ReadArray(call, _sides(sides), 1 if gray else 3, "uint8")
    if call.name == "cv2.imread":
        flags = call.value_of(1)
        gray = flags == Const(0) or _last(flags) == "IMREAD_GRAYSCALE"
        plain = call.arg(1, "flags") is None or flags == Const(1) or _last(flags) == "IMREAD_COLOR"
        return ReadArray(call, None, 1 if gray else 3 if plain else None, "uint8")
    bytes_ = call.name in ("PIL.Image.open", "tf.io.read_file") or "imageio" in (call.name or "")
    return ReadArray(call, None, None, "uint8" if bytes_ else None)


def _of_matplotlib(file: File, path: cst.BaseExpression, calls: tuple[Call, ...]) -> str | None:
    """The dtype in which Matplotlib reads an image, by how the name of its file ends, where that is written: PNG is
    scaled to floats, anything else is left as it is.

    Source: https://matplotlib.org/stable/api/image_api.html#matplotlib.image.imread
    """
    end = ending(file, path)
    if end is not None:
        return next((dtype for word, dtype in OF_MATPLOTLIB.items() if end.lower().endswith(word)), None)
    made = file.only_definition(path)
    given = calls[-1].arg(made.name) if made is not None and made.binds is Binds.PARAMETER and calls else None
    return _of_matplotlib(file, given.expression, calls[:-1]) if given is not None else None


def _changed(found: ReadArray | None, call: Call) -> ReadArray | None:
    """What a function makes of an image."""
    if found is None:
        return None
    name, word = call.name or "", (call.name or "").rpartition(".")[2]
    if name in ("np.array", "np.asarray") and call.arg("dtype") is None:
        return found
    if word in ("array", "asarray"):
        return replace(found, dtype=dtype_of(call.given("dtype"), "float64"))
    if name == "tf.cast":
        return replace(found, dtype=dtype_of(call.value_of("dtype"), "float32"))
    if name in ("np.float32", "np.float64", "np.uint8"):
        return replace(found, dtype=word)
    if word == "img_to_array" or name == "tf.image.convert_image_dtype":
        return replace(found, dtype="float32")
    if name.startswith("tf.io.decode_"):
        return replace(found, channels=integer(call.given("channels")) or None)
    if word in ("resize", "resize_with_pad", "resize_with_crop_or_pad", "imresize"):
        return _resized(found, call, name)
    if name == "cv2.cvtColor" or word == "rgb2gray":
        code = _last(call.given(1)) if name == "cv2.cvtColor" else "2GRAY"
        channels = 1 if code.endswith("2GRAY") else 3 if "GRAY2" in code else found.channels
        return replace(found, channels=channels)
    floats = name.startswith("skimage.") and word not in ("img_as_ubyte",)
    same = name.startswith(("np.", "skimage.exposure", "skimage.color", "skimage.img")) or word in SAME_SIZE
    return replace(found, dtype="float64" if floats else found.dtype, sides=found.sides if same else None)


SAME_SIZE = frozenset({
    "GaussianBlur", "blur", "medianBlur", "flip", "equalizeHist", "bitwise_not", "normalize", "expand_dims", "squeeze",
    "convert_to_tensor", "flip_left_right", "random_flip_left_right", "per_image_standardization", "grayscale_to_rgb",
})  # fmt: skip
"""Functions, by their words, that leave height and width as they are."""


def _resized(found: ReadArray, call: Call, name: str) -> ReadArray:
    given = call.given(1)
    sides = _sides(shape_of(given)) if isinstance(given, Sequence) else None
    if name == "tf.image.resize_with_pad" or name == "tf.image.resize_with_crop_or_pad":
        sides = _sides((integer(call.given(1)), integer(call.given(2))))
    if name == "cv2.resize" and sides is not None:
        sides = sides[::-1]
    dtype = "float64" if name.startswith("skimage.") else "float32" if name == "tf.image.resize" else found.dtype
    return replace(found, sides=sides, dtype=dtype)


def _by_method(found: ReadArray | None, call: Call) -> ReadArray | None:
    """What a method makes of an image."""
    if found is None or call.method in ("numpy", "copy", "squeeze", "flatten", "ravel", "reshape"):
        return found
    if call.method == "resize":
        sides = _sides(shape_of(call.given(0, "size")))
        return replace(found, sides=sides[::-1] if sides is not None else None)
    if call.method == "convert":
        mode = call.given(0, "mode")
        word = mode.value if isinstance(mode, Const) else None
        return replace(found, channels=1 if word in GRAY else 3 if word in COLOUR else None)
    if call.method == "astype":
        return replace(found, dtype=dtype_of(call.given(0, "dtype"), "float64"))
    if call.method in ("get_fdata", "get_data"):
        return replace(found, dtype="float64")
    return replace(found, sides=None)


def _scaled(found: ReadArray | None, node: cst.BinaryOperation) -> ReadArray | None:
    divided = isinstance(node.operator, (cst.Divide, cst.Multiply, cst.Subtract, cst.Add))
    if found is None or not divided:
        return None
    whole = isinstance(node.right, cst.Integer) and not isinstance(node.operator, cst.Divide)
    return found if whole else replace(found, dtype=_float_of(found.dtype))


def _cut(found: ReadArray | None, node: cst.Subscript) -> ReadArray | None:
    """What a subscript leaves of an image: all of it where it only turns or adds axes."""
    if found is None:
        return None
    slices = [each.slice for each in node.slice]
    whole = all(
        (isinstance(each, cst.Slice) and each.lower is None and each.upper is None)
        or (isinstance(each, cst.Index) and isinstance(each.value, (cst.Ellipsis, cst.Name, cst.Attribute)))
        for each in slices
    )
    return found if whole else replace(found, sides=None)


def _float_of(dtype: str | None) -> str:
    """The dtype of an image that is scaled by a float: NumPy makes float64 of integers."""
    return dtype if dtype is not None and "float" in dtype else "float64" if dtype is not None else FLOATS


def _sides(shape: tuple[int | None, ...] | None) -> tuple[int, int] | None:
    if shape is None or len(shape) < 2 or shape[0] is None or shape[1] is None:
        return None
    return shape[0], shape[1]


def _last(value: Value) -> str:
    """The last word of a library's constant: `IMREAD_GRAYSCALE`."""
    return value.name.rpartition(".")[2] if isinstance(value, Api) else ""
