"""What a loss makes of the output of a model: the gradient of that output, and what is kept until then.

Measured on a CPU in a graph. Losses compute in float32; n is the output's bytes in it.
"""

from __future__ import annotations

from tfmemlint.estimate.program import LOSS, Buffer, Program
from tfmemlint.estimate.step import Applied, Loss

_OF_LOGITS = {
    "sparse_categorical_crossentropy": "softmax",
    "categorical_crossentropy": "softmax",
    "binary_crossentropy": "sigmoid",
}


def skipped(loss: Loss | None, last: Applied | None) -> str | None:
    """The activation of the layer before a loss that Keras leaves out: a crossentropy of the output of a softmax or
    sigmoid takes what went into it (`_get_logits` in `backend/tensorflow/nn.py`)."""
    if loss is None or last is None:
        return None
    name = last.arguments.get("activation") or last.kind.lower()
    return name if _OF_LOGITS.get(loss.kind) == name else None


def gradient(program: Program, loss: Loss | None, y: Buffer, items: int) -> Buffer:
    """Writes down the loss of an output with so many items, and gives the gradient of that output. Without a loss that
    is known it is the gradient alone."""
    program.owner, program.part = None, LOSS
    n = items * 4
    kind = loss.kind if loss is not None else ""
    if loss is not None and "sparse" in kind:
        dy = _sparse(program, loss.from_logits, y, n)
    elif loss is not None and "binary" in kind:
        dy = _binary(program, loss.from_logits, y, n)
    elif loss is not None and "categorical" in kind:
        dy = _categorical(program, loss.from_logits, y, n)
    elif kind in _DIFFERENCES:
        dy = _difference(program, y, n)
    elif kind in ("huber", "huber_loss"):
        dy = _huber(program, y, n)
    else:
        dy = program.op("loss gradient", [y], n)
    return dy if dy.bytes == y.bytes or not y.bytes else program.op("Cast", [dy], y.bytes)


_DIFFERENCES = ("mse", "mean_squared_error", "mae", "mean_absolute_error")


def _difference(program: Program, y: Buffer, n: int) -> Buffer:
    """The difference to the labels, kept for the gradient, and n for its square while that is added up; backward the
    mean's gradient in full size, and n."""
    difference = program.op("sub", [y], n)
    program.sink("Square", [difference], n)
    mean = program.op("Tile", [], n)
    slope = program.op("Mul", [difference], n)
    return program.op("Mul", [mean, slope], n, in_place=[mean, slope])


def _huber(program: Program, y: Buffer, n: int) -> Buffer:
    """The difference, its absolute and a mask of a byte an item; backward the mean's gradient in full size, a selection
    of it and n."""
    difference = program.op("Sub", [y], n)
    absolute = program.op("Abs", [difference], n)
    mask = program.op("LessEqual", [absolute], n // 4)
    mean = program.op("Tile", [], n)
    chosen = program.op("Select", [mask, mean], n)
    slope = program.op("Mul", [chosen, difference], n)
    return program.op("AddN", [mean, chosen, slope, absolute, mask], n, in_place=[slope])


def _sparse(program: Program, from_logits: bool, y: Buffer, n: int) -> Buffer:
    """From logits in place on them. Probabilities are clipped and their logarithm taken first: 2n more."""
    if from_logits:
        dy = program.op("SparseSoftmaxCrossEntropyWithLogits", [y], n, in_place=[y])
        return program.op("mul", [dy], n, in_place=[dy])
    clipped = program.op("clip_by_value", [y], n)
    log = program.op("Log", [clipped], n)
    dy = program.op("SparseSoftmaxCrossEntropyWithLogits", [log], n, in_place=[log])
    dy = program.op("mul", [dy], n, in_place=[dy])
    return program.op("LogGrad", [dy, clipped, y], n, in_place=[dy])


def _binary(program: Program, from_logits: bool, y: Buffer, n: int) -> Buffer:
    """From logits a mask of a byte an item, the exponential and one more than it, the negative labels, the mean's
    gradient in full size and a selection of it. Of probabilities the clipped ones and two logarithms."""
    if from_logits:
        mask = program.op("GreaterEqual", [y], n // 4)
        power = program.op("Exp", [y], n)
        more = program.op("add", [power], n)
        labels = program.op("Neg", [], n)
        mean = program.op("Tile", [], n)
        chosen = program.op("Select", [mask, mean], n)
        return program.op("AddN", [y, power, more, labels, mean, chosen], n, in_place=[chosen])
    clipped = program.op("clip_by_value", [y], n)
    log = program.op("Log", [clipped], n)
    other = program.op("Log1p", [clipped], n)
    both = program.op("add", [log, other], n)
    return program.op("LogGrad", [clipped, log, other, both, y], n, in_place=[clipped])


def _categorical(program: Program, from_logits: bool, y: Buffer, n: int) -> Buffer:
    """From logits in place on them, as the sparse one. Probabilities are normalised and their logarithm taken."""
    if from_logits:
        dy = program.op("SoftmaxCrossEntropyWithLogits", [y], n, in_place=[y])
        return program.op("mul", [dy], n, in_place=[dy])
    scaled = program.op("normalise", [y], n)
    log = program.op("Log", [scaled], n)
    return program.op("LogGrad", [y, scaled, log], n, in_place=[log])
