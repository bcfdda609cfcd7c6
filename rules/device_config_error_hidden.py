from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Devices, File, Finding, Rule, Shows, knowledge, on_call, ordering, runtime


class DeviceConfigErrorHidden(Rule):
    """
    ## What it does
    Reports device configuration whose `RuntimeError` is caught and dropped: `except ...: pass` or
    `contextlib.suppress`.

    ## Why it costs memory
    The error says that the runtime was already initialised and nothing was configured. Dropped, it leaves a job that
    takes the whole card and gives no hint why.

    ## When not to use it
    When running with the whole card is as good to you as running with a part of it. Programs that set
    `TF_FORCE_GPU_ALLOW_GROWTH` to `true` or hide all cards by `CUDA_VISIBLE_DEVICES` are not reported.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM109"
    summary = "a dropped device configuration error leaves the job with the whole card"
    no_fix = "raise, log or configure earlier, as the program needs"

    @on_call(*knowledge.group("configures_devices"))
    def check(self, config: Call, file: File) -> Iterator[Finding]:
        device = config.given("device", "devices")
        if isinstance(device, Devices) and device.kind == "CPU":
            return  # no card is at stake
        if runtime.forces_growth(file) or runtime.hides_cards(file, config.node):
            return  # the cards grow all the same, or there are none
        for hidden in ordering.dropped(file, config.node, "RuntimeError"):
            yield self.finding(
                hidden.place if isinstance(hidden.place, cst.With) else file.span(hidden.place),
                file,
                "if this configuration fails, nobody learns that it had no effect and the job takes the whole card",
                related=[(file.call(hidden.inside), "the configuration")],
                shows=Shows("RuntimeError: cannot be modified after being initialized", settings=True, started=True),
            )
