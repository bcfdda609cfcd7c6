from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Const, File, Finding, Fix, Function, Node, Rule, Safety, insert_first, on_call, walk


class PeakNeverReset(Rule):
    """
    ## What it does
    Reports `get_memory_info(device)["peak"]` read in a loop that never calls `reset_memory_stats(device)`.

    ## Why it costs memory
    The peak counts from the start of the process. Read in a loop it is a running maximum: every setting after the
    most expensive one seems to need as much as that one, and the comparison picks the wrong setting.

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
        loops = _rounds(info.node, file) or self._callers_loops(info, file)
        if not loops or not self._reads_peak(info, file) or self._varies(info, loops[0]):
            return
        function = file.contexts.function(info.node)
        if any(self._resets(scope, file, 2) for scope in (*loops, *([function] if function is not None else []))):
            return
        own = file.contexts.loop(info.node) is not None
        yield self.finding(
            info,
            file,
            "the peak counts since the process started: in this loop it is a running maximum; reset it each time",
            fix=self._reset(info, loops[0], file) if own else None,
            related=[(loops[0], "the loop")],
        )

    def _callers_loops(self, info: Call, file: File) -> list[Node]:
        """The loops in which the function around the call is called."""
        function = file.contexts.function(info.node)
        callers = file.values.functions.callers(function) if function is not None else None
        return [loop for call in callers or () for loop in _rounds(call.node, file)]

    def _varies(self, info: Call, loop: Node) -> bool:
        """Whether another device is asked in each iteration."""
        device = info.arg("device")
        target = getattr(getattr(loop, "for_in", loop), "target", None)
        if device is None or target is None:
            return False
        bound = {node.value for node in walk(target) if isinstance(node, cst.Name)}
        return any(isinstance(node, cst.Name) and node.value in bound for node in walk(device.expression))

    def _reads_peak(self, info: Call, file: File) -> bool:
        parent = file.tree.parent(info.node)
        if _peak_of(info.node, file):
            return True
        if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
            name = parent.targets[0].target
            made = file.definition(name)
            return made is not None and any(_peak_of(use, file) for use in file.uses_of(made))
        return False

    def _resets(self, scope: Node, file: File, depth: int) -> bool:
        """Whether the statistics are reset in a block or in what of this file is called there."""
        for node in walk(scope):
            if isinstance(node, cst.Name) and node.value == "reset_memory_stats":
                return True
            if isinstance(node, cst.Call) and depth:
                bodies = [t.node.body for t in file.call(node).target.options if isinstance(t, Function)]
                if any(self._resets(body, file, depth - 1) for body in bodies):
                    return True
        return False

    def _reset(self, info: Call, loop: Node, file: File) -> Fix | None:
        func, device = info.node.func, info.arg("device")
        if (
            not isinstance(loop, (cst.For, cst.While))
            or not isinstance(func, cst.Attribute)
            or device is None
            or not isinstance(device.value, Const)
        ):
            return None
        edit = insert_first(file, loop, f"{file.text(func.value)}.reset_memory_stats({file.text(device.expression)})")
        return Fix("reset the peak first in each iteration", (edit,), Safety.UNSAFE) if edit is not None else None


def _rounds(node: Node, file: File) -> list[Node]:
    """The comprehension and the loops that run a node again and again, the innermost first."""
    comprehension = file.contexts.comprehension(node)
    return [*([comprehension] if comprehension is not None else []), *file.contexts.loops(node)]


def _peak_of(node: Node, file: File) -> bool:
    """Whether the expression around a dictionary takes its entry `peak`."""
    outer = file.tree.parent(node)
    if isinstance(outer, cst.Subscript) and outer.value is node:
        index = outer.slice[0].slice
        return isinstance(index, cst.Index) and file.value(index.value) == Const("peak")
    call = file.tree.parent(outer) if isinstance(outer, cst.Attribute) and outer.attr.value == "get" else None
    return isinstance(call, cst.Call) and bool(call.args) and file.value(call.args[0].value) == Const("peak")
