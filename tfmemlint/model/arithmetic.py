"""Shapes and dtypes through arithmetic, by the rules of NumPy 2 and TensorFlow."""

from __future__ import annotations

Shape = tuple["int | None", ...]

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


def divided(name: str, dtype: str | None, library: str) -> str | None:
    """The dtype after the operator: true division of integers makes floats."""
    if name != "Divide" or dtype not in INTEGERS:
        return dtype
    if library == "np":
        return "float64"
    return "float64" if dtype in ("int32", "int64", "uint32", "uint64") else "float32"
