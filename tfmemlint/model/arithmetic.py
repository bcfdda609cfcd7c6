"""Shapes and dtypes through arithmetic and indexing, by the rules of NumPy 2 and TensorFlow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.values import Array, Const, Length, Sequence, Shape, Unknown, Value, constant, integer
from tfmemlint.syntax.numbers import range_length

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

_ORDER = (
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
)
FILES = frozenset({"np.load", "np.memmap", "np.lib.format.open_memmap", "h5py.File"})
"""Calls whose arrays may stay in a file until they are read."""

NEW_AXIS = (Const(None),)
INTEGERS = frozenset({"uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "bool"})
FLOATS = frozenset({"bfloat16", "float16", "float32", "float64"})


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of an element-wise operation on two shapes."""
    if a is None or b is None:
        return None
    longest = max(len(a), len(b))
    left = (1,) * (longest - len(a)) + tuple(a)
    right = (1,) * (longest - len(b)) + tuple(b)
    return tuple(_size(x, y) for x, y in zip(left, right, strict=True))


def _size(x: int | None, y: int | None) -> int | None:
    if x == 1:
        return y
    return (
        x
        if y == 1 or x == y
        else (x if y is None and x is not None and x > 1 else y if x is None and y is not None and y > 1 else None)
    )


def promote(a: str | None, b: str | None) -> str | None:
    """NumPy's common dtype of two arrays."""
    if a is None or b is None or a == b:
        return a if a == b else None
    if a not in _ORDER or b not in _ORDER:
        return None
    if a in FLOATS and b in FLOATS:
        return max(a, b, key=_ORDER.index)
    if a in FLOATS or b in FLOATS:
        real, whole = (a, b) if a in FLOATS else (b, a)
        needed = {"bool": "float16", "uint8": "float16", "int8": "float16", "uint16": "float32", "int16": "float32"}
        return max(real, needed.get(whole, "float64"), key=_ORDER.index)
    if "bool" in (a, b):
        return b if a == "bool" else a
    if a[0] == b[0]:
        return max(a, b, key=_ORDER.index)
    signed, unsigned = (a, b) if a[0] == "i" else (b, a)
    bits = max(int(signed[3:]), 2 * int(unsigned[4:]))
    return f"int{bits}" if bits <= 64 else "float64"


def array_binary(name: str, left: Value, right: Value) -> Value:
    """`left op right` where at least one side is an array."""
    a, b = (v if isinstance(v, Array) else None for v in (left, right))
    if name == "MatrixMultiply":
        return _matmul(a, b)
    first = a or b
    assert first is not None
    if a is not None and b is not None:
        tensor = next((x for x in (a, b) if x.library == "keras"), None) or next(
            (x for x in (a, b) if x.library == "tf"), None
        )
        dtype = promote(a.dtype, b.dtype) if tensor is None else tensor.dtype
        library = tensor.library if tensor is not None else "np"
        shape = broadcast(a.shape, b.shape)
        wide = b if dtype is not None and b.dtype == dtype != a.dtype else a  # the operand that decides the dtype
        explicit = wide.explicit or (a.explicit and a.dtype == b.dtype)
        # A symbolic tensor of two others comes from none of them alone.
        origin = None if library == "keras" else wide.origin or a.origin or b.origin
        beside = _beside(origin, dtype, a, b)
        return Array(library, divided(name, dtype, library), shape, origin, explicit, beside=beside)
    other = right if a is not None else left
    number = constant(other)
    if not isinstance(number, (int, float)):
        if not isinstance(other, Length):
            return Unknown("arithmetic of an array and something not known")
        number = 1
    dtype = first.dtype
    if isinstance(number, float) and dtype in INTEGERS:
        # NumPy makes float64 of it; TensorFlow raises, unless the tensor is made float first.
        dtype = "float64" if first.library == "np" else None
    return replace(first, dtype=divided(name, dtype, first.library), explicit=False, variable=False)


