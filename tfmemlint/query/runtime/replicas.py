"""Batch sizes of distributed programs: which are one replica's, and which are those of all replicas together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import parameters

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

REPLICAS = "num_replicas_in_sync"
"""The attribute of strategies, and of the context of input functions, that is the number of replicas."""

SHARES = "get_per_replica_batch_size"
"""The method of that context which divides a global size."""

Keys = frozenset["int | str"]


def is_for_all(file: File, size: cst.BaseExpression) -> bool:
    """Whether the program certainly means a batch size for all replicas together: it multiplies it by their number, or
    divides the same value by that elsewhere. False where nothing shows it."""
    written = file.written(size)
    return _other_factor(file, written) is not None or bool(_keys(file, size) & _computed(file)[1].keys())


def share_of(file: File, size: cst.BaseExpression) -> Node | None:
    """Where the program multiplies a batch size by the number of replicas, which shows that it is one replica's; None
    where nothing shows it."""
    found = _computed(file)[0]
    return next((found[key] for key in _keys(file, size) if key in found), None)


def multiplied_twice(file: File, size: cst.BaseExpression) -> bool:
    """Whether a batch size is certainly one for all replicas, times their number again."""
    other = _other_factor(file, file.written(size))
    return other is not None and is_for_all(file, other)


def _other_factor(file: File, product: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a product multiplies by the number of replicas; None for any other expression."""
    if isinstance(product, cst.BinaryOperation) and isinstance(product.operator, cst.Multiply):
        for factor, other in ((product.left, product.right), (product.right, product.left)):
            if _is_count(file, factor):
                return other
    return None


def _is_count(file: File, expression: cst.BaseExpression) -> bool:
    written = file.written(expression)
    return isinstance(written, cst.Attribute) and written.attr.value == REPLICAS


@once_per_file
def _computed(file: File) -> tuple[dict[int | str, Node], dict[int | str, Node]]:
    """The values that the file multiplies by the number of replicas, and those that it divides by it, each with where
    it does."""
    shares: dict[int | str, Node] = {}
    totals: dict[int | str, Node] = {}
    for node in file.tree.of(cst.BinaryOperation):
        other = _other_factor(file, node)
        if other is not None:
            shares.update(dict.fromkeys(_keys(file, other), node))
        elif isinstance(node.operator, (cst.FloorDivide, cst.Divide)) and _is_count(file, node.right):
            totals.update(dict.fromkeys(_keys(file, node.left), node))
    for call in file.calls_by_word.get(SHARES, ()):
        if call.args:
            totals.update(dict.fromkeys(_keys(file, call.args[0].value), call))
    return shares, totals


def _keys(file: File, expression: cst.BaseExpression, left: int = FOLLOWED_CALLS) -> Keys:
    """What tells a value from others of the file, wherever it is used: the expression that gives it, the parameter and
    what all callers pass as it, the text of an attribute, an item or a name from elsewhere."""
    written = file.written(expression)
    own = [each for each in (expression, written) if file.is_own(each)]  # texts of other modules mean other things
    texts = {file.text(each) for each in own if isinstance(each, (cst.Attribute, cst.Subscript))}
    if texts or not isinstance(written, cst.Name):
        return frozenset({*texts, id(written)})
    function = file.contexts.function(written)
    taken = (p for p in parameters(function) if p.name.value == written.value) if function is not None else iter(())
    param = next(taken, None)
    if function is None or param is None:
        return frozenset(map(id, file.definitions(written))) or frozenset({written.value})
    callers = file.call_graph.callers(function) if left else ()
    given = [argument.expression for call in callers or () if (argument := call.arg(written.value)) is not None]
    return frozenset({id(param)}).union(*(_keys(file, each, left - 1) for each in given))
