"""Arrays and tensors as values: what is known of their dtype, shape and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.model.value import Unknown, Value, agreed
from tfmemlint.syntax.numbers import bounded

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

Shape = tuple["int | None", ...]

ITEM_BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4,
    "float32": 4, "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes of one element, by dtype name."""


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

    def shared(self, others: Sequence[Array]) -> Value:
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


def _shared_shape(shapes: Sequence[Shape | None]) -> Shape | None:
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or agreed(len(shape) for shape in known) is None:
        return None
    return tuple(agreed(column) for column in zip(*known, strict=True))
