"""Shapes that layers and plain operations give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.estimate.facts import reshaping
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.reshaping import argument
from tfmemlint.estimate.facts.values import NONE, Object, Traced
from tfmemlint.knowledge import shapes
from tfmemlint.model.arithmetic import broadcast
from tfmemlint.model.layers.effects import effect
from tfmemlint.model.values import Array, Const, Instance, Sequence, Shape, Value, constant, integer

if TYPE_CHECKING:
    from collections.abc import Sequence as SequenceOf

RECURRENT = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}
"""How many states each gives back."""

def of_layer(layer: Object, inputs: SequenceOf[Shape | None]) -> list[Shape] | None:
    """The shapes of the outputs of a layer of Keras; None where they are not known."""
    if not isinstance(layer.call, Asked):
        return None
    known = layer.call.shapes
    key = tuple(inputs)
    if key not in known:
        known[key] = _of_layer(layer, inputs)
    return known[key]


def _of_layer(layer: Object, inputs: SequenceOf[Shape | None]) -> list[Shape] | None:
    kind = (layer.type_name or "").rpartition(".")[2]
    call = layer.call
    if not isinstance(call, Asked):
        return None
    if constant(call.given("return_state")) is True:
        return _with_states(layer, call, kind, inputs)
    if kind == "Bidirectional":
        inner = call.given_values.get(0, "layer")
        if isinstance(inner, Object) and isinstance(inner.call, Asked):
            if constant(inner.call.given("return_state")) is True:
                return _both_ways(layer, call, inner, inputs)
    done = effect(Instance(layer.type_name, call), *_main(kind, inputs))
    return [done.shape] if done is not None else None


def _main(kind: str, inputs: SequenceOf[Shape | None]) -> SequenceOf[Shape | None]:
    """The inputs that decide a shape: a recurrent layer may be given its state besides."""
    return inputs[:1] if kind in RECURRENT or kind == "Bidirectional" else inputs


def _without(call: Asked, name: str) -> Asked:
    names = {key: value for key, value in call.given_values.names.items() if key != name}
    given = Arguments(call.given_values.positions, names, call.given_values.open)
    return Asked(call.node, call.evaluator, call.target, given)


def _with_states(layer: Object, call: Asked, kind: str, inputs: SequenceOf[Shape | None]) -> list[Shape] | None:
    units = integer(call.given("units"))
    done = effect(Instance(layer.type_name, _without(call, "return_state")), *inputs[:1])
    if done is None or units is None or kind not in RECURRENT:
        return None
    state: Shape = (done.shape[0], units)
    return [done.shape, *[state] * RECURRENT[kind]]


def _both_ways(layer: Object, call: Asked, inner: Object, inputs: SequenceOf[Shape | None]) -> list[Shape] | None:
    assert isinstance(inner.call, Asked)
    found = of_layer(inner, inputs[:1])
    mode = call.given("merge_mode") if call.arg("merge_mode") is not None else Const("concat")
    if found is None or not found[0]:
        return None
    width = found[0][-1]
    whole = (*found[0][:-1], width * 2) if mode == Const("concat") and width is not None else found[0]
    return [whole, *found[1:], *found[1:]]


def dtype_of_layer(layer: Object) -> str:
    """The dtype in which a layer computes."""
    policy = layer.fields.get("#policy", NONE)
    if isinstance(policy, Object) and policy.call is not None:
        policy = policy.call.given(0, "name")
    said = constant(policy)
    return str(said).removeprefix("mixed_") if isinstance(said, str) else "float32"


# -- plain operations ------------------------------------------------------------------------------------------------


def is_whole(array: Array) -> bool:
    """Whether all sizes of a tensor but the number of examples are known."""
    return array.shape is not None and None not in array.shape[1:]


def in_one_row(name: str, first: Traced, call: Asked) -> Array | None:
    """What flattens a whole batch, as losses do: examples are kept apart, so that all numbers of each count."""
    if first.shape is None or len(first.shape) < 2 or first.shape[0] is not None or None in first.shape[1:]:
        return None
    flat = name in ("tf.keras.backend.flatten", "tf.keras.ops.ravel")
    if name in ("tf.reshape", "tf.keras.ops.reshape", "tf.keras.backend.reshape"):
        target = argument(call, 1, "shape", "newshape")
        flat = isinstance(target, Sequence) and [integer(each) for each in target.items] == [-1]
    return Array(first.library, first.dtype, (None, _product_of(first.shape[1:]))) if flat else None


def shape(name: str, tensors: list[Traced], call: Asked) -> Array | None:
    """What a function gives that the model does not know; None where it is not known here either."""
    word = name.rpartition(".")[2]
    first = tensors[0]
    if first.shape is None:
        return None
    if word in shapes.KEEPS:
        return Array(first.library, first.dtype, first.shape)
    if word in shapes.ELEMENTWISE:
        found: Shape | None = tensors[0].shape
        for each in tensors[1:]:
            found = broadcast(found, each.shape)
        return Array(first.library, first.dtype, found) if found is not None else None
    if word in shapes.REDUCES:
        return _reduced(first, call)
    if word in ("transpose", "permute_dimensions"):
        return _transposed(first, call)
    if word in ("concatenate", "concat"):
        return _concatenated(tensors, call)
    if word in ("reshape", "batch_flatten", "squeeze", "expand_dims", "repeat_elements", "depth_to_space",
                "space_to_depth", "resize", "resize_images", "resize_bilinear"):  # fmt: skip
        return _rearranged(word, first, call)
    if word in reshaping.BY_NAME:
        return reshaping.BY_NAME[word](tensors, call)
    if word in ("dot", "batch_dot", "matmul") and len(tensors) == 2:
        return _product(tensors[0], tensors[1])
    return None


def _reduced(first: Traced, call: Asked) -> Array | None:
    assert first.shape is not None
    axis, keep = argument(call, 1, "axis"), argument(call, 2, "keepdims", "keep_dims")
    rank = len(first.shape)
    kept = constant(keep) is True if keep is not None else False
    if axis is None or axis == NONE:
        return Array(first.library, first.dtype, (1,) * rank if kept else ())
    axes = [integer(each) for each in axis.items] if isinstance(axis, Sequence) else [integer(axis)]
    if None in axes:
        return None
    gone = {each % rank for each in axes if each is not None and -rank <= each < rank}
    sizes = [1 if place in gone else n for place, n in enumerate(first.shape) if kept or place not in gone]
    return Array(first.library, first.dtype, tuple(sizes))


def _transposed(first: Traced, call: Asked) -> Array | None:
    assert first.shape is not None
    order = argument(call, 1, "perm", "axes", "pattern")
    if order is None:
        return Array(first.library, first.dtype, first.shape[::-1])
    places = [integer(each) for each in order.items] if isinstance(order, Sequence) else [None]
    if sorted(place if place is not None else -1 for place in places) != list(range(len(first.shape))):
        return None
    return Array(first.library, first.dtype, tuple(first.shape[place] for place in places if place is not None))


def _concatenated(tensors: list[Traced], call: Asked) -> Array | None:
    axis = argument(call, 1, "axis")
    at = -1 if axis is None else integer(axis)
    shapes = [t.shape for t in tensors]
    if at is None or not shapes[0] or any(s is None or len(s) != len(shapes[0] or ()) for s in shapes):
        return None
    rank = len(shapes[0])
    at %= rank
    sizes = [s[at] for s in shapes if s is not None]
    joined = None if None in sizes else sum(n or 0 for n in sizes)
    first = shapes[0]
    return Array(tensors[0].library, tensors[0].dtype, (*first[:at], joined, *first[at + 1 :]))


def _rearranged(word: str, first: Traced, call: Asked) -> Array | None:
    assert first.shape is not None
    given = first.shape
    made: Shape | None = None
    if word == "batch_flatten" and None not in given[1:]:
        made = (given[0], _product_of(given[1:]))
    elif word == "reshape":
        made = _reshaped(given, argument(call, 1, "shape", "newshape", "target_shape"))
    elif word == "expand_dims":
        axis = argument(call, 1, "axis")
        at = integer(axis) if axis is not None else -1
        if at is not None:
            at = at if at >= 0 else len(given) + 1 + at
            made = (*given[:at], 1, *given[at:])
    elif word == "squeeze":
        axis = argument(call, 1, "axis")
        at = integer(axis) if axis is not None else None
        if at is not None and -len(given) <= at < len(given):
            at %= len(given)
            made = (*given[:at], *given[at + 1 :])
    elif word in ("depth_to_space", "space_to_depth") and len(given) == 4:
        size = argument(call, 1, "block_size")
        made = _blocks(word, given, integer(size) if size is not None else None)
    elif word.startswith("resize"):
        made = _resized(given, argument(call, 1, "size"))
    return Array(first.library, first.dtype, made) if made is not None else None


def _product_of(sizes: Shape) -> int:
    found = 1
    for n in sizes:
        found *= n or 0
    return found


def _reshaped(given: Shape, target: Value | None) -> Shape | None:
    if not isinstance(target, Sequence) or target.open:
        return None
    sizes = [integer(each) for each in target.items]
    if not sizes:
        return ()
    if sizes[0] is None:
        sizes[0] = -1
    if None in sizes:
        return None
    known = [n for n in sizes if n is not None]
    inner = None if None in given[1:] else _product_of(given[1:])
    if known[0] == -1 and -1 not in known[1:]:
        return (given[0] if inner == _product_of(tuple(known[1:])) else None, *known[1:])
    if -1 in known[1:] and inner is not None and known[1:].count(-1) == 1:
        rest = _product_of(tuple(n for n in known[1:] if n != -1))
        if rest and not inner % rest:
            return (given[0], *(inner // rest if n == -1 else n for n in known[1:]))
        return None
    return tuple(known) if -1 not in known else None


def _blocks(word: str, given: Shape, size: int | None) -> Shape | None:
    batch, height, width, channels = given
    if not size or channels is None:
        return None
    if word == "depth_to_space":
        return (batch, height and height * size, width and width * size, channels // size**2)
    return (batch, height and height // size, width and width // size, channels * size**2)


def _resized(given: Shape, size: Value | None) -> Shape | None:
    sizes = [integer(each) for each in size.items] if isinstance(size, Sequence) else []
    return (given[0], *sizes, given[3]) if len(sizes) == 2 and len(given) == 4 else None


def _product(one: Traced, other: Traced) -> Array | None:
    a, b = one.shape, other.shape
    if a is None or b is None or len(a) < 2 or len(a) != len(b):
        return None
    return Array(one.library, one.dtype, (*a[:-1], b[-1]))
