from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, Const, File, Finding, Fix, Rule, Safety, Severity, Shows, fixes, flow, on_call, runtime


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
        if devices is None or not runtime.only_gpus(devices.value):
            return
        if not flow.is_filled(file, devices.expression):
            text = '"GPU"' if devices.node.keyword is None else 'device_type="GPU"'
            given = call.arg("device_type")
            edit = fixes.add_argument(file, call.node, text) if given is None else None
            yield self.finding(
                call,
                file,
                "without a device type this hides the CPU too, and the first op raises NotFoundError: "
                "No CPU devices are available",
                fix=Fix.safe("name the device type", edit),
                shows=Shows("NotFoundError: No CPU devices are available", settings=True),
            )
