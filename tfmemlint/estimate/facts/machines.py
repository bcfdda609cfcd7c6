"""What a program asks of the machine, and arrays that are made of numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import objects
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.builtin import TABLE, Handler, models
from tfmemlint.estimate.facts.known import items
from tfmemlint.estimate.facts.values import NONE, Closure, Held, plain
from tfmemlint.model.values import Array, Const, Length, Sequence, Unknown, Value, integer
from tfmemlint.syntax.numbers import range_length

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine


@models("tf.config.list_physical_devices", "tf.config.experimental.list_physical_devices",
        "tf.config.list_logical_devices", "tf.config.experimental.list_logical_devices")  # fmt: skip
def _devices(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    """What is estimated is the memory of one GPU, which is there."""
    if given.get(0, "device_type") != Const("GPU"):
        return None
    return objects.new_list(Sequence((Unknown("a GPU"),), "list"))


CHANNELS = "channels"


@models("tf.keras.backend.image_data_format", "tf.keras.config.image_data_format")
def _channels(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    """Where pictures have their channels: behind, unless the program says otherwise."""
    return machine.settings.get(CHANNELS, Const("channels_last"))


@models("tf.keras.backend.image_dim_ordering")
def _ordering(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    """The same in the words of Keras 1."""
    behind = _channels(machine, given, node) == Const("channels_last")
    return Const("tf") if behind else Unknown("an order of dimensions")


@models("tf.keras.backend.set_image_data_format", "tf.keras.config.set_image_data_format",
        "tf.keras.backend.set_image_dim_ordering")  # fmt: skip
def _put_channels(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    said = given.get(0, "data_format", "dim_ordering") or Unknown("a format")
    machine.put(machine.settings, CHANNELS, Const("channels_last") if said == Const("tf") else said)
    return NONE


@models("tf.keras.ops.arange", "tf.keras.backend.arange")
def _arange(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    start, stop, step = given.get(0, "start"), given.get(1, "stop"), given.get(2, "step")
    bounds = [integer(each) for each in (start, stop, step) if each is not None and each != NONE]
    length = range_length(bounds)
    return Array("tf", "int32", (length,)) if length is not None else None


@models("np.random.permutation")
def _permutation(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    """Of a number so many places, which pick rows of arrays."""
    of = given.get(0, "x")
    if isinstance(of, (Const, Length)):
        return Array("np", "int64", (integer(of),))
    return None


@models("np.reshape")
def _reshaped(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    """Of what is not known the shape that is asked for."""
    of, shape = given.get(0), given.get(1, "newshape", "shape")
    sizes = items(shape) if shape is not None else None
    if of is None or isinstance(plain(of), Array) or not sizes:
        return None
    known = [integer(each) for each in sizes]
    return Array("np", None, tuple(n if n is not None and n >= 0 else None for n in known))


@models("tf.cond", "tf.keras.backend.switch")
def _either(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    """Both ways are followed; where both give a tensor of one shape, it is that of the first."""
    ways = [given.get(1, "true_fn", "then_expression"), given.get(2, "false_fn", "else_expression")]
    made = [machine.call(way, Arguments(), node) if isinstance(way, (Closure, Held)) else way for way in ways]
    one, other = made
    if isinstance(one, Array) and isinstance(other, Array):
        return one if one.shape == other.shape else None
    return None


@models("tf.test.is_gpu_available")
def _has_gpu(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    return Const(True)


def lookup(name: str) -> Handler | None:
    """What a function of that name gives, if it is one of Python's or of these."""
    return TABLE.get(name)
