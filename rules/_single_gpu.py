"""Places that a program reaches only where there is one GPU."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, Devices, File, Length, integer, own_nodes

SINGLE: dict[tuple[type, int], bool] = {
    (cst.Equal, 1): True, (cst.LessThanEqual, 1): True, (cst.LessThan, 2): True,
    (cst.NotEqual, 1): False, (cst.GreaterThan, 1): False, (cst.GreaterThanEqual, 2): False,
}  # fmt: skip
"""Comparisons with the number of GPUs that are true where there is one at most, or never then."""


def for_one_card(growth: Call, file: File) -> bool:
    """Whether this place is only reached where there is one GPU."""
    inside: cst.CSTNode = growth.node
    for above in file.tree.ancestors(growth.node):
        if isinstance(above, (cst.If, cst.IfExp)):
            single = _single(above.test, file)
            if single is not None and inside is (above.body if single else above.orelse):
                return True
        inside = above
    function = file.contexts.function(growth.node)
    for node in own_nodes(function or file.module, cst.Assert, cst.If):
        if file.tree.order(node) > file.tree.order(growth.node):
            continue
        if isinstance(node, cst.Assert) and _single(node.test, file) is True:
            return True
        if isinstance(node, cst.If) and _single(node.test, file) is False and _leaves(node.body, file):
            return True
    return False


def _single(test: cst.BaseExpression, file: File) -> bool | None:
    """True for `len(gpus) == 1`, False for its contrary, None for other conditions."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    counted = file.value(test.left)
    if not isinstance(counted, Length) or not isinstance(counted.of, Devices):
        return None
    number = integer(file.value(test.comparisons[0].comparator))
    return SINGLE.get((type(test.comparisons[0].operator), number or 0))


def _leaves(block: cst.BaseSuite, file: File) -> bool:
    last = block.body[-1]
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
        return file.call(small.value).name in ("sys.exit", "builtins.exit", "builtins.quit", "os._exit")
    return isinstance(small, (cst.Raise, cst.Return))
