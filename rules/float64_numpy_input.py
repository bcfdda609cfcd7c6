from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Fix, Rule, Safety, knowledge, on_file, show_bytes
from tfmemlint.fix.edits import append_method, ensure_numpy
from tfmemlint.finding import Edit
from tfmemlint_rules._dtypes import float64_by_design
from tfmemlint_rules._sinks import arrays_entering

SMALL = 64 * 1024
"""Bytes below which an array is not worth a word."""


class Float64NumpyInput(Rule):
    """
    ## What it does
    Reports NumPy arrays that are float64 only because that is NumPy's default, where they enter TensorFlow: in
    `tf.constant`, `tf.Variable`, `from_tensor_slices`, `fit`, ...

    ## Why it costs memory
    The array takes twice the bytes of float32, it is copied into a float64 tensor of the same size, and Keras casts
    that to float32: three copies where one would do.

    ## Example
    ```python
    x = np.random.rand(60000, 784)
    dataset = tf.data.Dataset.from_tensor_slices(x)
    ```
    Make or cast it as float32:
    ```python
    x = np.random.rand(60000, 784).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(x)
    ```

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

    @on_file("np", "numpy", "random", "zeros", "ones", "linspace", "array")
    def check(self, file: File) -> Iterator[Finding]:
        if float64_by_design(file):
            return
        seen: set[tuple[int, int]] = set()
        for call, array in arrays_entering(file):
            made = array.origin
            if array.dtype != "float64" or array.explicit or array.cast is not None or made is None or array.shape == ():
                continue
            if array.bytes is not None and array.bytes < SMALL:
                continue
            if (id(call.node), id(made.node)) in seen or self._is_integer_source(made):
                continue
            seen.add((id(call.node), id(made.node)))
            yield self._report(call, array, made, file)

    def _is_integer_source(self, made: Call) -> bool:
        """Integer data that arithmetic made float64 is another rule's finding, as are one-hot labels."""
        name = made.name or ""
        return name.endswith(".load_data") or name == "tf.keras.utils.to_categorical" or made.arg("dtype") is not None

    def _report(self, call: Call, array: Array, made: Call, file: File) -> Finding:
        size = array.bytes
        weigh = f": {show_bytes(size)} instead of {show_bytes(size // 2)}" if size is not None else ""
        return self.finding(
            call,
            file,
            f"this array is float64 by NumPy's default, twice the memory of float32{weigh}",
            fix=self._narrow(made, file),
            related=[(made, "made here as float64")],
            bytes=size,
        )

    def _narrow(self, made: Call, file: File) -> Fix | None:
        numpy, imports = ensure_numpy(file)
        if imports:
            return None
        signature = knowledge.signature(made.name or "")
        takes_dtype = signature is not None and "dtype" in signature.positional and not (made.name or "").startswith("np.random")
        if takes_dtype and not made.open and isinstance(made.node, cst.Call):
            end = file.span(made.node.args[-1].value).end if made.node.args else None
            if end is not None and not getattr(made.node.args[-1].value, "rpar", ()):
                return Fix("make it float32", (Edit(end, end, f", dtype={numpy}.float32"),), Safety.UNSAFE)
        edit = append_method(file, made.node, f".astype({numpy}.float32)")
        return Fix("cast it to float32", (edit,), Safety.UNSAFE)
