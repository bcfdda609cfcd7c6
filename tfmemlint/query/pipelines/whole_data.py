"""All of the data or a part of it: numbers that stand for all (`len(x)`, `x.shape[0]`, a pipeline's cardinality), what
was picked out of it, and what a model is fitted to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import (
    Array,
    Const,
    Dataset,
    Instance,
    Iterator,
    Length,
    Sequence,
    Unknown,
    Value,
    integer,
)
from tfmemlint.query.limits import FEW_ROWS, SMALL_DATA
from tfmemlint.query.pipelines.pipelines import element_count
from tfmemlint.syntax.scopes import Binds, Definition, written
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Argument
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

TFDS_EXAMPLES = Unknown("the examples of a TFDS split")
"""What `info.splits["train"].num_examples` counts."""

PICKS = re.compile(r"batch|sample|choice|replay|memory|chunk|window|next|states|observ|rollout|episode", re.IGNORECASE)
"""Words in the names of what gives a part of the data at a time."""

MOST_NAMES = 2
"""Names behind each other through which data is followed to where it was picked."""

MOST_LINKS = 8
"""Methods, attributes and names behind each other through which data is followed to where it was loaded."""

FITS = ("tf.keras.Model.fit", "tf.keras.Model.evaluate")

NO_DATA = frozenset({"len", "int", "self", "np", "tf", "shape"})
"""Names that an expression of data holds besides those of data."""

TINY_COUNT = 64
"""Rows or items up to which data is small whatever they are."""


# -- the length of all data ------------------------------------------------------------------------------------------


def whole_length(argument: Argument | None) -> Length | None:
    """The length that an argument certainly is, of something that may be data; None for any other number."""
    if argument is None:
        return None
    value = _plain(argument)
    lengths = [option for option in value.options if isinstance(option, Length) and _may_be_data(option.of)]
    if lengths and len(lengths) == len(value.options):
        return lengths[0]
    return _first_axis(argument) if not value.known or isinstance(value, Array) else None


def _plain(argument: Argument) -> Value:
    """The argument's value, `int(...)` and a closing `.numpy()` taken off."""
    node = argument.expression if argument.value.known else argument.evaluator.file.written(argument.expression)
    while isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("numpy", "item"):
            node = node.func.value
        elif isinstance(node.func, cst.Name) and node.func.value == "int" and len(node.args) == 1:
            node = node.args[0].value
        else:
            break
    return argument.evaluator.value(node, argument.frame)


def _may_be_data(of: Value) -> bool:
    """Whether what is counted may be data; of several things that it may be, all."""
    kinds = (Array, Dataset, Unknown, Sequence, Iterator)
    return all(
        option.class_node is None if isinstance(option, Instance) else isinstance(option, kinds)
        for option in of.options
    )


def _first_axis(argument: Argument) -> Length | None:
    """`x.shape[0]` of something that is not known or `info.splits["train"].num_examples`, also behind a name."""
    node = argument.evaluator.file.written(argument.expression)
    if isinstance(node, cst.Attribute) and node.attr.value in ("num_examples", "total_num_examples"):
        of = node.value.value if isinstance(node.value, cst.Subscript) else node.value
        splits = isinstance(of, cst.Attribute) and of.attr.value == "splits"
        return Length(TFDS_EXAMPLES) if splits else None
    if not isinstance(node, cst.Subscript) or not _is_shape(argument, node.value):
        return None
    index = node.slice[0].slice
    first = isinstance(index, cst.Index) and argument.evaluator.value(index.value, argument.frame) == Const(0)
    return Length(Unknown("the first axis of something")) if first else None


