from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Api, Const, File, Finding, Fix, Rule, Safety, fixes, on, show_halved, tensors

PYTHON_FLOAT = (Api("builtins.float"), Const("float"))


class PythonFloatDtype(Rule):
    """
    ## What it does
    Reports `astype(float)`, `np.zeros(n, float)` and `dtype=float` on NumPy arrays that reach TensorFlow.

    Of an array of unknown length, a table of up to 100 columns is not reported (by its shape, or by the input of the
    model that takes it), nor what is made for one step.

    ## Why it costs memory
    In NumPy, Python's `float` is float64, twice the bytes of float32. In TensorFlow the same word means float32, so
    `tf.zeros(2, float)` and `Dense(dtype=float)` are fine and are not reported.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16. Shown only where TensorFlow computes with other tensors that may be
    float64, as it refuses to compute with two dtypes.

    ## When not to use it
    Where the digits are needed; `np.float64` says so.

    ## References
    - https://numpy.org/doc/stable/user/basics.types.html
    """

    code = "TFM208"
    summary = "Python's float is float64 in NumPy, twice the memory of float32"
    spared = 0.5  # the same numbers as float32
    fix_safety = (Safety.UNSAFE, Safety.DISPLAY)
    in_tests = False

    @on(tensors.arrays_entering)
    def check(self, entering: tensors.Entering, file: File) -> Iterator[Finding]:
        size, made = entering.array.bytes, entering.array.dtype_call
        dtype = made.arg("dtype") if made is not None and entering.array.dtype == "float64" else None
        if made is None or dtype is None or dtype.value not in PYTHON_FLOAT:
            return
        if tensors.is_little(file, entering) or tensors.float64_by_design(file):
            return
        numpy, imports = fixes.ensure_numpy(file, made.node)
        alone = tensors.float64_beside(file, entering.taker) == []
        yield self.finding(
            made,
            file,
            f"float is float64 in NumPy, twice the memory of float32{show_halved(size)}",
            fix=(Fix.unsafe if alone else Fix.shown)(
                "name float32", imports, fixes.replace_node(file, dtype.expression, f"{numpy}.float32")
            ),
            related=[(entering.taker, "enters TensorFlow here")],
            bytes=size,
        )
