from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._dtypes import float64_by_design
from tfmemlint_rules._sinks import arrays_entering

from tfmemlint.api import (
    Api,
    Array,
    Call,
    Const,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    ensure_numpy,
    on_file,
    replace_node,
    show_bytes,
)


class PythonFloatDtype(Rule):
    """
    ## What it does
    Reports `astype(float)`, `np.zeros(n, float)` and `dtype=float` on NumPy arrays that reach TensorFlow.

    ## Why it costs memory
    In NumPy, Python's `float` is float64, twice the bytes of float32. In TensorFlow the same word means float32, so
    `tf.zeros(2, float)` and `Dense(dtype=float)` are fine and are not reported.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16.

    ## When not to use it
    Where the digits are needed; `np.float64` says so.

    ## References
    - https://numpy.org/doc/stable/user/basics.types.html
    """

    code = "TFM208"
    summary = "Python's float is float64 in NumPy, twice the memory of float32"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_file("float")
    def check(self, file: File) -> Iterator[Finding]:
        if float64_by_design(file):
            return
        seen: set[int] = set()
        for call, array in arrays_entering(file):
            made = array.dtype_call
            if array.dtype != "float64" or made is None or id(made.node) in seen:
                continue
            dtype = made.arg("dtype")
            if dtype is not None and dtype.value in (Api("builtins.float"), Const("float")):
                seen.add(id(made.node))
                yield self._report(call, array, made, file)

    def _report(self, call: Call, array: Array, made: Call, file: File) -> Finding:
        size = array.bytes
        weigh = f": {show_bytes(size)} instead of {show_bytes(size // 2)}" if size is not None else ""
        dtype = made.arg("dtype")
        numpy, imports = ensure_numpy(file)
        fix = None
        if dtype is not None:
            fix = Fix(
                "name float32", (*imports, replace_node(file, dtype.expression, f"{numpy}.float32")), Safety.UNSAFE
            )
        return self.finding(
            made,
            file,
            f"float is float64 in NumPy, twice the memory of float32{weigh}",
            fix=fix,
            related=[(call, "enters TensorFlow here")],
            bytes=size,
        )
