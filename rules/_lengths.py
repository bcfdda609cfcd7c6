"""Numbers that stand for "all of the data": `len(x)`, `x.shape[0]`, a pipeline's cardinality."""

from __future__ import annotations

import re

import libcst as cst

from tfmemlint.api import (
    Argument,
    Array,
    Binds,
    Const,
    Dataset,
    Definition,
    File,
    Function,
    Instance,
    Iterator,
    Length,
    Node,
    Sequence,
    Unknown,
    Value,
    integer,
    walk,
    written,
)

TINY = 1 << 16
"""Bytes up to which all of the data is no burden in one piece."""


TFDS_EXAMPLES = Unknown("the examples of a TFDS split")


PICKS = re.compile(r"batch|sample|choice|replay|memory|chunk|window|next|states|observ|rollout|episode", re.IGNORECASE)
"""Words in the names of what gives a part of the data at a time."""


FEW = 1000
"""Rows up to which a slice is a small part."""


def picked(expression: Node, file: File, depth: int = 2) -> bool:
    """Whether data is a part of something that was picked already: an item of what a loop runs over, rows chosen by an
    index, a list made item by item, or what a function gives that draws samples."""
    for node in walk(expression):
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)) or (
            isinstance(node, cst.Subscript) and _chosen(node, file)
        ):
            return True
        if isinstance(node, cst.Call) and PICKS.search(file.call(node).method or ""):
            return True
        if isinstance(node, cst.Name):
            found = file.definitions(node)
            if any(_is_item(d, file) or (d.binds is Binds.PARAMETER and PICKS.search(d.name)) for d in written(found)):
                return True
            values = [d.value for d in found if d.binds is Binds.VALUE and d.value is not None]
            if depth > 0 and any(picked(value, file, depth - 1) for value in values):
                return True
    return False


def _chosen(node: cst.Subscript, file: File) -> bool:
    """Whether rows are chosen by an index that is not a number or a key, or by a slice from here to there or of few."""
    first = node.slice[0].slice
    if isinstance(first, cst.Slice):
        few = integer(file.value(first.upper)) if first.upper is not None else None
        return (first.lower is not None and first.upper is not None) or (few is not None and 0 <= few < FEW)
    if not isinstance(first, cst.Index):
        return False
    value = file.value(first.value)
    if isinstance(first.value, cst.Name):
        found = written(file.definitions(first.value))
        if any(d.binds is Binds.ITEM and not _is_item(d, file) for d in found):
            return False
    return isinstance(value, Array) or (not value.known and len(node.slice) == 1)


def _is_item(definition: Definition, file: File) -> bool:
    """Whether a name is one item of what a loop runs over, and not the rows of a fold: those are most of the data."""
    if definition.binds is not Binds.ITEM:
        return False
    calls = walk(definition.value, cst.Call) if definition.value else ()
    return not any(file.call(node).method == "split" for node in calls)


def whole_length(argument: Argument | None) -> Length | None:
    """The length that an argument certainly is, of something that may be data; None for any other number."""
    if argument is None:
        return None
    value = _plain(argument)
    options = value.options
    lengths = [option for option in options if isinstance(option, Length) and _is_data(option.of)]
    if lengths and len(lengths) == len(options):
        return lengths[0]
    return _first_axis(argument.expression, argument) if not value.known or isinstance(value, Array) else None


def _first_axis(node: cst.BaseExpression, argument: Argument) -> Length | None:
    """`x.shape[0]` of something that is not known or `info.splits["train"].num_examples`, also behind a name."""
    file = argument.evaluator.file
    node = file.written(node)
    if isinstance(node, cst.Attribute) and node.attr.value in ("num_examples", "total_num_examples"):
        of = node.value.value if isinstance(node.value, cst.Subscript) else node.value
        splits = isinstance(of, cst.Attribute) and of.attr.value == "splits"
        return Length(TFDS_EXAMPLES) if splits else None
    if not isinstance(node, cst.Subscript) or not _is_shape(node.value, argument):
        return None
    index = node.slice[0].slice
    first = isinstance(index, cst.Index) and argument.evaluator.value(index.value, argument.frame) == Const(0)
    return Length(Unknown("the first axis of something")) if first else None


def _is_shape(node: cst.BaseExpression, argument: Argument) -> bool:
    if isinstance(node, cst.Call):
        return argument.evaluator.call(node, argument.frame).name in ("np.shape", "tf.shape")
    return isinstance(node, cst.Attribute) and node.attr.value == "shape"


def _plain(argument: Argument) -> Value:
    """The argument's value, `int(...)` and a closing `.numpy()` taken off."""
    node = argument.expression
    if not argument.value.known:
        node = argument.evaluator.file.written(node)
    while isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("numpy", "item"):
            node = node.func.value
        elif isinstance(node.func, cst.Name) and node.func.value == "int" and len(node.args) == 1:
            node = node.args[0].value
        else:
            break
    return argument.evaluator.value(node, argument.frame)


def _is_data(of: Value) -> bool:
    """Whether what is counted may be data; of several things that it may be, all."""
    return all(_may_be_data(option) for option in of.options)


def _may_be_data(of: Value) -> bool:
    if isinstance(of, Instance):
        return of.class_node is None
    return isinstance(of, (Array, Dataset, Unknown, Sequence, Iterator)) and not isinstance(of, Function)


def data_bytes(of: Value) -> int | None:
    """Bytes of the data whose length it is, where they are known; of several, the most."""
    if len(of.options) > 1:
        sizes = [data_bytes(option) for option in of.options]
        return max((size for size in sizes if size is not None), default=None) if None not in sizes else None
    if isinstance(of, Array):
        return of.bytes
    if isinstance(of, Sequence) and not of.open:
        return 8 * len(of.items)
    return None


def is_tiny(length: Length) -> bool:
    """Whether the data is certainly small enough to be taken whole."""
    size = data_bytes(length.of)
    return (size is not None and size <= TINY) or (length.count is not None and length.count <= 64)


def covers(argument: Argument | None, count: int | None) -> bool:
    """Whether a known number is at least the known number of elements."""
    given = integer(argument.value) if argument is not None else None
    return given is not None and count is not None and given >= count > 0
