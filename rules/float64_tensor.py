from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import CREATES, float64_by_design, names_float64

from tfmemlint.api import (
    Api,
    Argument,
    Array,
    Call,
    Const,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    on_call,
    own_nodes,
    show_bytes,
    walk,
)
from tfmemlint.fix.edits import replace_node


class Float64Tensor(Rule):
    """
    ## What it does
    Reports tensors, variables, inputs, layers and casts that are made float64 by name: `dtype=tf.float64`,
    `"float64"`, `np.float64`, `tf.cast(x, tf.float64)`; and `tf.linspace` with whole-number bounds, which is float64
    by accident.

    ## Why it costs memory
    A float64 tensor takes twice the bytes of a float32 one, and everything computed from it does too: activations,
    gradients, optimizer slots.

    ## Example
    ```python
    weights = tf.zeros([4096, 4096], dtype=tf.float64)
    ```
    float32 is TensorFlow's own default:
    ```python
    weights = tf.zeros([4096, 4096], dtype=tf.float32)
    ```

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16.

    ## When not to use it
    Where the digits are needed: Gaussian processes, factorisations, differential equations. Modules that set a float64
    policy, that use a numerical library built on float64, or that are unit tests are not reported.

    ## References
    - https://www.tensorflow.org/guide/mixed_precision
    """

    code = "TFM201"
    summary = "float64 tensors take twice the memory of float32"
    fix_safety = (Safety.UNSAFE,)

    @on_call(*CREATES)
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        dtype = made.arg("dtype")
        if dtype is None:
            if made.name == "tf.linspace":
                yield from self._linspace(made, file)
            return
        if not names_float64(dtype) or float64_by_design(file):
            return
        value = made.value
        size = value.bytes if isinstance(value, Array) else None
        if file.contexts.mapped(made.node):
            size = None  # one element's, and there are many
        if isinstance(value, Array) and (value.shape == () or (size is not None and size < file.config.min_bytes)):
            return
        if self._scalar(made) or self._on_purpose(made, file):
            return
        weigh = f": {show_bytes(size)} instead of {show_bytes(size // 2)}" if size is not None else ""
        yield self.finding(
            made,
            file,
            f"float64 takes twice the memory of float32{weigh}",
            fix=self._narrow(dtype, file),
            bytes=size,
        )

    def _scalar(self, made: Call) -> bool:
        given = made.value_of(0)
        return isinstance(given, Const) and made.name in ("tf.constant", "tf.convert_to_tensor", "tf.Variable", "tf.cast")

    def _on_purpose(self, made: Call, file: File) -> bool:
        """Whether a function widens what it is given, or computes in float64 and casts back: a choice of numerics."""
        function = file.contexts.function(made.node)
        if function is None or file.contexts.mapped(made.node):
            return False
        if made.name in ("tf.cast", "tf.saturate_cast", "tf.convert_to_tensor") and not made.value_of(0).known:
            return True
        for node in own_nodes(function, (cst.Call,)):
            cast = file.call(node) if isinstance(node, cst.Call) else made
            dtype = cast.arg("dtype")
            if cast.name == "tf.cast" and dtype is not None and not names_float64(dtype):
                narrowed = cast.arg(0)
                if narrowed is not None and any(n is made.node for n in walk(narrowed.expression)):
                    return True
                value = cast.value_of(0)
                if isinstance(value, Array) and value.dtype == "float64":
                    return True
        return False

    def _linspace(self, made: Call, file: File) -> Iterator[Finding]:
        value = made.value
        if not isinstance(value, Array) or value.dtype != "float64" or float64_by_design(file):
            return
        if value.bytes is not None and value.bytes < file.config.min_bytes:
            return
        bounds = [made.arg(name) for name in ("start", "stop")]
        literal = [b for b in bounds if b is not None and isinstance(b.expression, cst.Integer)]
        edits = tuple(replace_node(file, b.expression, f"{file.text(b.expression)}.0") for b in literal)
        fix = Fix("give float bounds", edits, Safety.UNSAFE) if len(literal) == 2 else None
        cost = f": {show_bytes(value.bytes)}" if value.bytes is not None else ""
        yield self.finding(
            made, file, f"linspace() with whole-number bounds is float64, twice the memory of float32{cost}", fix=fix, bytes=value.bytes
        )

    def _narrow(self, dtype: Argument, file: File) -> Fix | None:
        written = file.text(dtype.expression)
        if isinstance(dtype.value, (Api, Const)) and "float64" in written:
            edit = replace_node(file, dtype.expression, written.replace("float64", "float32"))
            return Fix("use float32", (edit,), Safety.UNSAFE)
        return None
