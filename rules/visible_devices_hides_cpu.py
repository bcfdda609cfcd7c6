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
    Sequence,
    Severity,
    Value,
    dotted,
    fixes,
    knowledge,
    on_call,
)


class VisibleDevicesHidesCpu(Rule):
    """
    ## What it does
    Reports `set_visible_devices` with GPUs only, or with an empty list, and no device type.

    ## Why it costs memory
    Without a type the list replaces all visible devices, the CPU too. The first op then fails with
    `NotFoundError: No CPU devices are available in this process`.

    ## Fix safety
    Safe: no op could run before.

    ## When not to use it
    Never.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/set_visible_devices
    """

    code = "TFM111"
    summary = "set_visible_devices without a device type hides the CPU too"
    severity = Severity.ERROR
    fix_safety = (Safety.SAFE,)

    @on_call("tf.config.set_visible_devices")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        if not call.lacks("device_type") and call.value_of("device_type") != Const(None):
            return
        devices = call.arg("devices")
        if devices is not None and _only_gpus(devices.value) and not _is_filled(file, devices.expression):
            yield self.finding(
                call,
                file,
                "without a device type this hides the CPU too, and the first op raises NotFoundError: "
                "No CPU devices are available",
                fix=_typed(file, devices) if call.lacks("device_type") else None,
            )


def _only_gpus(value: Value) -> bool:
    if isinstance(value, Sequence):
        return not value.open and all(map(_only_gpus, value.items))
    return isinstance(value, Devices) and value.kind == "GPU"


def _is_filled(file: File, devices: cst.BaseExpression) -> bool:
    """Whether a list that is made somewhere is filled by methods, so that what is in it is not known."""
    name = dotted(devices)
    if name is None or not isinstance(file.value(devices), Sequence):
        return False
    calls = [file.call(node) for word in knowledge.group("changes_object") for node in file.calls_by_word.get(word, ())]
    return any(call.receiver_node is not None and dotted(call.receiver_node) == name for call in calls)


def _typed(file: File, devices: Argument) -> Fix | None:
    end = fixes.outer_span(file, devices.expression).end
    text = ', device_type="GPU"' if devices.node.keyword is not None else ', "GPU"'
    return Fix.safe("name the device type", Edit(end, end, text))
