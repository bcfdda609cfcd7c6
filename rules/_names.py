"""Which elements are names of files or indices: small however many of them a buffer holds."""

from __future__ import annotations

import re

import libcst as cst

from tfmemlint.api import Array, Call, Dataset, File, Value, elements
from tfmemlint.model.mapped import body
from tfmemlint.query.pipelines import FILE_NAME_SOURCES

SLICES = "tf.data.Dataset.from_tensor_slices"
COUNTERS = frozenset(
    {"tf.data.Dataset.range", "tf.data.Dataset.random", "tf.data.Dataset.counter", "tf.data.experimental.Counter"}
)
RANGES = frozenset({"np.arange", "tf.range", "builtins.range", "np.random.permutation"})
SAID = re.compile(r"path|file|fname|url|shard|pattern|glob|dirs|indices|index|idx|_ids?\b|nodes", re.IGNORECASE)


def names_or_indices(step: Call, file: File) -> bool:
    """Whether a step of a pipeline handles names of files or indices, as far as can be told: when in doubt, yes."""
    return any(_small(ds, step, file) for ds in step.datasets())


def _small(ds: Dataset, step: Call, file: File) -> bool:
    mapped = [done for done in ds.steps if done.name in ("map", "interleave", "flat_map", "apply")]
    if any(body(done).reads for done in mapped):
        return False
    if ds.source in FILE_NAME_SOURCES or (ds.source in COUNTERS and not mapped):
        return True
    if ds.source is None and (size := step.arg("buffer_size")) is not None and _says(size.expression, file):
        return True  # a pipeline of something not known, `shuffle(len(paths))`
    leaves = elements(ds.element)
    if any(isinstance(leaf, Array) and leaf.dtype == "string" for leaf in leaves) and ds.source == SLICES:
        return True
    if mapped:
        return False
    if ds.source == SLICES and leaves and all(_counted(leaf) for leaf in leaves):
        return True
    return opens_later(step, file) or said(ds)


def _says(length: cst.BaseExpression, file: File) -> bool:
    """Whether a length, or what its name stands for, is spelled as that of names or indices."""
    return bool(SAID.search(file.text(length)) or SAID.search(file.text(file.written(length))))


def _counted(leaf: Value) -> bool:
    """Whether an element is a number out of a range: an index."""
    return isinstance(leaf, Array) and leaf.shape == () and leaf.origin is not None and leaf.origin.name in RANGES


def said(ds: Dataset) -> bool:
    """Whether the data that a pipeline slices is called by a name that stands for names or indices."""
    source = ds.call
    if ds.source != SLICES or source is None:
        return False
    argument = source.arg("tensors")
    expression = argument.expression if argument is not None else None
    if isinstance(expression, (cst.Tuple, cst.List)) and expression.elements:
        expression = expression.elements[0].value
    if (
        isinstance(expression, cst.Call)
        and expression.args
        and not (
            isinstance(expression.func, cst.Name)
            and expression.func.value == "dict"  # the columns of a table: rows of numbers
        )
    ):
        expression = expression.args[0].value
    return expression is not None and bool(SAID.search(source.evaluator.file.text(expression)))


def opens_later(step: Call, file: File) -> bool:
    """Whether a later step of the same pipeline opens files by the names that its elements are."""
    for call in file.calls("tf.data.Dataset.map", "tf.data.Dataset.interleave", "tf.data.Dataset.flat_map"):
        for after in call.value.options:
            if isinstance(after, Dataset) and any(s.call is not None and s.call.node is step.node for s in after.steps):
                if body(after.steps[-1]).reads:
                    return True
    return False
