"""Activations, as layers of their own and at the end of others.

Measured on a CPU in a graph (TensorFlow 2.21, Keras 3.15). "In place": no new memory if nobody else reads the tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tfmemlint.estimate.layers.kind import Kind
from tfmemlint.estimate.place import Place
from tfmemlint.estimate.program import Buffer
from tfmemlint.estimate.step import Applied
from tfmemlint.estimate.weights import Shape, Weight, known

Gradient = Callable[[Buffer], Buffer]
Applying = tuple[Buffer, Gradient]
"""The output, and what makes the gradient of the input from that of the output."""


def _keeps_output(name: str, place: Place, z: Buffer) -> Applying:
    """relu and others: in place, keeps its output; the gradient is in place on dy."""
    y = place.op(name, [z], z.bytes, in_place=[z])
    return y, lambda dy: place.op(f"{name}Grad", [dy, y], dy.bytes, in_place=[dy])


def _keeps_input(name: str, place: Place, z: Buffer) -> Applying:
    """leaky_relu, softplus: a new tensor, keeps its input; the gradient is in place on dy."""
    y = place.op(name, [z], z.bytes)
    return y, lambda dy: place.op(f"{name}Grad", [dy, z], dy.bytes, in_place=[dy])


def _silu(place: Place, z: Buffer) -> Applying:
    """n, and n more while it runs; keeps its input, and computes the sigmoid again for the gradient: 2n."""
    n = z.bytes
    gate = place.op("Sigmoid", [z], n)
    y = place.op("Mul", [z, gate], n, in_place=[gate])

    def gradient(dy: Buffer) -> Buffer:
        again = place.op("Sigmoid", [z], n)
        rest = place.op("Sub", [again], n)
        rest = place.op("Mul", [rest, z], n, in_place=[rest])
        slope = place.op("Mul", [again, rest], n, in_place=[rest])
        return place.op("Mul", [dy, slope], n, in_place=[dy, slope])

    return y, gradient


def _gelu(place: Place, z: Buffer) -> Applying:
    """The dearest one: z squared, z halved, erf in place of z, and the output; the first three are kept."""
    n = z.bytes
    squared = place.op("Square", [z], n)
    half = place.op("Mul", [z], n)
    erf = place.op("Erf", [z], n, in_place=[z])
    y = place.op("Mul", [half, erf], n)
    return y, lambda dy: place.op("GeluGrad", [dy, half, erf, squared], n, in_place=[dy])


def _softmax(place: Place, z: Buffer) -> Applying:
    """In place, keeps its output; the gradient takes n."""
    n = z.bytes
    y = place.op("Softmax", [z], n, in_place=[z])

    def gradient(dy: Buffer) -> Buffer:
        place.sink("Sum", [place.op("Mul", [dy, y], n)])
        rest = place.op("Sub", [dy], n, in_place=[dy])
        return place.op("Mul", [rest, y], n, in_place=[rest])

    return y, gradient


def _mish(place: Place, z: Buffer) -> Applying:
    """z, the tanh of its softplus, the output, and the sigmoid of z: the gradient needs that, and it needs no dy."""
    n = z.bytes
    gate = place.op("Softplus", [z], n)
    gate = place.op("Tanh", [gate], n, in_place=[gate])
    y = place.op("Mul", [z, gate], n)
    slope = place.op("Sigmoid", [z], n)

    def gradient(dy: Buffer) -> Buffer:
        through = place.op("TanhGrad", [dy, z, gate], n)
        through = place.op("Mul", [through, slope], n, in_place=[through, slope])
        direct = place.op("Mul", [dy, gate], n, in_place=[dy])
        return place.op("AddN", [direct, through], n, in_place=[direct, through])

    return y, gradient


def _log_softmax(place: Place, z: Buffer) -> Applying:
    """In place, keeps its output; and its exponential, which the gradient needs but does not wait for dy."""
    n = z.bytes
    y = place.op("LogSoftmax", [z], n, in_place=[z])
    weights = place.op("Exp", [y], n)

    def gradient(dy: Buffer) -> Buffer:
        place.sink("Sum", [dy])
        spread = place.op("Mul", [weights], n, in_place=[weights])
        return place.op("Sub", [dy, spread], n, in_place=[dy, spread])

    return y, gradient


def _hard_sigmoid(place: Place, z: Buffer) -> Applying:
    """The clipped tensor in place, and it divided: keeps the first."""
    n = z.bytes
    clipped = place.op("Relu6", [z], n, in_place=[z])
    y = place.op("truediv", [clipped], n)
    return y, lambda dy: place.op("Relu6Grad", [dy, clipped], n, in_place=[dy])


def _hard_silu(place: Place, z: Buffer) -> Applying:
    """z, the clipped tensor and that divided; all three are kept."""
    n = z.bytes
    clipped = place.op("Relu6", [z], n)
    gate = place.op("truediv", [clipped], n)
    y = place.op("Mul", [z, gate], n)

    def gradient(dy: Buffer) -> Buffer:
        through = place.op("Mul", [dy, z], n)
        through = place.op("Relu6Grad", [through, clipped], n, in_place=[through])
        direct = place.op("Mul", [dy, gate], n, in_place=[dy])
        return place.op("AddN", [direct, through], n, in_place=[direct, through])

    return y, gradient


_OUTPUT_KEPT = ("relu", "relu6", "elu", "selu", "sigmoid", "tanh", "exponential", "exp", "sqrt")
_INPUT_KEPT = ("leaky_relu", "softplus", "softsign", "log", "square", "absolute")
_NAMED: Mapping[str, Callable[[Place, Buffer], Applying]] = {
    **{name: partial(_keeps_output, name) for name in _OUTPUT_KEPT},
    **{name: partial(_keeps_input, name) for name in _INPUT_KEPT},
    "silu": _silu,
    "swish": _silu,
    "gelu": _gelu,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "mish": _mish,
    "hard_sigmoid": _hard_sigmoid,
    "hard_silu": _hard_silu,
    "hard_swish": _hard_silu,
}


def activate(place: Place, z: Buffer) -> Applying:
    """Applies the activation that the layer has as an argument. One that is not known counts as none."""
    name = place.arguments.get("activation")
    if name in (None, "linear") or name == _skipped(place):
        return z, lambda dy: dy
    apply = _NAMED.get(name)
    if apply is None:
        place.leave_out(f"the activation {name}")
        return z, lambda dy: dy
    return apply(place, z)


def _skipped(place: Place) -> str | None:
    return place.state.skipped.get(place.applied.outputs[0])


def _activation(name: str | None, place: Place) -> None:
    """A layer that is nothing but an activation."""
    z = place.x()
    if name is None or name == _skipped(place):
        y, gradient = activate(place, z)
    else:
        y, gradient = _NAMED[name](place, z)
    place.give(y)
    place.on_backward(lambda dy: place.pass_on(gradient(dy)) if place.wants() else None)


def _alpha(applied: Applied, inputs: Sequence[Shape]) -> tuple[Weight, ...]:
    shared = applied.arguments.get("shared_axes") or ()
    sizes = [
        1 if axis in shared else known(size, "the shape of its input")
        for axis, size in enumerate(inputs[0][1:], start=1)
    ]
    return (Weight(tuple(sizes)),)


def _prelu(place: Place) -> None:
    """Two rectified copies and their sum; keeps its input. Read from the code of Keras."""
    x = place.x()
    n = x.bytes
    positive = place.op("Relu", [x], n)
    negative = place.op("Relu", [x], n)
    scaled = place.op("Mul", [negative], n)
    place.give(place.op("Add", [positive, scaled], n, in_place=[positive, scaled]))

    def backward(dy: Buffer) -> None:
        slope = place.op("Mul", [dy, negative], n)
        place.update(0, place.op("Sum", [slope], place.weight_bytes(0)), read=place.wants())
        if place.wants():
            below = place.op("ReluGrad", [dy, negative], n)
            above = place.op("ReluGrad", [dy, positive], n, in_place=[dy])
            place.pass_on(place.op("AddN", [above, below], n, in_place=[above, below]))

    place.on_backward(backward)


KINDS: Mapping[str, Kind] = {
    "Activation": Kind(partial(_activation, None)),
    "ReLU": Kind(partial(_activation, "relu")),
    "LeakyReLU": Kind(partial(_activation, "leaky_relu")),
    "ELU": Kind(partial(_activation, "elu")),
    "Softmax": Kind(partial(_activation, "softmax")),
    "PReLU": Kind(_prelu, _alpha),
    **{name: Kind(partial(_activation, name)) for name in _NAMED},
}
