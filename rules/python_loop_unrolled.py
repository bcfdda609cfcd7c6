from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Dataset,
    Edit,
    File,
    Finding,
    Fix,
    Instance,
    Node,
    Repetition,
    Rule,
    Safety,
    api_text,
    elements,
    fills,
    holds_tensor,
    is_container,
    is_python,
    on_file,
    repeats,
    replace_node,
    variables,
    walk,
)
from tfmemlint.api import Iterator as Items

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

    @on_file("function", "call", "train_step", "map")
    def check(self, file: File) -> Iterator[Finding]:
        for loop in file.tree.of(cst.For, cst.While):
            run = self._unrolled(loop.body, file)
            if run is not None and self._makes_ops(loop, file) and not self._picks(run, loop, file):
                edit = self._range(run, loop, file) if isinstance(loop, cst.For) else None
                yield self._report(run, file, Fix.unsafe("let TensorFlow loop", edit))
        for made in file.tree.of(cst.ListComp, cst.GeneratorExp):
            run = self._unrolled(made.elt, file)
            if run is not None and holds_tensor(file, made.elt):
                yield self._report(run, file)

    def _report(self, run: Repetition, file: File, fix: Fix | None = None) -> Finding:
        what = f"all {run.count} iterations" if run.count is not None else "one iteration for each row of the array"
        return self.finding(
            run.place, file, f"this loop is unrolled while it is traced: the graph gets {what}", fix=fix
        )

    def _unrolled(self, body: Node, file: File) -> Repetition | None:
        """What runs a loop's body while it is traced, where that is often: TensorFlow itself loops over its tensors."""
        run = repeats(file, body, calls=0)
        if run is None or file.tree.parent(body) is not run.place or not file.contexts.traced(body):
            return None
        over = run.over
        if isinstance(over, Dataset) or (isinstance(over, Array) and over.library != "np"):
            return None
        if isinstance(over, Items) and any(isinstance(leaf, Instance) for leaf in elements(over.item)):
            return None  # each of the layers has a body of its own
        return run if (isinstance(over, Array) if run.count is None else run.count >= MANY) else None

    def _makes_ops(self, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the body computes something that is no Python number, and runs to the end each time."""
        if any(walk(loop.body, cst.Break)):
            return False
        made = [node.value for node in walk(loop.body, cst.Assign, cst.AugAssign)]
        taking = (node for node in walk(loop.body, cst.Call) if file.call(node).method in TAKES)
        made += [arg.value for node in taking for arg in node.args]
        return any(walk(loop.body, cst.Yield)) or not all(is_python(file, value) for value in made)

    def _picks(self, run: Repetition, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the loop variable picks items of a list or dictionary, of layers say, that the loop leaves alone."""
        for node in walk(loop.body, cst.Call):
            if file.call(node).method in BY_NAME and any(run.items & variables(arg.value, file) for arg in node.args):
                return True
        picked = (node for node in walk(loop.body, cst.Subscript) if run.items & variables(node.slice[0], file))
        return any(is_container(file, node.value) and not fills(loop, node.value) for node in picked)

    def _range(self, run: Repetition, loop: cst.For, file: File) -> Edit | None:
        spelled = api_text(file, "tf.range")
        if spelled is None or not isinstance(loop.iter, cst.Call) or file.call(loop.iter).name != "builtins.range":
            return None
        if run.items & {name.value for name in walk(loop.body, cst.Name)}:
            return None  # as a tensor it has a dtype, and is no index of a list
        if any(file.call(node).method in KEEPS for node in walk(loop.body, cst.Call)):
            return None
        return replace_node(file, loop.iter.func, spelled)
