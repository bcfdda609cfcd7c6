"""What the rule about float64 tensors leaves out, and how it narrows what it reports."""

from __future__ import annotations

import math

import libcst as cst

from tfmemlint.api import (
    Api,
    Argument,
    Array,
    Call,
    Const,
    Edit,
    File,
    Fix,
    Instance,
    Length,
    constant,
    fixes,
    integer,
    keras,
    knowledge,
    limits,
    tensors,
)

NUMPY = "tf.experimental.numpy."
NUMPY_LIKE = tuple(
    NUMPY + name
    for name in (
        "zeros", "ones", "empty", "eye", "identity", "linspace", "full", "random.randn", "random.rand",
        "random.uniform", "random.normal", "random.random", "random.standard_normal",
    )
)  # fmt: skip
"""What makes float64 by default, as NumPy does."""

NUMBERS = frozenset({"np.pi", "np.e", "np.inf", "np.nan", "math.pi"})
CONVERTS = frozenset({"tf.constant", "tf.convert_to_tensor", "tf.Variable", "tf.cast"})
INPUTS = frozenset({"tf.keras.Input", "tf.keras.layers.Input", "tf.keras.layers.InputLayer"})


def is_one_number(file: File, made: Call) -> bool:
    """Whether a single number is made, or converted, also one that is reckoned with a `len`."""
    if isinstance(made.value, Array) and made.value.shape == () and not file.contexts.mapped(made.node):
        return True
    first = made.arg(0)
    if first is None:
        return False
    value, node = first.value, first.expression
    if isinstance(node, cst.BinaryOperation) and not value.known:
        return any(isinstance(file.value(side), Length) for side in (node.left, node.right))
    number = isinstance(value, Const) or (isinstance(value, Api) and value.name in NUMBERS)
    return number and made.name in CONVERTS


def is_large(file: File, made: Call, size: int | None) -> bool:
    """Whether what a call makes certainly takes memory worth a word: a large tensor, a layer with many weights, the
    images of an input or of a pipeline's elements. Of what is not known nothing is said: a program that writes float64
    has mostly chosen it, for a few numbers."""
    shape = made.value.shape if isinstance(made.value, Array) else None
    if file.contexts.mapped(made.node):
        return shape is not None and len(shape) > 1
    if made.name in INPUTS:
        known = [length for length in shape or () if length is not None]
        return 8 * math.prod(known) >= limits.SMALL_DATA
    least = limits.SMALL_SAMPLE if isinstance(made.value, Instance) else file.config.min_bytes
    return size is not None and size >= least


def float64_bytes(file: File, made: Call) -> int | None:
    """Bytes of what a call makes: of a layer's weights, and also where only its `shape` argument tells (variables,
    placeholders); None where they are not known, and for the elements of a pipeline, of which there are many."""
    if file.contexts.mapped(made.node):
        return None
    if isinstance(made.value, Array) and made.value.shape is not None:
        return made.value.bytes
    count = keras.parameters_of(file, made) if isinstance(made.value, Instance) else None
    count = tensors.shape_size(made.given("shape")) if count is None else count
    return None if count is None else 8 * count


def begins_before(made: Call) -> bool:
    """Whether what a call is given is a float64 tensor already: the dtype begins there."""
    first = made.value_of(0)
    wide = isinstance(first, Array) and first.library == "tf" and first.dtype == "float64"
    return wide and made.name in CONVERTS


def narrowed(file: File, made: Call) -> Fix | None:
    """Write float32 wherever the argument of a call says float64 that makes what is computed together; None where one
    of them gets its dtype in another way. A layer casts what it is given, so that it can change alone."""
    together = [made] if isinstance(made.value, Instance) else tensors.float64_together(file, made) or []
    dtypes = [each.arg("dtype", "out_type") for each in together]
    said = [dtype for dtype in dtypes if dtype is not None and tensors.says_float64(dtype)]
    edits = [edit for edit in (_float32(file, dtype) for dtype in said) if edit is not None]
    return Fix.unsafe("use float32", edits) if edits and len(edits) == len(together) else None


