"""What Python's own operations do to abstract values: attributes, items, iteration, arithmetic, joins of loops."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.arithmetic import array_binary, array_in_place, index_array
from tfmemlint.model.values import (
    BOTTOM,
    Api,
    Array,
    Const,
    Dataset,
    Devices,
    Instance,
    Iterator,
    Length,
    Mapping,
    Method,
    Sequence,
    Unknown,
    Value,
    constant,
    integer,
    number,
    one_of,
)

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

PYTHON: dict[str, Callable[[object, object], object]] = {
    "Add": operator.add, "Subtract": operator.sub, "Multiply": operator.mul, "Divide": operator.truediv,
    "FloorDivide": operator.floordiv, "Modulo": operator.mod, "Power": operator.pow, "LeftShift": operator.lshift,
    "RightShift": operator.rshift, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
}  # fmt: skip

LONGEST_TEXT = 1 << 16
"""Characters up to which strings are joined: a name that is doubled in each line would fill the memory."""

MOST_ITEMS = 1 << 12
"""Items up to which lists and tuples are joined."""

LONGEST_REPETITION = 100
"""Items up to which `[x] * n` is written out."""

CALLBACK = "tf.keras.callbacks.Callback"

METHOD_CLASSES = {"np": "np.ndarray", "tf": "tf.Tensor", "keras": "tf.keras.KerasTensor"}


def instance_of(name: str, call: Call | None = None) -> Value:
    """The value that an object of an API class has."""
    if name == "tf.data.Dataset" or "tf.data.Dataset" in knowledge.bases(name):
        return Dataset(None, call)
    if name == "np.ndarray":
        return Array("np")
    if name in ("tf.Tensor", "tf.Variable"):
        return Array("tf", variable=name == "tf.Variable")
    return Instance(name, call)


def type_name(value: Value) -> str | None:
    """The API class whose methods a value has."""
    if isinstance(value, Dataset):
        return "tf.data.Dataset"
    if isinstance(value, Array):
        return "tf.Variable" if value.variable else METHOD_CLASSES[value.library]
    if isinstance(value, Instance):
        return value.type_name
    return None


def attribute(base: Value, name: str) -> Value:
    """The attribute `name` of a value that is no module, class or object of this file."""
    if isinstance(base, Array):
        found = _array_attribute(base, name)
        if found is not None:
            return found
    if isinstance(base, Dataset) and name == "element_spec":
        return base.element
    if isinstance(base, Devices) and name == "device_type" and base.kind is not None:
        return Const(base.kind)
    if isinstance(base, Length) and name == "numpy":  # a cardinality is a tensor
        return Method(base, "tf.Tensor.numpy")
    if isinstance(base, Mapping) and name in ("items", "values", "get"):
        return Method(base, f"builtins.dict.{name}")
    if name == "output" and isinstance(base, Instance):
        from tfmemlint.model.layers.pretrained import output

        shown = output(base)
        if shown is not None:
            return shown
    owner = type_name(base)
    if name == "model" and owner is not None and CALLBACK in (owner, *knowledge.bases(owner)):
        return Instance("tf.keras.Model")  # the one that is trained
    if owner is None:
        return Unknown(f"attribute {name} of a {type(base).__name__.lower()}") if base.known else base
    return Method(base, knowledge.method_owner(owner, name) or f"{owner}.{name}")


def _array_attribute(base: Array, name: str) -> Value | None:
    if name == "shape":
        if base.shape is None:
            return Instance("shape of unknown rank")
        sizes = tuple(
            Length(base, n) if i == 0 else (Unknown("size") if n is None else Const(n))
            for i, n in enumerate(base.shape)
        )
        return Sequence(sizes)
    if name == "T" and base.shape is not None:
        return Array(base.library, base.dtype, base.shape[::-1], base.origin, base.explicit)
    if name == "size":
        return Const(base.size) if base.size is not None else Unknown("size")
    if name == "nbytes":
        return Const(base.bytes) if base.bytes is not None else Unknown("bytes")
    if name == "ndim":
        return Const(len(base.shape)) if base.shape is not None else Unknown("rank")
    if name == "dtype":
        return Api(f"np.{base.dtype}") if base.dtype else Unknown("dtype")
    return None


def item(value: Value, index: Value) -> Value:
    """`value[index]` for unpacking and subscripts with one index."""
    return one_of(_item(option, index) for option in value.options)


def _item(value: Value, index: Value) -> Value:
    position = constant(index)
    if isinstance(value, Sequence):
        if isinstance(position, int) and not value.open and -len(value.items) <= position < len(value.items):
            return value.items[position]
        return one_of(value.items) if value.items and not value.open else Unknown("item of a sequence")
    if isinstance(value, Mapping):
        found = value.get(position)
        return found if found.known else Unknown(f"key {position!r}")
    if isinstance(value, Devices):
        return Devices(value.kind, "one" if isinstance(position, int) else "any", value.call, value.logical)
    if isinstance(value, Iterator):
        return value.item
    if isinstance(value, Array):
        return index_array(value, [index])
    if isinstance(value, Instance) and value.type_name in ("h5py.File", "h5py.Group"):
        return Instance("h5py.Dataset", value.call)
    if isinstance(value, Instance) and value.type_name == "h5py.Dataset":
        return index_array(Array("np", None, None, value.call), [index])
    if isinstance(value, Instance) and value.type_name == "shape of unknown rank":
        return Length(Unknown("shape"), None) if position == 0 else Unknown("size")
    return value if not value.known else Unknown(f"item of a {type(value).__name__.lower()}")


def subscript(value: Value, indices: list[Value | slice]) -> Value:
    """`value[...]` with any indices and slices."""
    if isinstance(value, Array):
        return index_array(value, indices)
    if isinstance(value, Instance) and value.type_name == "h5py.Dataset":
        return index_array(Array("np", None, None, value.call), indices)
    if len(indices) == 1 and isinstance(indices[0], Value):
        return item(value, indices[0])
    if len(indices) == 1 and isinstance(indices[0], slice):
        bounds = [constant(b) for b in (indices[0].start, indices[0].stop, indices[0].step)]
        whole = [b for b in bounds if b is None or isinstance(b, int)]
        if isinstance(value, Sequence) and not value.open and len(whole) == 3 and whole[2] != 0:
            return Sequence(value.items[whole[0] : whole[1] : whole[2]], value.kind)
        if isinstance(value, Devices):
            every = isinstance(indices[0].start, Const) and bounds[0] in (None, 0)
            every = every and indices[0].stop == Const(None) and indices[0].step == Const(None)
            return Devices(value.kind, "all" if every else "some", value.call, value.logical)
    return value if not value.known else Unknown("a slice")


def rest(value: Value, bounds: slice) -> Value:
    """What a starred target gets: a list of some items."""
    if isinstance(value, Sequence) and not value.open:
        return Sequence(value.items[bounds], "list")
    return Unknown("the rest of something not known")


def unpacked(value: Value, path: tuple[int | slice, ...]) -> Value:
    """The part of a value that an unpacking target at `path` is bound to; a slice stands for a starred target."""
    for index in path:
        value = rest(value, index) if isinstance(index, slice) else item(value, Const(index))
    return value


def item_of(value: Value) -> Value:
    """One element of an iterated value."""
    return one_of(_item_of(option) for option in value.options)


def _item_of(value: Value) -> Value:
    if isinstance(value, Iterator):
        return value.item
    if isinstance(value, Dataset):
        return value.element
    if isinstance(value, Devices):
        # Every item of the whole list in turn; of a slice, some.
        return Devices(value.kind, "each" if value.selection == "all" else value.selection, value.call, value.logical)
    if isinstance(value, Sequence) and not value.open and value.items:
        return one_of(value.items)
    if isinstance(value, Array) and value.shape:
        return Array(value.library, value.dtype, value.shape[1:], value.origin, value.explicit)
    return value if not value.known else Unknown("an item of an iterable")


def unary(name: str, value: Value) -> Value:
    """`-x`, `+x`, `not x`, `~x`."""
    found = constant(value)
    if name == "Not":
        return Const(not found) if isinstance(value, Const) else Unknown("a truth value")
    if isinstance(found, (int, float)) and name in ("Minus", "Plus"):
        return number(-found if name == "Minus" else found)
    return value if isinstance(value, Array) else Unknown("a unary operation")


def binary(name: str, left: Value, right: Value) -> Value:
    """`left op right`, `name` being libcst's operator class: Add, Divide, MatrixMultiply, ..."""
    return one_of(_binary(name, a, b) for a in left.options for b in right.options)


