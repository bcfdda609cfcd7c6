"""Plain operations of TensorFlow and of Keras' backend, as programs use them in layers, losses and loops of their own.

Read from the gradients of TensorFlow (`python/ops/math_grad.py`, `array_grad.py`, `nn_grad.py`): what each of them
reads is kept for the backward pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.layers.merging import KINDS as MERGING
from tfmemlint.estimate.layers.plain import alias, unary
from tfmemlint.estimate.layers.pooling import KINDS as POOLING
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import Buffer


def _of_output(name: str, place: Place) -> None:
    """In place; its gradient reads what it gave and is in place on dy: an exponential, a root."""
    x = place.x()
    y = place.op(name, [x], x.bytes, in_place=[x])
    place.give(y)
    place.on_backward(
        lambda dy: place.pass_on(place.op(f"{name}Grad", [dy, y], x.bytes, in_place=[dy])) if place.wants() else None
    )


def _of_input(name: str, place: Place) -> None:
    """n; its gradient reads its input, and makes the slope of it before it multiplies: a square, a logarithm."""
    x = place.x()
    place.give(place.op(name, [x], place.out_bytes()))

    def backward(dy: Buffer) -> None:
        if place.wants():
            slope = place.op(f"{name}Slope", [x], x.bytes)
            place.pass_on(place.op("Mul", [dy, slope], x.bytes, in_place=[dy, slope]))

    place.on_backward(backward)


def _quotient(place: Place) -> None:
    """In place where it may be; keeps what it divides by, and what is divided if that needs a gradient. By a number it
    is a product."""
    xs = place.xs()
    n = place.out_bytes()
    place.give(place.op("RealDiv", xs, n, in_place=xs))

    def backward(dy: Buffer) -> None:
        for j, x in enumerate(xs):
            if place.wants(j):
                dx = place.op("RealDivGrad", [dy, *(xs if j else xs[1:])], n)
                place.pass_on(dx if x.bytes in (n, 0) else place.op("Sum", [dx], x.bytes), j)

    place.on_backward(backward)


def _clipped(place: Place) -> None:
    """n; keeps its input. Backward: a mask of one byte an item, and a selection."""
    x = place.x()
    place.give(place.op("ClipByValue", [x], x.bytes))

    def backward(dy: Buffer) -> None:
        if place.wants():
            mask = place.op("Inside", [x], place.items())
            place.pass_on(place.op("Select", [mask, dy], x.bytes))

    place.on_backward(backward)


def _chosen(place: Place) -> None:
    """`where`: n, with the condition kept; backward one selection for each input."""
    xs = place.xs()
    n = place.out_bytes()
    place.give(place.op("Select", xs, n))

    def backward(dy: Buffer) -> None:
        for j, x in enumerate(xs):
            if place.wants(j):
                place.pass_on(place.op("Select", [dy, xs[0]], x.bytes), j)

    place.on_backward(backward)


def _length(place: Place) -> None:
    """A norm: the squares while they are added up; keeps its input and the norm. Backward: n for the quotient."""
    x = place.x()
    squares = place.op("Square", [x], x.bytes)
    y = place.op("Sqrt", [squares], place.out_bytes())
    place.give(y)
    place.on_backward(lambda dy: place.pass_on(place.op("NormGrad", [dy, x, y], x.bytes)) if place.wants() else None)


def _of_unit_length(place: Place) -> None:
    """`l2_normalize`: the squares while they are added up, then n; keeps its input. Backward: 2n."""
    x = place.x()
    n = x.bytes
    squares = place.op("Square", [x], n)
    scale = place.op("Rsqrt", [squares], 0)
    place.give(place.op("Mul", [x, scale], n))

    def backward(dy: Buffer) -> None:
        if place.wants():
            through = place.op("Mul", [dy, x], n)
            direct = place.op("Mul", [dy, scale], n, in_place=[dy])
            place.pass_on(place.op("AddN", [direct, through], n, in_place=[direct, through]))

    place.on_backward(backward)


def _spread(place: Place) -> None:
    """A variance or its root: the difference to the mean, and n while it is squared; keeps the difference."""
    x = place.x()
    difference = place.op("SquaredDifference", [x], x.bytes)
    place.give(place.op("Mean", [difference], place.out_bytes()))
    place.on_backward(
        lambda dy: place.pass_on(place.op("Mul", [dy, x], x.bytes)) if place.wants() else None
    )


def _apart(place: Place) -> None:
    """What takes a tensor apart: its bytes in pieces. Backward: they are put together."""
    x = place.x()
    for j in range(len(place.applied.outputs)):
        place.give(place.op("Split", [x], place.out_bytes(j)), j)
    place.on_gradients(lambda dys: place.pass_on(place.op("Concat", dys, x.bytes)) if place.wants() else None)


def _together(place: Place) -> None:
    """`stack`: n. Backward: a slice for each input."""
    xs = place.xs()
    place.give(place.op("Pack", xs, place.out_bytes()))

    def backward(dy: Buffer) -> None:
        for j, x in enumerate(xs):
            if place.wants(j):
                place.pass_on(place.op("Unpack", [dy], x.bytes), j)

    place.on_backward(backward)


def _without_gradient(place: Place) -> None:
    """n for each output, in the bytes of its dtype; no gradient goes through it."""
    xs = place.xs()
    for j, tensor in enumerate(place.applied.outputs):
        dtype = place.state.graph.tensors[tensor].dtype
        item = 1 if dtype == "bool" else 8 if dtype == "int64" else 4
        place.give(place.op(place.applied.kind, xs, place.out_items(j) * item), j, dtype)


_OUTPUTS = ("exp", "sqrt", "rsqrt", "reciprocal", "expm1")
_INPUTS = ("square", "log", "log1p", "abs", "sin", "cos", "erf", "softsign", "cumsum", "tan", "atan", "asin", "acos",
           "sinh", "cosh", "absolute", "lgamma")  # fmt: skip
_MOVED = ("get_item", "strided_slice", "slice", "gather", "gather_nd", "take", "tile", "repeat", "pad", "reverse",
          "flip", "roll", "resize", "resize_images", "resize_bilinear", "resize_nearest_neighbor", "depth_to_space",
          "space_to_depth", "broadcast_to", "repeat_elements", "temporal_padding", "spatial_2d_padding",
          "boolean_mask", "take_along_axis", "extract_patches", "permute_dimensions", "crop_to_bounding_box",
          "resize_with_pad", "pad_to_bounding_box", "matrix_transpose", "gradient", "cast", "rot90",
          "flip_left_right", "flip_up_down", "moveaxis", "diag_part", "preprocess_input")  # fmt: skip
_FLAT = ("Cast", "expand_dims", "identity", "ensure_shape", "flatten", "batch_flatten", "convert_to_tensor", "ravel",
         "check_numerics", "newaxis")  # fmt: skip
_WITHOUT = ("argmax", "argmin", "equal", "not_equal", "less", "greater", "less_equal", "greater_equal", "logical_and",
            "logical_or", "logical_not", "floor", "ceil", "round", "sign", "one_hot", "zeros_like", "ones_like",
            "isnan", "is_finite", "random_normal_like", "random_uniform_like", "floor_divide", "mod", "floormod",
            "reduce_any", "reduce_all", "any", "all", "argsort", "in_top_k", "sequence_mask", "lessequal",
            "greaterequal", "equal_", "full_like", "count_nonzero", "to_float")  # fmt: skip
KINDS: Mapping[str, Kind] = {
    **{name: Kind(partial(_of_output, name)) for name in _OUTPUTS},
    **{name: Kind(partial(_of_input, name)) for name in _INPUTS},
    **dict.fromkeys(("power", "pow"), Kind(partial(_of_input, "Pow"))),
    **dict.fromkeys(("divide", "truediv", "true_divide", "div_no_nan", "divide_no_nan"), Kind(_quotient)),
    "negative": Kind(partial(unary, "Neg", in_place=True)),
    **dict.fromkeys(("clip_by_value", "clip"), Kind(_clipped)),
    "where": Kind(_chosen),
    "Masking": Kind(partial(unary, "Mul")),
    **dict.fromkeys(("norm", "euclidean_norm"), Kind(_length)),
    **dict.fromkeys(("l2_normalize", "normalize", "UnitNormalization"), Kind(_of_unit_length)),
    **dict.fromkeys(("reduce_std", "reduce_variance", "std", "var", "moments"), Kind(_spread)),
    **dict.fromkeys(("split", "unstack"), Kind(_apart)),
    "stack": Kind(_together),
    **{name: Kind(partial(unary, name)) for name in _MOVED},
    **dict.fromkeys(_FLAT, Kind(alias)),
    "stop_gradient": Kind(lambda place: place.give(place.alias("StopGradient", place.x()))),
    **dict.fromkeys(_WITHOUT, Kind(_without_gradient)),
    **dict.fromkeys(("reduce_mean", "reduce_sum", "cumulative_sum"), POOLING["mean"]),
    **dict.fromkeys(("reduce_max", "reduce_min", "min", "amax", "amin", "reduce_logsumexp", "logsumexp",
                     "reduce_prod", "prod"), POOLING["max"]),
    **dict.fromkeys(("concat",), MERGING["concatenate"]),
    **dict.fromkeys(("add_n",), MERGING["add"]),
    **dict.fromkeys(("squared_difference",), MERGING["multiply"]),
    **dict.fromkeys(("einsum", "dot", "batch_dot", "tensordot", "outer"), MERGING["matmul"]),
}  # fmt: skip