def _is_shape(argument: Argument, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        return argument.evaluator.call(node, argument.frame).name in ("np.shape", "tf.shape")
    return isinstance(node, cst.Attribute) and node.attr.value == "shape"


def is_tiny(length: Length) -> bool:
    """Whether the data is certainly small enough to be taken whole."""
    size = _data_bytes(length.of)
    return (size is not None and size <= SMALL_DATA) or (length.count is not None and length.count <= TINY_COUNT)


def _data_bytes(of: Value) -> int | None:
    """Bytes of the data whose length it is, where they are known; of several, the most."""
    if len(of.options) > 1:
        sizes = [_data_bytes(option) for option in of.options]
        return None if None in sizes else max(size for size in sizes if size is not None)
    if isinstance(of, Array):
        return of.bytes
    return 8 * len(of.items) if isinstance(of, Sequence) and not of.open else None


def covers(argument: Argument | None, count: int | None) -> bool:
    """Whether a number that is certainly at least the known number of elements is passed."""
    given = integer(argument.value) if argument is not None else None
    return given is not None and count is not None and given >= count > 0


def takes_all(file: File, size: Argument, datasets: Iterable[Dataset]) -> bool:
    """Whether a number that a step of these pipelines is given is certainly that of all their elements: the length of
    what they are made of, or no less than their known number where they are not batched. False for tiny data, and of
    lengths where nothing shows of what they are."""
    length, found = whole_length(size), tuple(datasets)
    if length is not None:
        return not is_tiny(length) and any(_is_of(file, ds, length, size.expression) for ds in found)
    return covers(size, element_count(found)) and not any("batch" in ds.names() for ds in found)


def _is_of(file: File, ds: Dataset, length: Length, expression: cst.BaseExpression) -> bool:
    """Whether a length is that of a pipeline or its data, or of something that is not seen and named there."""
    if isinstance(length.of, Dataset) or (length.of == TFDS_EXAMPLES and ds.source == "tensorflow_datasets.load"):
        return True
    if ds.call is None:
        return False
    given = [arg.value for arg in ds.call.node.args]
    shared = _names(expression) & {name for each in given for name in _names(each)}
    return bool(shared) or isinstance(expression, cst.Name) or any(file.value(each) == length.of for each in given)


def counts_rows(file: File, size: Argument, data: Iterable[cst.BaseExpression]) -> bool:
    """Whether the length that a number certainly is (see `whole_length`) is that of this data, by its value or by the
    names that both are made of; also a length of something that is not seen, behind a name."""
    length, parts = whole_length(size), list(data)
    if length is None:
        return False
    if any(_holds(file.value(part), length.of) for part in parts):
        return True
    given = {name for part in parts for name in (*_names(part), *_names_behind(file, part))}
    named = isinstance(size.expression, cst.Name) and not length.of.known
    return named or bool(_names(size.expression) & given)


def _names(node: Node) -> set[str]:
    return {name.value for name in walk(node, cst.Name)} - NO_DATA


def _names_behind(file: File, node: Node) -> set[str]:
    """The names in what the names of an expression stand for, where no part of it is cut off."""
    made = (d.value for name in walk(node, cst.Name) for d in file.definitions(name) if d.value is not None)
    return {name for each in made if not any(walk(each, cst.Slice)) for name in _names(each)}


def _holds(value: Value, of: Value) -> bool:
    if isinstance(value, Sequence):
        return value == of or any(_holds(item, of) for item in value.items)
    return of.known and value == of


# -- parts of data ---------------------------------------------------------------------------------------------------


def is_part(file: File, expression: Node, *, through: int = MOST_NAMES) -> bool:
    """Whether data is a part of something that was picked already: an item of what a loop runs over, rows chosen by an
    index, a list made item by item, or what a function gives that draws samples. False where nothing says so."""
    if any(walk(expression, cst.ListComp, cst.GeneratorExp)):
        return True
    if any(PICKS.search(file.call(node).method or "") for node in walk(expression, cst.Call)):
        return True
    if any(_chosen(file, node) for node in walk(expression, cst.Subscript)):
        return True
    for name in walk(expression, cst.Name):
        found = written(file.definitions(name))
        if any(_is_item(file, d) or (d.binds is Binds.PARAMETER and PICKS.search(d.name)) for d in found):
            return True
        if any(_filled(file, d) for d in found):
            return True
        values = [d.value for d in found if d.binds is Binds.VALUE and d.value is not None] if through else []
        if any(is_part(file, value, through=through - 1) for value in values):
            return True
    return False


def _filled(file: File, definition: Definition) -> bool:
    """Whether a name is an empty list at first, to which items are added."""
    made = definition.value if definition.binds is Binds.VALUE and definition.name in file.grown else None
    if isinstance(made, cst.Tuple) and len(definition.path) == 1 and isinstance(definition.path[0], int):
        made = made.elements[definition.path[0]].value if definition.path[0] < len(made.elements) else None
    return isinstance(made, cst.List) and not made.elements


def _chosen(file: File, node: cst.Subscript) -> bool:
    """Whether rows are chosen by an index that is not a number or a key, or by a slice from here to there or of few."""
    first = node.slice[0].slice
    if isinstance(first, cst.Slice):
        few = integer(file.value(first.upper)) if first.upper is not None else None
        return (first.lower is not None and first.upper is not None) or (few is not None and 0 <= few < FEW_ROWS)
    if not isinstance(first, cst.Index):
        return False
    value = file.value(first.value)
    found = written(file.definitions(first.value)) if isinstance(first.value, cst.Name) else []
    if any(d.binds is Binds.ITEM and not _is_item(file, d) for d in found):
        return False
    return isinstance(value, Array) or (not value.known and len(node.slice) == 1)


def _is_item(file: File, definition: Definition) -> bool:
    """Whether a name is one item of what a loop runs over, and not the rows of a fold: those are most of the data."""
    if definition.binds is not Binds.ITEM:
        return False
    calls = walk(definition.value, cst.Call) if definition.value is not None else ()
    return not any(file.call(node).method == "split" for node in calls)


def of_loop_item(file: File, expression: Node) -> bool:
    """Whether an expression certainly holds what a loop takes from something else than an array, such as a batch of a
    pipeline."""
    found = (d for name in walk(expression, cst.Name) for d in written(file.definitions(name)))
    over = (file.value(d.value) for d in found if d.binds is Binds.ITEM and d.value is not None)
    return any(not isinstance(each, Array) for each in over)


# -- where data lies -------------------------------------------------------------------------------------------------


def stays_on_disk(value: Value) -> bool:
    """Whether data certainly stays in a file until it is read: a memory map, or a data set of an HDF5 file."""
    if isinstance(value, Instance):
        return value.type_name == "h5py.Dataset"
    made = value.origin if isinstance(value, Array) else None
    if made is None:
        return False
    if made.name == "np.load":
        return made.arg("mmap_mode") is not None and made.value_of("mmap_mode") != Const(None)
    if made.name in ("np.array", "np.asarray") and made.arg(0) is not None:
        return stays_on_disk(made.value_of(0))
    return knowledge.in_group(made.name, "maps_file")


# -- data that is fitted ---------------------------------------------------------------------------------------------


def fitted_whole(file: File, given: cst.BaseExpression) -> bool:
    """Whether an expression is certainly data of unknown shape that the file's program loads from somewhere as a whole
    (`train_test_split(...)`, `df.values`) and fits a model to, neither of them in a loop."""
    value = file.value(given)
    made = file.only_definition(given) if isinstance(given, cst.Name) else None
    if made is None or (isinstance(value, Array) and value.shape is not None) or file.contexts.loop(given) is not None:
        return False
    fits = (fit for fit in file.calls(*FITS) if file.contexts.loop(fit.node) is None)
    data = (fit.arg("x") for fit in fits)
    same = (d.expression for d in data if d is not None and isinstance(d.expression, cst.Name))
    return _loaded(file, made) and any(file.only_definition(each) is made for each in same)


def _loaded(file: File, made: Definition, left: int = MOST_LINKS) -> bool:
    """Whether a definition is bound to what is loaded from a file or is a part of a split."""
    node = made.value if made.binds is Binds.VALUE else None
    while isinstance(node, cst.BaseExpression) and left > 0:
        left -= 1
        if isinstance(node, cst.Call):
            if knowledge.in_group(file.call(node).name, "loads_data"):
                return True
            node = node.func.value if isinstance(node.func, cst.Attribute) else None
        elif isinstance(node, cst.Attribute):
            node = node.value
        elif isinstance(node, cst.BinaryOperation):
            node = node.left
        else:
            inner = file.only_definition(node) if isinstance(node, cst.Name) else None
            return inner is not None and _loaded(file, inner, left)
    return False
