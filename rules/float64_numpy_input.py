from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    ITEM_BYTES,
    Array,
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    fixes,
    knowledge,
    on_call,
    show_halved,
    tensors,
    total_bytes,
    walk,
)


class Float64NumpyInput(Rule):
    """
    ## What it does
    Reports NumPy arrays that are float64 only because that is NumPy's default, where they enter TensorFlow: in
    `tf.constant`, `tf.Variable`, `from_tensor_slices`, `fit`, ...

    ## Why it costs memory
    The array takes twice the bytes of float32, it is copied into a float64 tensor of the same size, and Keras casts
    that to float32: three copies where one would do.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16.

    ## When not to use it
    Where the digits are needed. Modules that choose float64 and unit tests are not reported.

    ## References
    - https://numpy.org/doc/stable/user/basics.types.html
    """

    code = "TFM202"
    summary = "NumPy's default float64 doubles what enters TensorFlow"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*knowledge.group("takes_arrays"))
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        wide = [each for each in tensors.arrays_taken(call) if _by_default(each)]
        arrays = list({each.origin.node: each for each in wide if each.origin is not None}.values())
        if not arrays or tensors.float64_by_design(file):
            return
        size = total_bytes(array.bytes for array in arrays)
        what = "this array is" if len(arrays) == 1 else f"{len(arrays)} of these arrays are"
        yield self.finding(
            call,
            file,
            f"{what} float64 by NumPy's default, twice the memory of float32{show_halved(size)}",
            fix=_narrowed(file, arrays),
            related=[(each.origin, "made here as float64") for each in arrays if each.origin is not None],
            bytes=size,
        )


def _by_default(array: Array) -> bool:
    """Whether an array of several numbers is float64 and nobody asked for it."""
    if array.dtype != "float64" or array.explicit or array.cast is not None or array.size in (0, 1):
        return False
    return array.origin is not None and not _told_otherwise(array.origin)


def _told_otherwise(made: Call) -> bool:
    """Whether a dtype is given, or integers are made, or labels: other rules' findings."""
    name, value = made.name or "", made.value
    dtype = value.dtype or "" if isinstance(value, Array) else ""
    small = dtype.startswith(("int", "uint")) and ITEM_BYTES[dtype] < ITEM_BYTES["float64"]
    labels = name.endswith(".load_data") or name == "tf.keras.utils.to_categorical"
    return small or labels or made.arg("dtype") is not None


def _narrowed(file: File, arrays: list[Array]) -> Fix | None:
    """Make all of them float32 where they are made, with those that are joined with them."""
    numpy, imports = fixes.ensure_numpy(file)
    calls = {call.node: call for a in arrays for call in (a.origin, *a.beside) if call is not None}
    if imports or any(map(_told_otherwise, calls.values())):
        return None
    made = _joined(file, calls)
    inner = {node for call in made for node in walk(call.node, cst.Call) if node is not call.node}
    return Fix.unsafe(
        "make it float32", [fixes.make_float32(file, call, numpy) for call in made if call.node not in inner]
    )


def _joined(file: File, found: dict[cst.Call, Call]) -> list[Call]:
    """These calls, and those whose float64 arrays are joined with theirs: with one of them narrowed alone the result
    would stay float64."""
    joins = [
        [a.origin for a in arrays if _by_default(a) and a.origin is not None] for arrays in tensors.joined_arrays(file)
    ]
    before = 0
    while len(found) > before:
        before = len(found)
        for origins in joins:
            if any(origin.node in found for origin in origins):
                found |= {origin.node: origin for origin in origins}
    return list(found.values())
