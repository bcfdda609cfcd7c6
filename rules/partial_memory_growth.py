from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Devices, Edit, File, Finding, Fix, Rule, Safety, Severity, fixes, on_call, runtime

GROWTH = "tf.config.experimental.set_memory_growth"
CHOOSES = ("tf.config.set_visible_devices", "tf.config.set_logical_device_configuration")
"""Where one of these is called TensorFlow may see one GPU only, or drops growth, so that nothing differs."""


class PartialMemoryGrowth(Rule):
    """
    ## What it does
    Reports memory growth that is set for one GPU (`gpus[0]`) or a slice of them, and not for all.

    ## Why it costs memory
    TensorFlow wants the same setting on all visible GPUs. On a host with two or more the first op raises
    `ValueError: Memory growth cannot differ between GPU devices`; code that worked on a workstation fails on a server.

    ## Fix safety
    Unsafe: it changes how much memory TensorFlow takes on the other GPUs.

    ## When not to use it
    When the program only ever runs on hosts with one GPU.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM102"
    summary = "memory growth set for some GPUs and not for all raises ValueError at the first op"
    severity = Severity.ERROR
    fix_safety = (Safety.UNSAFE,)

    @on_call(GROWTH)
    def check(self, growth: Call, file: File) -> Iterator[Finding]:
        device = growth.value_of("device")
        if not isinstance(device, Devices) or device.selection not in ("one", "some") or device.kind == "CPU":
            return
        if any(file.calls(*CHOOSES)) or runtime.mentions_variable(file, "CUDA_VISIBLE_DEVICES"):
            return
        if (
            runtime.sets_growth(file, growth)
            and not runtime.for_one_gpu(file, growth.node)
            and not _others_too(file, growth)
        ):
            which = "one GPU" if device.selection == "one" else "some of the GPUs"
            yield self.finding(
                growth,
                file,
                f"memory growth is set for {which} only: with more than one, the first op raises ValueError: "
                "Memory growth cannot differ between GPU devices",
                fix=_loop(file, growth),
            )


def _others_too(file: File, growth: Call) -> bool:
    """Whether other calls of the same function may set it for the other GPUs."""
    function = file.contexts.function(growth.node)
    beside = [call for call in file.calls(GROWTH) if file.contexts.function(call.node) is function]
    return any(_which(file, call) != _which(file, growth) for call in beside)


def _which(file: File, growth: Call) -> str | None:
    """The device of a call as it is written, of `gpus[0]` the index."""
    device = growth.arg("device")
    if device is None:
        return None
    code = device.expression
    return file.text(code.slice[0] if isinstance(code, cst.Subscript) else code)


def _loop(file: File, growth: Call) -> Fix | None:
    """Make the statement a loop over the list that the device is taken from."""
    line, device = file.tree.statement(growth.node), growth.arg("device")
    alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
    taken = device.expression if device is not None else None
    statement = file.tree.parent(growth.node)
    if not alone or not isinstance(taken, cst.Subscript) or not isinstance(statement, cst.Expr) or file.loads("gpu"):
        return None
    span, at, text = file.span(statement), fixes.outer_span(file, taken), file.source.text
    body = f"{text[span.start : at.start]}gpu{text[at.end : span.end]}".replace("\n", "\n    ")
    loop = f"for gpu in {file.text(taken.value)}:\n{fixes.indentation(file, line)}    {body}"
    return Fix.unsafe("set it for every GPU", Edit(span.start, span.end, loop))
