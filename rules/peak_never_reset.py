from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Const, File, Finding, Fix, Rule, Safety, on_call, walk
from tfmemlint.fix.edits import insert_first

RESET = "tf.config.experimental.reset_memory_stats"


class PeakNeverReset(Rule):
    """
    ## What it does
    Reports `get_memory_info(device)["peak"]` read in a loop that never calls `reset_memory_stats(device)`.

    ## Why it costs memory
    The peak counts from the start of the process. Read in a loop it is a running maximum: every setting after the
    most expensive one seems to need as much as that one, and the comparison picks the wrong setting.

    ## Example
    ```python
    for size in (32, 64, 128):
        train(size)
        print(size, tf.config.experimental.get_memory_info("GPU:0")["peak"])
    ```
    Reset it at the top of each iteration:
    ```python
    for size in (32, 64, 128):
        tf.config.experimental.reset_memory_stats("GPU:0")
        train(size)
        print(size, tf.config.experimental.get_memory_info("GPU:0")["peak"])
    ```

    ## Fix safety
    Unsafe: the numbers that the loop prints change.

    ## When not to use it
    When the maximum over all iterations is what you want.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/experimental/reset_memory_stats
    """

    code = "TFM114"
    summary = "the peak of memory statistics is a running maximum unless it is reset"
    fix_safety = (Safety.UNSAFE,)

    @on_call("tf.config.experimental.get_memory_info")
    def check(self, info: Call, file: File) -> Iterator[Finding]:
        loop = file.contexts.loop(info.node)
        if loop is None or not self._reads_peak(info, file):
            return
        loops = list(file.contexts.loops(info.node))
        if any(file.tree.contains(outer, call.node) for outer in loops for call in file.calls(RESET)) or self._resets(loop, file):
            return
        yield self.finding(
            info,
            file,
            "the peak counts since the process started: in this loop it is a running maximum; reset it each time",
            fix=self._reset(info, loop, file),
            related=[(loop, "the loop")],
        )

    def _reads_peak(self, info: Call, file: File) -> bool:
        parent = file.tree.parent(info.node)
        if isinstance(parent, cst.Subscript):
            index = parent.slice[0].slice
            return isinstance(index, cst.Index) and file.value(index.value) == Const("peak")
        if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
            name = parent.targets[0].target
            flow = file.flow(file.scope_of(name))
            made = [d for d in flow.bindings.get(name.value, ()) if d.node is name]
            for use in (u for d in made for u in file.uses_of(d)):
                outer = file.tree.parent(use)
                if isinstance(outer, cst.Subscript) and outer.value is use:
                    index = outer.slice[0].slice
                    if isinstance(index, cst.Index) and file.value(index.value) == Const("peak"):
                        return True
        return False

    def _resets(self, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the loop calls something of this file, or unknown, that may reset the statistics by that name."""
        return any(isinstance(n, cst.Name) and n.value == "reset_memory_stats" for n in walk(loop))

    def _reset(self, info: Call, loop: cst.For | cst.While, file: File) -> Fix | None:
        func, device = info.node.func, info.arg("device")
        if not isinstance(func, cst.Attribute) or device is None or not isinstance(device.value, Const):
            return None
        edit = insert_first(file, loop, f"{file.text(func.value)}.reset_memory_stats({file.text(device.expression)})")
        return Fix("reset the peak first in each iteration", (edit,), Safety.UNSAFE) if edit is not None else None
