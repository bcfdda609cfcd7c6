"""Arrays and tensors as values: what is known of their dtype, shape and bytes."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.model.arithmetic import INTEGERS, Shape, broadcast, divided, promote
from tfmemlint.model.values.alternatives import OneOf, one_of
from tfmemlint.model.values.callables import Api, method_of
from tfmemlint.model.values.constants import Const, Length, constant
from tfmemlint.model.values.containers import Sequence
from tfmemlint.model.values.value import BOTTOM, Unknown, Value, agreed
from tfmemlint.syntax.numbers import bounded, range_length

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

ITEM_BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4,
    "float32": 4, "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes of one element, by dtype name."""

FILES = frozenset({"np.load", "np.memmap", "np.lib.format.open_memmap", "h5py.File"})
"""Calls whose arrays may stay in a file until they are read."""

MOST_BESIDE = 64
"""Calls that make the data of one array together. Where more do, its dtype is not told: a repair had to change all."""

NEW_AXIS = (Const(None),)

_CLASSES = {"np": "np.ndarray", "tf": "tf.Tensor", "keras": "tf.keras.KerasTensor"}


@dataclass(frozen=True, slots=True)
class Array(Value):
    """A NumPy array, tensor, variable or symbolic Keras tensor.

    `shape` is None for unknown rank and holds None for unknown sizes; `dtype` is a name such as "float32".
    `explicit` says that the user wrote the dtype; `origin` is the call that made the data (kept through arithmetic).
    `library` is "np", "tf" or "keras".
    """

    library: str
    dtype: str | None = None
    shape: Shape | None = None
    origin: Call | None = None
    explicit: bool = False
    variable: bool = False
    cast: Call | None = None
    """The call that gave the data its present dtype after it was made (`astype`)."""
    beside: tuple[Call, ...] = ()
    """Calls that made other data of this dtype, which arithmetic mixed into it."""

    def shared(self, others: SequenceOf[Array]) -> Value:
        """An array of the dtype, the rank and the sizes that all have; of several libraries nothing is said."""
        arrays = (self, *others)
        if agreed(a.library for a in arrays) is None:
            return Unknown("arrays of several libraries")
        cast = agreed(a.cast for a in arrays)
        one_cast = all(a.cast is cast for a in arrays)
        return Array(
            self.library,
            agreed(a.dtype for a in arrays),
            _shared_shape([a.shape for a in arrays]),
            agreed(a.origin for a in arrays) if one_cast else None,
            all(a.explicit for a in arrays),
            all(a.variable for a in arrays),
            cast,
        )

    @property
    def dtype_call(self) -> Call | None:
        """The call that decides the dtype: the last cast, else the call that made the data."""
        return self.cast or self.origin

    @property
    def size(self) -> int | None:
        """Number of elements, where all sizes are known and an array can have so many."""
        if self.shape is None:
            return None
        total = 1
        for length in self.shape:
            if length is None:
                return None
            total *= length
        return bounded(total)

    @property
    def bytes(self) -> int | None:
        """Bytes of the data, where shape and dtype are known and a machine can have so many."""
        size = self.size
        return None if size is None or self.dtype not in ITEM_BYTES else bounded(size * ITEM_BYTES[self.dtype])

    def attribute(self, name: str) -> Value:
        own = _ATTRIBUTES.get(name)
        found = own(self) if own is not None else None
        return method_of(self, self.api_class, name) if found is None else found

    @property
    def api_class(self) -> str:
        """The API class whose methods it has."""
        return "tf.Variable" if self.variable else _CLASSES[self.library]

    def subscript(self, indices: list[Value | slice]) -> Value:
        return index_array(self, indices)

    def item_at(self, index: Value) -> Value:
        return index_array(self, [index])

    def iterated(self) -> Value:
        if not self.shape:
            return Value.iterated(self)
        return Array(self.library, self.dtype, self.shape[1:], self.origin, self.explicit)

    def unary(self, name: str) -> Value:
        return Value.unary(self, name) if name == "Not" else self

    def binary(self, name: str, other: Value) -> Value:
        if other is BOTTOM or isinstance(other, OneOf):
            return other.reflected(name, self)
        return array_binary(name, self, other)

    def reflected(self, name: str, other: Value) -> Value:
        return array_binary(name, other, self)

    def in_place(self, name: str, other: Value) -> Value:
        return one_of(
            self if self._is_written_into(name, option) else self.binary(name, option) for option in other.options
        )

    def _is_written_into(self, name: str, other: Value) -> bool:
        """Whether `self op= other` certainly writes into this array, whose dtype and shape stay, as NumPy does."""
        if self.library != "np" or self.shape == ():
            return False
        if self.dtype in INTEGERS:
            number = constant(other)
            whole = isinstance(other, (Const, Length)) and not isinstance(number, float) and name != "Divide"
            return self.shape is not None and whole  # anything else NumPy may refuse
        tensor = isinstance(other, Array) and other.library != "np"
        return self.dtype is not None and other.known and not tensor


@dataclass(frozen=True, slots=True)
class AnyShape(Value):
    """The shape of an array whose rank is not known."""

    def attribute(self, name: str) -> Value:
        return method_of(self, "shape of unknown rank", name)

    def item_at(self, index: Value) -> Value:
        return Length(Unknown("shape"), None) if constant(index) == 0 else Unknown("size")


def _shared_shape(shapes: SequenceOf[Shape | None]) -> Shape | None:
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or agreed(len(shape) for shape in known) is None:
        return None
    return tuple(agreed(column) for column in zip(*known, strict=True))


def _shape(array: Array) -> Value:
    if array.shape is None:
        return AnyShape()
    sizes = (Unknown("size") if n is None else Const(n) for n in array.shape[1:])
    return Sequence((*(Length(array, n) for n in array.shape[:1]), *sizes))


def _transposed(array: Array) -> Value | None:
    if array.shape is None:
        return None
    return Array(array.library, array.dtype, array.shape[::-1], array.origin, array.explicit)


def _counted(count: int | None, of: str) -> Value:
    return Const(count) if count is not None else Unknown(of)


_ATTRIBUTES: dict[str, Callable[[Array], Value | None]] = {
    "shape": _shape,
    "T": _transposed,
    "size": lambda array: _counted(array.size, "size"),
    "nbytes": lambda array: _counted(array.bytes, "bytes"),
    "ndim": lambda array: _counted(None if array.shape is None else len(array.shape), "rank"),
    "dtype": lambda array: Api(f"np.{array.dtype}") if array.dtype else Unknown("dtype"),
}
"""What is known of the attributes that are no methods; None: as of any other."""


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
        if len(beside) > MOST_BESIDE:
            return Array(library, None, shape)
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
            sizes.append(_picked(index, indices))
            if not rest or (index.shape is not None and len(index.shape) != 1):
                return replace(base, shape=None)
            rest.pop(0)
        else:
            return replace(base, shape=None)
    return replace(base, shape=(*sizes, *rest))


def _picked(index: Array, indices: list[Value | slice]) -> int | None:
    """How many rows an array of places picks; None for truth values, and where other arrays pick, too."""
    alone = sum(isinstance(each, Array) for each in indices) == 1
    places = index.dtype is not None and index.dtype.startswith(("int", "uint"))
    return index.shape[0] if alone and places and index.shape else None


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