def narrowed_alone(file: File, made: Call) -> Edit | None:
    """The same call with float32, whatever is computed with what it makes."""
    dtype = made.arg("dtype", "out_type")
    return _float32(file, dtype) if dtype is not None and tensors.says_float64(dtype) else None


def given_dtype(file: File, entering: tensors.Entering) -> Argument | None:
    """The argument that makes an array float64 in so many words, if that costs memory worth a word: the array is large,
    or Keras makes float32 of it again, so that the digits serve nothing."""
    array, made, size = entering.array, entering.array.dtype_call, entering.array.bytes
    dtype = made.arg("dtype") if made is not None and array.dtype == "float64" and array.shape != () else None
    if dtype is None or not tensors.says_float64(dtype):
        return None
    lost = is_lost(entering.taker) and (size is None or size >= limits.SMALL_SAMPLE)
    return dtype if lost or (size or 0) >= file.config.min_bytes else None


def is_lost(taker: Call) -> bool:
    """Whether what takes an array casts it to float32."""
    return knowledge.in_group(taker.name, "casts_to_floatx")


def narrowed_array(file: File, dtype: Argument, taker: Call) -> Fix | None:
    """Write float32 where a NumPy array gets its dtype, if what takes it into TensorFlow computes with it alone."""
    others = tensors.float64_beside(file, taker)
    return Fix.unsafe("use float32", _float32(file, dtype)) if others == [] else None


def float_bounds(file: File, made: Call) -> Fix | None:
    """Write both bounds of a range of numbers as floats, if what is computed with it can be float32."""
    bounds = [_float_bound(file, made.arg(name)) for name in ("start", "stop")]
    return Fix.unsafe("give float bounds", *bounds) if tensors.float64_together(file, made) == [made] else None


def _float32(file: File, dtype: Argument) -> Edit | None:
    """The same argument with float32 in the place of float64."""
    text = file.text(dtype.expression)
    if isinstance(dtype.expression, cst.Name):  # from numpy import float64
        known = fixes.api_text(file, "tf.float32") or fixes.api_text(file, "np.float32")
        return fixes.replace_node(file, dtype.expression, known) if known else None
    wide = next((word for word in ("float64", "double") if text.rstrip("'\"").endswith(word)), None)
    return fixes.replace_node(file, dtype.expression, text.replace(wide, "float32")) if wide is not None else None


def _float_bound(file: File, bound: Argument | None) -> Edit | None:
    """Write a whole number, in whatever way it is written, as a float; None for anything but a literal."""
    number = integer(bound.value) if bound is not None and isinstance(bound.expression, cst.Integer) else None
    if bound is None or number is None:
        return None
    return fixes.replace_node(file, bound.expression, repr(float(number)))


def _prefers_float32(file: File) -> bool:
    """Whether the program tells `tf.experimental.numpy` to prefer float32, or may."""
    told = file.calls("tf.experimental.numpy.experimental_enable_numpy_behavior")
    return any(call.open or constant(call.value_of("prefer_float32")) is True for call in told)


def numpy_like_elements(file: File, made: Call) -> int | None:
    """The number of float64 numbers that a call of `tf.experimental.numpy` makes; 1 where it makes others, None where
    it is not known."""
    name = (made.name or "").removeprefix(NUMPY)
    if made.open or made.arg("dtype") is not None or _prefers_float32(file):
        return 1
    if name == "full" and not isinstance(constant(made.value_of("fill_value")), float):
        return 1
    if name == "linspace":
        return integer(made.value_of("num")) if made.arg("num") is not None else 50
    if name in ("eye", "identity"):
        rows = integer(made.value_of(0))
        return rows * rows if rows is not None and len(made.node.args) == 1 else None
    if name in ("random.randn", "random.rand"):
        sizes = [integer(made.evaluator.value(arg.value, made.frame)) for arg in made.node.args]
        known = [size for size in sizes if size is not None]
        return math.prod(known) if len(known) == len(sizes) else None
    if name.startswith("random."):
        return (
            1
            if made.lacks("size") or made.value_of("size") == Const(None)
            else tensors.shape_size(made.value_of("size"))
        )
    return tensors.shape_size(made.value_of(0))
