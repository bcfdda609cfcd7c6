"""What operations make of shapes, and what they need: TensorFlow's, NumPy's and Keras' of the same names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.calls import Call
from tfmemlint.model.values import Const, Instance, Value
from tfmemlint.verify.plan import operands
from tfmemlint.verify.plan.reshaping import RULES, loss, sparse_loss
from tfmemlint.verify.plan.sizes import ConflictError, Seen, Size, Tensor, broadcast, reduced, reshaped

if TYPE_CHECKING:
    from tfmemlint.verify.plan.reading import Reading

SAME = frozenset({
    "abs", "cast", "ceil", "clip", "clip_by_value", "cos", "cumprod", "cumsum", "dropout", "elu", "erf", "exp",
    "expm1", "fake_quant_with_min_max_args", "flip", "floor", "gelu", "hard_sigmoid", "identity", "is_nan",
    "l2_normalize", "leaky_relu", "log", "log1p", "log_sigmoid", "log_softmax", "logical_not", "nan_to_num",
    "negative", "normalize", "ones_like", "rand_like", "relu", "relu6", "reverse", "roll", "round", "rsqrt",
    "selu", "sigmoid", "sign", "silu", "sin", "softmax", "softplus", "softsign", "sort", "argsort", "sqrt",
    "square", "stop_gradient", "swish", "tan", "tanh", "zeros_like", "astype", "copy",
})  # fmt: skip
PAIRS = frozenset({
    "add", "divide", "divide_no_nan", "equal", "floordiv", "floor_div", "greater", "greater_equal", "less",
    "less_equal", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "multiply_no_nan", "not_equal", "pow", "squared_difference", "subtract", "truediv",
})  # fmt: skip
REDUCTIONS = frozenset({
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "logsumexp", "max", "mean", "median",
    "min", "norm", "prod", "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean",
    "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "std", "sum", "var",
})  # fmt: skip
FLAGS = frozenset({
    "equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor", "not_equal",
})  # fmt: skip
"""Those that give flags."""

LIBRARIES = ("tf.", "np.", "keras.")

LAYERS = {
    "Conv1D": 3, "MaxPooling1D": 3, "AveragePooling1D": 3, "GlobalAveragePooling1D": 3, "GlobalMaxPooling1D": 3,
    "Conv2D": 4, "Conv2DTranspose": 4, "SeparableConv2D": 4, "DepthwiseConv2D": 4, "MaxPooling2D": 4,
    "AveragePooling2D": 4, "UpSampling2D": 4, "ZeroPadding2D": 4, "Cropping2D": 4, "GlobalAveragePooling2D": 4,
    "GlobalMaxPooling2D": 4, "Conv3D": 5, "Conv3DTranspose": 5, "MaxPooling3D": 5,
    "LSTM": 3, "GRU": 3, "SimpleRNN": 3, "Bidirectional": 3, "RepeatVector": 2, "Embedding": 2,
}  # fmt: skip
"""Axes of what layers are called with."""

NUMBERS = ("units", "filters", "input_dim", "output_dim", "n")
"""Parameters of layers that are whole numbers."""

KEEPS = frozenset(("BatchNormalization", "LayerNormalization", "Dropout", "Activation", "ReLU", "LeakyReLU", "Softmax"))


def of(reading: Reading, call: Call) -> Seen:
    """What a call comes to, None where that is not known. Raises ConflictError."""
    name = call.name
    if name is None:
        return _method(reading, call)
    if name.endswith("Layer.__call__"):
        return _layer(reading, call)
    if name.endswith("Loss.__call__"):
        made = reading.file.value(call.node.func)
        sparse = isinstance(made, Instance) and "Sparse" in (made.type_name or "")
        return sparse_loss(reading, call) if sparse else loss(reading, call)
    if not name.startswith(LIBRARIES):
        return _length(reading, call) if name == "len" else None
    word = name.rpartition(".")[2]
    if name.startswith(("tf.keras.layers.", "keras.layers.")):
        return _made_layer(reading, call)
    if word in SAME:
        tensor = operands.first(reading, call)
        return replace(tensor, whole=False) if tensor is not None and word == "cast" else tensor
    if word in PAIRS:
        left, right = (operands.operand(reading, call, number) for number in (0, 1))
        operands.agree(reading, *(call.arg(number) for number in (0, 1)))
        pair = broadcast(left, right) if left is not None and right is not None else left or right
        return replace(pair, dtype="bool") if pair is not None and word in FLAGS else pair
    if word in REDUCTIONS:
        found = _reduction(reading, call, operands.first(reading, call), 1)
        return replace(found, dtype="int64") if isinstance(found, Tensor) and word in ("argmax", "argmin") else found
    rule = RULES.get(word)
    return rule(reading, call) if rule is not None else None


def _reduction(reading: Reading, call: Call, tensor: Tensor | None, at: int) -> Seen:
    argument = call.arg("axis") or call.arg(at)
    if tensor is None or (argument is not None and isinstance(argument.expression, (cst.Name, cst.Attribute))):
        return None
    axes = operands.numbers(reading.value(argument.expression)) if argument is not None else None
    if argument is not None and axes is None:
        return None
    return reduced(tensor, axes, operands.is_true(call, "keepdims") or operands.is_true(call, "keep_dims"))


def _method(reading: Reading, call: Call) -> Seen:
    """A call on an array that only the reading knows."""
    func = call.node.func
    if not isinstance(func, cst.Attribute):
        return None
    value, word = reading.value(func.value), func.attr.value
    if isinstance(value, tuple):
        return value if word == "as_list" else None
    if word in ("batch", "padded_batch", "shuffle"):
        reading.counts(operands.given(reading, call, "batch_size", "buffer_size", 0))
    if not isinstance(value, Tensor):
        return None
    if word == "get_shape":
        reading.tells(value)
        return value.sizes
    if word in REDUCTIONS or word in SAME or word in ("reshape", "transpose", "numpy"):
        reading.tells(value)
        if word != "numpy" and word != "get_shape":
            reading.of_numpy |= value.sources
    if word in REDUCTIONS:
        return _reduction(reading, call, value, 0)
    if word == "reshape":
        shape = tuple(reading.value(arg.value) for arg in call.node.args)
        inner = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return reshaped(value, inner)
    return value if word in SAME or word == "numpy" else None


def _layer(reading: Reading, call: Call) -> Seen:
    tensor = operands.first(reading, call)
    layer = reading.file.value(call.node.func)
    word = (layer.type_name or "").rpartition(".")[2] if isinstance(layer, Instance) else ""
    if tensor is None:
        return None
    if tensor.rank != LAYERS.get(word, tensor.rank) or (word == "Dense" and tensor.rank < 2):
        raise ConflictError
    if word == "Embedding":
        reading.integers |= tensor.alike
    if word in KEEPS:
        return tensor
    last = _width(layer)
    if word == "Dense":
        return tensor.shaped((*tensor.sizes[:-1], last))
    if word.startswith("Conv"):
        return tensor.shaped((tensor.sizes[0], *(Size() for _ in tensor.sizes[2:]), last))
    return None


def _made_layer(reading: Reading, call: Call) -> Seen:
    """A layer that is built: the whole numbers that it takes."""
    for name in NUMBERS:
        reading.counts(operands.given(reading, call, name))
    return None


def _width(layer: Value) -> Size:
    """How many features a layer gives, as far as it is written."""
    made = layer.call if isinstance(layer, Instance) else None
    found = next((made.value_of(name) for name in ("units", "filters") if made and made.arg(name)), None)
    return Size(found.value if isinstance(found, Const) and isinstance(found.value, int) else None)


def _length(reading: Reading, call: Call) -> Seen:
    argument = call.node.args[0].value if call.node.args else None
    value = reading.value(argument) if argument is not None else None
    if isinstance(value, Tensor) and not value.rank:
        raise ConflictError
    return value.sizes[0] if isinstance(value, Tensor) else None
