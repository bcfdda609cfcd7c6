from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Devices,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Severity,
    Shows,
    fixes,
    on_call,
    runtime,
)


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

    @on_call("tf.config.experimental.set_memory_growth")
    def check(self, growth: Call, file: File) -> Iterator[Finding]:
        device = growth.value_of("device")
        if not isinstance(device, Devices) or device.selection not in ("one", "some") or device.kind == "CPU":
            return
        if runtime.chooses_devices(file) or runtime.for_one_gpu(file, growth.node):
            return
        if runtime.initialised_by(file, growth.node) is not None:
            return  # the call itself raises then and sets nothing, which is TFM101's finding
        if runtime.sets_growth(file, growth) and not runtime.others_grow_too(file, growth):
            which = "one GPU" if device.selection == "one" else "some of the GPUs"
            yield self.finding(
                growth,
                file,
                f"memory growth is set for {which} only: with more than one, the first op raises ValueError: "
                "Memory growth cannot differ between GPU devices",
                fix=_loop(file, growth),
                shows=Shows("ValueError: Memory growth cannot differ between GPU devices", settings=True),
            )


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
