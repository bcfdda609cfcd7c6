"""Which arrays are float64 by default, whose default that is, and which call takes them first."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import ITEM_BYTES, Array, AtLeast, Call, File, Node, limits, once_per_file, tensors

OWNERS = {"sklearn": "scikit-learn's", "pandas": "pandas'"}


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
    place to change, one finding. What takes it in the function that makes it comes before other methods that find it
    in an attribute, wherever these stand."""
    found: dict[Node, cst.Call] = {}
    function = file.contexts.function
    for entering in tensors.arrays_entering.of(file):
        origin, taker = entering.array.origin, entering.taker.node
        if origin is None or not by_default(entering.array) or tensors.is_little(file, entering):
            continue
        first, home = found.setdefault(origin.node, taker), function(origin.node)
        if function(first) is not home and function(taker) is home:
            found[origin.node] = taker
    return found


def whole_bytes(array: Array) -> int | None:
    """Bytes of an array, or of the one that it is a part of, where that is known to be more; `AtLeast` where the known
    one is one of those that it is stacked of, and is no trifle."""
    made = array.origin.value if array.origin is not None else None
    whole = made.bytes if isinstance(made, Array) and made.dtype == array.dtype else None
    size = max(array.bytes or 0, whole or 0) or None
    stacked = isinstance(made, Array) and (array.shape is None or len(made.shape or ()) < len(array.shape))
    if size is None or not stacked or array.bytes is not None:
        return size
    return AtLeast(size) if size >= limits.SMALL_SAMPLE else None


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