def _beside(origin: Call | None, dtype: str | None, *operands: Array) -> tuple[Call, ...]:
    """What made the operands that give the result its dtype, but for `origin`."""
    wide = [operand for operand in operands if operand.dtype == dtype]
    made = {id(call.node): call for each in wide for call in (each.origin, *each.beside) if call is not None}
    return tuple(call for call in made.values() if origin is None or call.node is not origin.node)


def array_in_place(name: str, left: Value, right: Value) -> Value | None:
    """`left op= right` where NumPy writes into the array on the left, whose dtype and shape stay; None elsewhere."""
    if not isinstance(left, Array) or left.library != "np" or left.shape == ():
        return None
    if left.dtype in INTEGERS:
        number = constant(right)
        whole = isinstance(right, (Const, Length)) and not isinstance(number, float) and name != "Divide"
        return left if left.shape is not None and whole else None  # anything else NumPy may refuse
    tensor = isinstance(right, Array) and right.library != "np"
    return None if tensor or left.dtype is None or not right.known else left


def divided(name: str, dtype: str | None, library: str) -> str | None:
    """The dtype after the operator: true division of integers makes floats."""
    if name != "Divide" or dtype not in INTEGERS:
        return dtype
    if library == "np":
        return "float64"
    return "float64" if dtype in ("int32", "int64", "uint32", "uint64") else "float32"


def _matmul(a: Array | None, b: Array | None) -> Value:
    if a is None or b is None:
        return Unknown("a matrix product with something not known")
    library = "tf" if "tf" in (a.library, b.library) else a.library
    shape = None
    if a.shape is not None and b.shape is not None and len(a.shape) >= 2 and len(b.shape) >= 2:
        shape = (*a.shape[:-1], b.shape[-1])
    return Array(library, promote(a.dtype, b.dtype), shape)


def index_array(array: Array, indices: list[Value | slice]) -> Value:
    """`array[...]`: whole numbers drop an axis, slices keep it, None and Ellipsis are understood."""
    base = replace(array, variable=False)
    if array.shape is None:
        return replace(base, shape=None, origin=None if part_of_file(array, indices) else array.origin)
    sizes: list[int | None] = []
    rest = list(array.shape)
    for position, index in enumerate(indices):
        if isinstance(index, slice):
            if not rest:
                return replace(base, shape=None)
            sizes.append(_sliced(rest.pop(0), index))
        elif index == Const(Ellipsis):
            later = sum(1 for i in indices[position + 1 :] if i not in NEW_AXIS)
            while len(rest) > later:
                sizes.append(rest.pop(0))
        elif index in NEW_AXIS:
            sizes.append(1)
        elif isinstance(index, Const) and isinstance(index.value, int) and rest:
            rest.pop(0)
        elif isinstance(index, Array):
            sizes.append(None)
            if not rest or (index.shape is not None and len(index.shape) != 1):
                return replace(base, shape=None)
            rest.pop(0)
        else:
            return replace(base, shape=None)
    return replace(base, shape=(*sizes, *rest))


def part_of_file(array: Array, indices: list[Value | slice]) -> bool:
    """Whether rows are picked from an array that lies in a file: what comes of it may be as small as one likes."""
    if array.origin is None or array.origin.name not in FILES or not indices:
        return False
    first = indices[0]
    if isinstance(first, slice):
        return bool(first.stop != Const(None))
    return first not in (Const(Ellipsis), Sequence(()))


def _sliced(size: int | None, index: slice) -> int | None:
    bounds = [constant(b) if isinstance(b, Value) else None for b in (index.start, index.stop, index.step)]
    exact = all(b == Const(None) or isinstance(constant(b), int) for b in (index.start, index.stop, index.step))
    if size is None or size < 0 or not exact or bounds[2] == 0:
        return None
    return range_length(slice(*bounds).indices(size))


def least(value: Value) -> int | None:
    """The smallest whole number that a value may be, where all that it may be are whole numbers."""
    numbers = [integer(option) for option in value.options]
    known = [number for number in numbers if number is not None]
    return min(known) if known and len(known) == len(numbers) else None
