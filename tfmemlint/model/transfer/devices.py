"""Physical and logical devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import Const, Devices, Value, constant

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


@models("tf.config.list_physical_devices", "tf.config.get_visible_devices", "tf.config.list_logical_devices")
def _devices(call: Call, target: Value) -> Value:
    kind = constant(call.value_of("device_type")) if not call.lacks("device_type") else None
    logical = getattr(target, "name", "").endswith("list_logical_devices")
    return Devices(kind if isinstance(kind, str) else None, "all", call, logical)


@models("tf.config.set_memory_growth", "tf.config.experimental.set_memory_growth", "tf.config.set_visible_devices")
def _nothing(call: Call, target: Value) -> Value:
    return Const(None)
