from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, Devices, File, Finding, Rule, Shows, on_call, ordering, runtime

GROWTH = "tf.config.experimental.set_memory_growth"
LOGICAL = "tf.config.set_logical_device_configuration"
"""The variable that sets growth however devices are configured."""


class LogicalCpuCancelsGrowth(Rule):
    """
    ## What it does
    Reports programs that split the CPU into logical devices and also set memory growth for GPUs.

    ## Why it costs memory
    As soon as any device has a logical configuration, the CPU too, TensorFlow leaves memory growth out of the options
    that it makes the GPUs with. Growth is dropped without a word and every card is taken whole.

    ## When not to use it
    On hosts without a GPU.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/set_logical_device_configuration
    """

    code = "TFM113"
    summary = "logical CPU devices cancel GPU memory growth"
    no_fix = "which of the two is wanted is yours to say"

    @on_call(LOGICAL)
    def check(self, split: Call, file: File) -> Iterator[Finding]:
        if _kind(file, split) is None or runtime.forces_growth(file) or runtime.hides_cards(file, split.node):
            return
        for growth in file.calls(GROWTH):
            if _kind(file, growth) is not None and _in_one_run(file, split, growth):
                yield self.finding(
                    split,
                    file,
                    "logical devices, also on the CPU, make TensorFlow drop the memory growth of every GPU",
                    related=[(growth, "the growth that is dropped")],
                    shows=Shows(metric="growth_dropped"),
                )
                return


def _kind(file: File, node: object) -> str | None:
    """Which of the two a call does: split a CPU, or let a GPU's memory grow."""
    device = node.value_of("device") if isinstance(node, Call) and node.name in (LOGICAL, GROWTH) else None
    if not isinstance(node, Call) or not isinstance(device, Devices):
        return None
    if node.name == LOGICAL:
        return LOGICAL if device.kind == "CPU" else None
    return GROWTH if device.kind != "CPU" and runtime.sets_growth(file, node) else None


def _in_one_run(file: File, split: Call, growth: Call) -> bool:
    """Whether one run does both: they share a function, or one has happened when the other is reached."""
    if file.contexts.function(growth.node) is file.contexts.function(split.node):
        return not ordering.exclusive(file, split.node, growth.node)
    order = file.effects.order("logical and growth", lambda node: _kind(file, node))
    return bool(order.before(split.node, GROWTH) or order.before(growth.node, LOGICAL))
