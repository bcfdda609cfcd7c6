"""Keras layers: the shape that comes out and the number of parameters, from a layer's arguments and its input's shape.

Shapes have the batch size first (None where it is not known). None instead of a result means unknown: a rule that
meets it stops.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tfmemlint.model.arithmetic import broadcast
from tfmemlint.model.calls import Call
from tfmemlint.model.layers.arguments import Effect, Model, flag, numbers, whole, word
from tfmemlint.model.layers.further import FURTHER, attended, dotted
from tfmemlint.model.layers.spatial import SPATIAL
from tfmemlint.model.values import Array, Const, Instance, Sequence, Shape, Value, integer
from tfmemlint.syntax.numbers import bounded

L = "tf.keras.layers."


def effect(layer: Value, *inputs: Shape | None) -> Effect | None:
    """The effect of a layer object on inputs of these shapes, or None where it is not known for certain."""
    if not isinstance(layer, Instance) or layer.call is None or layer.class_node is not None or layer.call.open:
        return None
    shapes = [shape for shape in inputs if shape is not None]
    if not shapes or len(shapes) < len(inputs):
        return None
    kind = (layer.type_name or "").removeprefix(L)
    several = _SEVERAL.get(kind)
    if several is not None:
        return _countable(several(layer.call, shapes))
    model = _EFFECTS.get(kind)
    return _countable(model(layer.call, shapes[0])) if model is not None and len(shapes) == 1 and shapes[0] else None


def _countable(done: Effect | None) -> Effect | None:
    """The effect, or None where it has a number in it that no machine can count to."""
    sizes = () if done is None else (*done.shape, done.parameters)
    return done if all(size is None or bounded(size) is not None for size in sizes) else None


# -- one input -------------------------------------------------------------------------------------------------------


def _dense(call: Call, shape: Shape) -> Effect | None:
    units, bias, last = whole(call, "units"), flag(call, "use_bias", True), shape[-1]
    if units is None or bias is None or last is None or len(shape) < 2:
        return None
    return Effect((*shape[:-1], units), last * units + units * bias)


def _flatten(call: Call, shape: Shape) -> Effect | None:
    inner = shape[1:]
    return None if None in inner else Effect((shape[0], math.prod(n or 0 for n in inner)), 0)


def _reshape(call: Call, shape: Shape) -> Effect | None:
    target = numbers(call.value_of("target_shape"))
    if target is None:
        return None
    total = None if None in shape[1:] else math.prod(n or 0 for n in shape[1:])
    known = math.prod(n for n in target if n != -1)
    if -1 not in target:
        return Effect((shape[0], *target), 0) if total in (known, None) else None
    if total is None or target.count(-1) > 1 or not known or total % known:
        return None
    return Effect((shape[0], *(total // known if n == -1 else n for n in target)), 0)


def _permute(call: Call, shape: Shape) -> Effect | None:
    dims = numbers(call.value_of("dims"))
    if dims is None or sorted(dims) != list(range(1, len(shape))):
        return None
    return Effect((shape[0], *(shape[d] for d in dims)), 0)


def _repeat_vector(call: Call, shape: Shape) -> Effect | None:
    times = whole(call, "n")
    return None if times is None or len(shape) != 2 else Effect((shape[0], times, shape[1]), 0)


def _same(call: Call, shape: Shape) -> Effect | None:
    return Effect(shape, 0)


def _prelu(call: Call, shape: Shape) -> Effect | None:
    shared = numbers(call.value_of("shared_axes")) if call.arg("shared_axes") is not None else ()
    inner = [1 if i in (shared or ()) else n for i, n in enumerate(shape)][1:]
    return None if shared is None or None in inner else Effect(shape, math.prod(n or 0 for n in inner))


def _normalized(held: int) -> Model:
    """A layer that scales and shifts one axis, and holds `held` more numbers for each of its places."""

    def model(call: Call, shape: Shape) -> Effect | None:
        scale, center = flag(call, "scale", True), flag(call, "center", True)
        axes = numbers(call.value_of("axis"))
        axis = axes[0] if axes is not None and len(axes) == 1 else whole(call, "axis", -1)
        size = shape[axis] if axis is not None and -len(shape) <= axis < len(shape) else None
        if scale is None or center is None or size is None or call.arg("rms_scaling") is not None:
            return None
        return Effect(shape, size * (held + scale + center))

    return model


def _embedding(call: Call, shape: Shape) -> Effect | None:
    rows, width = whole(call, "input_dim"), whole(call, "output_dim")
    if rows is None or width is None:
        return None
    return Effect((*shape, width), rows * width)


def _recurrent(gates: int) -> Model:
    def model(call: Call, shape: Shape) -> Effect | None:
        units, bias, last = whole(call, "units"), flag(call, "use_bias", True), shape[-1]
        sequences, state = flag(call, "return_sequences", False), flag(call, "return_state", False)
        if units is None or bias is None or last is None or sequences is None or state is not False or len(shape) != 3:
            return None
        reset = flag(call, "reset_after", True) if gates == 3 else False
        if reset is None:
            return None
        biases = gates * units * (2 if reset else 1) * bias
        return Effect(
            (shape[0], shape[1], units) if sequences else (shape[0], units), gates * units * (last + units) + biases
        )

    return model


# -- layers around layers --------------------------------------------------------------------------------------------


def _bidirectional(call: Call, shape: Shape) -> Effect | None:
    inner, mode = effect(call.value_of("layer"), shape), word(call, "merge_mode", "concat")
    if inner is None or inner.parameters is None or inner.shape[-1] is None or call.arg("backward_layer") is not None:
        return None
    if mode not in ("concat", "sum", "mul", "ave"):
        return None
    width = inner.shape[-1] * (2 if mode == "concat" else 1)
    return Effect((*inner.shape[:-1], width), 2 * inner.parameters)


def _time_distributed(call: Call, shape: Shape) -> Effect | None:
    inner = effect(call.value_of("layer"), (shape[0], *shape[2:])) if len(shape) >= 3 else None
    return None if inner is None else Effect((shape[0], shape[1], *inner.shape[1:]), inner.parameters)


# -- several inputs --------------------------------------------------------------------------------------------------


def _merged(call: Call, shapes: list[Shape]) -> Effect | None:
    found: Shape | None = shapes[0]
    for shape in shapes[1:]:
        found = broadcast(found, shape)
    alike = len({len(shape) for shape in shapes}) == 1
    return Effect(found, 0) if found is not None and alike else None


def _concatenated(call: Call, shapes: list[Shape]) -> Effect | None:
    rank, axis = len(shapes[0]), whole(call, "axis", -1)
    if axis is None or not -rank <= axis < rank or any(len(shape) != rank for shape in shapes):
        return None
    axis %= rank
    columns = list(zip(*shapes, strict=True))
    joined = None if None in columns[axis] else sum(n or 0 for n in columns[axis])
    others = [next((n for n in column if n is not None), None) for column in columns]
    return Effect((*others[:axis], joined, *others[axis + 1 :]), 0)


def _attention(call: Call, shapes: list[Shape]) -> Effect | None:
    heads, key, bias = whole(call, "num_heads"), whole(call, "key_dim"), flag(call, "use_bias", True)
    value = key if call.value_of("value_dim") == Const(None) else whole(call, "value_dim", key)
    if len(shapes) not in (2, 3) or heads is None or key is None or value is None or bias is None:
        return None
    if (
        call.arg("output_shape") is not None
        or call.arg("use_gate") is not None
        or any(shape[-1] is None for shape in shapes)
    ):
        return None
    asked, given, keyed = (shape[-1] or 0 for shape in (shapes[0], shapes[1], shapes[-1]))
    inside = heads * (asked * key + keyed * key + given * value + value * asked)
    return Effect(shapes[0], inside + bias * (2 * heads * key + heads * value + asked))


_UNCHANGED = (
    "Dropout", "Activation", "ReLU", "LeakyReLU", "Softmax", "ELU", "GaussianNoise", "GaussianDropout", "Rescaling",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "ActivityRegularization", "RandomFlip",
    "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast", "RandomBrightness", "Identity",
    "AlphaDropout", "Masking", "UnitNormalization", "ThresholdedReLU", "RandomGrayscale", "RandomHue",
    "RandomSaturation", "RandomColorJitter", "RandomSharpness", "RandomPosterization", "RandomErasing", "RandomShear",
)  # fmt: skip

_EFFECTS: dict[str, Model] = {
    "Dense": _dense, "Flatten": _flatten, "Reshape": _reshape, "Permute": _permute, "RepeatVector": _repeat_vector,
    "BatchNormalization": _normalized(2), "LayerNormalization": _normalized(0), "GroupNormalization": _normalized(0),
    "Embedding": _embedding, "LSTM": _recurrent(4), "GRU": _recurrent(3), "SimpleRNN": _recurrent(1),
    "PReLU": _prelu, "Bidirectional": _bidirectional, "TimeDistributed": _time_distributed, **SPATIAL, **FURTHER,
    **dict.fromkeys(_UNCHANGED, _same),
}  # fmt: skip

_SEVERAL: dict[str, Callable[[Call, list[Shape]], Effect | None]] = {
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"), _merged),
    "Concatenate": _concatenated, "MultiHeadAttention": _attention, "Dot": dotted,
    **dict.fromkeys(("Attention", "AdditiveAttention"), attended),
}  # fmt: skip

MERGES = {name.lower(): name for name in _SEVERAL if "Attention" not in name}
"""The functions `tf.keras.layers.X` that merge tensors as the layers of the same name do."""


def merge(call: Call, name: str, inputs: list[Shape | None]) -> Shape | None:
    """The shape that `layers.concatenate([...])` and its like give."""
    shapes = [shape for shape in inputs if shape is not None]
    done = _SEVERAL[name](call, shapes) if shapes and len(shapes) == len(inputs) and not call.open else None
    return done.shape if done is not None else None


def first_shape(layer: Value) -> Shape | None:
    """The input shape (batch size first) that a Sequential model's first layer states, or an Input's."""
    if isinstance(layer, Array) and layer.library == "keras":
        return layer.shape
    if not isinstance(layer, Instance) or layer.call is None:
        return None
    for name in ("input_shape", "batch_input_shape", "batch_shape", "shape"):
        value = layer.call.given(name)
        if isinstance(value, Sequence) and not value.open:
            found = tuple(integer(item) for item in value.items)
            return found if name.startswith("batch") else (None, *found)
    if (layer.type_name or "").endswith("Embedding"):
        return (None, integer(layer.call.value_of("input_length")))
    width = integer(layer.call.given("input_dim"))
    return None if width is None else (None, width)
