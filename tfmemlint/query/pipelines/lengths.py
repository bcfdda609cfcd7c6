"""Numbers that stand for all of the data: `len(x)`, `x.shape[0]`, a pipeline's cardinality."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
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
    constant,
    integer,
)
from tfmemlint.query.limits import SMALL_DATA
from tfmemlint.query.pipelines.pipelines import BATCHES, element_count
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Argument, Call
    from tfmemlint.model.file import File
    from tfmemlint.model.functions import Frame
    from tfmemlint.syntax.tree import Node

TFDS_EXAMPLES = Unknown("the examples of a TFDS split")
"""What `info.splits["train"].num_examples` counts."""

NO_DATA = frozenset({"len", "int", "self", "np", "tf", "shape"})
"""Names that an expression of data holds besides those of data."""

SLICES = "tf.data.Dataset.from_tensor_slices"

CHOOSES = "choose_from_datasets"

MOST_WRAPPED = 8
"""Factors, roundings and names behind each other through which a number is followed to the length that it is."""

TWICE = 2
"""Times a length that are no length any more."""

ONE_FOR_ONE = frozenset({"map", "shuffle", "cache", "prefetch", "with_options"})
"""Steps that give one element for each that they are given."""

MANY_ROWS = 10_000
"""Rows of a table up to which a buffer of them is no burden: of a hundred numbers each, 4 MB."""

TINY_COUNT = 64
"""Rows or items up to which data is small whatever they are."""


def whole_length(argument: Argument | None, *, share: float = 1.0) -> Length | None:
    """The length that an argument certainly is, of something that may be data, or no less than a constant `share` of
    it, as `n // 4`; None for any other number."""
    if argument is None:
        return None
    file, frame = argument.evaluator.file, argument.frame
    node, part = _length_in(file, argument.expression, frame)
    if part < share:
        return None
    value = file.values.value(node, frame)
    lengths = [option for option in value.options if isinstance(option, Length) and _may_be_data(option.of)]
    if lengths and len(lengths) == len(value.options):
        return lengths[0] if part == 1 else replace(lengths[0], count=None)
    return _first_axis(file, node, frame) if not value.known or isinstance(value, Array) else None


def _length_in(file: File, node: cst.BaseExpression, frame: Frame | None) -> tuple[cst.BaseExpression, float]:
    """What is left of a number without `int(...)`, a closing `.numpy()` and constant factors, and these multiplied."""
    part = 1.0
    for _ in range(MOST_WRAPPED):
        known = file.values.value(node, frame).known
        node = node if known else file.written(node)
        factor, rest = (1.0, _unwrapped(file, node)) if known else _divided(file, node, frame)
        if rest is None:
            break
        part, node = part * factor, rest
    return node, part


def _divided(file: File, node: cst.BaseExpression, frame: Frame | None) -> tuple[float, cst.BaseExpression | None]:
    """The constant by which an expression multiplies the rest of it, and the rest; None where there is nothing else."""
    if not isinstance(node, cst.BinaryOperation):
        return 1.0, _unwrapped(file, node)
    left, right = (constant(file.values.value(side, frame)) for side in (node.left, node.right))
    if isinstance(node.operator, cst.Multiply) and isinstance(left, (int, float)):
        return left, node.right
    if isinstance(right, (int, float)) and right > 0:
        if isinstance(node.operator, cst.Multiply):
            return right, node.left
        if isinstance(node.operator, (cst.Divide, cst.FloorDivide)):
            return 1 / right, node.left
    return 1.0, None


def _unwrapped(file: File, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What `int(...)`, a rounding or a closing `.numpy()` is given."""
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("numpy", "item"):
        return node.func.value
    rounds = file.call(node).name in ("builtins.int", "builtins.round", "math.ceil", "math.floor", "np.ceil")
    return node.args[0].value if rounds and node.args else None


def _may_be_data(of: Value) -> bool:
    """Whether what is counted may be data; of several things that it may be, all."""
    kinds = (Array, Dataset, Unknown, Sequence, Iterator)
    return all(
        option.class_node is None if isinstance(option, Instance) else isinstance(option, kinds)
        for option in of.options
    )


def _first_axis(file: File, node: cst.BaseExpression, frame: Frame | None) -> Length | None:
    """`x.shape[0]` of something that is not known or `info.splits["train"].num_examples`, also behind a name."""
    node = file.written(node)
    if isinstance(node, cst.Attribute) and node.attr.value in ("num_examples", "total_num_examples"):
        of = node.value.value if isinstance(node.value, cst.Subscript) else node.value
        splits = isinstance(of, cst.Attribute) and of.attr.value == "splits"
        return Length(TFDS_EXAMPLES) if splits else None
    if not isinstance(node, cst.Subscript) or not _is_shape(file, node.value, frame):
        return None
    index = node.slice[0].slice
    first = isinstance(index, cst.Index) and file.values.value(index.value, frame) == Const(0)
    return Length(Unknown("the first axis of something")) if first else None


def _is_shape(file: File, node: cst.BaseExpression, frame: Frame | None) -> bool:
    if isinstance(node, cst.Call):
        return file.values.call(node, frame).name in ("np.shape", "tf.shape")
    return isinstance(node, cst.Attribute) and node.attr.value == "shape"


def is_tiny(length: Length) -> bool:
    """Whether the data is certainly small enough to be taken whole."""
    size = _data_bytes(length.of)
    if size is not None and size <= SMALL_DATA:
        return True
    counts = [length.count] if length.count is not None else [_displayed(option) for option in length.of.options]
    return all(count is not None and count <= TINY_COUNT for count in counts)


