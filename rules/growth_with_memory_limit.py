from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Devices, File, Finding, Instance, Rule, Sequence, Severity, constant, elements, on_call

GROWTH = "tf.config.experimental.set_memory_growth"
LIMIT = "tf.config.set_logical_device_configuration"


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
        if _classify(later) is None:
            return
        other = LIMIT if later.name == GROWTH else GROWTH
        order = file.effects.order("growth and limit", _classify)
        before = order.before(later.node, other)
        if (
            before is None
            or not isinstance(before.node, cst.Call)
            or not (before.certain or self._same_branch(before.node, later, file))
        ):
            return
        earlier = file.call(before.node)
        why = (
            "raises ValueError: Cannot set memory growth on device when virtual devices configured"
            if later.name == GROWTH
            else "drops the memory growth set before, on every GPU"
        )
        yield self.finding(
            later, file, f"growth and a memory limit exclude each other: this {why}", related=[(earlier, "set here")]
        )

    def _same_branch(self, earlier: cst.Call, later: Call, file: File) -> bool:
        """Whether whatever runs the later call has run the earlier one: a loop over the GPUs in the same block."""
        block = next((a for a in file.tree.ancestors(earlier) if isinstance(a, cst.For)), None)
        while (
            block is not None
            and isinstance(above := file.tree.parent(block), cst.IndentedBlock)
            and isinstance(file.tree.parent(above), cst.For)
        ):
            block = file.tree.parent(above)  # type: ignore[assignment]
        if block is None or not isinstance(file.value(block.iter), Devices):
            return False
        home = file.tree.parent(block)
        return home is not None and file.tree.contains(home, later.node)


def _classify(node: Call | cst.BaseSmallStatement) -> str | None:
    if not isinstance(node, Call) or node.name not in (GROWTH, LIMIT):
        return None
    if node.name == GROWTH:
        return GROWTH if constant(node.value_of("enable")) is not False else None
    configurations = node.value_of("logical_devices")
    if not isinstance(configurations, Sequence):
        return None
    limited = any(
        isinstance(leaf, Instance) and leaf.call is not None and leaf.call.arg("memory_limit") is not None
        for leaf in elements(configurations)
    )
    return LIMIT if limited else None
