"""NumPy functions that put arrays together or repeat them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.listed import listed, listed_count
from tfmemlint.model.transfer.table import models, shape_of
from tfmemlint.model.values import Array, Const, Method, Sequence, Shape, Unknown, Value, constant, integer

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


@models("np.concatenate", "np.vstack", "np.hstack", "np.stack", "np.dstack", "np.column_stack", "np.append")
def _joined(call: Call, target: Value) -> Value:
    parts = call.value_of(0)
    item = listed(call, parts)
    if isinstance(item, Array):
        count = listed_count(call)
        shape = _together(call, target, [item], count or 1)
        shape = shape if count else _uncounted(call, shape)
        return Array("np", item.dtype, shape, item.origin, item.explicit, cast=item.cast)
    arrays = [p for p in parts.items if isinstance(p, Array)] if isinstance(parts, Sequence) else []
    if not isinstance(parts, Sequence) or len(arrays) != len(parts.items) or not arrays:
        return Array("np") if parts.known else Unknown("joins something not known")
    dtypes = {a.dtype for a in arrays}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    made = {id(a.origin.node) if a.origin is not None else None for a in arrays}
    origin = arrays[0].origin if len(made) == 1 else call  # of several, only their join stands for all
    return Array("np", dtype, _together(call, target, arrays, 1), origin, all(a.explicit for a in arrays))


@models("np.meshgrid")
def _meshgrid(call: Call, target: Value) -> Value:
    axes = [call.value_of(i) for i, arg in enumerate(call.node.args) if arg.keyword is None and arg.star == ""]
    plain = [a for a in axes if isinstance(a, Array) and a.shape is not None and len(a.shape) == 1]
    if len(plain) != len(axes) or not axes or call.open or call.arg("sparse") is not None:
        return Unknown("a grid over something not known")
    sizes = [a.shape[0] if a.shape else None for a in plain]
    if constant(call.value_of("indexing")) != "ij" and len(sizes) > 1:
        sizes[:2] = sizes[1::-1]  # of the first two, rows come from the second
    return Sequence(tuple(Array("np", a.dtype, tuple(sizes), a.origin, a.explicit, cast=a.cast) for a in plain), "list")


def _together(call: Call, target: Value, arrays: list[Array], times: int) -> Shape | None:
    """The shape that known shapes, each so many `times`, give when they are joined along an axis that is known."""
    name = getattr(target, "name", "").rpartition(".")[2]
    axis = integer(call.value_of("axis")) if call.arg("axis") is not None else 0
    shapes = [a.shape for a in arrays if a.shape]
    if name not in ("concatenate", "vstack", "stack") or axis is None or len(shapes) != len(arrays) or call.open:
        return None
    if not shapes:
        return None
    rank = len(shapes[0])
    if any(len(shape) != rank for shape in shapes) or (name == "vstack" and rank < 2):
        return None
    if name == "stack" and -rank <= axis + 1 <= rank + 1:
        at = axis % (rank + 1)
        return (*shapes[0][:at], times * len(shapes), *shapes[0][at:])
    if name == "stack" or not -rank <= axis < rank:
        return None
    at = axis % rank
    sizes = [shape[at] for shape in shapes]
    total = None if None in sizes else times * sum(size or 0 for size in sizes)
    return (*shapes[0][:at], total, *shapes[0][at + 1 :])


def _uncounted(call: Call, shape: Shape | None) -> Shape | None:
    """The same where nobody knows how many are joined."""
    axis = integer(call.value_of("axis")) if call.arg("axis") is not None else 0
    if shape is None or axis is None or not -len(shape) <= axis < len(shape):
        return None
    at = axis % len(shape)
    return (*shape[:at], None, *shape[at + 1 :])


@models("np.repeat", "np.ndarray.repeat")
def _repeated(call: Call, target: Value) -> Value:
    data = target.receiver if isinstance(target, Method) else call.value_of(0)
    if not isinstance(data, Array):
        return Unknown("repeats something not known")
    times, axis = integer(call.value_of("repeats")), integer(call.value_of("axis"))
    shape: Shape | None = None
    if call.lacks("axis") or call.value_of("axis") == Const(None):
        shape = (_times(data.size, times),)
    elif data.shape is not None and axis is not None and -len(data.shape) <= axis < len(data.shape):
        at = axis % len(data.shape)
        shape = (*data.shape[:at], _times(data.shape[at], times), *data.shape[at + 1 :])
    return replace(data, library="np", shape=shape)


def _times(size: int | None, times: int | None) -> int | None:
    return size * times if size is not None and times is not None else None


@models("np.tile")
def _tiled(call: Call, target: Value) -> Value:
    data = call.value_of(0)
    if not isinstance(data, Array):
        return Unknown("tiles something not known")
    times = integer(call.value_of("reps"))
    reps: Shape | None = (times,) if times is not None else shape_of(call.value_of("reps"))
    if reps is None or data.shape is None:
        return replace(data, library="np", shape=None)
    rank = max(len(reps), len(data.shape))
    long = (1,) * (rank - len(reps)) + reps
    sizes = (1,) * (rank - len(data.shape)) + data.shape
    return replace(data, library="np", shape=tuple(_times(n, m) for n, m in zip(sizes, long, strict=True)))


@models("np.pad")
def _padded(call: Call, target: Value) -> Value:
    data, width = call.value_of(0), call.value_of("pad_width")
    if not isinstance(data, Array):
        return Unknown("pads something not known")
    around = [shape_of(pair) for pair in width.items] if isinstance(width, Sequence) and not width.open else []
    if data.shape is None or len(around) != len(data.shape):
        return replace(data, library="np", shape=None)
    sizes = [_longer(size, pair) for size, pair in zip(data.shape, around, strict=True)]
    return replace(data, library="np", shape=tuple(sizes))


def _longer(size: int | None, pair: Shape | None) -> int | None:
    if size is None or pair is None or len(pair) != 2 or None in pair:
        return None
    return size + sum(width or 0 for width in pair)
