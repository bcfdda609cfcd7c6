from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Const, Devices, Edit, File, Finding, Fix, Rule, Safety, Severity, on_call, replace_node


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
        if device is None:
            if call.node.args:
                return
            end = file.span(call.node).end - 1
            fix = Fix("name the device", (Edit(end, end, '"GPU:0"'),), Safety.SAFE)
            yield self.finding(
                call, file, f'{call.method}() without a device raises TypeError; name it: "GPU:0"', fix=fix
            )
            return
        value = device.value
        if isinstance(value, Devices):
            why = 'a device is named by text here, as in "GPU:0": a device object raises TypeError'
            yield self.finding(call, file, why)
            return
        if self._physical_name(device.expression, file):
            what = "a physical device's name raises ValueError: Failed parsing device name; ask for a logical device"
            yield self.finding(call, file, f'{what}\'s, or "GPU:0"')
            return
        names = [option.value for option in value.options if isinstance(option, Const)]
        name = names[0] if names else None
        if not isinstance(name, str) or len(names) < len(value.options) or any(map(_valid, names)):
            return
        indexed = None
        if isinstance(device.expression, cst.SimpleString) and name.upper() in ("GPU", "CPU"):
            quote = device.expression.quote
            edit = replace_node(file, device.expression, f"{quote}{name}:0{quote}")
            indexed = Fix("add the index", (edit,), Safety.SAFE)
        yield self.finding(
            call,
            file,
            f"a device needs an index: {name!r} raises ValueError: Failed parsing device name",
            fix=indexed,
        )

    def _physical_name(self, device: cst.BaseExpression, file: File) -> bool:
        """Whether this is `device.name` of a physical device: "/physical_device:GPU:0"."""
        if not isinstance(device, cst.Attribute) or device.attr.value != "name":
            return False
        owner = file.value(device.value)
        return isinstance(owner, Devices) and not owner.logical and owner.selection not in ("all", "some")


def _valid(device: object) -> bool:
    """Whether TensorFlow can parse a device name: type and index, or a full name."""
    return not isinstance(device, str) or (":" in device and not device.startswith("/physical_device:"))