def compared(left: Value, right: Value) -> Value:
    """What an element-wise comparison of two values gives."""
    return one_of(_compared(a, b) for a in left.options for b in right.options)


def _compared(left: Value, right: Value) -> Value:
    added = _binary("Add", left, right) if Const(None) not in (left, right) else Unknown("compared with None")
    if not isinstance(added, Array):
        return BOTTOM if added is BOTTOM else Unknown("a truth value")
    return Array(added.library, "bool", added.shape)


def in_place(name: str, left: Value, right: Value) -> Value:
    """What `left op= right` leaves in `left`."""
    if name == "BitOr" and isinstance(left, Api):
        return left  # os.environ |= {...}
    return one_of(array_in_place(name, a, b) or _binary(name, a, b) for a in left.options for b in right.options)


def _binary(name: str, left: Value, right: Value) -> Value:
    if left is BOTTOM or right is BOTTOM:
        return BOTTOM
    if isinstance(left, Array) or isinstance(right, Array):
        return array_binary(name, left, right)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and name == "Add":
        if len(left.items) + len(right.items) > MOST_ITEMS:
            return Sequence((), left.kind, open=True)
        return Sequence(left.items + right.items, left.kind, left.open or right.open)
    if isinstance(left, Dataset) and isinstance(right, Dataset) and name == "Add":
        return Dataset("tf.data.Dataset.concatenate", None, (), left.element, None, (left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping) and name == "BitOr":
        return Mapping(tuple({**dict(left.items), **dict(right.items)}.items()), left.open or right.open)
    if name == "Multiply" and isinstance(left, Sequence):
        return _repeated(left, right)
    a, b = constant(left), constant(right)
    if a is None or b is None or name not in PYTHON:
        return Unknown("arithmetic on values that are not known")
    return fold(name, a, b)


def _repeated(items: Sequence, times: Value) -> Value:
    """`[x] * 3`."""
    count = integer(times)
    if count is None or items.open or count * len(items.items) > LONGEST_REPETITION:
        return Unknown("a sequence repeated too often, or how often is not known")
    return Sequence(items.items * count, items.kind)


def fold(name: str, a: object, b: object) -> Value:
    """The constant `a op b`, or Unknown where it raises or is absurdly large."""
    if name == "Add" and isinstance(a, str) and isinstance(b, str):
        return Const(a + b) if len(a) + len(b) <= LONGEST_TEXT else Unknown("too long a string")
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return Unknown("arithmetic on other things than numbers")
    if name in ("Power", "LeftShift") and (abs(a) > 1 << 20 or abs(b) > 128):
        return Unknown("too large a power")
    try:
        result = PYTHON[name](a, b)
    except (ArithmeticError, TypeError, ValueError):
        return Unknown("arithmetic that raises")
    if not isinstance(result, (int, float)):  # a negative base of a broken power
        return Unknown("a complex number")
    return number(result)
