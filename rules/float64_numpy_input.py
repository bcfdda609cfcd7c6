from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._float64_numpy_input import (
    by_default,
    first_takers,
    joined_with,
    told_otherwise,
    whole_bytes,
    whose,
)

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Shows,
    fixes,
    knowledge,
    on_call,
    pipelines,
    show_halved,
    tensors,
    total_bytes,
    walk,
)


class Float64NumpyInput(Rule):
    """
    ## What it does
    Reports NumPy arrays that are float64 only because that is the default of NumPy, scikit-learn (its scalers, and the
    data sets that it bundles) or pandas (the numbers of a table that was divided or mixed with floats), where they
    enter TensorFlow: in `tf.constant`, `tf.Variable`, `from_tensor_slices`, `fit`, ... What is made once and taken
    several times is reported where it is taken first, of several modules in one that trains.

    Of an array of unknown length, a table of up to 100 columns is not reported (by its shape, or by the input of the
    model that takes it: 10 000 such rows are 8 MiB), nor one of unknown width that is filled or drawn and not read. Nor
    is what is made for one step (`train_on_batch`) where 32 rows of it are not known to take 1 MiB; a buffer that is
    kept, of which each step takes a part, is. Nor are windows of a series read from a file, a thousand of which are not
    known to take 8 MiB, a scaled or standardized table whose columns the code calls by their names, or the noise of
    which `predict` makes pictures (up to 512 numbers for each). Up to 8 MiB targets of a few numbers for each example,
    windows of a table and a hundred examples are not, either.

    ## Why it costs memory
    The array takes twice the bytes of float32, it is copied into a float64 tensor of the same size, and Keras casts
    that to float32: three copies where one would do.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16. All arrays that are computed together change together. Shown only
    where TensorFlow may compute with others, as it refuses to compute with two dtypes.

    ## When not to use it
    Where the digits are needed. Modules that choose float64 and unit tests are not reported.

    ## References
    - https://numpy.org/doc/stable/user/basics.types.html
    - https://scikit-learn.org/stable/modules/preprocessing.html
    """

    code = "TFM202"
    summary = "NumPy's default float64 doubles what enters TensorFlow"
    spared = 0.5  # the same numbers as float32
    fix_safety = (Safety.UNSAFE, Safety.DISPLAY)
    in_tests = False

    @on_call(*knowledge.group("takes_arrays"))
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        first = first_takers(file)
        taken = [(a.origin, a) for a in tensors.arrays_taken(call) if by_default(a) and a.origin is not None]
        arrays = {
            origin.node: array
            for origin, array in taken
            if first.get(origin.node) is call.node and not tensors.is_little(file, tensors.Entering(call, array))
            if not pipelines.taken_earlier(file, origin.node)
        }
        if not arrays or tensors.float64_by_design(file):
            return
        origins = [array.origin for array in arrays.values() if array.origin is not None]
        size = total_bytes(map(whole_bytes, arrays.values()), worth=file.config.least_cost)
        what = "this array is" if len(arrays) == 1 else f"{len(arrays)} of these arrays are"
        yield self.finding(
            call,
            file,
            f"{what} float64 by {whose(origins)} default, twice the memory of float32{show_halved(size)}",
            fix=_narrowed(file, list(arrays.values()), call),
            shows=Shows(metric="wide"),
            related=[(origin, "made here as float64") for origin in origins],
            bytes=size,
        )


def _narrowed(file: File, arrays: list[Array], taker: Call) -> Fix | None:
    """Make all of them float32 where they are made, with those that NumPy and TensorFlow compute with them; None where
    one is not made as an array, or is float64 by name. Only shown where TensorFlow may compute with yet others."""
    numpy, imports = fixes.ensure_numpy(file, taker.node)
    calls = {call.node: call for a in arrays for call in (a.origin, *a.beside) if call is not None}
    others = tensors.float64_beside(file, taker)
    calls |= {call.node: call for call in others or []}
    if imports or any(told_otherwise(call) or not isinstance(call.value, Array) for call in calls.values()):
        return None
    made = joined_with(file, calls)
    inner = {node for call in made for node in walk(call.node, cst.Call) if node is not call.node}
    edits = [fixes.make_float32(file, call, numpy) for call in made if call.node not in inner]
    return (Fix.shown if others is None else Fix.unsafe)("make it float32", edits)