def _displayed(of: Value) -> int | None:
    """The number of rows that stand in the code, one by one, of which an array is made: `np.array([first, second])`."""
    made = of.origin if isinstance(of, Array) else None
    rows = made.value_of(0) if made is not None and made.name in ("np.array", "np.asarray", "np.stack") else None
    return len(rows.items) if isinstance(rows, Sequence) and not rows.open else None


def _data_bytes(of: Value) -> int | None:
    """Bytes of the data whose length it is, where they are known; of several, the most."""
    if len(of.options) > 1:
        sizes = [_data_bytes(option) for option in of.options]
        return None if None in sizes else max(size for size in sizes if size is not None)
    if isinstance(of, Array):
        return of.bytes
    return 8 * len(of.items) if isinstance(of, Sequence) and not of.open else None


def most_elements(ds: Dataset) -> int | None:
    """The number of elements that a pipeline has at the most, also where only a slice tells it of unknown data
    (`names[:100]`); None where it is not known."""
    if ds.count is not None:
        return ds.count
    count = _sliced(ds)
    for step in ds.steps:
        size = integer(step.call.given(0)) if step.call is not None else None
        if step.name in BATCHES and size:
            count = -(-count // size) if count is not None else None
        elif step.name == "take" and size is not None and size >= 0:
            count = min(count, size) if count is not None else size
        elif step.name not in ONE_FOR_ONE | {"filter", "skip", "shard", "enumerate", *BATCHES}:
            count = None
    return count


def mixes_little(batch: Call, shuffle: Call, few: int) -> bool:
    """Whether a shuffle of batches certainly holds few of them, or few rows of a table that its source has shuffled."""
    most = [most_elements(ds) for ds in shuffle.datasets()]
    if most and all(count is not None and count <= few for count in most):
        return True
    buffer, rows = integer(shuffle.value_of("buffer_size")), integer(batch.given("batch_size"))
    known = buffer is not None and rows is not None and knowledge.in_group(batch.name, "shuffles_examples")
    return known and (buffer or 0) * (rows or 0) <= MANY_ROWS


def _sliced(ds: Dataset) -> int | None:
    """The length of the constant slice that a pipeline is made of."""
    given = ds.call.arg("tensors") if ds.call is not None and ds.source == SLICES else None
    node: cst.BaseExpression | None = given.expression if given is not None else None
    index = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    if given is None or not isinstance(index, cst.Slice) or index.step is not None:
        return None
    file, frame = given.evaluator.file, given.frame
    first = integer(file.values.value(index.lower, frame)) if index.lower is not None else 0
    last = integer(file.values.value(index.upper, frame)) if index.upper is not None else None
    return last - first if first is not None and last is not None and 0 <= first <= last else None


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
        return not is_tiny(length) and any(_is_of(file, ds, length, size) for ds in found)
    return covers(size, element_count(found)) and not any("batch" in ds.names() for ds in found)


def is_one_batch(file: File, ds: Dataset) -> bool:
    """Whether a pipeline certainly puts all of its elements into one batch, and gives this one alone."""
    steps = [step for step in ds.steps if step.name not in ONE_FOR_ONE]
    batch = steps[-1].call if steps and steps[-1].name in BATCHES else None
    size = batch.arg("batch_size") if batch is not None else None
    return batch is not None and size is not None and takes_all(file, size, batch.datasets())


def _is_of(file: File, ds: Dataset, length: Length, size: Argument) -> bool:
    """Whether a length is that of a pipeline or its data, or of something that is not seen and named there."""
    expression = size.expression
    if isinstance(length.of, Dataset) or (length.of == TFDS_EXAMPLES and ds.source == "tensorflow_datasets.load"):
        return True
    if ds.call is None:
        return False
    given = [arg.value for arg in ds.call.node.args]
    shared = _names(expression) & {name for each in given for name in _names(each)}
    several = whole_length(size, share=TWICE) is not None  # 128 for each of something are as many cards or machines
    named = isinstance(expression, cst.Name) and not several
    return bool(shared) or named or any(file.value(each) == length.of for each in given)


def counts_choices(size: Argument, datasets: Iterable[Dataset]) -> bool:
    """Whether a length is certainly that of the pattern by which `choose_from_datasets` takes elements, over and over:
    how long it is says nothing about the data."""
    choices = [_choice(ds) for ds in datasets]
    names = [_names(made.node) if made is not None else set() for made in choices]
    return bool(names) and all(_names(size.expression) & each for each in names)


def _choice(ds: Dataset) -> Call | None:
    """The call that makes the pattern of a pipeline chosen from others, where that is repeated."""
    given = ds.call.arg("choice_dataset") if ds.call is not None and ds.call.method == CHOOSES else None
    made = given.value if given is not None else None
    return made.call if isinstance(made, Dataset) and "repeat" in made.names() else None


def counts_rows(file: File, size: Argument, data: Iterable[cst.BaseExpression]) -> bool:
    """Whether the length that a number certainly is (see `whole_length`) is that of this data, by its value or by the
    names that both are made of; also a length of something that is not seen, behind a name, but not several times that:
    128 for each of something are as many cards or machines."""
    length, parts = whole_length(size), list(data)
    if length is None:
        return False
    if any(_holds(file.value(part), length.of) for part in parts):
        return True
    given = {name for part in parts for name in (*_names(part), *_names_behind(file, part))}
    named = isinstance(size.expression, cst.Name) and not length.of.known and whole_length(size, share=TWICE) is None
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
