from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._environment import settings
from tfmemlint_rules._moves import move_before

from tfmemlint.api import File, Finding, Fix, Node, Rule, Safety, Severity, on_file
from tfmemlint.query.runtime import INITIALISED, initialisation

VARIABLES = frozenset({
    "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR", "CUDA_VISIBLE_DEVICES", "TF_CPU_ALLOCATOR_USE_BFC",
})  # fmt: skip


class GpuEnvSetTooLate(Rule):
    """
    ## What it does
    Reports environment variables of the GPU allocator and of device visibility that are set after the runtime has
    certainly been initialised.

    ## Why it costs memory
    TensorFlow reads them once, when it makes its devices. Set later they change nothing in this process: the
    allocator already holds nearly all memory, on every GPU.

    ## Fix safety
    Unsafe: from then on the setting takes effect, which it did not before.

    ## When not to use it
    When the variable is meant for processes that are started later.

    ## References
    - https://www.tensorflow.org/guide/gpu
    """

    code = "TFM105"
    summary = "allocator and visibility variables set after the runtime is initialised change nothing"
    severity = Severity.ERROR
    fix_safety = (Safety.UNSAFE,)

    @on_file(*sorted(VARIABLES))
    def check(self, file: File) -> Iterator[Finding]:
        order = None
        for setting in settings(file):
            if setting.variable not in VARIABLES:
                continue
            order = order or initialisation(file)
            node = setting.place
            first = order.before(node, INITIALISED)
            if (
                first is None
                or not first.certain
                or not isinstance(first.node, cst.Call)
                or self._starts_processes(file, node)
            ):
                continue
            starter = file.call(first.node)
            moved = move_before(file, node, first.node)
            fix = Fix("set it before the runtime starts", moved.edits, Safety.UNSAFE) if moved is not None else None
            yield self.finding(
                setting.node,
                file,
                f"{setting.variable} is read when the runtime starts, and {starter.method} has started it: "
                "this changes nothing",
                fix=fix,
                related=[(starter, "initialises the runtime")],
            )

    def _starts_processes(self, file: File, node: Node) -> bool:
        """Whether the program starts processes after this place, for which the variable may be meant."""
        at = file.tree.order(node)
        names = ("subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call", "os.system")
        return any(file.tree.order(call.node) > at for call in file.calls(*names))
