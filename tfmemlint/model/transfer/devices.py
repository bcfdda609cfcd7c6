"""Physical and logical devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import Const, Devices, Value, constant

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


@models("tf.config.list_physical_devices", "tf.config.get_visible_devices", "tf.config.list_logical_devices")
def _devices(call: Call, target: Value) -> Value:
    kind = constant(call.value_of("device_type")) if not call.lacks("device_type") else None
    logical = getattr(target, "name", "").endswith("list_logical_devices")
    return Devices(kind if isinstance(kind, str) else None, "all", call, logical)


def chosen_devices(devices: Value, comprehension: cst.ListComp) -> Value | None:
    """What `[d for d in devices]` is, and `[d for d in devices if d.device_type == "GPU"]`; None for anything else."""
    loop = comprehension.for_in
    if not isinstance(devices, Devices) or not comprehension.elt.deep_equals(loop.target) or loop.inner_for_in:
        return None
    if not loop.ifs:
        return devices
    test = loop.ifs[0].test
    if len(loop.ifs) > 1 or not isinstance(test, cst.Comparison) or len(test.comparisons) > 1:
        return None
    left, right = test.left, test.comparisons[0].comparator
    typed = isinstance(left, cst.Attribute) and left.attr.value == "device_type" and left.value.deep_equals(loop.target)
    equal = isinstance(test.comparisons[0].operator, cst.Equal) and isinstance(right, cst.SimpleString)
    if not typed or not equal or devices.selection != "all" or not isinstance(right, cst.SimpleString):
        return None
    return Devices(str(right.evaluated_value), "all", devices.call, devices.logical)


@models("tf.config.set_memory_growth", "tf.config.experimental.set_memory_growth", "tf.config.set_visible_devices")
def _nothing(call: Call, target: Value) -> Value:
    return Const(None)
