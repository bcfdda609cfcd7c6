"""What a loop does with a name that it collects parts in, beside adding to it."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._collecting import Collected, reads_of

from tfmemlint.api import Const, File, Node, Sequence, dotted, integer

SAYS = frozenset({
    "print", "info", "debug", "warning", "log", "write", "set_description", "set_postfix", "set_postfix_str",
})  # fmt: skip
MEASURES = frozenset({"len", "shape", "int", "str", "format", "tuple", "as_list", "numpy"})


def used_otherwise(found: Collected, loop: cst.For | cst.While, file: File) -> bool:
    """Whether the loop reads, cuts back or starts again what is collected; printing it or its length does not count."""
    for node in reads_of(loop.body, found.name, file):
        if not file.tree.contains(found.assign, node) and not (_first(node, found, loop, file) or _said(node, file)):
            return True
    return isinstance(loop, cst.While) and any(True for _ in reads_of(loop.test, found.name, file))


def _said(node: Node, file: File) -> bool:
    """Whether a name is read to be printed, and not to compute something with it."""
    for above in file.tree.ancestors(node):
        if isinstance(above, cst.Call):
            if file.call(above).method in SAYS:
                break
            if file.call(above).method not in MEASURES:
                return False
    line = file.tree.statement(node)
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    call = first.value if isinstance(first, cst.Expr) else None
    return isinstance(call, cst.Call) and file.call(call).method in SAYS


def _first(node: Node, found: Collected, loop: cst.For | cst.While, file: File) -> bool:
    """Whether this belongs to `if acc is None: acc = x`, with the joining in the other branch or behind it."""
    below = node
    for above in file.tree.ancestors(node):
        if above is loop:
            return False
        if isinstance(above, cst.If):
            decides = file.tree.contains(above, found.assign) or _asks_empty(above.test, found.name, file)
            if decides and (below is above.test or _written(node, found.name, file)):
                return True
        below = above
    return False


def _written(node: Node, name: str, file: File) -> bool:
    above = file.tree.parent(node)
    while isinstance(above, (cst.Element, cst.Tuple)):
        above = file.tree.parent(above)
    if not isinstance(above, cst.AssignTarget):
        return False
    assign = file.tree.parent(above)
    return isinstance(assign, cst.Assign) and not reads_of(assign.value, name, file)


def _asks_empty(test: cst.BaseExpression, name: str, file: File) -> bool:
    """`acc is None`, `not acc`, `len(acc) == 0`, `acc == []`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return dotted(test.expression) == name
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    left, right = test.left, test.comparisons[0].comparator
    if isinstance(left, cst.Call) and file.call(left).method == "len" and left.args:
        return dotted(left.args[0].value) == name and integer(file.value(right)) == 0
    return dotted(left) == name and file.value(right) in (Const(None), Sequence((), "list"))
