"""What is kept where a whole pipeline is turned into a list."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._lengths import TINY

from tfmemlint.api import (
    Array,
    Const,
    Dataset,
    Function,
    Iterator,
    Mapping,
    Sequence,
    Step,
    Value,
    dotted,
    elements,
    integer,
    structure_bytes,
)
from tfmemlint.model.mapped import body, function_of
from tfmemlint.model.pipelines import FILE_NAME_SOURCES

FEW = 100
"""Elements that `take` may leave without notice."""

A_FEW = 1 << 20
"""Bytes up to which the few elements that `take` leaves are no burden."""

LARGE_PARTS = (
    "image",
    "video",
    "audio",
    "frame",
    "pixel",
    "feature",
    "input",
    "speech",
    "wave",
    "signal",
    "volume",
    "array",
)
"""Parts of the keys under which elements hold what is large; under others stand labels, names, numbers."""

SAME = frozenset({"numpy", "copy", "astype", "reshape", "squeeze", "flatten", "ravel"})
COPIES = frozenset({"array", "asarray", "cast", "convert_to_tensor", "squeeze", "expand_dims", "identity"})
"""Methods and functions that give all of an element again."""

WRAPPERS = frozenset({"as_numpy_iterator", "enumerate", "iter", "tqdm", "reversed"})


def iterated(value: Value) -> Dataset | None:
    """The pipeline that is run through, wrappers taken off; None if it may be anything else."""
    while isinstance(value, Iterator) and value.function in WRAPPERS:
        value = value.of
    return value if isinstance(value, Dataset) and value.source is not None else None


def small(ds: Dataset, peeks: bool = True) -> bool:
    """Whether all elements together are certainly, or by what they are, no burden: a few, names, labels."""
    if ds.source in FILE_NAME_SOURCES and not any(step.name in ("map", "interleave", "flat_map") for step in ds.steps):
        return True
    size, few = weight(ds), peeks and any(_leaves_few(step) for step in ds.steps)
    if size is not None:
        return size <= (A_FEW if few else TINY)
    if _toy(ds) or few or any(_labels(step) for step in ds.steps):
        return True
    leaves = elements(ds.element)
    if ds.source == "tf.data.TFRecordDataset" and "map" not in ds.names():
        return False
    return all(isinstance(leaf, Array) and (_scalar(leaf, ds) or leaf.dtype == "string") for leaf in leaves) or _names(
        ds
    )


def _scalar(leaf: Array, ds: Dataset) -> bool:
    groups = sum(step.name in ("batch", "padded_batch", "window") for step in ds.steps)
    return leaf.shape is not None and len(leaf.shape) <= groups


def weight(ds: Dataset) -> int | None:
    """Bytes of all elements, where their number and size are known."""
    size = structure_bytes(ds.element)
    if size is None and isinstance(ds.element, Sequence):
        # A last batch that is not full makes the first axis unknown in general; the sizes of sources are enough.
        return None
    return size * ds.count if size is not None and ds.count is not None else None


def _toy(ds: Dataset) -> bool:
    """Whether the source has a handful of elements."""
    made = ds.call.value if ds.call is not None else None
    count = made.count if isinstance(made, Dataset) else None
    if ds.source == "tf.keras.utils.timeseries_dataset_from_array" and ds.call is not None:
        data = ds.call.value_of("data")
        if isinstance(data, Sequence):
            return not data.open
        count = data.shape[0] if isinstance(data, Array) and data.shape else None
    return count is not None and count <= FEW and ds.source != "tf.data.Dataset.from_tensors"


def _leaves_few(step: Step) -> bool:
    if step.name not in ("take", "shard") or step.call is None:
        return False
    count = integer(step.call.value_of("count"))
    return step.name == "shard" or count is None or 0 <= count <= FEW


def _labels(step: Step) -> bool:
    """Whether a map keeps only the last part of each element: the labels."""
    value = function_of(step) if step.name == "map" else None
    node = value.node if isinstance(value, Function) else None
    if not isinstance(node, cst.Lambda):
        return False
    names = [p.name.value for p in node.params.params]
    return (len(names) > 1 and _is_name(node.body, names[-1])) or _label_item(node.body)


def _names(ds: Dataset) -> bool:
    """Whether the elements are file names that a later step would open: nothing here has opened them."""
    return ds.source == "tf.data.TextLineDataset" and not any(
        body(step).decodes for step in ds.steps if step.name == "map"
    )


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _label_item(node: cst.CSTNode) -> bool:
    """`d["label"]` or `pair[1]`."""
    if (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value in ("numpy", "item")
    ):
        node = node.func.value
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return False
    key = node.slice[0].slice.value
    if isinstance(key, cst.SimpleString):
        return not any(word in str(key.evaluated_value).lower() for word in LARGE_PARTS)
    return isinstance(key, cst.Name) or (isinstance(key, cst.Integer) and key.evaluated_value != 0)


def is_element(
    node: cst.BaseExpression, target: cst.BaseAssignTargetExpression, ds: Dataset, counted: bool = False
) -> bool:
    """Whether a value is an element that `target` was bound to, or the part of one that is not its label; `counted`
    where the target starts with a number (`enumerate`)."""
    if counted and isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2:
        inner = target.elements[1].value
        if not isinstance(inner, (cst.Name, cst.Tuple, cst.List)):
            return False
        target = inner
    node = _unwrapped(node)
    if isinstance(node, (cst.Tuple, cst.List)):
        return any(_keeps(_unwrapped(element.value), target, ds) for element in node.elements)
    return _keeps(node, target, ds)


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """Without what copies, scales or casts an element but leaves it as large."""
    while True:
        if isinstance(node, cst.BinaryOperation) and isinstance(node.right, (cst.Integer, cst.Float)):
            node = node.left
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in SAME:
            node = node.func.value
        elif isinstance(node, cst.Call) and node.args and (dotted(node.func) or "").rpartition(".")[2] in COPIES:
            node = node.args[0].value
        else:
            return node


def _keeps(node: cst.BaseExpression, target: cst.BaseAssignTargetExpression, ds: Dataset) -> bool:
    if isinstance(node, cst.Subscript):
        return (
            isinstance(node.value, cst.Name)
            and _is_name(target, node.value.value)
            and not _label_item(node)
            and _is_item(node)
        )
    if not isinstance(node, cst.Name):
        return False
    if _is_name(target, node.value):
        return True
    if isinstance(target, (cst.Tuple, cst.List)):
        names = [element.value for element in target.elements]
        places = [i for i, name in enumerate(names) if _is_name(name, node.value)]
        return bool(places) and places[0] == 0 and not _part_small(ds, places[0])
    return False


def _is_item(node: cst.Subscript) -> bool:
    index = node.slice[0].slice
    return isinstance(index, cst.Index) and isinstance(index.value, (cst.SimpleString, cst.Integer))


def _part_small(ds: Dataset, index: int) -> bool:
    element = ds.element
    if isinstance(element, Mapping):
        return True
    if not isinstance(element, Sequence) or index >= len(element.items):
        return False
    part = element.items[index]
    return isinstance(part, Const) or (isinstance(part, Array) and _scalar(part, ds))
