"""Which NumPy arrays that enter TensorFlow are a few numbers, as far as the code tells how many they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import ITEM_BYTES, Array, Sequence, Value
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.keras.networks import input_bytes, output_bytes
from tfmemlint.query.limits import (
    FEW_COLUMNS,
    FEW_ELEMENTS,
    FEW_ROWS,
    LATENT_NUMBERS,
    ONE_BATCH,
    SMALL_SAMPLE,
    SMALL_TARGETS,
)
from tfmemlint.query.tensors.arrays import Entering, arrays_entering
from tfmemlint.query.tensors.named_columns import has_named_columns
from tfmemlint.query.tensors.read_arrays import one_picture
from tfmemlint.query.tensors.series import is_of_series

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

TABLE_RANK = 2

DRAWN = "np.random."
MODEL, PREDICT = "tf.keras.Model.", "tf.keras.Model.predict"
GIVEN_TARGETS = frozenset({"tf.keras.Model.fit", "tf.keras.Model.evaluate"})
SHORT_LIVED = frozenset({PREDICT, "tf.constant", "tf.convert_to_tensor"})
"""What needs an array no longer when it has its result."""


def is_little(file: File, entering: Entering) -> bool:
    """Whether an array is not shown to be much: a table of unknown length with a few columns, or whose columns the code
    calls by their names, a batch of rows, what one step works on, one example that a model is asked about, the picture
    of one file, the noise of which `predict` makes something larger, targets beside the data that they belong to, a
    small array that a part is made of, windows of a table of unknown length, a thousand of which are not known to take
    8 MiB, a table of unknown width that is filled or drawn, or zeros of unknown size that `predict` asks for.

    False for an array of known bytes, which speak for themselves, but for windows of a table and up to a hundred
    examples that have 8 MiB at most; for one of which nothing is known, and for a buffer that is kept, of which each
    step takes a part.
    """
    array, taker, origin = entering.array, entering.taker, entering.array.origin
    targets = _are_targets(array, taker)
    if _is_one_item(file, array, taker) or _is_noise(file, array, taker) or (targets and _are_few(array)):
        return True
    if origin is None:
        return targets and array.bytes is None and array.shape is None
    if array.bytes is not None:
        return array.bytes < SMALL_TARGETS and (_are_windows(array, origin) or _are_few_examples(array))
    if _is_one_picture(file, origin):
        return True
    if is_of_series(file, entering):
        row = _row_numbers(array)
        return row is None or row * ITEM_BYTES["float64"] * FEW_ROWS < SMALL_TARGETS
    if _is_kept(file, array, origin):
        return False
    if _is_small_part(file, array, origin) or _is_one_batch(array):
        return True
    row = _row_numbers(array)
    passing = taker.name in SHORT_LIVED and file.contexts.per_item(taker.node) and file.contexts.per_item(origin.node)
    if passing or knowledge.in_group(taker.name, "takes_one_batch"):
        return row is None or row * ITEM_BYTES["float64"] * ONE_BATCH < SMALL_SAMPLE
    row = _model_numbers(file, array) if row is None else row
    if row is not None:
        return row <= FEW_COLUMNS
    if _is_made_up(file, array, origin):
        return True
    return (targets and array.shape is None) or _is_filler(file, array, origin) or has_named_columns(file, array)


def _is_one_item(file: File, array: Array, taker: Call) -> bool:
    """Whether a model is asked about one example, whose array goes when it has answered, and is not large."""
    alone = array.shape is not None and len(array.shape) > 1 and array.shape[0] == 1
    return alone and taker.name in SHORT_LIVED and (array.bytes or 0) < file.config.min_bytes


def _is_one_picture(file: File, origin: Call) -> bool:
    """Whether an array is made of the picture of one file, not of those of many, and not known to be large."""
    picture = None if file.contexts.per_item(origin.node) else one_picture(file, origin.node)
    return picture is not None and (picture.bytes("float64") or 0) < file.config.min_bytes


def _is_noise(file: File, array: Array, taker: Call) -> bool:
    """Whether a generator is asked for what it makes of random numbers: of one row of them mostly something larger."""
    drawn = array.origin is not None and (array.origin.name or "").startswith(DRAWN)
    if taker.name != PREDICT or not drawn or array.shape is None or len(array.shape) != 2:
        return False
    return (array.shape[1] or 0) <= LATENT_NUMBERS and (array.bytes or 0) < file.config.min_bytes


def _are_targets(array: Array, taker: Call) -> bool:
    """Whether `fit` or `evaluate` gets an array only as what a model shall say."""
    if taker.name not in GIVEN_TARGETS:
        return False
    checked = taker.given("validation_data")
    pair = checked.items if isinstance(checked, Sequence) and not checked.open else ()
    data, targets = [taker.value_of("x"), *pair[:1]], [taker.given("y"), *pair[1:2]]
    return any(_holds(value, array) for value in targets) and not any(_holds(value, array) for value in data)


def _are_few(array: Array) -> bool:
    """Whether targets are known to be a few numbers for each example, and not many examples."""
    row = _row_numbers(array) if array.shape is not None else None
    return row is not None and row <= FEW_COLUMNS and (array.bytes or 0) < SMALL_TARGETS


def _are_windows(array: Array, origin: Call) -> bool:
    """Whether an array is stacked of parts of a table whose length is not known, as the windows of a series are."""
    made = origin.value
    if not isinstance(made, Array) or made.bytes is not None or array.shape is None:
        return False
    return len(array.shape) > (len(made.shape) if made.shape is not None else TABLE_RANK)


def _are_few_examples(array: Array) -> bool:
    """Whether an array has as few rows as somebody makes up to try something."""
    return array.shape is not None and len(array.shape) > 1 and (array.shape[0] or FEW_ELEMENTS + 1) <= FEW_ELEMENTS


def _is_kept(file: File, array: Array, origin: Call) -> bool:
    """Whether an array is a part of one that is made once and kept in an attribute."""
    target = file.tree.parent(origin.node)
    kept = isinstance(target, cst.Assign) and any(isinstance(t.target, cst.Attribute) for t in target.targets)
    made = origin.value
    return kept and isinstance(made, Array) and made.shape != array.shape


def _is_small_part(file: File, array: Array, origin: Call) -> bool:
    """Whether what is made is small, made once, and in an array of unknown size only as a part."""
    made = origin.value
    small = isinstance(made, Array) and made.bytes is not None and made.bytes < SMALL_SAMPLE
    return small and not file.contexts.per_item(origin.node)


def _is_one_batch(array: Array) -> bool:
    """Whether an array has as few rows as a batch, of whatever length."""
    return array.shape is not None and len(array.shape) > 1 and (array.shape[0] or ONE_BATCH + 1) <= ONE_BATCH


def _is_made_up(file: File, array: Array, origin: Call) -> bool:
    """Whether a table, or an array of unknown shape, is filled with one number or drawn, and not read: a batch, states,
    rows that are one-hot. Arrays of more axes are pictures, volumes and texts, of which a few are much; where the code
    names a dtype, somebody has thought of what it takes."""
    made = knowledge.in_group(origin.name, "fills_with_one_number") or (origin.name or "").startswith(DRAWN)
    first = file.value(origin.node)
    if isinstance(first, Array) and (first.bytes is not None or len(first.shape or ()) > TABLE_RANK):
        return False  # only what has become of it since is not known
    return made and origin.arg("dtype") is None and len(array.shape or ()) <= TABLE_RANK


def _is_filler(file: File, array: Array, origin: Call) -> bool:
    """Whether `predict` alone gets an array that has one number in all places: it stands in for labels that nobody has,
    or is there to see what comes out."""
    if origin.value != array or not knowledge.in_group(origin.name, "fills_with_one_number"):
        return False
    found = list(uses(file, origin.node, containers=True))
    asked = (use.does is Does.PASS and use.call is not None and use.call.name == PREDICT for use in found)
    return bool(found) and all(asked)


def _row_numbers(array: Array) -> int | None:
    """The numbers in one row of an array, by its shape."""
    rest = array.shape[1:] if array.shape else (None,)
    known = [length for length in rest if length is not None]
    return math.prod(known) if len(known) == len(rest) else None


def _model_numbers(file: File, array: Array) -> int | None:
    """The most numbers in one row of an array, by the inputs and outputs of the models that are given it; None where
    none of them tells."""
    takers = (each.taker for each in arrays_entering.of(file) if each.array == array)
    counts = [_numbers_given(array, taker) for taker in takers if (taker.name or "").startswith(MODEL)]
    return max((count for count in counts if count is not None), default=None)


def _numbers_given(array: Array, taker: Call) -> int | None:
    sizes = [input_bytes(taker.receiver)] if _holds(taker.value_of("x"), array) else []
    sizes += [output_bytes(taker.receiver)] if _holds(taker.given("y"), array) else []
    sizes = sizes or [input_bytes(taker.receiver), output_bytes(taker.receiver)]  # of the validation data
    known = [size // ITEM_BYTES["float32"] for size in sizes if size is not None]
    return max(known) if len(known) == len(sizes) else None


def _holds(given: Value, array: Array) -> bool:
    return any(leaf == array for option in given.options for leaf in elements(option))
