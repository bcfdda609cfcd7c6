"""Physical and logical devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import Const, Devices, Value, constant
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


@models("tf.config.list_physical_devices", "tf.config.get_visible_devices", "tf.config.list_logical_devices")
def _devices(call: Call, target: Value) -> Value:
    kind = constant(call.value_of("device_type")) if not call.lacks("device_type") else None
    logical = getattr(target, "name", "").endswith("list_logical_devices")
    return Devices(kind if isinstance(kind, str) else None, "all", call, logical)


def chosen_devices(devices: Value, comprehension: cst.ListComp) -> Value | None:
    """What `[d for d in devices]` is, `[d for d in devices if d.device_type == "GPU"]`, and what another condition
    leaves of devices of one kind; None for anything else."""
    loop = comprehension.for_in
    if not isinstance(devices, Devices) or not _same_name(comprehension.elt, loop.target) or loop.inner_for_in:
        return None
    if not loop.ifs:
        return devices
    kind = _type_tested(loop)
    if kind is not None:
        return Devices(kind, "all", devices.call, devices.logical) if devices.selection == "all" else None
    tests = [node for clause in loop.ifs for node in walk(clause)]
    if devices.kind is None or any(isinstance(n, cst.SimpleString) and devices.kind in n.value for n in tests):
        return None  # all of them may be meant: `if "GPU" in d.name`
    return Devices(devices.kind, "some", devices.call, devices.logical)


def _same_name(one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    return isinstance(one, cst.Name) and isinstance(other, cst.Name) and one.value == other.value


def _type_tested(loop: cst.CompFor) -> str | None:
    """The kind of which `d.device_type == "GPU"`, alone, leaves the devices."""
    test = loop.ifs[0].test
    if len(loop.ifs) > 1 or not isinstance(test, cst.Comparison) or len(test.comparisons) > 1:
        return None
    left, right = test.left, test.comparisons[0].comparator
    typed = isinstance(left, cst.Attribute) and left.attr.value == "device_type" and _same_name(left.value, loop.target)
    equal = isinstance(test.comparisons[0].operator, cst.Equal) and isinstance(right, cst.SimpleString)
    return str(right.evaluated_value) if typed and equal and isinstance(right, cst.SimpleString) else None


@models("tf.config.set_memory_growth", "tf.config.experimental.set_memory_growth", "tf.config.set_visible_devices")
def _nothing(call: Call, target: Value) -> Value:
    return Const(None)
