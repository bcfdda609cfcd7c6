from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Edit,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    calls,
    fixes,
    flow,
    on,
    repetition,
    tracing,
    variables,
    walk,
)

MANY = 100
KEEPS = frozenset({"append", "extend", "add", "insert"})
"""Methods of lists and sets, which a loop of TensorFlow cannot call for each iteration."""

TAKES = KEEPS | {"assign", "assign_add", "assign_sub", "write"}
"""Methods that are given what an iteration computes."""

BY_NAME = frozenset({"getattr", "get_layer"})
"""Functions that find a layer by a name, which is made of the loop variable."""


class PythonLoopUnrolled(Rule):
    """
    ## What it does
    Reports Python loops of 100 or more iterations, or over a NumPy array, in traced code.

    ## Why it costs memory
    The loop runs while the function is traced, and every iteration adds its ops to the graph. A `tf.range` loop adds
    them once.

    ## Fix safety
    Unsafe: the loop variable is a tensor then, and variables must keep their shapes.

    ## When not to use it
    For loops over layers or heads, whose bodies differ; short ones are not reported.

    ## References
    - https://www.tensorflow.org/guide/function#loops
    """

    code = "TFM510"
    summary = "a long Python loop in traced code is unrolled into the graph"
    fix_safety = (Safety.UNSAFE,)

    @on(tracing.unrolled_loops)
    def check(self, run: repetition.Repetition, file: File) -> Iterator[Finding]:
        loop = run.place
        if not (isinstance(run.over, Array) if run.count is None else run.count >= MANY):
            return
        if isinstance(loop, (cst.For, cst.While)):
            reported = self._makes_ops(loop, file) and not self._picks(run, loop, file)
        else:
            reported = isinstance(loop, (cst.ListComp, cst.GeneratorExp)) and tracing.holds_tensor(file, loop.elt)
        if reported:
            what = f"all {run.count} iterations" if run.count is not None else "one iteration for each row of the array"
            yield self.finding(
                loop,
                file,
                f"this loop is unrolled while it is traced: the graph gets {what}",
                fix=Fix.unsafe("let TensorFlow loop", self._range(run, loop, file)),
            )

    def _makes_ops(self, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the body computes something that is no Python number, and runs to the end each time."""
        if any(walk(loop.body, cst.Break)):
            return False
        made = [node.value for node in walk(loop.body, cst.Assign, cst.AugAssign)]
        made += [arg.value for call in calls(file, loop.body, *TAKES) for arg in call.node.args]
        return any(walk(loop.body, cst.Yield)) or not all(tracing.is_python(file, value) for value in made)

    def _picks(self, run: repetition.Repetition, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the loop variable picks items of a list or dictionary, of layers say, that the loop leaves alone."""
        if any(run.items & variables(call.node, file) for call in calls(file, loop.body, *BY_NAME)):
            return True
        picked = (node for node in walk(loop.body, cst.Subscript) if run.items & variables(node.slice[0], file))
        return any(flow.is_container(file, node.value) and not flow.fills(loop, node.value) for node in picked)

    def _range(self, run: repetition.Repetition, loop: Node, file: File) -> Edit | None:
        spelled = fixes.api_text(file, "tf.range")
        if spelled is None or not isinstance(loop, cst.For) or not isinstance(loop.iter, cst.Call):
            return None
        if file.call(loop.iter).name != "builtins.range":
            return None
        if any(calls(file, loop.body, *KEEPS)) or run.items & variables(loop.body, file):
            return None  # as a tensor its variable has a dtype, and is no index of a list
        return fixes.replace_node(file, loop.iter.func, spelled)
