"""Operations that change shapes: what they make of them, and what they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.calls import Call
from tfmemlint.verify.plan import operands
from tfmemlint.verify.plan.sizes import (
    ConflictError,
    Seen,
    Size,
    Tensor,
    axis_of,
    broadcast,
    joined,
    product,
    reduced,
    repeated,
    reshaped,
    stacked,
)

if TYPE_CHECKING:
    from tfmemlint.verify.plan.reading import Reading

Rule = Callable[["Reading", Call], Seen]


def _shape(reading: Reading, call: Call) -> Seen:
    tensor = operands.first(reading, call)
    return None if tensor is None else tensor.sizes


def _tile(reading: Reading, call: Call) -> Seen:
    tensor, times = operands.first(reading, call), operands.given(reading, call, "multiples", "n", "reps", 1)
    return repeated(tensor, times) if tensor is not None and isinstance(times, tuple) else None


def _repeat(reading: Reading, call: Call) -> Seen:
    tensor, axis = operands.first(reading, call), operands.axis(reading, call, 2)
    if tensor is None or axis is None:
        return None
    at, times = axis_of(tensor, axis), operands.given(reading, call, "repeats", "rep", 1)
    new = times if isinstance(times, Size) and tensor.sizes[at].number == 1 else Size()
    return tensor.shaped([new if n == at else size for n, size in enumerate(tensor.sizes)])


def _expand(reading: Reading, call: Call) -> Seen:
    tensor, axis = operands.first(reading, call), operands.axis(reading, call, 1)
    if tensor is None or axis is None:
        return None
    sizes = list(tensor.sizes)
    sizes.insert(axis_of(tensor, axis, 1), Size(1))
    return tensor.shaped(sizes)


def _squeeze(reading: Reading, call: Call) -> Seen:
    tensor, axis = operands.first(reading, call), operands.axis(reading, call, 1)
    if tensor is None or axis is None:
        return None
    tensor.sizes[axis_of(tensor, axis)].same(Size(1))
    return reduced(tensor, [axis], False)


def _matmul(reading: Reading, call: Call) -> Seen:
    left, right = (operands.operand(reading, call, number) for number in (0, 1))
    if left is None or right is None:
        return None
    if left.rank < 2 or right.rank < 2:
        raise ConflictError
    sides = []
    for side, flag in ((left, "transpose_a"), (right, "transpose_b")):
        turned = side.shaped((*side.sizes[:-2], side.sizes[-1], side.sizes[-2]))
        sides.append(turned if operands.is_true(call, flag) else side)
    return product(sides[0], sides[1])


def _transpose(reading: Reading, call: Call) -> Seen:
    tensor = operands.first(reading, call)
    order = operands.numbers(operands.given(reading, call, "perm", "axes", "pattern", 1))
    if tensor is None:
        return None
    if order is None:
        return tensor.shaped(tensor.sizes[::-1]) if call.arg(1) is None else None
    if sorted(order) != list(range(tensor.rank)):
        raise ConflictError
    return tensor.shaped([tensor.sizes[axis] for axis in order])


def _concat(reading: Reading, call: Call) -> Seen:
    parts, axis = operands.parts(reading, call), operands.axis(reading, call, 1, -1)
    return joined(parts, axis) if parts is not None and axis is not None else None


def _stack(reading: Reading, call: Call) -> Seen:
    parts, axis = operands.parts(reading, call), operands.axis(reading, call, 1, 0)
    return stacked(parts, axis) if parts is not None and axis is not None else None


def _reshape(reading: Reading, call: Call) -> Seen:
    tensor, shape = operands.first(reading, call), operands.given(reading, call, "shape", "newshape", 1)
    return reshaped(tensor, shape) if tensor is not None and isinstance(shape, tuple) else None


def _made(reading: Reading, call: Call) -> Seen:
    """`tf.zeros(shape)` and the like."""
    shape = operands.given(reading, call, "shape", "dims", 0)
    parts = shape if isinstance(shape, tuple) else (shape,)
    for part in parts:
        reading.counts(part)
    known = isinstance(shape, (tuple, Size))
    return Tensor(tuple(part if isinstance(part, Size) else Size() for part in parts)) if known else None


def _rows(reading: Reading, call: Call) -> Seen:
    """`from_tensor_slices((x, y))`: arrays of as many rows."""
    given = operands.given(reading, call, 0)
    found = [each for each in (given if isinstance(given, tuple) else (given,)) if isinstance(each, Tensor)]
    for each in found:
        if not each.rank:
            raise ConflictError
        found[0].sizes[0].same(each.sizes[0])
    return None


def _range(reading: Reading, call: Call) -> Seen:
    end = operands.given(reading, call, 0)
    if not isinstance(end, Size):
        return None
    one = len(call.node.args) == 1
    return Tensor((end if one else Size(),), whole=True)


def _where(reading: Reading, call: Call) -> Seen:
    found = [operands.operand(reading, call, number) for number in (0, 1, 2)]
    if found[0] is not None and isinstance(getattr(call.arg(0), "expression", None), cst.Name):
        reading.booleans |= found[0].alike
    whole = found[0]
    for other in found[1:]:
        if whole is not None and other is not None:
            whole = broadcast(whole, other)
    return whole if call.arg(1) is not None else None


def _masked(reading: Reading, call: Call) -> Seen:
    """`tf.boolean_mask`, whose mask has the first sizes of what it is put on."""
    tensor, mask = (operands.operand(reading, call, number) for number in (0, 1))
    if mask is not None:
        reading.booleans |= mask.alike
        if not mask.rank or (tensor is not None and mask.rank > tensor.rank):
            raise ConflictError
    if tensor is None or mask is None:
        return None
    for one, two in zip(tensor.sizes, mask.sizes, strict=False):
        one.same(two)
    return tensor.shaped((Size(), *tensor.sizes[mask.rank :]))


def _gather(reading: Reading, call: Call) -> Seen:
    tensor, by = (operands.operand(reading, call, number) for number in (0, 1))
    if by is not None:
        reading.integers |= by.alike
    axis = operands.axis(reading, call, 99, 0)
    if tensor is None or by is None or axis is None or call.arg("batch_dims") is not None:
        return None
    at = axis_of(tensor, axis)
    return tensor.shaped((*tensor.sizes[:at], *by.sizes, *tensor.sizes[at + 1 :]))


def _one_hot(reading: Reading, call: Call) -> Seen:
    by, depth = operands.first(reading, call), operands.given(reading, call, "depth", "num_classes", 1)
    reading.counts(depth)
    if by is None:
        return None
    reading.integers |= by.alike
    return Tensor((*by.sizes, depth if isinstance(depth, Size) else Size()), by.sources)


def _categorical(reading: Reading, call: Call) -> Seen:
    """`to_categorical`, which is given one label for each row."""
    by = operands.first(reading, call)
    if by is not None and by.rank != 1:
        raise ConflictError
    return _one_hot(reading, call)


def _image(reading: Reading, call: Call) -> Seen:
    tensor, size = operands.first(reading, call), operands.given(reading, call, "size", 1)
    if tensor is None:
        return None
    if tensor.rank not in (3, 4):
        raise ConflictError
    sizes = [each if isinstance(each, Size) else Size() for each in size] if isinstance(size, tuple) else None
    return tensor.shaped((*tensor.sizes[:-3], *sizes, tensor.sizes[-1])) if sizes and len(sizes) == 2 else None


def _convolution(reading: Reading, call: Call) -> Seen:
    tensor = operands.first(reading, call)
    if tensor is not None and tensor.rank != 4:
        raise ConflictError
    return None


def loss(reading: Reading, call: Call) -> Seen:
    """A loss of two arrays of one shape."""
    left, right = (operands.operand(reading, call, number) for number in (0, 1))
    if left is None or right is None:
        return None
    return reduced(broadcast(left, right), [-1], False) if left.rank and right.rank else None


def sparse_loss(reading: Reading, call: Call) -> Seen:
    """A loss of labels and what is predicted for each class."""
    labels, given = (operands.operand(reading, call, number) for number in (0, 1))
    if labels is None or given is None:
        return None
    reading.integers |= labels.alike
    return broadcast(labels, reduced(given, [-1], False))


def _einsum(reading: Reading, call: Call) -> Seen:
    argument = call.arg(0)
    text = argument.expression if argument is not None else None
    if not isinstance(text, cst.SimpleString) or not isinstance(text.evaluated_value, str):
        return None
    inputs, _, output = text.evaluated_value.replace(" ", "").partition("->")
    letters: dict[str, Size] = {}
    for word, arg in zip(inputs.split(","), call.node.args[1:], strict=False):
        tensor = reading.data(reading.value(arg.value))
        if tensor is None or "." in word:
            continue
        if tensor.rank != len(word):
            raise ConflictError
        for letter, size in zip(word, tensor.sizes, strict=True):
            letters.setdefault(letter, size).same(size)
    return Tensor(tuple(letters.setdefault(letter, Size()) for letter in output)) if "." not in output else None


RULES: dict[str, Rule] = {
    "shape": _shape, "int_shape": _shape, "tile": _tile, "repeat": _repeat, "repeat_elements": _repeat,
    "expand_dims": _expand, "squeeze": _squeeze, "matmul": _matmul, "dot": _matmul, "transpose": _transpose,
    "permute_dimensions": _transpose, "concat": _concat, "concatenate": _concat, "stack": _stack, "reshape": _reshape,
    "zeros": _made, "range": _range, "ones": _made, "fill": _made, "empty": _made, "where": _where, "gather": _gather,
    "one_hot": _one_hot, "to_categorical": _categorical,
    "resize": _image, "random_flip_left_right": _image, "rgb_to_grayscale": _image,
    "conv2d": _convolution, "max_pool2d": _convolution, "avg_pool2d": _convolution, "einsum": _einsum,
    "binary_crossentropy": loss, "categorical_crossentropy": loss, "mean_squared_error": loss,
    "mean_absolute_error": loss, "sparse_categorical_crossentropy": sparse_loss,
    "sparse_softmax_cross_entropy_with_logits": sparse_loss, "softmax_cross_entropy_with_logits": loss,
    "boolean_mask": _masked, "embedding_lookup": _gather, "from_tensor_slices": _rows, "switch": _where,
    "take": _gather,
}  # fmt: skip
"""The other operations, by the last word of their names."""
