"""Where TensorFlow makes float64 without being asked for it by name."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Argument, Array, Call, Const, Edit, File, Sequence, Span, constant, integer, replace_node
from tfmemlint.syntax.literals import whole_number

NUMPY = "tf.experimental.numpy."
FILLED = ("zeros", "ones", "empty", "eye", "identity", "linspace", "full")
DRAWN = ("random.randn", "random.rand", "random.uniform", "random.normal", "random.random", "random.standard_normal")
PREFERS = ("tf.experimental.numpy.experimental_enable_numpy_behavior",)


@dataclass(frozen=True)
class Accident:
    """A place, what happens there, the bytes where they are known, and the edits that avoid it."""

    where: Call | Span
    what: str
    size: int | None
    edits: tuple[Edit, ...] = ()


def accidents(file: File) -> Iterator[Accident]:
    """All of them; what is known to be a single number is left out."""
    yield from _ranges(file)
    yield from _divisions(file)
    yield from _numpy_like(file)


def _ranges(file: File) -> Iterator[Accident]:
    for made in file.calls("tf.linspace"):
        value = made.value
        if isinstance(value, Array) and value.dtype == "float64":
            edits = [_as_float(made.arg(name), file) for name in ("start", "stop")]
            what = "linspace() with whole-number bounds is float64"
            yield Accident(made, what, value.bytes, tuple(e for e in edits if e) if all(edits) else ())


def _as_float(bound: Argument | None, file: File) -> Edit | None:
    """Writes a whole number, in whatever way it is written, as a float; None for anything but a literal."""
    if bound is None or not isinstance(bound.expression, cst.Integer):
        return None
    number = whole_number(bound.expression)
    return replace_node(file, bound.expression, repr(float(number))) if number is not None else None


def _divisions(file: File) -> Iterator[Accident]:
    for node in file.tree.of(cst.BinaryOperation):
        if not isinstance(node.operator, cst.Divide):
            continue
        left = file.value(node.left)
        if not isinstance(left, Array) or left.library != "tf" or left.dtype not in ("int32", "int64"):
            continue
        value = file.value(node)
        if isinstance(value, Array) and value.dtype == "float64" and value.shape:
            mapped = file.contexts.mapped(node)
            if value.bytes is None and not mapped:
                continue  # parts of a shape, counts: numbers more often than data
            size = None if mapped else value.bytes
            what = f"dividing {left.dtype} tensors gives float64 where float32 would do"
            yield Accident(file.span(node), what, size)


def _numpy_like(file: File) -> Iterator[Accident]:
    """`tf.experimental.numpy` has NumPy's defaults, unless it is told to prefer float32."""
    made = list(file.calls(*(NUMPY + name for name in (*FILLED, *DRAWN))))
    if not made or any(constant(c.value_of("prefer_float32")) is True or c.open for c in file.calls(*PREFERS)):
        return
    for call in made:
        name = (call.name or "").removeprefix(NUMPY)
        if call.open or call.arg("dtype") is not None:
            continue
        if name == "full" and not isinstance(constant(call.value_of("fill_value")), float):
            continue
        count = _count(call, name)
        if count is None or count > 1:
            yield Accident(
                call, "tf.experimental.numpy makes float64 as NumPy does", None if count is None else 8 * count
            )


def _count(call: Call, name: str) -> int | None:
    """The number of elements that such a call makes, or None."""
    if name == "linspace":
        return integer(call.value_of("num")) if call.arg("num") is not None else 50
    if name in ("eye", "identity"):
        rows = integer(call.value_of(0))
        return rows * rows if rows is not None and len(call.node.args) == 1 else None
    if name in ("random.randn", "random.rand"):
        sizes = [integer(call.evaluator.value(arg.value, call.frame)) for arg in call.node.args]
        return _product(sizes)
    if name.startswith("random."):
        if call.lacks("size") or call.value_of("size") == Const(None):
            return 1
        return elements_of(call.value_of("size"))
    return elements_of(call.value_of(0))


def elements_of(shape: object) -> int | None:
    """The number of elements of a shape argument, or None."""
    if isinstance(shape, Sequence) and not shape.open:
        return _product([integer(item) for item in shape.items])
    return integer(shape) if isinstance(shape, Const) else None


def _product(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return math.prod(known) if len(known) == len(sizes) else None
