"""Which arrays are float64 by default, whose default that is, and which of them are too few numbers to speak of."""

from __future__ import annotations

import math

import libcst as cst

from tfmemlint.api import ITEM_BYTES, Array, AtLeast, Call, File, Node, knowledge, limits, once_per_file, tensors

OWNERS = {"sklearn": "scikit-learn's", "pandas": "pandas'"}
SHORT_LIVED = frozenset({"tf.keras.Model.predict", "tf.constant", "tf.convert_to_tensor"})


def by_default(array: Array) -> bool:
    """Whether an array of several numbers is float64 and nobody asked for it."""
    if array.dtype != "float64" or array.explicit or array.cast is not None or array.size in (0, 1):
        return False
    return array.origin is not None and not told_otherwise(array.origin)


def told_otherwise(made: Call) -> bool:
    """Whether a dtype is given, or integers are made, or labels: other rules' findings."""
    name, value = made.name or "", made.value
    dtype = value.dtype or "" if isinstance(value, Array) else ""
    small = dtype.startswith(("int", "uint")) and ITEM_BYTES[dtype] < ITEM_BYTES["float64"]
    labels = name.endswith(".load_data") or name == "tf.keras.utils.to_categorical"
    return small or labels or made.arg("dtype") is not None


def whose(origins: list[Call]) -> str:
    """Whose default the dtype is, in words."""
    libraries = ["pandas" if each.method == "to_numpy" else (each.name or "").partition(".")[0] for each in origins]
    owners = {OWNERS.get(library, "NumPy's") for library in libraries}
    return owners.pop() if len(owners) == 1 else "NumPy's"


@once_per_file
def first_takers(file: File) -> dict[Node, cst.Call]:
    """The call that is the first to take what a call makes as float64 into TensorFlow, by the node of that call: one
    place to change, one finding."""
    found: dict[Node, cst.Call] = {}
    for entering in tensors.arrays_entering.of(file):
        origin = entering.array.origin
        if origin is not None and by_default(entering.array) and not _few(file, entering):
            found.setdefault(origin.node, entering.taker.node)
    return found


def _few(file: File, entering: tensors.Entering) -> bool:
    """Whether an array of unknown length is not shown to be much: a column of numbers, or what one step works on.

    A buffer that is kept, of which each step takes a part, is not few.
    """
    array, taker, origin = entering.array, entering.taker, entering.array.origin
    if _is_one_item(file, array, taker):
        return True
    if array.bytes is not None or origin is None or _is_kept(file, array, origin):
        return False
    if is_small_part(file, array):
        return True
    rest = array.shape[1:] if array.shape else (None,)
    known = [length for length in rest if length is not None]
    row = ITEM_BYTES["float64"] * math.prod(known) if len(known) == len(rest) else None
    passing = taker.name in SHORT_LIVED and file.contexts.per_item(taker.node) and file.contexts.per_item(origin.node)
    if passing or knowledge.in_group(taker.name, "takes_one_batch"):
        return row is None or row * limits.ONE_BATCH < limits.SMALL_SAMPLE
    return row == ITEM_BYTES["float64"] and array.shape is not None and len(array.shape) > 0


def is_small_part(file: File, array: Array) -> bool:
    """Whether what is made as float64 is small, made once, and in an array of unknown size only as a part."""
    made = array.origin.value if array.origin is not None else None
    if array.origin is None or array.bytes is not None or not isinstance(made, Array):
        return False
    small = made.bytes is not None and made.bytes < limits.SMALL_SAMPLE
    return small and not file.contexts.per_item(array.origin.node)


def _is_one_item(file: File, array: Array, taker: Call) -> bool:
    """Whether a model is asked about one example, whose array goes when it has answered, and is not large."""
    alone = array.shape is not None and len(array.shape) > 1 and array.shape[0] == 1
    return alone and taker.name in SHORT_LIVED and (array.bytes or 0) < file.config.min_bytes


def _is_kept(file: File, array: Array, origin: Call) -> bool:
    """Whether an array is a part of one that is made once and kept in an attribute."""
    target = file.tree.parent(origin.node)
    kept = isinstance(target, cst.Assign) and any(isinstance(t.target, cst.Attribute) for t in target.targets)
    made = origin.value
    return kept and isinstance(made, Array) and made.shape != array.shape


def whole_bytes(array: Array) -> int | None:
    """Bytes of an array, or of the one that it is a part of, where that is known to be more; `AtLeast` where the known
    one is one of those that it is stacked of."""
    made = array.origin.value if array.origin is not None else None
    whole = made.bytes if isinstance(made, Array) and made.dtype == array.dtype else None
    size = max(array.bytes or 0, whole or 0) or None
    stacked = isinstance(made, Array) and (array.shape is None or len(made.shape or ()) < len(array.shape))
    return AtLeast(size) if size is not None and stacked and array.bytes is None else size


def joined_with(file: File, found: dict[cst.Call, Call]) -> list[Call]:
    """These calls, and those whose float64 arrays are joined with theirs: with one of them narrowed alone the result
    would stay float64."""
    joins = [
        [a.origin for a in arrays if by_default(a) and a.origin is not None] for arrays in tensors.joined_arrays(file)
    ]
    before = 0
    while len(found) > before:
        before = len(found)
        for origins in joins:
            if any(origin.node in found for origin in origins):
                found |= {origin.node: origin for origin in origins}
    return list(found.values())
