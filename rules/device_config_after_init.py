from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, Safety, Severity, Shows, fixes, on_call, runtime

ERRORS = {
    "tf.config.experimental.set_memory_growth": "Physical devices cannot be modified after being initialized",
    "tf.config.set_visible_devices": "Visible devices cannot be modified after being initialized",
    "tf.config.set_logical_device_configuration": "Virtual devices cannot be modified after being initialized",
}


class DeviceConfigAfterInit(Rule):
    """
    ## What it does
    Reports `set_memory_growth`, `set_visible_devices` and `set_logical_device_configuration` where the runtime has
    certainly been initialised before: by an op, a variable, a dataset, an optimizer, a metric, a strategy, ...

    ## Why it costs memory
    These settings are read once, when the runtime starts. Afterwards the call raises `RuntimeError`; and where that
    error is caught, TensorFlow has already taken nearly all memory of every GPU.

    ## Fix safety
    Unsafe: the program goes on where it raised an error, with other devices. No fix where the two places are in
    different functions.

    ## When not to use it
    Never: the call has no effect but an exception. Calls of `set_visible_devices` that certainly change nothing, with
    all CPUs in a program that hides its GPUs from CUDA, raise none and are not reported.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM101"
    summary = "device configuration after the runtime is initialised raises RuntimeError"
    severity = Severity.ERROR
    fix_safety = (Safety.UNSAFE,)

    @on_call(*ERRORS)
    def check(self, config: Call, file: File) -> Iterator[Finding]:
        starter = runtime.initialised_by(file, config.node)
        if starter is not None and not runtime.changes_nothing(file, config):
            yield self.finding(
                config,
                file,
                f"{starter.method or 'an earlier call'} has initialised the runtime, so this raises RuntimeError: "
                f"{ERRORS[config.names[0]]}; configure devices first",
                fix=fixes.move_before(file, config.node, starter.node, "configure devices before the runtime starts"),
                related=[(starter, "initialises the runtime")],
                shows=Shows(f"RuntimeError: {ERRORS[config.names[0]]}", settings=True),
            )
