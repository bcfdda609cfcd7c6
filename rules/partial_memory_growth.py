from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._single_gpu import for_one_card

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
    constant,
    indentation,
    on_call,
    outer_span,
    written,
)

GROWTH = "tf.config.experimental.set_memory_growth"


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
        enabled = growth.arg("enable")
        if enabled is not None and constant(enabled.value) is False:
            return
        if self._limited(growth, file) or _only_one(growth, file):
            return
        which = "one GPU" if device.selection == "one" else "some of the GPUs"
        yield self.finding(
            growth,
            file,
            f"memory growth is set for {which} only: with more than one, the first op raises ValueError: "
            "Memory growth cannot differ between GPU devices",
            fix=self._loop(growth, file),
        )

    def _limited(self, growth: Call, file: File) -> bool:
        """Whether TensorFlow sees one GPU only, or other calls may set growth for the others."""
        if any(file.calls("tf.config.set_visible_devices")) or _chooses_cards(file):
            return True
        if any(file.calls("tf.config.set_logical_device_configuration")):
            return True  # growth is dropped then, and nothing differs
        function = file.contexts.function(growth.node)
        beside = [call for call in file.calls(GROWTH) if file.contexts.function(call.node) is function]
        if any(self._device_text(call, file) != self._device_text(growth, file) for call in beside):
            return True
        return for_one_card(growth, file)

    def _device_text(self, growth: Call, file: File) -> str | None:
        device = growth.arg("device")
        if device is None:
            return None
        written = device.expression
        return file.text(written.slice[0] if isinstance(written, cst.Subscript) else written)

    def _loop(self, growth: Call, file: File) -> Fix | None:
        argument = growth.arg("device")
        line = file.tree.statement(growth.node)
        if argument is None or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        statement, device = line.body[0], argument.expression
        whole = isinstance(statement, cst.Expr) and statement.value is growth.node
        if not whole or not isinstance(device, cst.Subscript) or file.loads("gpu"):
            return None
        span, at = file.span(statement), outer_span(file, device)
        text = file.source.text
        body = text[span.start : at.start] + "gpu" + text[at.end : span.end]
        body = body.replace("\n", "\n    ")
        loop = f"for gpu in {file.text(device.value)}:\n{indentation(file, line)}    {body}"
        return Fix("set it for every GPU", (Edit(span.start, span.end, loop),), Safety.UNSAFE)


def _chooses_cards(file: File) -> bool:
    """Whether the program has to do with the variable that hides cards: any text of it that is not documentation."""
    texts = [node for node in file.tree.of(cst.SimpleString) if "CUDA_VISIBLE_DEVICES" in node.value]
    return any(not isinstance(file.tree.parent(node), cst.Expr) for node in texts)


def _only_one(growth: Call, file: File) -> bool:
    """Whether the device is unpacked from a list that must have one item: `(gpu,) = list_physical_devices("GPU")`."""
    device = growth.arg("device")
    found = file.definitions(device.expression) if device is not None else ()
    targets = [file.tree.parent(d.node) for d in written(found)]
    return any(
        isinstance(element, cst.Element) and len(getattr(file.tree.parent(element), "elements", ())) == 1
        for element in targets
    )
