from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Devices, File, Finding, Node, Rule, Severity, Shows, on_call, runtime

GROWTH = "tf.config.experimental.set_memory_growth"
LIMIT = "tf.config.set_logical_device_configuration"
OFF = "growth turned off"
RAISED = "ValueError: Cannot set memory growth on device when virtual devices configured"


class GrowthWithMemoryLimit(Rule):
    """
    ## What it does
    Reports programs that set both memory growth and a logical device with a `memory_limit`.

    ## Why it costs memory
    The two exclude each other. Limit first, then growth raises `ValueError: Cannot set memory growth on device when
    virtual devices configured`. Growth first, then a limit is accepted, and growth is dropped without a word on every
    GPU: those without a limit are then taken whole.

    ## When not to use it
    Never.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM103"
    summary = "memory growth and a memory limit cancel each other"
    no_fix = "growth or a hard limit is yours to choose"
    severity = Severity.ERROR

    @on_call(GROWTH, LIMIT)
    def check(self, later: Call, file: File) -> Iterator[Finding]:
        if _kind(file, later) in (None, OFF) or runtime.hides_cards(file, later.node):
            return
        order = file.effects.order("growth and limit", lambda node: _kind(file, node))
        before = order.before(later.node, LIMIT if later.name == GROWTH else GROWTH)
        if before is None or not isinstance(before.node, cst.Call):
            return
        off = order.before(later.node, OFF)
        if off is not None and order.before(off.node, GROWTH) is not None:
            return
        if not before.certain and not _for_each_device(file, before.node, later):
            return
        raises = later.name == GROWTH
        yield self.finding(
            later,
            file,
            "growth and a memory limit exclude each other: this "
            + (f"raises {RAISED}" if raises else "drops the memory growth set before, on every GPU"),
            related=[(file.call(before.node), "set here")],
            shows=Shows(RAISED, settings=True) if raises else Shows(metric="growth_dropped"),
        )


def _kind(file: File, node: object) -> str | None:
    """Which of the two a call does, or that it takes growth back."""
    if not isinstance(node, Call):
        return None
    if runtime.stops_growth(file, node):
        return OFF
    return GROWTH if runtime.sets_growth(file, node) else LIMIT if runtime.sets_limit(file, node) else None


def _for_each_device(file: File, earlier: Node, later: Call) -> bool:
    """Whether a loop over devices did the earlier one, in a block that the later one stands in, too: it is passed by
    only where there is no device."""
    loops = [loop for loop in file.contexts.loops(earlier) if isinstance(file.contexts.iterated(loop), Devices)]
    home = file.tree.parent(loops[-1]) if loops else None
    return home is not None and file.tree.contains(home, later.node)
