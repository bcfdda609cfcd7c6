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
    Length,
    calls,
    constant,
    fixes,
    integer,
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


def float64_bytes(made: Call) -> int | None:
    """Bytes of what a call makes, also where only its `shape` argument tells (weights, placeholders); None where they
    are not known."""
    if isinstance(made.value, Array) and made.value.shape is not None:
        return made.value.bytes
    count = tensors.shape_size(made.given("shape"))
    return None if count is None else 8 * count


def cast_back(file: File, made: Call) -> bool:
    """Whether the function computes in float64 and gives another dtype back: a choice of numerics."""
    function = file.contexts.function(made.node)
    if function is None or file.contexts.mapped(made.node):
        return False
    for cast in calls(file, function, "tf.cast"):
        dtype, narrowed = cast.arg("dtype"), cast.arg("x")
        if dtype is not None and narrowed is not None and not tensors.says_float64(dtype):
            wide = isinstance(narrowed.value, Array) and narrowed.value.dtype == "float64"
            if wide or file.tree.contains(narrowed.expression, made.node):
                return True
    return False


def narrowed(file: File, dtype: Argument) -> Fix | None:
    """Write float32 where the argument says float64."""
    text = file.text(dtype.expression)
    if isinstance(dtype.expression, cst.Name):  # from numpy import float64
        known = fixes.api_text(file, "tf.float32") or fixes.api_text(file, "np.float32")
        return Fix.unsafe("use float32", fixes.replace_node(file, dtype.expression, known) if known else None)
    wide = next((word for word in ("float64", "double") if text.rstrip("'\"").endswith(word)), None)
    if wide is None:
        return None
    return Fix.unsafe("use float32", fixes.replace_node(file, dtype.expression, text.replace(wide, "float32")))


def float_bound(file: File, bound: Argument | None) -> Edit | None:
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
