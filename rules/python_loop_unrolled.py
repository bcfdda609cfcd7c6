from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._iterations import count_of, rounds_of
from tfmemlint_rules._python_numbers import is_python
from tfmemlint_rules._tensors import holds_tensor
from tfmemlint_rules._trace_stores import is_container

from tfmemlint.api import (
    Array,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    api_text,
    dotted,
    on_file,
    replace_node,
    variables,
    walk,
)

MANY = 100
KEEPS = frozenset({"append", "extend", "add", "insert"})
BY_NAME = frozenset({"getattr", "get_layer"})
"""Functions that find a layer by a name, which is made of the loop variable."""

ADDS = frozenset({"append", "add", "assign", "assign_add", "assign_sub", "write", "extend"})


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
        for loop in file.tree.of(cst.For):
            value = file.contexts.iterated(loop)
            if isinstance(value, Array) and value.library != "np":
                continue
            count = count_of(loop.iter, file)
            if (count is None or count < MANY) and not self._over_array(loop, file):
                continue
            if file.contexts.traced(loop) and self._makes_ops(loop, file) and not self._picks(loop, file):
                yield self._report(loop, count, file, self._range(loop, file))
        for waiting in file.tree.of(cst.While):
            count = rounds_of(waiting, file)
            if count is not None and count >= MANY and file.contexts.traced(waiting) and self._makes_ops(waiting, file):
                yield self._report(waiting, count, file)
        for made in (*file.tree.of(cst.ListComp), *file.tree.of(cst.GeneratorExp)):
            count = count_of(made.for_in.iter, file)
            if count is not None and count >= MANY and file.contexts.traced(made) and holds_tensor(made.elt, file):
                yield self._report(made, count, file)

    def _report(self, where: Node, count: int | None, file: File, fix: Fix | None = None) -> Finding:
        what = f"all {count} iterations" if count is not None else "one iteration for each row of the array"
        return self.finding(where, file, f"this loop is unrolled while it is traced: the graph gets {what}", fix=fix)

    def _makes_ops(self, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the body computes something and runs to the end each time."""
        nodes = list(walk(loop.body))
        if any(isinstance(n, cst.Break) for n in nodes):
            return False
        made: list[cst.BaseExpression] = [n.value for n in nodes if isinstance(n, (cst.Assign, cst.AugAssign))]
        for n in nodes:
            if isinstance(n, cst.Call) and isinstance(n.func, cst.Attribute) and n.func.attr.value in ADDS:
                made += [arg.value for arg in n.args] or [n]
        return any(isinstance(n, cst.Yield) for n in nodes) or not all(self._plain(value, file) for value in made)

    def _picks(self, loop: cst.For, file: File) -> bool:
        """Whether the loop variable picks items of a list or dictionary, of layers say, that the loop leaves alone."""
        bound = variables(loop.target, file)
        for node in walk(loop.body):
            if isinstance(node, cst.Call) and any(bound & variables(a.value, file) for a in node.args):
                if file.call(node).method in BY_NAME:
                    return True
            key = node.slice[0].slice if isinstance(node, cst.Subscript) and len(node.slice) == 1 else None
            if (
                not isinstance(node, cst.Subscript)
                or not isinstance(key, cst.Index)
                or not bound & variables(key, file)
            ):
                continue
            if is_container(node.value, file) and not _fills(loop, node.value):
                return True
        return False

    def _plain(self, value: cst.BaseExpression, file: File) -> bool:
        """Whether an expression is certainly a Python number or string, also a formatted one."""
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Modulo):
            return isinstance(value.left, cst.SimpleString) or is_python(value, file)
        return isinstance(value, cst.FormattedString) or is_python(value, file)

    def _over_array(self, loop: cst.For, file: File) -> bool:
        value = file.contexts.iterated(loop)
        if not isinstance(value, Array) or value.library != "np":
            return False
        return not value.shape or value.shape[0] is None or value.shape[0] >= MANY

    def _range(self, loop: cst.For, file: File) -> Fix | None:
        spelled = api_text(file, "tf.range")
        if spelled is None or not isinstance(loop.iter, cst.Call) or file.call(loop.iter).name != "builtins.range":
            return None
        bound = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)}
        for node in walk(loop.body):
            if isinstance(node, cst.Name) and node.value in bound:
                return None  # as a tensor it has a dtype, and is no index of a list
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in KEEPS:
                return None
        return Fix("let TensorFlow loop", (replace_node(file, loop.iter.func, spelled),), Safety.UNSAFE)


def _fills(loop: cst.For, container: cst.BaseExpression) -> bool:
    """Whether the loop itself puts the items into the container."""
    path = dotted(container)
    return any(
        (isinstance(n, cst.AssignTarget) and isinstance(n.target, cst.Subscript) and dotted(n.target.value) == path)
        or (
            isinstance(n, cst.Call)
            and isinstance(n.func, cst.Attribute)
            and n.func.attr.value in KEEPS
            and dotted(n.func.value) == path
        )
        for n in walk(loop.body)
    )
