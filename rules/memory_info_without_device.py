from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Argument,
    Call,
    Const,
    Devices,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Severity,
    Shows,
    Value,
    fixes,
    on_call,
)


class MemoryInfoWithoutDevice(Rule):
    """
    ## What it does
    Reports `get_memory_info()`, `reset_memory_stats()` and `get_memory_usage()` with no device, or with a device that
    has no index (`"GPU"`).

    ## Why it costs memory
    The call raises: `TypeError` without a device, `ValueError: Failed parsing device name` without an index. The
    measurement that should have found the memory problem is never made.

    ## Fix safety
    Safe: the call raised before.

    ## When not to use it
    Never.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/experimental/get_memory_info
    """

    code = "TFM107"
    summary = "memory statistics need a device with an index, such as GPU:0"
    severity = Severity.ERROR
    fix_safety = (Safety.SAFE,)

    @on_call(
        "tf.config.experimental.get_memory_info",
        "tf.config.experimental.reset_memory_stats",
        "tf.config.experimental.get_memory_usage",
    )
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        device = call.arg("device")
        if device is not None:
            why = _wrong(file, device)
            if why:
                raised = "TypeError" if isinstance(device.value, Devices) else "ValueError: Failed parsing device name"
                fix = _indexed(file, device.expression)
                yield self.finding(call, file, why, fix=fix, shows=Shows(raised, settings=True))
        elif not call.node.args:
            end = file.span(call.node).end - 1
            fix = Fix.safe("name the device", Edit(end, end, '"GPU:0"'))
            why = f'{call.method}() without a device raises TypeError; name it: "GPU:0"'
            raised = f"TypeError: {call.method}() missing 1 required positional argument"
            yield self.finding(call, file, why, fix=fix, shows=Shows(raised, settings=True))


def _wrong(file: File, device: Argument) -> str:
    """Why TensorFlow cannot use a device, or "" where it may."""
    value, owner = device.value, _named_by(file, device.expression)
    if isinstance(value, Devices):
        return 'a device is named by text here, as in "GPU:0": a device object raises TypeError'
    if isinstance(owner, Devices) and not owner.logical and owner.selection not in ("all", "some"):
        return (
            "a physical device's name raises ValueError: Failed parsing device name; "
            'ask for a logical device\'s, or "GPU:0"'
        )
    names = [option.value for option in value.options if isinstance(option, Const)]
    if len(names) < len(value.options) or any(map(_valid, names)):
        return ""
    return f"a device needs an index: {names[0]!r} raises ValueError: Failed parsing device name"


def _named_by(file: File, device: cst.BaseExpression) -> Value | None:
    """Whose name this is: the value of `card` in `card.name`."""
    if isinstance(device, cst.Attribute) and device.attr.value == "name":
        return file.value(device.value)
    return None


def _valid(device: object) -> bool:
    """Whether TensorFlow can parse a device name: type and index, or a full name."""
    return not isinstance(device, str) or (":" in device and not device.startswith("/physical_device:"))


def _indexed(file: File, device: cst.BaseExpression) -> Fix | None:
    """Write the index behind a type that stands in the call."""
    if not isinstance(device, cst.SimpleString) or device.raw_value.upper() not in ("GPU", "CPU"):
        return None
    text = f"{device.quote}{device.raw_value}:0{device.quote}"
    return Fix.safe("add the index", fixes.replace_node(file, device, text))
